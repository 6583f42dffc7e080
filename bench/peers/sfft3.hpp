// SPDX-License-Identifier: Apache-2.0
// sFFT 3.0 (Hassanieh, Indyk, Katabi, Price: Nearly Optimal Sparse Fourier Transform, STOC 2012, section 3):
// exactly k-sparse signals in O(k log N). Each round hashes the residual twice, one sample apart; the phase
// between the two gives the frequency of every bucket that holds one term. The first round uses a comb, as
// the authors' implementation does.
#pragma once

#include <random>

#include "bench/peers/bucket_fft.hpp"
#include "bench/peers/flat_window.hpp"
#include "bench/peers/peer.hpp"
#include "bench/peers/sparse_terms.hpp"

namespace sfft::peers {

template <class Real>
class Sfft3 final : public Peer<Real> {
 public:
  Sfft3(std::int64_t points, std::int64_t k, std::uint64_t seed);

  void execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) override;
  std::int64_t samples_read() const noexcept override { return samples_; }
  std::string describe() const override;

 private:
  /// Rounds with the same number of buckets share a window and an FFT.
  struct Level {
    FlatWindow<double> window;
    BucketFft<double> fft;
  };

  /// Runs one round: adds the terms that it finds, and returns the number of buckets that remain unexplained.
  std::int64_t round(std::span<const std::complex<Real>> signal, Level& level);
  std::int64_t comb_round(std::span<const std::complex<Real>> signal);
  void find_largest();
  bool occupied(std::size_t bucket) const { return std::norm(here_[bucket]) > min_power_; }
  bool single(std::size_t bucket, std::int64_t& frequency) const;
  void subtract(const std::vector<Tone>& terms, const Permutation& permutation,
                const FlatWindow<double>& window);
  void find_owners(const Permutation& permutation, const FlatWindow<double>& window);
  bool correct(std::uint64_t bucket, const Permutation& permutation, const FlatWindow<double>& window,
               Tone& tone) const;
  double offset_in(std::uint64_t bucket, std::uint64_t frequency, const Permutation& permutation,
                   const FlatWindow<double>& window) const;
  bool locate(std::uint64_t bucket, const Permutation& permutation, const FlatWindow<double>& window,
              Tone& tone) const;

  std::int64_t points_, k_;
  std::mt19937_64 random_;
  Roots roots_;
  std::vector<Level> levels_;  ///< largest number of buckets first
  SparseTerms found_;
  std::vector<Tone> fresh_;
  std::vector<std::int32_t> owner_;  ///< per bucket: the known term that hashes there, or a special value
  std::vector<std::complex<double>> here_, next_;  ///< buckets at τ and τ + 1
  double largest_ = 0;                             ///< magnitude of the first round's largest bucket
  double min_power_ = 0;                           ///< squared magnitude below which a bucket is empty
  std::int64_t samples_ = 0;
};

}  // namespace sfft::peers
