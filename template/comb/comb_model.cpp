// SPDX-License-Identifier: Apache-2.0
// Groups the frequencies by bucket, estimates what the tail aliases into each group, and has each bucket's
// problem solved for its recovery weights and their errors.
#include "template/comb/comb_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/index.hpp"
#include "kernels/base/turns.hpp"
#include "kernels/cpu/stages/hash.hpp"
#include "template/comb/bucket_solver.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;
constexpr std::size_t kMax = BucketProblem::kMost;

/// Reach within which aliases are looked at one by one, by rank; those beyond add up incoherently.
constexpr std::int64_t kNear[4] = {0, 3, 3, 1};

}  // namespace

/// exp(2πi q τ_d / L_d) for the steps q to the nearest aliases, so that an alias costs no sine.
struct CombModel::StepPhases {
  static constexpr std::int64_t kReach = 4;
  std::array<std::array<std::array<Complex, kMax>, 2 * kReach + 1>, 3> of;

  StepPhases(std::span<const Delay> delays, const std::array<std::int64_t, 3>& strides) {
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::int64_t q = -kReach; q <= kReach; ++q) {
        for (std::size_t j = 0; j < delays.size(); ++j) {
          of[d][static_cast<std::size_t>(q + kReach)][j] =
              phase(floor_mod(q, strides[d]), delays[j][d], strides[d]);
        }
      }
    }
  }
  Complex operator()(const std::array<std::int64_t, 3>& steps, std::size_t j) const noexcept {
    Complex product = of[0][static_cast<std::size_t>(steps[0] + kReach)][j];
    for (std::size_t d = 1; d < 3; ++d)
      product = times(product, of[d][static_cast<std::size_t>(steps[d] + kReach)][j]);
    return product;
  }
};

CombModel::CombModel(const SupportSet& support, const SpectralPrior& prior,
                     const std::array<std::int64_t, 3>& buckets)
    : support_(support), prior_(prior), buckets_(buckets) {
  for (int d = 0; d < 3; ++d) {
    strides_[static_cast<std::size_t>(d)] = support.shape[d] / buckets[static_cast<std::size_t>(d)];
  }
  std::vector<std::int64_t> bucket(support.members.size());
  for (std::size_t i = 0; i < bucket.size(); ++i) bucket[i] = cpu::hash(support.members[i].f, buckets);
  order_.resize(bucket.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t b) {
    const std::int64_t ba = bucket[static_cast<std::size_t>(a)];
    const std::int64_t bb = bucket[static_cast<std::size_t>(b)];
    return ba != bb ? ba < bb : a < b;
  });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto member = static_cast<std::size_t>(order_[i]);
    if (groups_.empty() || groups_.back().bucket != bucket[member]) {
      groups_.push_back({bucket[member], i, 0, false, 0, false, 0, {}});
    }
    ++groups_.back().count;
    groups_.back().own |= !support.members[member].conjugate;
  }
  for (const Group& group : groups_) {
    largest_group_ = std::max(largest_group_, static_cast<std::int64_t>(group.count));
  }
  white_ = prior.tail.zero();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].own) ranking_.push_back(g);
  }
}

void CombModel::find_tails() {
  if (tails_known_) return;
  tails_known_ = true;
  const CellGrid grid(support_.shape);
  if (white_) {
    bucket_tail_.assign(static_cast<std::size_t>(bucket_count()), aliases());
  } else {
    bucket_tail_ = grid.bucket_sums(prior_.tail, buckets_);
  }
  for (Group& group : groups_) {
    double& tail = bucket_tail_[static_cast<std::size_t>(group.bucket)];
    const double floor = tail * 1e-9;
    for (std::size_t i = 0; i < group.count; ++i) {
      const SupportMember& member = support_.members[static_cast<std::size_t>(order_[group.first + i])];
      tail -= white_ ? 1 : prior_.tail.power[grid.cell(member.f)];
    }
    tail = std::max(tail, floor);
    group.tail = tail;
  }
  // Least squares fails first where many frequencies share a bucket; with a prior the error follows the tail.
  std::stable_sort(ranking_.begin(), ranking_.end(), [&](std::size_t a, std::size_t b) {
    return prior_.least_squares() ? groups_[a].count > groups_[b].count : groups_[a].tail > groups_[b].tail;
  });
}

double CombModel::proxy_error(std::int64_t delay_count) {
  find_tails();
  double sum = 0;
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.count; ++i) {
      const SupportMember& member = support_.members[static_cast<std::size_t>(order_[group.first + i])];
      if (member.conjugate || member.coefficient == support_.mean_coefficient) continue;
      const double spread = static_cast<double>(
          std::max<std::int64_t>(1, delay_count + 1 - static_cast<std::int64_t>(group.count)));
      const double noise = group.tail / spread;
      sum += prior_.least_squares()
                 ? noise
                 : std::min(noise, prior_.support_power[static_cast<std::size_t>(member.coefficient)]);
    }
  }
  return sum;
}

std::array<std::int64_t, 3> CombModel::coordinates_of(std::int64_t bucket) const noexcept {
  std::array<std::int64_t, 3> at{};
  for (std::size_t d = 3; d-- > 0;) {
    at[d] = bucket % buckets_[d];
    bucket /= buckets_[d];
  }
  return at;
}

void CombModel::find_aliases(Group& group) {
  if (group.aliases_known) return;
  group.aliases_known = true;
  group.far_tail = group.tail;
  if (white_) return;
  const CellGrid grid(support_.shape);
  const std::int64_t near = kNear[support_.shape.rank()];
  const std::array<std::int64_t, 3> base = coordinates_of(group.bucket);
  std::array<std::int64_t, 3> low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) {
    // Aliases are counted from the bucket's own frequency nearest to zero.
    const std::int64_t shift = 2 * base[d] > buckets_[d] ? -1 : 0;
    low[d] = std::max(-near, -((strides_[d] - 1) / 2)) + shift;
    high[d] = std::min(near, strides_[d] / 2) + shift;
  }
  for (std::int64_t q0 = low[0]; q0 <= high[0]; ++q0) {
    for (std::int64_t q1 = low[1]; q1 <= high[1]; ++q1) {
      for (std::int64_t q2 = low[2]; q2 <= high[2]; ++q2) {
        const std::array<std::int64_t, 3> steps{q0, q1, q2};
        std::array<std::int64_t, 3> f{};
        for (std::size_t d = 0; d < 3; ++d) {
          f[d] = floor_mod(base[d] + steps[d] * buckets_[d], support_.shape[static_cast<int>(d)]);
        }
        bool in_template = false;
        for (std::size_t i = 0; i < group.count && !in_template; ++i) {
          in_template = support_.members[static_cast<std::size_t>(order_[group.first + i])].f == f;
        }
        if (in_template) continue;
        const double power = prior_.tail.power[grid.cell(f)];
        group.aliases.push_back({steps, power});
        group.far_tail -= power;
      }
    }
  }
  // Where the near aliases are a small part of the tail, their phases are not worth modelling.
  double near_sum = 0;
  for (const Alias& alias : group.aliases) near_sum += alias.power;
  if (near_sum < 0.2 * group.tail) {
    group.aliases.clear();
    group.far_tail = group.tail;
  }
  // A little of the tail stays white: no model of a spectrum is exact.
  group.far_tail = std::max(group.far_tail, 1e-3 * group.tail);
}

/// Lower triangle of the near aliases' covariance between the delays: a sum of one rank-one term per alias.
/// Real and imaginary parts stand apart, so that loops become vectors.
void CombModel::find_covariance(const Group& group, std::span<const Delay> delays, const StepPhases& steps) {
  const std::size_t r = delays.size();
  covariance_.assign(r * r, Complex());
  double re[kMax][kMax], im[kMax][kMax];
  for (std::size_t j = 0; j < r; ++j) {
    std::fill_n(re[j], r, 0.0);
    std::fill_n(im[j], r, 0.0);
  }
  for (const Alias& alias : group.aliases) {
    double column_re[kMax], column_im[kMax];
    for (std::size_t j = 0; j < r; ++j) {
      const Complex phase = steps(alias.steps, j);
      column_re[j] = phase.real();
      column_im[j] = phase.imag();
    }
    for (std::size_t j = 0; j < r; ++j) {
      const double a = alias.power * column_re[j], b = alias.power * column_im[j];
      for (std::size_t i = j; i < r; ++i) {
        re[j][i] += a * column_re[i] + b * column_im[i];
        im[j][i] += a * column_im[i] - b * column_re[i];
      }
    }
  }
  const std::array<std::int64_t, 3> base = coordinates_of(group.bucket);
  Complex base_phase[kMax];
  for (std::size_t j = 0; j < r; ++j) base_phase[j] = phase_of(base, delays[j]);
  for (std::size_t j = 0; j < r; ++j) {
    for (std::size_t i = j; i < r; ++i)
      covariance_[j * r + i] = base_phase[i] * Complex(re[j][i], im[j][i]) * std::conj(base_phase[j]);
  }
}

Complex CombModel::phase_of(const std::array<std::int64_t, 3>& f, const Delay& delay) const {
  Complex product = 1;
  for (int d = 0; d < support_.shape.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (delay[at] != 0) product = times(product, phase(f[at], delay[at], support_.shape[d]));
  }
  return product;
}

bool CombModel::solve(const Group& group, std::span<const Delay> delays, const StepPhases& steps,
                      BucketSolution& solution) {
  const std::size_t r = delays.size();
  if (std::max(r, group.count) > kMax) return false;
  response_.resize(group.count * r);
  double power[kMax];
  for (std::size_t i = 0; i < group.count; ++i) {
    const SupportMember& member = support_.members[static_cast<std::size_t>(order_[group.first + i])];
    for (std::size_t j = 0; j < r; ++j) response_[i * r + j] = phase_of(member.f, delays[j]);
    power[i] =
        prior_.least_squares() ? 0 : prior_.support_power[static_cast<std::size_t>(member.coefficient)];
  }
  if (!group.aliases.empty()) find_covariance(group, delays, steps);
  BucketProblem problem;
  problem.delays = static_cast<int>(r);
  problem.members = static_cast<int>(group.count);
  problem.response = response_.data();
  problem.power = power;
  problem.covariance = group.aliases.empty() ? nullptr : covariance_.data();
  problem.far_tail = group.far_tail;
  problem.aliases = aliases();
  problem.ridge = !prior_.least_squares();
  problem.white = white_;
  return solve_bucket(problem, solution);
}

CombModel::Quality CombModel::assess(std::span<const Delay> delays, std::size_t max_groups) {
  find_tails();
  Quality quality;
  BucketSolution solution;
  const StepPhases steps(delays, strides_);
  const std::size_t count = max_groups == 0 ? ranking_.size() : std::min(max_groups, ranking_.size());
  double gains = 0;
  std::size_t rows = 0;
  for (std::size_t n = 0; n < count; ++n) {
    // A limited look takes the whole head of the ranking and an evenly spaced, weighted sample of the rest.
    const bool head = n < count / 2 || count == ranking_.size();
    const std::size_t rest = ranking_.size() - count / 2;
    const std::size_t sampled = count - count / 2;
    const std::size_t pick = head ? n : count / 2 + (2 * (n - count / 2) + 1) * rest / (2 * sampled);
    const double weight = head ? 1 : static_cast<double>(rest) / static_cast<double>(sampled);
    Group& group = groups_[ranking_[pick]];
    find_aliases(group);
    if (!solve(group, delays, steps, solution)) {
      quality.solvable = false;
      return quality;
    }
    for (std::size_t i = 0; i < group.count; ++i) {
      const SupportMember& member = support_.members[static_cast<std::size_t>(order_[group.first + i])];
      if (member.conjugate) continue;
      const double gain = solution.weights.row(static_cast<Eigen::Index>(i)).squaredNorm() *
                          static_cast<double>(delays.size());
      gains += gain;
      ++rows;
      quality.gain_max = std::max(quality.gain_max, std::sqrt(gain));
      if (member.coefficient == support_.mean_coefficient) continue;
      quality.error += weight * (solution.noise[i] + solution.bias[i]);
      if (!prior_.least_squares())
        quality.power += weight * prior_.support_power[static_cast<std::size_t>(member.coefficient)];
    }
  }
  quality.gain_rms = rows > 0 ? std::sqrt(gains / static_cast<double>(rows)) : 0;
  return quality;
}

CombData CombModel::build(std::span<const Delay> delays) {
  find_tails();
  CombData data;
  data.shape = support_.shape;
  data.real = support_.real;
  data.buckets = buckets_;
  data.delays.assign(delays.begin(), delays.end());
  const auto k = static_cast<std::size_t>(support_.k);
  const std::size_t r = delays.size();
  data.bucket.resize(k);
  data.weights.resize(k * r);
  data.noise_gain.resize(k);
  data.bias.resize(k);
  data.response.resize(k);
  const double unscaled = aliases();
  BucketSolution solution;
  const StepPhases steps(delays, strides_);
  for (const std::size_t g : ranking_) {
    Group& group = groups_[g];
    find_aliases(group);
    solve(group, delays, steps, solution);
    for (std::size_t i = 0; i < group.count; ++i) {
      const SupportMember& member = support_.members[static_cast<std::size_t>(order_[group.first + i])];
      if (member.conjugate) continue;
      const auto coefficient = static_cast<std::size_t>(member.coefficient);
      data.bucket[coefficient] = group.bucket;
      for (std::size_t j = 0; j < r; ++j) {
        data.weights[coefficient * r + j] =
            solution.weights(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * unscaled;
      }
      data.noise_gain[coefficient] = solution.noise[i];
      data.bias[coefficient] = solution.bias[i];
      data.response[coefficient] = solution.response[i];
    }
  }

  std::vector<char> occupied(bucket_tail_.size(), 0);
  for (const Group& group : groups_) occupied[static_cast<std::size_t>(group.bucket)] = 1;
  double total = 0;
  for (const double tail : bucket_tail_) total += tail;
  const double negligible = 1e-9 * total / static_cast<double>(bucket_tail_.size());
  double empty = 0;
  for (std::size_t b = 0; b < bucket_tail_.size(); ++b) empty += !occupied[b] && bucket_tail_[b] > negligible;
  data.bucket_weight.assign(bucket_tail_.size(), 0.0);
  for (std::size_t b = 0; b < bucket_tail_.size(); ++b) {
    if (occupied[b] || !(bucket_tail_[b] > negligible)) continue;
    data.bucket_weight[b] = unscaled * unscaled / (bucket_tail_[b] * empty * static_cast<double>(r));
  }
  data.tail_energy_per_scale = total;
  return data;
}

}  // namespace sfft::detail
