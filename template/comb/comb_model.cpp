// SPDX-License-Identifier: Apache-2.0
// Groups the frequencies by bucket, estimates what the tail aliases into each group, and has the buckets'
// problems solved for their recovery weights and errors.
#include "template/comb/comb_model.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/index.hpp"

namespace sfft::detail {

namespace {

/// Reach within which aliases are looked at one by one, by rank; those beyond add up incoherently.
constexpr std::int64_t kNear[4] = {0, 3, 3, 1};
/// A tail that the model puts at nothing keeps this share of its bucket's power.
constexpr double kFloor = 1e-9;

std::shared_ptr<const Folding> folding_of(const SupportSet& support, const SpectralPrior& prior,
                                          const std::array<std::int64_t, 3>& buckets) {
  auto folding = std::make_shared<Folding>(support, prior);
  folding->prepare(buckets);
  return folding;
}

}  // namespace

CombModel::CombModel(const SupportSet& support, const SpectralPrior& prior,
                     const std::array<std::int64_t, 3>& buckets)
    : CombModel(folding_of(support, prior, buckets), buckets) {}

CombModel::CombModel(std::shared_ptr<const Folding> folding, const std::array<std::int64_t, 3>& buckets)
    : folding_(std::move(folding)), buckets_(buckets), least_squares_(folding_->prior().least_squares()) {
  const SupportSet& support = folding_->support();
  for (int d = 0; d < 3; ++d) {
    strides_[static_cast<std::size_t>(d)] = support.shape[d] / buckets[static_cast<std::size_t>(d)];
  }
  const std::vector<std::int32_t> bucket = folding_->buckets_of_members(buckets);
  // Groups in the order in which their buckets come up, then members group by group.
  std::vector<std::int32_t> group_of(static_cast<std::size_t>(bucket_count()), -1);
  std::vector<std::int32_t> flat;
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    std::int32_t& g = group_of[static_cast<std::size_t>(bucket[i])];
    if (g < 0) {
      g = static_cast<std::int32_t>(groups_.size());
      groups_.push_back({bucket[i], 0, 0, false, 0});
      flat.push_back(bucket[i]);
    }
    Group& group = groups_[static_cast<std::size_t>(g)];
    ++group.count;
    group.own |= !support.members[i].conjugate;
    group.tail += folding_->tail_at_members()[i];
  }
  std::size_t placed = 0;
  for (Group& group : groups_) {
    group.first = placed;
    placed += group.count;
  }
  order_.resize(bucket.size());
  std::vector<std::size_t> filled(groups_.size(), 0);
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    const auto g = static_cast<std::size_t>(group_of[static_cast<std::size_t>(bucket[i])]);
    order_[groups_[g].first + filled[g]++] = i;
  }
  const std::vector<double> tails = folding_->tails_of(flat, buckets);
  // Least squares fails first where many frequencies share a bucket; with a prior the error follows the tail.
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.tail = std::max(tails[g] - group.tail, kFloor * tails[g]);
    largest_group_ = std::max(largest_group_, static_cast<std::int64_t>(group.count));
    if (group.own) ranked.emplace_back(least_squares_ ? -static_cast<double>(group.count) : -group.tail, g);
  }
  std::sort(ranked.begin(), ranked.end());
  ranking_.reserve(ranked.size());
  for (const auto& [key, g] : ranked) ranking_.push_back(g);
}

std::array<std::int64_t, 3> CombModel::coordinates_of(std::int64_t bucket) const noexcept {
  std::array<std::int64_t, 3> at{};
  for (std::size_t d = 3; d-- > 0;) {
    at[d] = bucket % buckets_[d];
    bucket /= buckets_[d];
  }
  return at;
}

void CombModel::find_aliases(const Group& group, LaneBucket& bucket) const {
  const Shape& shape = folding_->support().shape;
  const CellGrid& grid = folding_->cells();
  const std::array<std::int64_t, 3> base = coordinates_of(group.bucket);
  const auto rank = static_cast<std::size_t>(shape.rank());
  const std::int64_t reach = BucketLanes::reach(shape.rank());
  const auto side = static_cast<std::size_t>(2 * reach);
  // Per dimension the steps that are near, and their cells. Dimensions beyond the rank have one of each.
  std::array<std::array<std::int64_t, 8>, 3> cells{};
  std::array<std::int64_t, 3> lowest{}, highest{}, cell_count{1, 1, 1};
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t near = kNear[rank];
    const CellAxis& axis = grid.axis(static_cast<int>(d));
    // Aliases are counted from the bucket's own frequency nearest to zero.
    const std::int64_t shift = 2 * base[d] > buckets_[d] ? -1 : 0;
    lowest[d] = std::max(-near, -((strides_[d] - 1) / 2)) + shift;
    highest[d] = std::min(near, strides_[d] / 2) + shift;
    cell_count[d] = axis.cells();
    for (std::int64_t step = lowest[d]; step <= highest[d]; ++step) {
      const std::int64_t f = base[d] + step * buckets_[d];
      cells[d][static_cast<std::size_t>(step + reach)] =
          axis.cell(f < 0 ? f + shape[static_cast<int>(d)] : f);
    }
  }
  const auto at = [&](std::size_t d, std::int64_t step) {
    return d < rank ? static_cast<std::size_t>(step + reach) : std::size_t{0};
  };
  const std::size_t sides[3] = {side, rank > 1 ? side : 1, rank > 2 ? side : 1};
  bucket.near.assign(sides[0] * sides[1] * sides[2], 0.0);
  double sum = 0;
  const double* const tail = folding_->prior().tail.power.data();
  for (std::int64_t q0 = lowest[0]; q0 <= highest[0]; ++q0) {
    for (std::int64_t q1 = lowest[1]; q1 <= highest[1]; ++q1) {
      const std::int64_t row = cells[0][at(0, q0)] * cell_count[1] + cells[1][at(1, q1)];
      double* const to = &bucket.near[(at(0, q0) * sides[1] + at(1, q1)) * sides[2]];
      for (std::int64_t q2 = lowest[2]; q2 <= highest[2]; ++q2)
        to[at(2, q2)] = tail[row * cell_count[2] + cells[2][at(2, q2)]];
    }
  }
  for (const LaneBucket::Member& member : bucket.members) {
    std::size_t n = 0;
    bool near = true;
    for (std::size_t d = 0; d < rank; ++d) {
      // Steps are in [0, stride); the near ones wrap around.
      std::int64_t step = member.steps[d];
      if (step > highest[d]) step -= strides_[d];
      near &= step >= lowest[d];
      n = n * side + static_cast<std::size_t>(std::max<std::int64_t>(0, step + reach));
    }
    if (near) bucket.near[n] = 0;
  }
  double near_count = 0;
  for (const double power : bucket.near) {
    sum += power;
    near_count += power > 0;
  }
  // A tail that is level over all aliases is white between delays. What the near ones have above the level of
  // the others is what depends on phases. The change since a reference is only guessed, and counts as a
  // whole: its scale is found less surely from white rows.
  if (!folding_->prior().common_scale) {
    const double far_count = aliases() - static_cast<double>(group.count) - near_count;
    const double level = far_count > 0 ? std::max(0.0, group.tail - sum) / far_count : 0;
    sum = 0;
    for (double& power : bucket.near) {
      power = std::max(0.0, power - level);
      sum += power;
    }
  }
  // Where the near aliases are a small part of the tail, their phases are not worth modelling.
  bucket.tail = group.tail;
  if (sum < 0.2 * group.tail) {
    bucket.near.clear();
    return;
  }
  // A little of the tail stays white: no model of a spectrum is exact.
  bucket.tail = std::max(group.tail - sum, 1e-3 * group.tail);
}

LaneBucket CombModel::describe(const Group& group) const {
  LaneBucket bucket;
  bucket.tail = 1;
  for (std::size_t i = 0; i < group.count; ++i) {
    const SupportMember& of = member(group, i);
    LaneBucket::Member& made = bucket.members.emplace_back();
    for (std::size_t d = 0; d < 3; ++d) made.steps[d] = of.f[d] / buckets_[d];
    made.power =
        least_squares_ ? 0 : folding_->prior().support_power[static_cast<std::size_t>(of.coefficient)];
  }
  if (!least_squares_) {
    bucket.tail = group.tail;
    if (!folding_->white()) find_aliases(group, bucket);
  }
  return bucket;
}

CombModel::Sample& CombModel::sample(std::size_t max_groups) {
  const std::size_t count = max_groups == 0 ? ranking_.size() : std::min(max_groups, ranking_.size());
  Sample& sample = samples_[count];
  if (sample.lanes) return sample;
  const std::size_t rest = ranking_.size() - count / 2;
  const std::size_t sampled = count - count / 2;
  for (std::size_t n = 0; n < count; ++n) {
    // A limited look takes the whole head of the ranking and an evenly spaced, weighted sample of the rest.
    const bool head = n < count / 2 || count == ranking_.size();
    const std::size_t pick = head ? n : count / 2 + (2 * (n - count / 2) + 1) * rest / (2 * sampled);
    const Group& group = groups_[ranking_[pick]];
    if (least_squares_ && group.count == 1) {
      ++sample.alone;
      sample.alone_counted += member(group, 0).coefficient != folding_->support().mean_coefficient;
      continue;
    }
    sample.largest = std::max(sample.largest, group.count);
    sample.picks.push_back({ranking_[pick], head || least_squares_
                                                ? 1
                                                : static_cast<double>(rest) / static_cast<double>(sampled)});
  }
  // Lanes are as long as their fullest bucket.
  std::stable_sort(sample.picks.begin(), sample.picks.end(),
                   [&](const Sample::Pick& a, const Sample::Pick& b) {
                     return groups_[a.group].count > groups_[b.group].count;
                   });
  std::vector<LaneBucket> buckets;
  if (sample.largest <= static_cast<std::size_t>(cpu::kSystemMost)) {
    buckets.reserve(sample.picks.size());
    for (const Sample::Pick& pick : sample.picks) buckets.push_back(describe(groups_[pick.group]));
  }
  sample.lanes = std::make_unique<BucketLanes>(strides_, folding_->support().shape.rank(), least_squares_,
                                               std::move(buckets));
  return sample;
}

double CombModel::error_bound(const Group& group, const SupportMember& of, std::size_t delays) const {
  const std::size_t spread = delays + 1 > group.count ? delays + 1 - group.count : 1;
  return std::min(group.tail / static_cast<double>(spread),
                  folding_->prior().support_power[static_cast<std::size_t>(of.coefficient)]);
}

const CombModel::Bounds& CombModel::bounds(std::size_t delays) {
  const auto [at, is_new] = bounds_.try_emplace(delays);
  if (!is_new) return at->second;
  for (const std::size_t g : ranking_) {
    for (std::size_t i = 0; i < groups_[g].count; ++i) {
      const SupportMember& of = member(groups_[g], i);
      if (of.conjugate || of.coefficient == folding_->support().mean_coefficient) continue;
      at->second.error += error_bound(groups_[g], of, delays);
      at->second.power += folding_->prior().support_power[static_cast<std::size_t>(of.coefficient)];
    }
  }
  return at->second;
}

CombModel::Quality CombModel::assess(std::span<const Delay> delays, std::size_t max_groups) {
  Sample& looked = sample(max_groups);
  Quality quality;
  const std::size_t r = delays.size();
  if (std::max(r, looked.largest) > static_cast<std::size_t>(cpu::kSystemMost)) {
    quality.solvable = false;
    return quality;
  }
  const auto delay_count = static_cast<double>(r);
  double gains = static_cast<double>(looked.alone);
  double bound = 0;
  std::size_t rows = looked.alone;
  if (looked.alone > 0) {
    quality.gain_max = 1;
    quality.error = static_cast<double>(looked.alone_counted) * std::max(0.0, aliases() / delay_count - 1);
  }
  quality.solvable = looked.lanes->variances(delays, [&](std::size_t n, const double* variance) {
    const Sample::Pick& pick = looked.picks[n];
    const Group& group = groups_[pick.group];
    for (std::size_t i = 0; i < group.count; ++i) {
      const SupportMember& of = member(group, i);
      if (of.conjugate) continue;
      const double of_row = variance[i * static_cast<std::size_t>(cpu::kSystemLanes)];
      if (least_squares_) {
        gains += of_row * delay_count;
        quality.gain_max = std::max(quality.gain_max, std::sqrt(of_row * delay_count));
        ++rows;
      }
      if (of.coefficient == folding_->support().mean_coefficient) continue;
      if (least_squares_) {
        quality.error += std::max(0.0, aliases() * of_row - 1);
      } else {
        quality.error += pick.weight * of_row;
        bound += pick.weight * error_bound(group, of, r);
      }
    }
  });
  if (!least_squares_) {
    // A sample of the groups tells how far errors stay below their bounds, not how large these are on the
    // whole.
    const Bounds& all = bounds(r);
    quality.power = all.power;
    if (looked.picks.size() < ranking_.size() && bound > 0) quality.error *= all.error / bound;
  }
  quality.gain_rms = rows > 0 ? std::sqrt(gains / static_cast<double>(rows)) : 0;
  return quality;
}

}  // namespace sfft::detail
