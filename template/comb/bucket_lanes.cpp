// SPDX-License-Identifier: Apache-2.0
// Lays buckets out in lanes. Covariances between delays depend only on their difference, and responses only
// on the delay, so a search that changes one delay at a time recomputes little.
#include "template/comb/comb_model.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

constexpr auto kLanes = static_cast<std::size_t>(cpu::kSystemLanes);
constexpr auto kPair = static_cast<std::size_t>(cpu::kPair);

}  // namespace

int LaneDelays::Numbers::find(const Delay& delay, const std::array<std::int64_t, 3>& strides) {
  const std::int64_t code = (delay[0] * strides[1] + delay[1]) * strides[2] + delay[2];
  const auto [at, is_new] = number_.try_emplace(code, static_cast<int>(delays.size()));
  if (is_new) delays.push_back(delay);
  return at->second;
}

void LaneDelays::look_at(std::span<const Delay> delays) {
  delays_at_.clear();
  differences_at_.clear();
  for (std::size_t i = 0; i < delays.size(); ++i) {
    delays_at_.push_back(delays_.find(delays[i], comb_.strides));
    for (std::size_t j = 0; j < i && comb_.coloured; ++j) {
      Delay difference;
      for (std::size_t d = 0; d < 3; ++d) {
        difference[d] = delays[i][d] - delays[j][d];
        if (difference[d] < 0) difference[d] += comb_.strides[d];
      }
      differences_at_.push_back(differences_.find(difference, comb_.strides));
    }
  }
  add_roots();
  add_phases();
}

/// Tabulates roots for dimensions with few steps, where several members use each root.
void LaneDelays::add_roots() {
  constexpr std::int64_t kMaxSteps = 64;
  for (std::size_t d = 0; d < static_cast<std::size_t>(comb_.rank); ++d) {
    const std::int64_t steps = comb_.strides[d];
    if (steps > kMaxSteps) continue;
    CountedVector<std::complex<double>>& roots = roots_[d];
    for (std::size_t known = roots.size() / static_cast<std::size_t>(steps); known < delays(); ++known) {
      for (std::int64_t step = 0; step < steps; ++step)
        roots.push_back(comb_.roots[d](step, delays_.delays[known][d]));
    }
  }
}

std::complex<double> LaneDelays::response(std::size_t delay,
                                          const std::array<std::int64_t, 3>& steps) const noexcept {
  std::complex<double> product = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(comb_.rank); ++d) {
    if (delays_.delays[delay][d] == 0) continue;
    const auto at = delay * static_cast<std::size_t>(comb_.strides[d]) + static_cast<std::size_t>(steps[d]);
    product = times(product,
                    roots_[d].empty() ? comb_.roots[d](steps[d], delays_.delays[delay][d]) : roots_[d][at]);
  }
  return product;
}

void LaneDelays::add_phases() {
  const auto side = 2 * BucketLanes::reach(comb_.rank);
  for (std::size_t known = phases_.size() / (3 * kAxis); known < differences(); ++known) {
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
      std::int64_t step = floor_mod(-BucketLanes::reach(comb_.rank), n);
      for (std::int64_t q = 0; q < side; ++q) {
        const std::complex<double> root = comb_.roots[a](step, differences_.delays[known][a]);
        phase[2 * q] = root.real();
        phase[2 * q + 1] = root.imag();
        if (++step == n) step = 0;
      }
    }
  }
}

BucketLanes::BucketLanes(const LaneComb& comb, std::span<const int> members) : comb_(comb), delays_(comb) {
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
    max_members_ = std::max(max_members_, batch.members);
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

void BucketLanes::add_responses(Batch& batch, const LaneDelays& delays) {
  const std::size_t members = batch.members;
  std::size_t known = batch.responses.size() / (members * kPair);
  batch.responses.resize(delays.delays() * members * kPair, 0.0);
  for (; known < delays.delays(); ++known) {
    for (std::size_t l = 0; l < batch.count; ++l) {
      const std::array<std::int64_t, 3>* const steps = batch.steps + l * members;
      for (std::size_t m = 0; m < batch.present_in_lane[l]; ++m) {
        const std::complex<double> response = delays.response(known, steps[m]);
        double* pair = &batch.responses[(known * members + m) * kPair + l];
        pair[0] = response.real();
        pair[kLanes] = response.imag();
      }
    }
  }
}

void BucketLanes::add_tails(Batch& batch, const LaneDelays& delays) {
  std::size_t known = batch.tails.size() / kPair;
  batch.tails.resize(delays.differences() * kPair);
  const auto side = static_cast<int>(2 * reach(comb_.rank));
  cpu::NearAliases near{batch.near_power, {1, 1, 1}};
  for (int d = 3 - comb_.rank; d < 3; ++d) near.extents[d] = side;
  for (; known < delays.differences(); ++known) {
    const double* const phases = delays.phases(known);
    const double* const axes[3] = {phases, phases + LaneDelays::kAxis, phases + 2 * LaneDelays::kAxis};
    cpu::bucket_system_kernels().tail(near, axes, &batch.tails[known * kPair]);
  }
}

cpu::BucketScratch BucketLanes::scratch(std::size_t delays) {
  const auto side = static_cast<int>(std::max(delays, max_members_));
  const std::size_t bytes = static_cast<std::size_t>(cpu::BucketScratch::doubles(side)) * sizeof(double);
  if (scratch_.size() < bytes) scratch_ = AlignedBuffer(bytes);
  return {side, reinterpret_cast<double*>(scratch_.data())};
}

cpu::BucketSystems BucketLanes::prepare(Batch& batch, const LaneDelays& delays) {
  add_responses(batch, delays);
  if (batch.near) add_tails(batch, delays);
  cpu::BucketSystems systems{};
  systems.delays = static_cast<int>(delays.delays_at().size());
  systems.members = static_cast<int>(batch.members);
  systems.responses = batch.responses.data();
  systems.response_at = delays.delays_at().data();
  systems.tails = batch.near ? batch.tails.data() : nullptr;
  systems.tail_at = delays.differences_at().data();
  systems.tail_power = batch.tail_power;
  systems.inverse_power = batch.inverse_power;
  systems.present = batch.present;
  systems.least_squares = comb_.least_squares;
  return systems;
}

bool BucketLanes::variances(std::span<const Delay> delays,
                            const std::function<void(std::size_t, const double*)>& visit) {
  delays_.look_at(delays);
  const cpu::BucketScratch scratch = this->scratch(delays.size());
  double variance[cpu::kSystemMax * kLanes];
  for (Batch& batch : batches_) {
    const cpu::BucketSystems systems = prepare(batch, delays_);
    if (!cpu::bucket_system_kernels().variances(systems, scratch, variance)) return false;
    for (std::size_t l = 0; l < batch.count; ++l) visit(batch.first + l, variance + l);
  }
  return true;
}

bool BucketLanes::rows(const LaneDelays& delays, const std::function<void(std::size_t, const Rows&)>& visit) {
  const std::size_t count = delays.delays_at().size();
  const cpu::BucketScratch scratch = this->scratch(count);
  const std::size_t table = max_members_ * kLanes;
  const AlignedBuffer memory((4 * table + max_members_ * count * kPair) * sizeof(double));
  double *const variance = reinterpret_cast<double*>(memory.data()), *const noise = variance + table,
                *const bias = noise + table;
  double *const response = bias + table, *const weights = response + table;
  for (Batch& batch : batches_) {
    const cpu::BucketSystems systems = prepare(batch, delays);
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
