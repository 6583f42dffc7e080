// SPDX-License-Identifier: Apache-2.0
// Discovery for any shape, prime sizes included, and for frequencies that share a residue class. It samples
// along random lattice lines, which permute the spectrum, through a narrow window, which isolates part of it
// (Hassanieh, Indyk, Katabi and Price, SODA 2012). The phases between parallel lines reveal frequencies,
// strongest first; each is subtracted before the next.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/math/filter.hpp"
#include "kernels/cpu/stages/flat_hash.hpp"
#include "template/discovery/fit.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/pattern.hpp"
#include "template/discovery/round.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

template <class Real>
class DiscoveryWindow {
 public:
  explicit DiscoveryWindow(DiscoverySampler<Real>& sampler);

  /// Samples that a round with this many buckets reads.
  static std::int64_t samples(std::int64_t buckets) noexcept;

  /// One round on fresh lines: refits the known components, drops false ones and adds frequencies that stand
  /// out of the residual. A clean round means that the components explain samples that they were not derived
  /// from. Stops looking for more when fitting has taken an estimated `limit_us`; such a round is not clean.
  DiscoveryRound round(std::int64_t buckets, DiscoveryRandom& random,
                       std::vector<DiscoveryComponent>& components, double limit_us);

  /// Estimated time that the last round took to fit, from the operations that it counted.
  double work_us() const noexcept { return work_us_; }

  /// Noise power of a bucket relative to the tail energy Σ|X|² that causes it, in the last round.
  double noise_share() const noexcept { return window_power_; }

 private:
  /// The appearance of a component in the buckets.
  struct Trace {
    GridPoint f;
    std::complex<double> value;
    std::int64_t first;  ///< the first of `span` buckets
    DiscoveryVector roots;
    std::vector<std::complex<double>> response;  ///< in the `span` buckets
    double power = 0;                            ///< Σ|response|²
  };

  void draw(std::int64_t buckets, DiscoveryRandom& random);
  Trace trace(const GridPoint& f) const;
  void subtract(const Trace& trace, std::complex<double> value);
  std::complex<double> project(const Trace& trace) const;
  double bucket_power(std::int64_t bucket) const;
  double local_noise(const Trace& trace) const;
  double refit(int sweeps);
  GridPoint locate(std::int64_t bucket) const;
  bool near(const Trace& trace, std::int64_t bucket) const;
  std::int64_t add_strongest(double limit);
  std::int64_t wrap(std::int64_t bucket) const noexcept;

  DiscoverySampler<Real>& sampler_;
  const Shape& shape_;
  KaiserWindow kaiser_;
  std::int64_t span_ = 3;
  double shared_noise_ = 1;
  WindowedLines lines_{};
  DelayPattern pattern_;
  double window_power_ = 0;
  std::vector<std::complex<double>> rest_;  ///< the buckets minus the traces
  std::vector<Trace> traces_;
  double work_us_ = 0;
  double limit_us_ = 0;
};

extern template class DiscoveryWindow<float>;
extern template class DiscoveryWindow<double>;

}  // namespace sfft::detail
