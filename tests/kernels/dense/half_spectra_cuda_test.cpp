// SPDX-License-Identifier: Apache-2.0
// Tests the inverse transforms of real signals on half spectra that no real signal has, on a GPU: every
// engine, and arrays in pieces.
#include "sfft/dense.hpp"
#include "tests/support/any_half_spectra.hpp"
#include "tests/support/dense_device.hpp"

namespace sfft::test::half_spectra_cuda_test {
namespace {

class HalfSpectraCuda : public GpuTest {};

template <class Real>
void expect_rule(const HalfSpectrum& given, const dense::Options& options) {
  const auto plan = plan_if_possible<Real>(given.shape, true, options);
  if (!plan) return;
  const std::vector<std::complex<Real>> spectra(given.spectra.begin(), given.spectra.end());
  const double bound = gpu_bound<Real>(options.engine, static_cast<double>(given.shape.points()));
  std::vector<Real> signals(given.signals.size());
  plan->inverse(spectra, std::span<Real>(signals));
  EXPECT_LE(relative_l2(signals, given.signals), bound)
      << given.shape.to_string() << " × " << options.batch << ", " << plan->engine_name();
  if (options.device_memory || options.host_share) return;
  EXPECT_LE(relative_l2(inverse_on_device(*plan, spectra, signals), given.signals), bound)
      << "in device memory: " << given.shape.to_string() << " × " << options.batch << ", "
      << plan->engine_name();
}

TEST_F(HalfSpectraCuda, EveryEngineFollowsNumPy) {
  for (const dense::Engine engine : gpu_engines()) {
    const unsigned shapes = engine == dense::Engine::cufft ? 200 : 60;  // the others compile
    for (unsigned seed = 0; seed < shapes; ++seed) {
      const HalfSpectrum given = any_half_spectrum(seed);
      const dense::Options options{.engine = engine,
                                   .planning = dense::Options::Planning::estimate,
                                   .device = Device::gpu(),
                                   .batch = given.batch};
      expect_rule<float>(given, options);
      if (seed % 2 == 0) expect_rule<double>(given, options);
    }
  }
}

TEST_F(HalfSpectraCuda, AComparisonOfEnginesKeepsTheRule) {
  for (unsigned seed = 300; seed < 306; ++seed) {
    const HalfSpectrum given = any_half_spectrum(seed);
    expect_rule<float>(given, {.device = Device::gpu(), .batch = given.batch});
  }
}

TEST_F(HalfSpectraCuda, ArraysInPiecesFollowNumPy) {
  for (unsigned seed = 200; seed < 260; ++seed) {
    const HalfSpectrum given = any_half_spectrum(seed);
    dense::Options options{.engine = dense::Engine::cufft,
                           .planning = dense::Options::Planning::estimate,
                           .device = Device::gpu(),
                           .batch = given.batch};
    options.host_share = 0.25 * (seed % 4);
    expect_rule<double>(given, options);
  }
}

}  // namespace
}  // namespace sfft::test::half_spectra_cuda_test
