// SPDX-License-Identifier: Apache-2.0
// sFFT 1.0 and 2.0 (Hassanieh, Indyk, Katabi, Price: Simple and Practical Algorithm for Sparse Fourier
// Transform, SODA 2012).
#pragma once

#include <optional>
#include <random>

#include "bench/peers/comb_filter.hpp"
#include "bench/peers/flat_window.hpp"
#include "bench/peers/peer.hpp"

namespace sfft::peers {

/// Bucket counts, loops and thresholds. The paper leaves their constants to measurement. choose() takes the
/// cheapest by the number of filter taps and votes, the balance that leads to B ~ sqrt(Nk/log N) in the
/// paper.
struct Sfft1Parameters {
  std::int64_t location_buckets = 0, estimation_buckets = 0;
  int location_loops = 0, estimation_loops = 0;
  unsigned threshold = 0;  ///< votes that make a candidate
  std::int64_t comb = 0;   ///< residues of the comb filter; 0: sFFT 1.0
  int comb_loops = 0;

  static Sfft1Parameters choose(std::int64_t points, std::int64_t k, bool with_comb);
};

template <class Real>
class Sfft1 final : public Peer<Real> {
 public:
  Sfft1(std::int64_t points, std::int64_t k, const Sfft1Parameters& parameters, std::uint64_t seed);

  void execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) override;
  std::int64_t samples_read() const noexcept override;
  std::string describe() const override;

 private:
  /// One permuted, filtered and transformed copy of the signal.
  struct Loop {
    Permutation permutation;
    std::vector<std::complex<Real>> buckets;
  };
  void hash(std::span<const std::complex<Real>> signal, Loop& loop, const FlatWindow<Real>& window,
            BucketFft<Real>& fft);
  std::complex<double> estimate(std::uint64_t frequency);
  std::complex<double> estimate(std::uint64_t frequency, const Loop& loop,
                                const FlatWindow<Real>& window) const;

  std::int64_t points_, k_;
  Sfft1Parameters parameters_;
  std::mt19937_64 random_;
  Roots roots_;
  FlatWindow<Real> location_window_, estimation_window_;
  BucketFft<Real> location_fft_, estimation_fft_;
  std::optional<CombFilter<Real>> comb_;
  std::vector<Loop> location_, estimation_;
  Votes votes_;
  std::vector<std::uint32_t> heavy_;
  std::vector<Real> scratch_;
  std::vector<double> real_, imaginary_;
};

}  // namespace sfft::peers
