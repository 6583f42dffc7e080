// SPDX-License-Identifier: Apache-2.0
// The first round of sFFT 3.0 as its authors implemented it, with aliasing filters in place of flat windows.
// Plain combs read two samples per bucket where a flat window reads two dozen. Terms that meet in their
// buckets would meet in every comb of this size, so flat windows must find those.
#include <cmath>

#include "bench/peers/sfft3.hpp"

namespace sfft::peers {

/// Buckets of residues modulo B, at τ and τ + 1: (1/N) Σ X[f] exp(2πi fτ/N) over f ≡ b.
template <class Real>
std::int64_t Sfft3<Real>::comb_round(std::span<const std::complex<Real>> signal) {
  BucketFft<double>& fft = levels_.front().fft;
  const auto count = static_cast<std::size_t>(fft.points());
  const std::size_t stride = signal.size() / count;
  const std::uint64_t tau = random_() & (stride - 1);
  const double scale = 1 / static_cast<double>(count);
  here_.resize(count);
  next_.resize(count);
  for (std::size_t m = 0; m < count; ++m) {
    const std::size_t at = m * stride + tau;
    here_[m] = scale * std::complex<double>(signal[at]);
    next_[m] = scale * std::complex<double>(signal[(at + 1) & (signal.size() - 1)]);
  }
  samples_ += 2 * static_cast<std::int64_t>(count);
  fft.forward(here_);
  fft.forward(next_);
  find_largest();

  std::int64_t unexplained = 0;
  for (std::size_t b = 0; b < count; ++b) {
    if (!occupied(b)) continue;
    std::int64_t frequency = 0;
    if (single(b, frequency) && static_cast<std::size_t>(frequency) % count == b) {
      const std::complex<double> phase = std::conj(roots_(static_cast<std::uint64_t>(frequency) * tau));
      found_.add(frequency, times(here_[b], phase));
    } else {
      ++unexplained;
    }
  }
  return unexplained;
}

template std::int64_t Sfft3<float>::comb_round(std::span<const std::complex<float>>);
template std::int64_t Sfft3<double>::comb_round(std::span<const std::complex<double>>);

}  // namespace sfft::peers
