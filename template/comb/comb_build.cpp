// SPDX-License-Identifier: Apache-2.0
// The tables of a comb plan: recovery weights and errors of every coefficient, and what empty buckets tell of
// the tail.
#include <algorithm>
#include <cmath>

#include "kernels/base/turns.hpp"
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

CombModel::Built CombModel::build(std::span<const Delay> delays) {
  Built built;
  CombData& data = built.data;
  const SupportSet& support = folding_->support();
  const std::span<const double> prior = folding_->prior().support_power;
  data.shape = support.shape;
  data.real = support.real;
  data.buckets = buckets_;
  data.delays.assign(delays.begin(), delays.end());
  const auto k = static_cast<std::size_t>(support.k);
  const std::size_t r = delays.size();
  data.bucket.resize(k);
  data.weights.resize(k * r);
  data.noise_gain.resize(k);
  data.bias.resize(k);
  data.response.resize(k);
  const double unscaled = aliases();
  double gains = 0;
  std::size_t rows = 0;
  const auto count = [&](std::size_t coefficient, double squares) {
    const double gain = squares * static_cast<double>(r);
    gains += gain;
    ++rows;
    built.quality.gain_max = std::max(built.quality.gain_max, std::sqrt(gain));
    if (static_cast<std::int64_t>(coefficient) == support.mean_coefficient) return;
    built.quality.error += data.noise_gain[coefficient] + data.bias[coefficient];
    if (!least_squares_) built.quality.power += prior[coefficient];
  };
  if (least_squares_) {  // alone in a bucket: the mean over the delays, turned back
    for (const std::size_t g : ranking_) {
      const Group& group = groups_[g];
      if (group.count > 1) continue;
      const SupportMember& of = member(group, 0);
      const auto coefficient = static_cast<std::size_t>(of.coefficient);
      data.bucket[coefficient] = group.bucket;
      for (std::size_t j = 0; j < r; ++j) {
        std::complex<double> product = unscaled / static_cast<double>(r);
        for (int d = 0; d < support.shape.rank(); ++d) {
          const auto at = static_cast<std::size_t>(d);
          if (delays[j][at] != 0)
            product = times_conj(product, root_of_turns(turns_of(of.f[at], delays[j][at], support.shape[d])));
        }
        data.weights[coefficient * r + j] = product;
      }
      data.noise_gain[coefficient] = std::max(0.0, unscaled / static_cast<double>(r) - 1);
      count(coefficient, 1 / static_cast<double>(r));
    }
  }
  Sample& all = sample(0);
  built.quality.solvable = all.lanes->rows(delays, [&](std::size_t n, const BucketLanes::Rows& solved) {
    const Group& group = groups_[all.picks[n].group];
    const std::vector<std::complex<double>> phases = own_phases(group.bucket, delays);
    for (std::size_t i = 0; i < group.count; ++i) {
      const SupportMember& of = member(group, i);
      if (of.conjugate) continue;
      const auto coefficient = static_cast<std::size_t>(of.coefficient);
      data.bucket[coefficient] = group.bucket;
      double squares = 0;
      for (std::size_t j = 0; j < r; ++j) {
        const std::complex<double> weight = solved.weight(i, j);
        squares += std::norm(weight);
        data.weights[coefficient * r + j] = times_conj(weight, phases[j]) * unscaled;
      }
      // When the tail is white, the covariance over all aliases is exactly N/B times the identity less the
      // template's own part.
      data.noise_gain[coefficient] = least_squares_ ? std::max(0.0, unscaled * squares - 1)
                                                    : BucketLanes::Rows::at(solved.noise, i, solved.lane);
      if (!least_squares_) {
        data.bias[coefficient] = BucketLanes::Rows::at(solved.bias, i, solved.lane);
        data.response[coefficient] = BucketLanes::Rows::at(solved.response, i, solved.lane);
      }
      count(coefficient, squares);
    }
  });
  built.quality.gain_rms = rows > 0 ? std::sqrt(gains / static_cast<double>(rows)) : 0;
  weigh_empty_buckets(data);
  return built;
}

void CombModel::weigh_empty_buckets(CombData& data) const {
  std::vector<double> tails = folding_->white()
                                  ? std::vector<double>(static_cast<std::size_t>(bucket_count()), aliases())
                                  : folding_->cells().bucket_sums(folding_->prior().tail, buckets_);
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
