// SPDX-License-Identifier: Apache-2.0
// Lays buckets out in lanes. Covariances between delays depend on their difference alone, and responses on
// the delay alone, so that a search that changes one delay at a time computes little that is new.
#include "template/comb/bucket_lanes.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

constexpr auto kLanes = static_cast<std::size_t>(cpu::kSystemLanes);
constexpr auto kPair = static_cast<std::size_t>(cpu::kPair);
/// Doubles of the phases of one dimension, and of a difference of delays.
constexpr std::size_t kAxis = 16, kPhases = 3 * kAxis;

}  // namespace

BucketLanes::BucketLanes(const std::array<std::int64_t, 3>& strides, int rank, bool least_squares,
                         std::vector<LaneBucket> buckets)
    : strides_(strides),
      rank_(rank),
      least_squares_(least_squares),
      buckets_(std::move(buckets)),
      roots_{Roots(strides[0]), Roots(strides[1]), Roots(strides[2])},
      scratch_(std::make_unique_for_overwrite<cpu::BucketScratch>()) {
  batches_.resize((buckets_.size() + kLanes - 1) / kLanes);
  for (std::size_t n = 0; n < batches_.size(); ++n) {
    Batch& batch = batches_[n];
    batch.first = n * kLanes;
    batch.count = std::min(kLanes, buckets_.size() - batch.first);
    std::size_t members = 1;
    for (std::size_t l = 0; l < batch.count; ++l) {
      members = std::max(members, buckets_[batch.first + l].members.size());
      batch.near |= !buckets_[batch.first + l].near.empty();
    }
    batch.members = static_cast<int>(members);
    batch.tail_power.assign(kLanes, 1.0);
    batch.inverse_power.assign(members * kLanes, 0.0);
    batch.present.assign(members * kLanes, 0.0);
    if (batch.near) batch.near_power.assign(cpu::kSystemAliases * kLanes, 0.0);
    for (std::size_t l = 0; l < batch.count; ++l) {
      const LaneBucket& bucket = buckets_[batch.first + l];
      batch.tail_power[l] = bucket.tail;
      for (std::size_t q = 0; q < bucket.near.size(); ++q) {
        batch.near_power[q * kLanes + l] = bucket.near[q];
        batch.tail_power[l] += bucket.near[q];
      }
      for (std::size_t m = 0; m < bucket.members.size(); ++m) {
        if (!least_squares)
          batch.inverse_power[m * kLanes + l] = 1 / std::max(bucket.members[m].power, 1e-300);
        batch.present[m * kLanes + l] = 1;
      }
    }
  }
}

int BucketLanes::Numbers::find(const Delay& delay, const std::array<std::int64_t, 3>& strides) {
  const std::int64_t code = (delay[0] * strides[1] + delay[1]) * strides[2] + delay[2];
  const auto [at, is_new] = number_.try_emplace(code, static_cast<int>(delays.size()));
  if (is_new) delays.push_back(delay);
  return at->second;
}

void BucketLanes::number(std::span<const Delay> delays) {
  response_at_.clear();
  tail_at_.clear();
  for (std::size_t i = 0; i < delays.size(); ++i) {
    response_at_.push_back(delays_.find(delays[i], strides_));
    for (std::size_t j = 0; j < i && !least_squares_; ++j) {
      Delay difference;
      for (std::size_t d = 0; d < 3; ++d) {
        difference[d] = delays[i][d] - delays[j][d];
        if (difference[d] < 0) difference[d] += strides_[d];
      }
      tail_at_.push_back(differences_.find(difference, strides_));
    }
  }
  add_phases();
}

void BucketLanes::add_responses(Batch& batch) {
  const auto members = static_cast<std::size_t>(batch.members);
  std::size_t known = batch.responses.size() / (members * kPair);
  batch.responses.resize(delays_.delays.size() * members * kPair, 0.0);
  for (; known < delays_.delays.size(); ++known) {
    const Delay& delay = delays_.delays[known];
    for (std::size_t l = 0; l < batch.count; ++l) {
      const LaneBucket& bucket = buckets_[batch.first + l];
      for (std::size_t m = 0; m < bucket.members.size(); ++m) {
        std::complex<double> product = 1;
        for (std::size_t d = 0; d < static_cast<std::size_t>(rank_); ++d) {
          if (delay[d] != 0) product = times(product, roots_[d](bucket.members[m].steps[d], delay[d]));
        }
        double* pair = &batch.responses[(known * members + m) * kPair + l];
        pair[0] = product.real();
        pair[kLanes] = product.imag();
      }
    }
  }
}

void BucketLanes::add_tails(Batch& batch) {
  std::size_t known = batch.tails.size() / kPair;
  batch.tails.resize(differences_.delays.size() * kPair);
  const auto side = static_cast<int>(2 * reach(rank_));
  cpu::NearAliases near{batch.near_power.data(), {1, 1, 1}};
  for (int d = 3 - rank_; d < 3; ++d) near.extents[d] = side;
  for (; known < differences_.delays.size(); ++known) {
    const double* const phases = &phases_[known * kPhases];
    const double* const axes[3] = {phases, phases + kAxis, phases + 2 * kAxis};
    cpu::bucket_system_kernels().tail(near, axes, &batch.tails[known * kPair]);
  }
}

void BucketLanes::add_phases() {
  const auto side = 2 * reach(rank_);
  for (std::size_t known = phases_.size() / kPhases; known < differences_.delays.size(); ++known) {
    // The box is laid out for the last dimensions, so that it is contiguous for any rank.
    for (int d = 0; d < 3; ++d) {
      const int axis = d - (3 - rank_);
      phases_.resize(phases_.size() + kAxis, 0.0);
      double* const phase = &phases_[phases_.size() - kAxis];
      if (axis < 0) {
        phase[0] = 1;
        continue;
      }
      const auto a = static_cast<std::size_t>(axis);
      const std::int64_t n = strides_[a];
      std::int64_t step = floor_mod(-reach(rank_), n);
      for (std::int64_t q = 0; q < side; ++q) {
        const std::complex<double> root = roots_[a](step, differences_.delays[known][a]);
        phase[2 * q] = root.real();
        phase[2 * q + 1] = root.imag();
        if (++step == n) step = 0;
      }
    }
  }
}

cpu::BucketSystems BucketLanes::prepare(Batch& batch, std::size_t delays) {
  add_responses(batch);
  if (batch.near) add_tails(batch);
  cpu::BucketSystems systems{};
  systems.delays = static_cast<int>(delays);
  systems.members = batch.members;
  systems.responses = batch.responses.data();
  systems.response_at = response_at_.data();
  systems.tails = batch.near ? batch.tails.data() : nullptr;
  systems.tail_at = tail_at_.data();
  systems.tail_power = batch.tail_power.data();
  systems.inverse_power = batch.inverse_power.data();
  systems.present = batch.present.data();
  systems.least_squares = least_squares_;
  return systems;
}

bool BucketLanes::variances(std::span<const Delay> delays,
                            const std::function<void(std::size_t, const double*)>& visit) {
  number(delays);
  double variance[cpu::kSystemMost * kLanes];
  for (Batch& batch : batches_) {
    const cpu::BucketSystems systems = prepare(batch, delays.size());
    if (!cpu::bucket_system_kernels().variances(systems, *scratch_, variance)) return false;
    for (std::size_t l = 0; l < batch.count; ++l) visit(batch.first + l, variance + l);
  }
  return true;
}

bool BucketLanes::rows(std::span<const Delay> delays,
                       const std::function<void(std::size_t, const Rows&)>& visit) {
  number(delays);
  const auto most = static_cast<std::size_t>(cpu::kSystemMost);
  std::vector<double> variance(most * kLanes), weights(most * most * kPair), noise(most * kLanes);
  std::vector<double> bias(most * kLanes), response(most * kLanes);
  for (Batch& batch : batches_) {
    const cpu::BucketSystems systems = prepare(batch, delays.size());
    const cpu::BucketSystemKernels& kernels = cpu::bucket_system_kernels();
    if (!kernels.variances(systems, *scratch_, variance.data())) return false;
    kernels.rows(systems, *scratch_, weights.data(), noise.data(), bias.data(), response.data());
    for (std::size_t l = 0; l < batch.count; ++l) {
      visit(batch.first + l, {weights.data(), noise.data(), bias.data(), response.data(), static_cast<int>(l),
                              systems.delays});
    }
  }
  return true;
}

}  // namespace sfft::detail
