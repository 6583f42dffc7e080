// SPDX-License-Identifier: Apache-2.0
// FFAST (Pawar, Ramchandran: Computing a k-sparse n-length Discrete Fourier Transform using at most 4k
// samples and O(k log k) complexity, ISIT 2013): combs whose sizes are co-prime divisors of N, at two delays
// each, and a peeling decoder on the bipartite graph of frequencies and buckets.
#pragma once

#include "bench/peers/bucket_fft.hpp"
#include "bench/peers/peer.hpp"
#include "bench/peers/sparse_terms.hpp"

namespace sfft::peers {

/// Comb sizes for k terms of N points: divisors of N, co-prime if possible, each with room for k terms. Empty
/// if N has none.
std::vector<std::int64_t> ffast_stages(std::int64_t points, std::int64_t k);

template <class Real>
class Ffast final : public Peer<Real> {
 public:
  Ffast(std::int64_t points, std::int64_t k, const std::vector<std::int64_t>& stages);

  void execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) override;
  std::int64_t samples_read() const noexcept override;
  std::string describe() const override;

 private:
  struct Stage {
    BucketFft<double> fft;
    std::vector<std::complex<double>> here, next;  ///< buckets at delays 0 and 1
    std::vector<bool> queued;
  };
  struct Bucket {
    std::uint32_t stage, index;
  };

  void sample(std::span<const std::complex<Real>> signal, Stage& stage);
  bool singleton(const Stage& stage, std::size_t index, Tone& tone) const;
  void peel(const Tone& tone);

  std::int64_t points_, k_;
  std::vector<Stage> stages_;
  SparseTerms found_;
  std::vector<Bucket> queue_;
  double min_ = 0;  ///< squared magnitude below which a bucket is empty
};

}  // namespace sfft::peers
