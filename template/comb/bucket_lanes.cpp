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

BucketLanes::BucketLanes(const LaneComb& comb, std::span<const int> members) : comb_(comb) {
  const std::size_t aliases = comb.coloured ? BucketLanes::aliases(comb.rank) : 0;
  batches_.resize((members.size() + kLanes - 1) / kLanes);
  std::size_t doubles = 0, steps = 0;
  for (std::size_t n = 0; n < batches_.size(); ++n) {
    Batch& batch = batches_[n];
    batch.first = n * kLanes;
    batch.count = std::min(kLanes, members.size() - batch.first);
    batch.members = 1;
    for (std::size_t l = 0; l < batch.count; ++l) {
      batch.present_in_lane[l] = static_cast<std::size_t>(members[batch.first + l]);
      batch.members = std::max(batch.members, batch.present_in_lane[l]);
    }
    most_members_ = std::max(most_members_, batch.members);
    doubles += (2 + 2 * batch.members + aliases) * kLanes;
    steps += batch.members * kLanes;
  }
  memory_.assign(doubles, 0.0);
  steps_.resize(steps);
  double* next = memory_.data();
  std::array<std::int64_t, 3>* next_steps = steps_.data();
  for (Batch& batch : batches_) {
    batch.tail_power = next;
    batch.tail_count = batch.tail_power + kLanes;
    batch.inverse_power = batch.tail_count + kLanes;
    batch.present = batch.inverse_power + batch.members * kLanes;
    batch.near_power = batch.present + batch.members * kLanes;
    batch.steps = next_steps;
    std::fill_n(batch.tail_power, kLanes, 1.0);
    next = batch.near_power + aliases * kLanes;
    next_steps += batch.members * kLanes;
  }
}

BucketLanes::Slot BucketLanes::slot(std::size_t bucket) noexcept {
  Batch& batch = batches_[bucket / kLanes];
  const std::size_t lane = bucket % kLanes;
  Slot slot;
  slot.steps_ = batch.steps + lane * batch.members;
  slot.present_ = batch.present + lane;
  slot.inverse_power_ = batch.inverse_power + lane;
  slot.tail_power_ = batch.tail_power + lane;
  slot.tail_count_ = batch.tail_count + lane;
  slot.near_power_ = batch.near_power + lane;
  slot.prior_ = !comb_.least_squares;
  return slot;
}

void BucketLanes::separate_near(bool level_is_white) noexcept {
  const auto count = static_cast<int>(aliases(comb_.rank));
  for (Batch& batch : batches_) {
    batch.near = cpu::bucket_system_kernels().separate(batch.near_power, count, batch.tail_power,
                                                       batch.tail_count, level_is_white);
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
    response_at_.push_back(delays_.find(delays[i], comb_.strides));
    for (std::size_t j = 0; j < i && comb_.coloured; ++j) {
      Delay difference;
      for (std::size_t d = 0; d < 3; ++d) {
        difference[d] = delays[i][d] - delays[j][d];
        if (difference[d] < 0) difference[d] += comb_.strides[d];
      }
      tail_at_.push_back(differences_.find(difference, comb_.strides));
    }
  }
  add_phases();
}

void BucketLanes::add_responses(Batch& batch) {
  const std::size_t members = batch.members;
  std::size_t known = batch.responses.size() / (members * kPair);
  batch.responses.resize(delays_.delays.size() * members * kPair, 0.0);
  for (; known < delays_.delays.size(); ++known) {
    const Delay& delay = delays_.delays[known];
    for (std::size_t l = 0; l < batch.count; ++l) {
      const std::array<std::int64_t, 3>* const steps = batch.steps + l * members;
      for (std::size_t m = 0; m < batch.present_in_lane[l]; ++m) {
        std::complex<double> product = 1;
        for (std::size_t d = 0; d < static_cast<std::size_t>(comb_.rank); ++d) {
          if (delay[d] != 0) product = times(product, comb_.roots[d](steps[m][d], delay[d]));
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
  const auto side = static_cast<int>(2 * reach(comb_.rank));
  cpu::NearAliases near{batch.near_power, {1, 1, 1}};
  for (int d = 3 - comb_.rank; d < 3; ++d) near.extents[d] = side;
  for (; known < differences_.delays.size(); ++known) {
    const double* const phases = &phases_[known * kPhases];
    const double* const axes[3] = {phases, phases + kAxis, phases + 2 * kAxis};
    cpu::bucket_system_kernels().tail(near, axes, &batch.tails[known * kPair]);
  }
}

void BucketLanes::add_phases() {
  const auto side = 2 * reach(comb_.rank);
  for (std::size_t known = phases_.size() / kPhases; known < differences_.delays.size(); ++known) {
    // The box is laid out for the last dimensions, so that it is contiguous for any rank.
    for (int d = 0; d < 3; ++d) {
      const int axis = d - (3 - comb_.rank);
      phases_.resize(phases_.size() + kAxis, 0.0);
      double* const phase = &phases_[phases_.size() - kAxis];
      if (axis < 0) {
        phase[0] = 1;
        continue;
      }
      const auto a = static_cast<std::size_t>(axis);
      const std::int64_t n = comb_.strides[a];
      std::int64_t step = floor_mod(-reach(comb_.rank), n);
      for (std::int64_t q = 0; q < side; ++q) {
        const std::complex<double> root = comb_.roots[a](step, differences_.delays[known][a]);
        phase[2 * q] = root.real();
        phase[2 * q + 1] = root.imag();
        if (++step == n) step = 0;
      }
    }
  }
}

cpu::BucketScratch BucketLanes::scratch(std::size_t delays) {
  const auto side = static_cast<int>(std::max(delays, most_members_));
  const auto doubles = static_cast<std::size_t>(cpu::BucketScratch::doubles(side));
  if (scratch_.size() < doubles) scratch_.resize(doubles);
  return {side, scratch_.data()};
}

cpu::BucketSystems BucketLanes::prepare(Batch& batch, std::size_t delays) {
  add_responses(batch);
  if (batch.near) add_tails(batch);
  cpu::BucketSystems systems{};
  systems.delays = static_cast<int>(delays);
  systems.members = static_cast<int>(batch.members);
  systems.responses = batch.responses.data();
  systems.response_at = response_at_.data();
  systems.tails = batch.near ? batch.tails.data() : nullptr;
  systems.tail_at = tail_at_.data();
  systems.tail_power = batch.tail_power;
  systems.inverse_power = batch.inverse_power;
  systems.present = batch.present;
  systems.least_squares = comb_.least_squares;
  return systems;
}

bool BucketLanes::variances(std::span<const Delay> delays,
                            const std::function<void(std::size_t, const double*)>& visit) {
  number(delays);
  const cpu::BucketScratch scratch = this->scratch(delays.size());
  double variance[cpu::kSystemMost * kLanes];
  for (Batch& batch : batches_) {
    const cpu::BucketSystems systems = prepare(batch, delays.size());
    if (!cpu::bucket_system_kernels().variances(systems, scratch, variance)) return false;
    for (std::size_t l = 0; l < batch.count; ++l) visit(batch.first + l, variance + l);
  }
  return true;
}

bool BucketLanes::rows(std::span<const Delay> delays,
                       const std::function<void(std::size_t, const Rows&)>& visit) {
  number(delays);
  const cpu::BucketScratch scratch = this->scratch(delays.size());
  const std::size_t table = most_members_ * kLanes;
  std::vector<double> memory(4 * table + most_members_ * delays.size() * kPair);
  double *const variance = memory.data(), *const noise = variance + table, *const bias = noise + table;
  double *const response = bias + table, *const weights = response + table;
  for (Batch& batch : batches_) {
    const cpu::BucketSystems systems = prepare(batch, delays.size());
    const cpu::BucketSystemKernels& kernels = cpu::bucket_system_kernels();
    if (!kernels.variances(systems, scratch, variance)) return false;
    kernels.rows(systems, scratch, weights, noise, bias, response);
    for (std::size_t l = 0; l < batch.count; ++l) {
      visit(batch.first + l, {weights, noise, bias, response, static_cast<int>(l), systems.delays});
    }
  }
  return true;
}

}  // namespace sfft::detail
