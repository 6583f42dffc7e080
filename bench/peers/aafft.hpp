// SPDX-License-Identifier: Apache-2.0
// AAFFT 0.9 (Gilbert, Muthukrishnan, Strauss: Improved Time Bounds for Near-Optimal Sparse Fourier
// Representations, 2005; Iwen, Gilbert, Strauss: Empirical Evaluation of a Sub-Linear Time Sparse DFT
// Algorithm, 2007). Each iteration isolates terms with a box filter bank over a random arithmetic
// progression, reads their frequencies bit by bit, estimates values as medians, and continues with the
// residual.
#pragma once

#include <random>

#include "bench/peers/bucket_fft.hpp"
#include "bench/peers/peer.hpp"
#include "bench/peers/permutation.hpp"
#include "bench/peers/sparse_terms.hpp"
#include "bench/peers/usfft.hpp"

namespace sfft::peers {

template <class Real>
class Aafft final : public Peer<Real> {
 public:
  Aafft(std::int64_t points, std::int64_t k, std::uint64_t seed);

  void execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) override;
  std::int64_t samples_read() const noexcept override { return samples_; }
  std::string describe() const override;

 private:
  using Signal = std::span<const std::complex<Real>>;

  void place(const std::vector<Tone>& terms, std::uint64_t sigma);
  /// Computes the filter bank outputs of the residual along start + σj.
  void shatter(Signal signal, std::uint64_t start, std::uint64_t sigma);
  void identify(Signal signal);
  void read_bits(std::uint64_t sigma);
  /// Adds the estimated residual at every candidate and known term. Returns the norm of what was added.
  double estimate(Signal signal);
  std::vector<std::int64_t> leaders() const;

  std::int64_t points_, k_, bins_;
  int bits_;
  std::mt19937_64 random_;
  Roots roots_;
  BucketFft<double> fft_;
  Usfft usfft_;
  SparseTerms found_;
  std::vector<std::int64_t> candidates_;
  std::vector<std::complex<double>> bank_, coefficients_;
  std::vector<double> turns_;
  std::vector<std::uint32_t> heavy_;
  std::vector<std::complex<double>>
      tests_;  ///< outputs of heavy bin h, trial r, bit b: [(h·trials + r)(bits + 1) + b]
  std::int64_t samples_ = 0;
};

}  // namespace sfft::peers
