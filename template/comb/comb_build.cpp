// SPDX-License-Identifier: Apache-2.0
// The tables of a comb plan: recovery weights and errors of every coefficient, and the weights with which
// empty buckets measure the tail.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "template/comb/comb_model.hpp"

namespace sfft::detail {

/// Phases exp(2πi Σ_d b_d τ_jd/n_d) of buckets b, from one table per dimension unless few of its entries
/// would be used.
class CombModel::OwnPhases {
 public:
  OwnPhases(const CombModel& model, std::span<const Delay> delays) : model_(model), delays_(delays) {
    const Shape& shape = model.folding_->support().shape;
    for (std::size_t d = 0; d < tables_.size(); ++d) {
      const auto extent = static_cast<std::size_t>(model.buckets_[d]);
      if (extent > 2 * model.own_.size()) continue;
      std::vector<std::complex<double>>& table = tables_[d];
      table.resize(extent * delays.size());
      for (std::size_t j = 0; j < delays.size(); ++j) {
        std::complex<double>* const to = &table[j * extent];
        to[0] = 1;
        // Each phase is the product of an earlier one and the phase of a power of two, so errors grow with
        // the logarithm of the extent.
        for (std::size_t power = 1; power < extent; power *= 2) {
          const std::complex<double> root = root_of_turns(
              turns_of(static_cast<std::int64_t>(power), delays[j][d], shape[static_cast<int>(d)]));
          for (std::size_t b = power; b < std::min(2 * power, extent); ++b)
            to[b] = times(root, to[b - power]);
        }
      }
    }
  }

  /// Sets phases[j] for one bucket.
  void of(std::int64_t bucket, std::vector<std::complex<double>>& phases) const {
    const std::array<std::int64_t, 3> base = model_.coordinates_of(bucket);
    const Shape& shape = model_.folding_->support().shape;
    for (std::size_t j = 0; j < delays_.size(); ++j) {
      std::complex<double> product = 1;
      for (std::size_t d = 0; d < static_cast<std::size_t>(shape.rank()); ++d) {
        if (delays_[j][d] == 0 || base[d] == 0) continue;
        product =
            times(product, tables_[d].empty()
                               ? root_of_turns(turns_of(base[d], delays_[j][d], shape[static_cast<int>(d)]))
                               : tables_[d][j * static_cast<std::size_t>(model_.buckets_[d]) +
                                            static_cast<std::size_t>(base[d])]);
      }
      phases[j] = product;
    }
  }

 private:
  const CombModel& model_;
  std::span<const Delay> delays_;
  std::array<std::vector<std::complex<double>>, 3> tables_;  ///< [delay][bucket]
};

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
  std::vector<std::size_t> groups(own_.begin(), own_.end());
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
  sort_by_members(groups);
  const OwnPhases phases(*this, delays);
  LaneDelays lane_delays(comb_);
  lane_delays.look_at(delays);
  constexpr std::size_t kTogether = 24;  // fixed, so that sums do not depend on the number of threads
  std::vector<Part> parts((groups.size() + kTogether - 1) / kTogether);
  cpu::for_each(pool, parts.size() + 1, [&](std::size_t n, int) {
    if (n == 0) return weigh_empty_buckets(data);
    const std::size_t first = (n - 1) * kTogether;
    parts[n - 1] =
        build_part({&groups[first], std::min(kTogether, groups.size() - first)}, lane_delays, phases, data);
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

/// A batch of lanes takes as long as its fullest bucket, so buckets are sorted by their number of members,
/// descending.
void CombModel::sort_by_members(std::vector<std::size_t>& groups) const {
  std::array<std::size_t, kMaxDelays + 2> begins{};
  const auto rank = [&](std::size_t g) { return static_cast<std::size_t>(kMaxDelays) - groups_[g].count; };
  for (const std::size_t g : groups) ++begins[rank(g) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::size_t> sorted(groups.size());
  for (const std::size_t g : groups) sorted[begins[rank(g)]++] = g;
  groups = std::move(sorted);
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

/// The row of a member that is alone in its bucket is the mean over the delays, with their phases removed.
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

CombModel::Part CombModel::build_part(std::span<const std::size_t> groups, const LaneDelays& delays,
                                      const OwnPhases& own_phases, CombData& data) const {
  Part part;
  const std::unique_ptr<BucketLanes> lanes = pack(groups);
  const std::size_t r = data.delays.size();
  std::vector<std::complex<double>> phases(r);
  part.solvable = lanes->rows(delays, [&](std::size_t n, const BucketLanes::Rows& solved) {
    const Group& group = groups_[groups[n]];
    own_phases.of(group.bucket, phases);
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
      // With a white tail, the covariance over all aliases is exactly N/B times the identity, minus the
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
  double total = 0;
  for (const Group& group : groups_) {
    double& tail = tails[static_cast<std::size_t>(group.bucket)];
    total += tail_without(tail, group.held);
    tail = 0;  // occupied
  }
  // Independent partial sums, so that additions do not wait for each other.
  constexpr std::size_t kSums = 8;
  const auto sum = [&](const auto& term) {
    std::array<double, kSums> sums{};
    std::size_t b = 0;
    for (; b + kSums <= tails.size(); b += kSums) {
      for (std::size_t s = 0; s < kSums; ++s) sums[s] += term(tails[b + s]);
    }
    for (; b < tails.size(); ++b) sums[0] += term(tails[b]);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  };
  total += sum([](double tail) { return tail; });
  const double negligible = 1e-9 * total / static_cast<double>(tails.size());
  const double empty = sum([&](double tail) { return tail > negligible ? 1.0 : 0.0; });
  const double weight = aliases() * aliases() / (empty * static_cast<double>(data.delay_count()));
  for (double& tail : tails)
    tail = weight / (tail > negligible ? tail : std::numeric_limits<double>::infinity());
  data.bucket_weight = std::move(tails);
  data.tail_energy_per_scale = total;
}

}  // namespace sfft::detail
