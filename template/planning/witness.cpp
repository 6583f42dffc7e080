// SPDX-License-Identifier: Apache-2.0
// Draws stratified positions with evenly spread residues, and tabulates the rows that predict the samples
// there from the coefficients.
#include "template/planning/witness.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "kernels/base/roots.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"

namespace sfft::detail {

namespace {

/// `count` indices of an extent, one in each of `count` intervals, in random order; if there is room their
/// residues modulo `count` are a permutation too.
std::vector<std::int64_t> scatter(std::int64_t extent, std::int64_t count, std::mt19937_64& random) {
  std::vector<std::int64_t> stretch(static_cast<std::size_t>(count)), residue, out;
  std::iota(stretch.begin(), stretch.end(), 0);
  residue = stretch;
  std::shuffle(stretch.begin(), stretch.end(), random);
  std::shuffle(residue.begin(), residue.end(), random);
  for (std::size_t s = 0; s < stretch.size(); ++s) {
    const double within = static_cast<double>(random() >> 11) * 0x1p-53;
    auto at = static_cast<std::int64_t>((static_cast<double>(stretch[s]) + within) *
                                        static_cast<double>(extent) / static_cast<double>(count));
    if (extent >= 4 * count) {
      at += residue[s] - at % count;
      if (at >= extent) at -= count;
    }
    out.push_back(std::clamp<std::int64_t>(at, 0, extent - 1));
  }
  return out;
}

/// A frequency of the support itself.
struct OwnMember {
  std::array<std::int64_t, 3> f;
  std::size_t coefficient;
  bool paired;  ///< −f is another frequency, whose coefficient is the conjugate
};

std::vector<OwnMember> own_members(const SupportSet& support) {
  std::vector<OwnMember> own;
  own.reserve(static_cast<std::size_t>(support.k));
  for (const SupportMember& member : support.members) {
    if (member.conjugate) {
      own.back().paired = true;
    } else {
      own.push_back({member.f, static_cast<std::size_t>(member.coefficient), false});
    }
  }
  return own;
}

/// product_m *= exp(2πi f_d t/n_d) for dimension d of every member.
void multiply_by_phases(const std::vector<OwnMember>& own, std::int64_t n, std::size_t d, const Roots& roots,
                        std::int64_t t, std::vector<std::complex<double>>& product) {
  if (n > 4 * static_cast<std::int64_t>(own.size())) {
    for (std::size_t m = 0; m < own.size(); ++m) product[m] = times(product[m], roots(own[m].f[d], t));
    return;
  }
  std::vector<std::complex<double>> table;
  table.reserve(static_cast<std::size_t>(n));
  for (std::int64_t f = 0, turn = 0; f < n; ++f) {
    table.push_back(roots(turn));
    turn += t;
    if (turn >= n) turn -= n;
  }
  for (std::size_t m = 0; m < own.size(); ++m)
    product[m] = times(product[m], table[static_cast<std::size_t>(own[m].f[d])]);
}

}  // namespace

WitnessData place_witness(const SupportSet& support, bool trimmed, std::uint64_t seed, std::int64_t blocks) {
  WitnessData data;
  data.trimmed = trimmed;
  data.complex = !support.real;
  const Shape& shape = support.shape;
  const auto count = static_cast<std::int64_t>(data.block_samples());
  std::mt19937_64 random(seed ^ 0x5f3759df9e3779b9u);
  data.samples.assign(static_cast<std::size_t>(count), 0);
  for (int d = 0; d < shape.rank(); ++d) {
    const std::vector<std::int64_t> at = scatter(shape[d], count, random);
    for (std::size_t s = 0; s < at.size(); ++s) data.samples[s] = data.samples[s] * shape[d] + at[s];
  }
  const std::int64_t more = (blocks - 1) * count, points = shape.points();
  for (std::int64_t s = 0; s < more; ++s) {
    const std::int64_t first = s * (points / more) + std::min(s, points % more);
    const std::int64_t length = points / more + (s < points % more ? 1 : 0);
    data.samples.push_back(first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length)));
  }
  return data;
}

WitnessData make_witness(const SupportSet& support, bool trimmed, std::uint64_t seed, cpu::ThreadPool* pool,
                         std::int64_t blocks) {
  WitnessData data = place_witness(support, trimmed, seed, blocks);
  add_rows(support, data, pool);
  return data;
}

void add_rows(const SupportSet& support, WitnessData& data, cpu::ThreadPool* pool) {
  const Shape& shape = support.shape;
  const auto reals = static_cast<std::size_t>(2 * support.k);
  const std::size_t count = data.block_samples();
  data.rows.assign(data.blocks() * kWitnessReals * reals, 0.0);
  const std::array<Roots, 3> roots{Roots(shape[0]), Roots(shape[1]), Roots(shape[2])};
  const std::vector<OwnMember> own = own_members(support);
  cpu::for_each(pool, data.samples.size(), [&](std::size_t s, int) {
    std::vector<std::complex<double>> product(own.size(), 1 / static_cast<double>(shape.points()));
    const std::array<std::int64_t, 3> at = coordinates(shape, data.samples[s]);
    for (int d = 0; d < shape.rank(); ++d) {
      const auto axis = static_cast<std::size_t>(d);
      multiply_by_phases(own, shape[d], axis, roots[axis], at[axis], product);
    }
    double* const re = &data.rows[(s / count * kWitnessReals + s % count) * reals];
    double* const im = support.real ? nullptr : re + count * reals;
    for (std::size_t m = 0; m < own.size(); ++m) {
      const std::complex<double> root = product[m];
      const std::size_t j = 2 * own[m].coefficient;
      // In a real signal, f contributes X times the root and −f the conjugate of that, so real parts add.
      const double parts = own[m].paired ? 2 : 1;
      re[j] = parts * root.real();
      re[j + 1] = -parts * root.imag();
      if (im != nullptr) {
        im[j] = root.imag();
        im[j + 1] = root.real();
      }
    }
  });
}

}  // namespace sfft::detail
