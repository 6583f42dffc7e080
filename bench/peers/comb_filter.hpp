// SPDX-License-Identifier: Apache-2.0
// The comb filter of sFFT 2.0 (SODA 2012, section 5): which residues modulo M hold large coefficients.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/peers/bucket_fft.hpp"
#include "bench/peers/permutation.hpp"
#include "bench/peers/voting.hpp"

namespace sfft::peers {

template <class Real>
class CombFilter {
 public:
  CombFilter(std::int64_t residues, int loops)
      : fft_(residues), loops_(loops), spectrum_(static_cast<std::size_t>(residues)) {}

  std::int64_t residues() const noexcept { return fft_.points(); }
  std::int64_t samples() const noexcept { return loops_ * residues(); }

  /// The union, over all loops with random offsets, of the `count` heaviest residues.
  template <class Random>
  void find(std::span<const std::complex<Real>> signal, std::size_t count, Random& random) {
    const std::uint64_t stride = signal.size() / static_cast<std::uint64_t>(residues());
    approved_.clear();
    for (int loop = 0; loop < loops_; ++loop) {
      std::uint64_t at = random() & (stride - 1);
      for (std::complex<Real>& sample : spectrum_) {
        sample = signal[at];
        at += stride;
      }
      fft_.forward(spectrum_);
      largest(spectrum_, count, heavy_, scratch_);
      approved_.insert(approved_.end(), heavy_.begin(), heavy_.end());
    }
    std::sort(approved_.begin(), approved_.end());
    approved_.erase(std::unique(approved_.begin(), approved_.end()), approved_.end());
  }

  /// Votes for the frequencies of the heavy buckets whose residue is approved.
  void vote(Votes& votes, const std::vector<std::uint32_t>& heavy, const Permutation& permutation,
            std::uint64_t width, std::uint64_t mask) {
    const auto modulus = static_cast<std::uint64_t>(residues());
    // f ≡ t modulo M exactly where its permuted position ≡ σt, because M divides N.
    permuted_.clear();
    for (const std::uint32_t t : approved_) permuted_.push_back((permutation.sigma * t) & (modulus - 1));
    std::sort(permuted_.begin(), permuted_.end());
    for (const std::uint32_t bucket : heavy) {
      const BucketRange range(bucket, width);
      std::uint64_t base = range.first - (range.first & (modulus - 1));
      auto next = std::lower_bound(permuted_.begin(), permuted_.end(), range.first - base);
      while (true) {
        if (next == permuted_.end()) {
          next = permuted_.begin();
          base += modulus;
        }
        // Positions may wrap below zero, so the distance from the first one marks the end.
        const std::uint64_t position = base + *next++;
        if (position - range.first >= width) break;
        votes.add((position * permutation.inverse) & mask);
      }
    }
  }

 private:
  BucketFft<Real> fft_;
  int loops_;
  std::vector<std::complex<Real>> spectrum_;
  std::vector<std::uint32_t> heavy_, approved_;
  std::vector<std::uint64_t> permuted_;
  std::vector<Real> scratch_;
};

}  // namespace sfft::peers
