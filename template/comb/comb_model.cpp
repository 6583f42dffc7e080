// SPDX-License-Identifier: Apache-2.0
// Groups the frequencies by bucket, estimates the tail power that aliases into each group, and solves the
// buckets' systems for recovery weights and errors.
#include "template/comb/comb_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/base/math/index.hpp"

namespace sfft::detail {

namespace {

/// Number of steps, by rank, within which aliases are modelled one by one; farther ones add up incoherently.
constexpr std::int64_t kNear[4] = {0, 3, 3, 1};
/// Minimum tail of a bucket, as a share of the tail model's power there including the members.
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
  comb_ = {strides_,
           {RootsOfUnity(strides_[0]), RootsOfUnity(strides_[1]), RootsOfUnity(strides_[2])},
           support.shape.rank(),
           least_squares_,
           !least_squares_ && !folding_->white()};
  const std::vector<std::int32_t> bucket = folding_->buckets_of_members(buckets);
  // Groups in the order of their first member, then members group by group.
  std::vector<std::int32_t> group_of(static_cast<std::size_t>(bucket_count()), -1);
  groups_.reserve(bucket.size());
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    std::int32_t& g = group_of[static_cast<std::size_t>(bucket[i])];
    if (g < 0) {
      g = static_cast<std::int32_t>(groups_.size());
      groups_.push_back({bucket[i], 0, 0, false, 0});
    }
    Group& group = groups_[static_cast<std::size_t>(g)];
    ++group.count;
    group.own |= !support.members[i].conjugate;
    group.held += folding_->tail_at_members()[i];
  }
  std::size_t placed = 0;
  std::vector<std::int32_t> flat;
  flat.reserve(groups_.size());
  own_.reserve(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.first = placed;
    placed += group.count;
    largest_group_ = std::max(largest_group_, static_cast<std::int64_t>(group.count));
    if (!group.own) continue;
    own_.push_back(g);
    flat.push_back(static_cast<std::int32_t>(group.bucket));
  }
  order_.resize(bucket.size());
  for (std::size_t i = 0; i < bucket.size(); ++i)
    order_[groups_[static_cast<std::size_t>(group_of[static_cast<std::size_t>(bucket[i])])].first++] =
        static_cast<std::uint32_t>(i);
  for (Group& group : groups_) group.first -= group.count;
  const std::vector<double> tails = folding_->tails_of(flat, buckets);
  for (std::size_t n = 0; n < own_.size(); ++n) {
    Group& group = groups_[own_[n]];
    group.tail = tail_without(tails[n], group.held);
  }
}

double CombModel::tail_without(double tail, double held) noexcept {
  return std::max(tail - held, kFloor * tail);
}

/// Least squares fails first where many frequencies share a bucket; with a prior the error follows the tail.
/// Keys that differ by less than 1/64 may count as equal and keep their order.
void CombModel::rank() {
  if (!ranking_.empty() || own_.empty()) return;
  const auto key = [&](const Group& group) {
    return least_squares_ ? static_cast<double>(group.count) : group.tail;
  };
  double largest = 1e-300;
  for (const std::size_t g : own_) largest = std::max(largest, key(groups_[g]));
  // Positive floats order like their bits; these are the exponent and six bits of the mantissa.
  constexpr std::uint32_t kBits = 17, kOne = std::bit_cast<std::uint32_t>(1.0F) >> kBits, kBins = 2048;
  const double unit = 1 / largest;
  std::vector<std::uint16_t> bins;
  bins.reserve(own_.size());
  std::array<std::uint32_t, kBins + 1> begins{};
  for (const std::size_t g : own_) {
    const auto relative = static_cast<float>(key(groups_[g]) * unit);
    const std::uint32_t bin = kOne - (std::bit_cast<std::uint32_t>(relative) >> kBits);
    bins.push_back(static_cast<std::uint16_t>(std::min(bin, kBins - 1)));
    ++begins[bins.back() + 1U];
  }
  for (std::uint32_t bin = 0; bin < kBins; ++bin) begins[bin + 1] += begins[bin];
  ranking_.resize(own_.size());
  for (std::size_t n = 0; n < own_.size(); ++n) ranking_[begins[bins[n]]++] = own_[n];
}

std::array<std::int64_t, 3> CombModel::coordinates_of(std::int64_t bucket) const noexcept {
  std::array<std::int64_t, 3> at{};
  for (std::size_t d = 3; d-- > 0;) {
    at[d] = bucket % buckets_[d];
    bucket /= buckets_[d];
  }
  return at;
}

/// Sets the powers of a bucket's near aliases and the sum over all its aliases.
void CombModel::add_tail(const Group& group, BucketLanes::Slot& slot) const {
  slot.set_tail(group.tail, aliases() - static_cast<double>(group.count));
  if (folding_->white()) return;
  const Shape& shape = folding_->support().shape;
  const CellGrid& grid = folding_->cells();
  const std::array<std::int64_t, 3> base = coordinates_of(group.bucket);
  const auto rank = static_cast<std::size_t>(shape.rank());
  const std::int64_t reach = BucketLanes::reach(shape.rank());
  const auto side = static_cast<std::size_t>(2 * reach);
  // Dimensions are counted from the last one, the innermost. For dimension d: the near steps, starting at
  // `lowest`, and the offsets of their cells in the tail. Dimensions beyond the rank have one step.
  std::array<std::array<std::size_t, 8>, 3> offsets{};
  std::array<std::int64_t, 3> lowest{}, highest{};
  std::array<std::size_t, 3> step{1, 1, 1}, first{};
  std::size_t cells = 1, in_box = 1;
  for (std::size_t n = 0; n < rank; ++n) {
    const std::size_t d = rank - 1 - n;
    const std::int64_t near = kNear[rank];
    const CellAxis& axis = grid.axis(static_cast<int>(d));
    const std::int64_t extent = shape[static_cast<int>(d)];
    // Aliases are counted from the bucket's frequency nearest to zero.
    const std::int64_t shift = 2 * base[d] > buckets_[d] ? -1 : 0;
    lowest[n] = std::max(-near, -((strides_[d] - 1) / 2)) + shift;
    highest[n] = std::min(near, strides_[d] / 2) + shift;
    std::int64_t f = base[d] + lowest[n] * buckets_[d];
    for (std::int64_t q = 0; q <= highest[n] - lowest[n]; ++q, f += buckets_[d])
      offsets[n][static_cast<std::size_t>(q)] =
          cells * static_cast<std::size_t>(axis.cell(f < 0 ? f + extent : f));
    first[n] = static_cast<std::size_t>(lowest[n] + reach) * in_box;
    step[n] = in_box;
    in_box *= side;
    cells *= static_cast<std::size_t>(axis.cells());
  }
  const auto count = [&](std::size_t n) { return static_cast<std::size_t>(highest[n] - lowest[n] + 1); };
  const BucketLanes::Near box = slot.near();
  const double* const tail = folding_->prior().tail.power.data();
  for (std::size_t c = 0; c < count(2); ++c) {
    for (std::size_t b = 0; b < count(1); ++b) {
      const double* const row = tail + offsets[2][c] + offsets[1][b];
      const std::size_t to = first[2] + c * step[2] + first[1] + b * step[1] + first[0];
      for (std::size_t a = 0; a < count(0); ++a) box[to + a] = row[offsets[0][a]];
    }
  }
  for (std::size_t i = 0; i < group.count; ++i) {
    const std::array<std::int64_t, 3> steps = slot.steps(i);
    std::size_t at = 0;
    bool near = true;
    for (std::size_t n = 0; n < rank; ++n) {
      // Steps are in [0, stride); the near ones wrap around.
      const std::size_t d = rank - 1 - n;
      const std::int64_t own = steps[d] > highest[n] ? steps[d] - strides_[d] : steps[d];
      near &= own >= lowest[n];
      at += static_cast<std::size_t>(std::max<std::int64_t>(0, own + reach)) * step[n];
    }
    if (near) box[at] = 0;
  }
}

std::array<std::int64_t, 3> CombModel::steps_of(const SupportMember& of) const noexcept {
  std::array<std::int64_t, 3> steps;
  for (std::size_t d = 0; d < 3; ++d) {
    steps[d] = of.f[d] < 0x7fffffff && buckets_[d] < 0x7fffffff
                   ? static_cast<std::uint32_t>(of.f[d]) / static_cast<std::uint32_t>(buckets_[d])
                   : of.f[d] / buckets_[d];
  }
  return steps;
}

void CombModel::describe(const Group& group, BucketLanes::Slot slot) const {
  for (std::size_t i = 0; i < group.count; ++i) {
    const SupportMember& of = member(group, i);
    slot.set_member(
        i, steps_of(of),
        least_squares_ ? 0 : folding_->prior().support_power[static_cast<std::size_t>(of.coefficient)]);
  }
  if (!least_squares_) add_tail(group, slot);
}

std::unique_ptr<BucketLanes> CombModel::pack(std::span<const std::size_t> groups) const {
  std::vector<int> members;
  members.reserve(groups.size());
  for (const std::size_t g : groups) members.push_back(static_cast<int>(groups_[g].count));
  auto lanes = std::make_unique<BucketLanes>(comb_, members);
  for (std::size_t n = 0; n < groups.size(); ++n) describe(groups_[groups[n]], lanes->slot(n));
  // For differences to a reference the tail is only a guess, so near aliases are modelled with all of their
  // power: rows for a white level would determine the scale less reliably.
  if (comb_.coloured) lanes->separate_near(!folding_->prior().common_scale);
  return lanes;
}

CombModel::Sample& CombModel::sample(std::size_t max_groups) {
  const std::size_t count = max_groups == 0 ? own_.size() : std::min(max_groups, own_.size());
  Sample& sample = samples_[count];
  if (sample.lanes) return sample;
  rank();
  const std::size_t rest = ranking_.size() - count / 2;
  const std::size_t sampled = count - count / 2;
  for (std::size_t n = 0; n < count; ++n) {
    // If the number of groups is limited, half are the head of the ranking and half an evenly spaced,
    // weighted sample of the rest.
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
  // A batch of lanes takes as long as its fullest bucket.
  std::stable_sort(sample.picks.begin(), sample.picks.end(),
                   [&](const Sample::Pick& a, const Sample::Pick& b) {
                     return groups_[a.group].count > groups_[b.group].count;
                   });
  std::vector<std::size_t> groups;
  if (sample.largest <= static_cast<std::size_t>(cpu::kSystemMax)) {
    for (const Sample::Pick& pick : sample.picks) groups.push_back(pick.group);
  }
  sample.lanes = pack(groups);
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
  for (const std::size_t g : own_) {
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
  if (std::max(r, looked.largest) > static_cast<std::size_t>(cpu::kSystemMax)) {
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
    // A sample of the groups shows how far errors stay below their bounds, not how large the bounds
    // are overall.
    const Bounds& all = bounds(r);
    quality.power = all.power;
    if (looked.picks.size() < own_.size() && bound > 0) quality.error *= all.error / bound;
  }
  quality.gain_rms = rows > 0 ? std::sqrt(gains / static_cast<double>(rows)) : 0;
  return quality;
}

}  // namespace sfft::detail
