// SPDX-License-Identifier: Apache-2.0
// The tables of a comb plan: recovery weights and errors of every coefficient, and what empty buckets tell of
// the tail.
#include <algorithm>
#include <cmath>

#include "kernels/base/turns.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "template/comb/comb_model.hpp"

namespace sfft::detail {

std::vector<std::complex<double>> CombModel::own_phases(std::int64_t bucket,
                                                        std::span<const Delay> delays) const {
  const std::array<std::int64_t, 3> base = coordinates_of(bucket);
  const Shape& shape = folding_->support().shape;
  std::vector<std::complex<double>> phases;
  for (const Delay& delay : delays) {
    std::complex<double> product = 1;
    for (int d = 0; d < shape.rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      if (delay[at] != 0 && base[at] != 0)
        product = times(product, root_of_turns(turns_of(base[at], delay[at], shape[d])));
    }
    phases.push_back(product);
  }
  return phases;
}

CombModel::Built CombModel::build(std::span<const Delay> delays, cpu::ThreadPool* pool) {
  Built built;
  CombData& data = built.data;
  const SupportSet& support = folding_->support();
  data.shape = support.shape;
  data.real = support.real;
  data.buckets = buckets_;
  data.delays.assign(delays.begin(), delays.end());
  const auto k = static_cast<std::size_t>(support.k);
  data.bucket.resize(k);
  data.weights.resize(k * delays.size());
  data.noise_gain.resize(k);
  data.bias.resize(k);
  data.response.resize(k);
  std::vector<std::size_t> groups = ranking_;
  Part alone;
  if (least_squares_) {
    const auto lone = std::stable_partition(groups.begin(), groups.end(),
                                            [&](std::size_t g) { return groups_[g].count > 1; });
    for (auto g = lone; g != groups.end(); ++g) build_alone(groups_[*g], data, alone);
    groups.erase(lone, groups.end());
  }
  if (largest_group_ > kMaxDelays) {
    built.quality.solvable = false;
    return built;
  }
  // Lanes are as long as their fullest bucket.
  std::stable_sort(groups.begin(), groups.end(),
                   [&](std::size_t a, std::size_t b) { return groups_[a].count > groups_[b].count; });
  constexpr std::size_t kTogether = 96;  // whatever the threads, so that sums do not depend on them
  std::vector<Part> parts((groups.size() + kTogether - 1) / kTogether);
  cpu::for_each(pool, parts.size() + 1, [&](std::size_t n, int) {
    if (n == 0) return weigh_empty_buckets(data);
    const std::size_t first = (n - 1) * kTogether;
    parts[n - 1] = build_part({&groups[first], std::min(kTogether, groups.size() - first)}, data);
  });
  parts.push_back(alone);
  double gains = 0;
  std::size_t rows = 0;
  Quality& quality = built.quality;
  for (const Part& part : parts) {
    quality.solvable = quality.solvable && part.solvable;
    quality.error += part.error;
    quality.power += part.power;
    quality.gain_max = std::max(quality.gain_max, part.gain_max);
    gains += part.gains;
    rows += part.rows;
  }
  quality.gain_rms = rows > 0 ? std::sqrt(gains / static_cast<double>(rows)) : 0;
  return built;
}

void CombModel::count_row(const CombData& data, std::size_t coefficient, double squares, Part& part) const {
  const double gain = squares * static_cast<double>(data.delay_count());
  part.gains += gain;
  ++part.rows;
  part.gain_max = std::max(part.gain_max, std::sqrt(gain));
  if (static_cast<std::int64_t>(coefficient) == folding_->support().mean_coefficient) return;
  part.error += data.noise_gain[coefficient] + data.bias[coefficient];
  if (!least_squares_) part.power += folding_->prior().support_power[coefficient];
}

/// Alone in a bucket: the mean over the delays, turned back.
void CombModel::build_alone(const Group& group, CombData& data, Part& part) const {
  const SupportMember& of = member(group, 0);
  const auto coefficient = static_cast<std::size_t>(of.coefficient);
  const std::size_t r = data.delays.size();
  data.bucket[coefficient] = group.bucket;
  for (std::size_t j = 0; j < r; ++j) {
    std::complex<double> product = aliases() / static_cast<double>(r);
    for (int d = 0; d < data.shape.rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      if (data.delays[j][at] != 0)
        product = times_conj(product, root_of_turns(turns_of(of.f[at], data.delays[j][at], data.shape[d])));
    }
    data.weights[coefficient * r + j] = product;
  }
  data.noise_gain[coefficient] = std::max(0.0, aliases() / static_cast<double>(r) - 1);
  count_row(data, coefficient, 1 / static_cast<double>(r), part);
}

CombModel::Part CombModel::build_part(std::span<const std::size_t> groups, CombData& data) const {
  Part part;
  std::vector<LaneBucket> buckets;
  buckets.reserve(groups.size());
  for (const std::size_t g : groups) buckets.push_back(describe(groups_[g]));
  BucketLanes lanes(strides_, data.shape.rank(), least_squares_, std::move(buckets));
  const std::size_t r = data.delays.size();
  part.solvable = lanes.rows(data.delays, [&](std::size_t n, const BucketLanes::Rows& solved) {
    const Group& group = groups_[groups[n]];
    const std::vector<std::complex<double>> phases = own_phases(group.bucket, data.delays);
    for (std::size_t i = 0; i < group.count; ++i) {
      const SupportMember& of = member(group, i);
      if (of.conjugate) continue;
      const auto coefficient = static_cast<std::size_t>(of.coefficient);
      data.bucket[coefficient] = group.bucket;
      double squares = 0;
      for (std::size_t j = 0; j < r; ++j) {
        const std::complex<double> weight = solved.weight(i, j);
        squares += std::norm(weight);
        data.weights[coefficient * r + j] = times_conj(weight, phases[j]) * aliases();
      }
      // When the tail is white, the covariance over all aliases is exactly N/B times the identity less the
      // template's own part.
      data.noise_gain[coefficient] = least_squares_ ? std::max(0.0, aliases() * squares - 1)
                                                    : BucketLanes::Rows::at(solved.noise, i, solved.lane);
      if (!least_squares_) {
        data.bias[coefficient] = BucketLanes::Rows::at(solved.bias, i, solved.lane);
        data.response[coefficient] = BucketLanes::Rows::at(solved.response, i, solved.lane);
      }
      count_row(data, coefficient, squares, part);
    }
  });
  return part;
}

void CombModel::weigh_empty_buckets(CombData& data) const {
  std::vector<double> tails = folding_->tails(buckets_);
  std::vector<char> occupied(tails.size(), 0);
  for (const Group& group : groups_) {
    occupied[static_cast<std::size_t>(group.bucket)] = 1;
    tails[static_cast<std::size_t>(group.bucket)] = group.tail;
  }
  double total = 0;
  for (const double tail : tails) total += tail;
  const double negligible = 1e-9 * total / static_cast<double>(tails.size());
  double empty = 0;
  for (std::size_t b = 0; b < tails.size(); ++b) empty += !occupied[b] && tails[b] > negligible;
  data.bucket_weight.assign(tails.size(), 0.0);
  const double unscaled = aliases();
  for (std::size_t b = 0; b < tails.size(); ++b) {
    if (occupied[b] || !(tails[b] > negligible)) continue;
    data.bucket_weight[b] =
        unscaled * unscaled / (tails[b] * empty * static_cast<double>(data.delay_count()));
  }
  data.tail_energy_per_scale = total;
}

}  // namespace sfft::detail
