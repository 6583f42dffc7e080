// SPDX-License-Identifier: Apache-2.0
// Chooses FFTW or the built-in engine for the reference spectrum and widens the samples to double precision.
#include "exact_spectrum.hpp"

#include "sfft/dense.hpp"

#if SFFT_BENCH_FFTW
#include <fftw3.h>
#endif

namespace sfft::apps {

#if SFFT_BENCH_FFTW

namespace {

template <class Wide, class Sample>
std::vector<Wide> widened(const SignalView& signal) {
  const auto* samples = static_cast<const Sample*>(signal.data());
  return {samples, samples + signal.shape().points()};
}

}  // namespace

std::vector<std::complex<double>> exact_spectrum(const SignalView& signal) {
  const Shape& shape = signal.shape();
  const std::vector<int> extents(shape.extents().begin(), shape.extents().end());
  std::vector<std::complex<double>> spectrum;
  const auto execute = [&](fftw_plan plan) {
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  };
  const auto output = [&](std::int64_t bins) {
    spectrum.resize(static_cast<std::size_t>(bins));
    return reinterpret_cast<fftw_complex*>(spectrum.data());
  };
  if (is_complex(signal.type())) {
    auto samples = widened<std::complex<double>, std::complex<float>>(signal);
    auto* in = reinterpret_cast<fftw_complex*>(samples.data());
    auto* out = output(shape.points());
    execute(fftw_plan_dft(shape.rank(), extents.data(), in, out, FFTW_FORWARD, FFTW_ESTIMATE));
  } else {
    auto samples = widened<double, float>(signal);
    auto* out = output(shape.points() / extents.back() * (extents.back() / 2 + 1));
    execute(fftw_plan_dft_r2c(shape.rank(), extents.data(), samples.data(), out, FFTW_ESTIMATE));
  }
  return spectrum;
}

#else

std::vector<std::complex<double>> exact_spectrum(const SignalView& signal) {
  const dense::Plan<double> exact(signal.shape(), !is_complex(signal.type()) ? Domain::real : Domain::complex,
                                  {.engine = dense::Engine::built_in});
  std::vector<std::complex<double>> spectrum(exact.spectrum_points());
  exact.forward(signal, spectrum);
  return spectrum;
}

#endif

}  // namespace sfft::apps
