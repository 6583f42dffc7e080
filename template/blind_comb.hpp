// Blind discovery by combs: subsampled grids whose small FFTs fold the spectrum into buckets, frequency f
// into f mod B (Pawar and Ramchandran, FFAST, ISIT 2013). A bucket that holds one frequency is read off the
// phases between its delays; one that holds two or three, by linear prediction over equally spaced delays.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "template/blind_fit.hpp"
#include "template/blind_pattern.hpp"
#include "template/blind_sampler.hpp"
#include "template/blind_types.hpp"

namespace sfft::detail {

template <class Real>
class BlindComb {
 public:
  explicit BlindComb(BlindSampler<Real>& sampler) : sampler_(sampler), shape_(sampler.shape()) {}

  /// Samples at `pattern`, explains what stands out and updates `components`: refits the known, adds the new,
  /// drops those that were never there. Buckets it cannot explain keep what was known of them.
  BlindRound solve(const CombGrid& grid, const DelayPattern& pattern,
                   std::vector<BlindComponent>& components);

  /// Samples `runs` random runs of up to eight neighbouring delays and, for `runs` = 0, four single delays;
  /// fits only the known components to them and counts the buckets where that leaves something. Values and
  /// variances are replaced where the new ones are better.
  BlindRound check(const CombGrid& grid, std::int64_t runs, std::mt19937_64& random,
                   std::vector<BlindComponent>& components);

 private:
  struct Accumulator;

  void file_members(const CombGrid& grid, const std::vector<BlindComponent>& components);
  void measure_power(const BucketValues<Real>& values, bool add);
  void judge_noise(const CombGrid& grid, std::int64_t delays, std::int64_t known, BlindRound& round);
  void phases(const GridPoint& f, const DelayPattern& pattern, BlindVector& roots) const;
  int locate(const CombGrid& grid, const DelayPattern& pattern, std::int64_t bucket, const BlindVector& y,
             int order, GridPoint* f) const;
  bool explain(const CombGrid& grid, const DelayPattern& pattern, std::int64_t bucket, const BlindVector& y,
               const BlindRound& round, const std::vector<BlindComponent>& components,
               std::vector<BlindComponent>& found);
  double residual_limit(const BlindRound& round, int freedom, double energy) const;
  void accumulate(const BucketValues<Real>& values, const DelayPattern& pattern, double scale,
                  const std::vector<BlindComponent>& components, std::vector<Accumulator>& crowds) const;

  BlindSampler<Real>& sampler_;
  const Shape& shape_;
  std::vector<Real> power_;          ///< Σ_j |Y_j[b]|², unscaled
  std::vector<std::int32_t> first_;  ///< first known component of a bucket, or −1
  std::vector<std::int32_t> next_;   ///< the bucket's next one
  double confidence_ = 13;           ///< exponent of the tests: ln(mistakes a round)
};

extern template class BlindComb<float>;
extern template class BlindComb<double>;

}  // namespace sfft::detail
