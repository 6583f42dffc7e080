// SPDX-License-Identifier: Apache-2.0
// A real comb plan on grids of half the points: decimation in time, which recovery completes.
//
// The samples of delay τ on a grid of B points are those of τ and of τ + L on a grid with B/2 points along
// one dimension, and Y[b] = Y₀[b'] + w_b Y₁[b'] with w_b = exp(−2πi b_d/B_d), b' = b mod B/2. The weights
// absorb the factor w_b, so recovery is unchanged. Each pair of delays fills one lane Z = Y₀ + i Y₁. There
// are then twice as many lanes with half the points, for machines that have a multiprocessor for every lane.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/math/hash.hpp"
#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/base/tables/comb_data.hpp"

namespace sfft::detail {

/// weight · |Y₀[at] + root · Y₁[at]|², where Y₀ = (Z[at] + conj Z[mirror])/2, Y₁ = (Z[at] − conj
/// Z[mirror])/(2i).
struct TailTerm {
  std::int64_t at, mirror;
  double weight;
  std::complex<double> root;
};

struct HalvedComb {
  /// Has twice the delays: 2j and 2j + 1 come from delay j. bucket_weight is empty.
  CombData data;
  /// The tail's scale is the sum of these terms over the lanes. Each pair ±b of empty buckets of the whole
  /// grid has one term.
  std::vector<TailTerm> tail;
};

/// Halves the number of buckets in dimension d, which must be even.
inline HalvedComb halved(const CombData& whole, int d) {
  const auto side = static_cast<std::size_t>(d);
  HalvedComb out{whole, {}};
  CombData& data = out.data;
  data.buckets[side] /= 2;
  data.delays.clear();
  for (std::array<std::int64_t, 3> delay : whole.delays) {
    data.delays.push_back(delay);
    delay[side] += whole.stride(d);
    data.delays.push_back(delay);
  }
  std::int64_t inner = 1;
  for (std::size_t e = side + 1; e < 3; ++e) inner *= whole.buckets[e];
  const std::int64_t extent = whole.buckets[side], half = extent / 2;
  const RootsOfUnity roots(extent);
  const auto halved_bucket = [&](std::int64_t b) {
    const std::int64_t row = b / inner;
    return (row / extent * half + row % extent % half) * inner + b % inner;
  };
  const auto root_of = [&](std::int64_t b) { return std::conj(roots(b / inner % extent)); };

  const std::size_t delays = whole.delays.size();
  data.weights.resize(2 * whole.weights.size());
  for (std::size_t i = 0; i < whole.bucket.size(); ++i) {
    data.bucket[i] = halved_bucket(whole.bucket[i]);
    const std::complex<double> root = root_of(whole.bucket[i]);
    for (std::size_t j = i * delays; j < (i + 1) * delays; ++j) {
      const std::complex<double> weight = whole.weights[j];
      data.weights[2 * j] = weight;
      data.weights[2 * j + 1] = times(weight, root);
    }
  }

  // |Y[b]| = |Y[−b]|, so one term serves both.
  data.bucket_weight.clear();
  for (std::int64_t b = 0; b < whole.bucket_count(); ++b) {
    const std::int64_t mirror = comb_mirror(b, whole.buckets.data());
    double weight = whole.bucket_weight[static_cast<std::size_t>(b)];
    if (mirror < b) continue;
    if (mirror > b) weight += whole.bucket_weight[static_cast<std::size_t>(mirror)];
    if (!(weight > 0)) continue;
    const std::int64_t at = halved_bucket(b);
    out.tail.push_back({at, comb_mirror(at, data.buckets.data()), weight, root_of(b)});
  }
  return out;
}

}  // namespace sfft::detail
