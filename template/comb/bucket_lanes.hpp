// SPDX-License-Identifier: Apache-2.0
// Buckets of a comb packed side by side for the kernels that solve them, with what those need for each delay
// and each difference of delays computed once.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/base/roots.hpp"
#include "kernels/cpu/stages/bucket_systems.hpp"

namespace sfft::detail {

using Delay = std::array<std::int64_t, 3>;

/// One bucket's problem. Frequencies are given by their steps q from the bucket's own: f = bucket + q∘B.
struct LaneBucket {
  struct Member {
    std::array<std::int64_t, 3> steps;
    double power;  ///< prior E|X|²; 0 for least squares
  };
  std::vector<Member> members;
  /// Power of the aliases at steps −reach … reach−1 in every dimension of the shape, row-major; empty: none.
  std::vector<double> near;
  double tail = 0;  ///< power of everything else that aliases here; 1 for least squares
};

class BucketLanes {
 public:
  /// `strides` are those of the comb. Buckets with the same number of members should come one after the
  /// other.
  BucketLanes(const std::array<std::int64_t, 3>& strides, int rank, bool least_squares,
              std::vector<LaneBucket> buckets);

  /// visit(bucket, variances) gets E|X̂ − X|² of every member, kSystemLanes apart. False, before all were
  /// visited, where least squares cannot tell the members of a bucket apart.
  bool variances(std::span<const Delay> delays, const std::function<void(std::size_t, const double*)>& visit);

  /// What recovery does to one bucket. Values of the bucket count from its own phase:
  /// y_j exp(−2πi Σ_d b_d τ_jd/n_d).
  struct Rows {
    const double *weights, *noise, *bias, *response;  ///< of lane 0: the bucket's is `lane` further
    int lane, delays;
    std::complex<double> weight(std::size_t member, std::size_t delay) const noexcept {
      const double* pair = weights + (member * static_cast<std::size_t>(delays) + delay) * cpu::kPair + lane;
      return {pair[0], pair[cpu::kSystemLanes]};
    }
    static double at(const double* table, std::size_t member, int lane) noexcept {
      return table[member * cpu::kSystemLanes + static_cast<std::size_t>(lane)];
    }
  };
  bool rows(std::span<const Delay> delays, const std::function<void(std::size_t, const Rows&)>& visit);

  /// Steps to either side that `near` holds.
  static std::int64_t reach(int rank) noexcept { return rank == 3 ? 2 : 4; }

 private:
  /// Eight buckets.
  struct Batch {
    std::size_t first = 0, count = 0;
    int members = 0;
    bool near = false;
    std::vector<double> tail_power, inverse_power, present, near_power;
    std::vector<double> responses, tails;  ///< one entry per delay or difference that was asked for
  };
  /// Numbers delays, or differences of delays, in the order in which they come up.
  class Numbers {
   public:
    int find(const Delay& delay, const std::array<std::int64_t, 3>& strides);
    std::vector<Delay> delays;

   private:
    std::unordered_map<std::int64_t, int> number_;
  };

  void number(std::span<const Delay> delays);
  cpu::BucketSystems prepare(Batch& batch, std::size_t delays);
  void add_responses(Batch& batch);
  void add_tails(Batch& batch);
  void add_phases();

  std::array<std::int64_t, 3> strides_;
  int rank_;
  bool least_squares_;
  std::vector<LaneBucket> buckets_;
  std::array<Roots, 3> roots_;
  std::vector<Batch> batches_;
  Numbers delays_, differences_;
  std::vector<double> phases_;              ///< of the near aliases, per difference
  std::vector<int> response_at_, tail_at_;  ///< of the delays being looked at
  std::unique_ptr<cpu::BucketScratch> scratch_;
};

}  // namespace sfft::detail
