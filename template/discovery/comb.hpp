// SPDX-License-Identifier: Apache-2.0
// Discovery by combs, which are subsampled grids. Their small FFTs fold the spectrum into buckets: frequency
// f falls into f mod B (Pawar and Ramchandran, FFAST, ISIT 2013). The phases between delays locate a
// frequency that is alone in its bucket; linear prediction over equally spaced delays separates a few.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "template/discovery/fit.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/pattern.hpp"
#include "template/discovery/round.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

/// How much a check reads: `runs` of eight neighbouring delays, from which values are refitted; or, if 0, a
/// few delays at which values are compared and only doubtful ones refitted.
struct CheckReads {
  std::int64_t runs = 0;
  std::int64_t compared = 8;  ///< delays to compare at, along one dimension
};

template <class Real>
class DiscoveryComb {
 public:
  explicit DiscoveryComb(DiscoverySampler<Real>& sampler) : sampler_(sampler), shape_(sampler.shape()) {}

  /// Samples at `pattern`, explains what stands out and updates `components`: refits the known ones, adds new
  /// ones and drops false ones. A bucket that it cannot explain keeps its known components.
  DiscoveryRound solve(const CombGrid& grid, const DelayPattern& pattern,
                       std::vector<DiscoveryComponent>& components);

  /// Samples at `pattern`, subtracts the known components and adds frequencies that explain the residual. For
  /// exact signals: known components are not revisited, and their errors add up in buckets that hold many of
  /// them.
  DiscoveryRound peel(const CombGrid& grid, const DelayPattern& pattern,
                      std::vector<DiscoveryComponent>& components);

  /// Sets the number of significant buckets above which a round explains no bucket of a noisy signal;
  /// unlimited by default.
  void expect_at_most(std::int64_t significant) noexcept { most_significant_ = significant; }
  /// allow_us() sets the estimated time after which later rounds leave buckets unexplained. work_us()
  /// estimates the time that the last round took to explain its buckets, from the number of candidates that
  /// it tried.
  void allow_us(double limit_us) noexcept { limit_us_ = limit_us; }
  double work_us() const noexcept { return work_us_; }
  bool out_of_time() const noexcept { return work_us_ > limit_us_; }
  /// Makes later rounds also try all candidates for up to three buckets of an exact signal, in case
  /// frequencies collide on every grid.
  void search_exhaustively() noexcept { exhaustive_ = true; }
  bool exhaustive() const noexcept { return exhaustive_; }

  /// Samples at fresh delays and counts the buckets where the known components leave a residual. Fitted
  /// values and variances replace worse ones.
  DiscoveryRound check(const CombGrid& grid, CheckReads reads, DiscoveryRandom& random,
                       std::vector<DiscoveryComponent>& components);

 private:
  struct Accumulator;
  /// One bucket of a comb.
  struct Bucket {
    const CombGrid& grid;
    const DelayPattern& pattern;
    std::int64_t number;
  };

  void file_members(const CombGrid& grid, const std::vector<DiscoveryComponent>& components);
  void measure_power(const BucketValues<Real>& values, bool add);
  void judge_noise(const CombGrid& grid, std::int64_t delays, std::int64_t known, double min,
                   DiscoveryRound& round);
  void explain_all(const CombGrid& grid, const DelayPattern& pattern, const BucketValues<Real>& values,
                   const std::vector<DiscoveryComponent>& components, DiscoveryRound& round,
                   std::vector<DiscoveryComponent>& found);
  void subtract(const CombGrid& grid, const DelayPattern& pattern, const BucketValues<Real>& values,
                const std::vector<DiscoveryComponent>& components);
  void phases(const GridPoint& f, const DelayPattern& pattern, DiscoveryVector& roots) const;
  int locate(const Bucket& bucket, const DiscoveryVector& y, int order, GridPoint* f) const;
  bool explain(const Bucket& bucket, const DiscoveryVector& y, int fewest, const DiscoveryRound& round,
               const std::vector<DiscoveryComponent>& components, std::vector<DiscoveryComponent>& found);
  bool search_pair(const Bucket& bucket, const DiscoveryVector& y, GridPoint* f) const;
  GridPoint strongest(const Bucket& bucket, const DiscoveryVector& y) const;
  double residual_limit(const DiscoveryRound& round, int freedom, double energy) const;
  static double noise_of_bucket(const DiscoveryRound& round, double residual, int freedom);
  void tabulate_roots(const DelayPattern& pattern, const std::vector<DiscoveryComponent>& components);
  std::vector<Accumulator> list_crowds(const std::vector<DiscoveryComponent>& components, double doubtful,
                                       bool all);
  bool refit(const Accumulator& own, int delays, std::vector<DiscoveryComponent>& components,
             DiscoveryRound& round, std::vector<char>& drop) const;
  void compare(const BucketValues<Real>& values, double scale,
               const std::vector<DiscoveryComponent>& components, DiscoveryRound& round);
  void judge_as_known(const Accumulator& own, std::int64_t delays,
                      const std::vector<DiscoveryComponent>& components, DiscoveryRound& round) const;
  void accumulate(const BucketValues<Real>& values, double scale,
                  const std::vector<DiscoveryComponent>& components, std::vector<Accumulator>& crowds);
  bool solve_accumulated(const Accumulator& own, double delays, std::complex<double>* corrections,
                         double* gains) const;
  void explain_neighbours(const CombGrid& grid, const DelayPattern& pattern, const BucketValues<Real>& values,
                          const DiscoveryRound& round, std::vector<DiscoveryComponent>& found,
                          std::vector<std::int32_t>& left);

  DiscoverySampler<Real>& sampler_;
  const Shape& shape_;
  std::vector<Real> power_;                  ///< Σ_j |Y_j[b]|², unscaled
  std::vector<std::int32_t> first_;          ///< first known component of a bucket, or −1
  std::vector<std::int32_t> next_;           ///< next known component of the same bucket
  std::vector<std::int32_t> bucket_;         ///< the bucket of each known component
  std::int64_t occupied_ = 0;                ///< buckets with known components
  std::vector<double> roots_re_, roots_im_;  ///< written by tabulate_roots()
  std::vector<double> coordinate_, other_;
  std::vector<double> compared_;            ///< scratch of compare()
  std::vector<double> singles_;             ///< scratch of explain_neighbours()
  std::vector<std::complex<double>> gram_;  ///< Gram matrices of check()'s accumulators
  std::int64_t searches_ = 0;               ///< candidates that this round may still try one by one
  std::int64_t most_significant_ = std::numeric_limits<std::int64_t>::max();
  bool exhaustive_ = false;
  double limit_us_ = std::numeric_limits<double>::infinity();
  double work_us_ = 0;
  double confidence_ = 13;  ///< exponent of the tests: −ln of a mistake's probability per bucket
};

extern template class DiscoveryComb<float>;
extern template class DiscoveryComb<double>;

}  // namespace sfft::detail
