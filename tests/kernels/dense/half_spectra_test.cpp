// SPDX-License-Identifier: Apache-2.0
// Tests the inverse transforms of real signals on half spectra that no real signal has, against
// numpy.fft.irfftn's rule.
#include <gtest/gtest.h>

#include "sfft/dense.hpp"
#include "tests/support/any_half_spectra.hpp"

namespace sfft::test::half_spectra_test {
namespace {

template <class Real>
void expect_rule(const HalfSpectrum& given, const dense::Options& options) {
  const dense::Plan<Real> plan(given.shape, Domain::real, options);
  const std::vector<std::complex<Real>> spectra(given.spectra.begin(), given.spectra.end());
  std::vector<Real> signals(given.signals.size());
  plan.inverse(spectra, std::span<Real>(signals));
  EXPECT_LE(relative_l2(signals, given.signals),
            2 * fft_bound<Real>(static_cast<double>(given.shape.points())))
      << given.shape.to_string() << " × " << options.batch << ", " << plan.engine_name();
}

TEST(HalfSpectra, TheCpuFollowsNumPy) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const HalfSpectrum given = any_half_spectrum(seed);
    for (const dense::Engine engine : {dense::Engine::built_in, dense::Engine::fftw}) {
      if (!dense::availability(engine)) continue;
      dense::Options options{.engine = engine, .batch = given.batch};
      options.threads = 1 + static_cast<int>(seed % 2);
      expect_rule<double>(given, options);
      expect_rule<float>(given, options);
    }
  }
}

}  // namespace
}  // namespace sfft::test::half_spectra_test
