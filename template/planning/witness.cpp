// SPDX-License-Identifier: Apache-2.0
// Draws stratified positions whose residues are spread as well, and tabulates the rows that predict the
// samples there from the coefficients.
#include "template/planning/witness.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "kernels/base/roots.hpp"

namespace sfft::detail {

namespace {

/// `count` indices of an extent, one in each of `count` stretches, in random order; where there is room their
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

/// product_m *= exp(2πi f_d t/n_d) for dimension d of every member that is not a conjugate.
void multiply_by_phases(const SupportSet& support, int d, const Roots& roots, std::int64_t t,
                        std::vector<std::complex<double>>& product) {
  const std::int64_t n = support.shape[d];
  const auto axis = static_cast<std::size_t>(d);
  const bool tabulate = n <= 4 * support.k;
  std::vector<std::complex<double>> table;
  if (tabulate) {
    table.reserve(static_cast<std::size_t>(n));
    for (std::int64_t f = 0, turn = 0; f < n; ++f) {
      table.push_back(roots(turn));
      turn += t;
      if (turn >= n) turn -= n;
    }
  }
  for (std::size_t m = 0; m < product.size(); ++m) {
    const SupportMember& member = support.members[m];
    if (member.conjugate) continue;
    product[m] = times(product[m],
                       tabulate ? table[static_cast<std::size_t>(member.f[axis])] : roots(member.f[axis], t));
  }
}

}  // namespace

WitnessData make_witness(const SupportSet& support, bool trimmed, std::uint64_t seed) {
  WitnessData data;
  data.trimmed = trimmed;
  const Shape& shape = support.shape;
  const std::int64_t count = support.real ? kWitnessReals : kWitnessReals / 2;
  std::mt19937_64 random(seed ^ 0x5f3759df9e3779b9u);
  std::array<std::vector<std::int64_t>, 3> at;
  for (int d = 0; d < shape.rank(); ++d) at[static_cast<std::size_t>(d)] = scatter(shape[d], count, random);
  const auto reals = static_cast<std::size_t>(2 * support.k);
  data.rows.assign(static_cast<std::size_t>(kWitnessReals) * reals, 0.0);
  const std::array<Roots, 3> roots{Roots(shape[0]), Roots(shape[1]), Roots(shape[2])};
  std::vector<std::complex<double>> product;
  for (std::int64_t s = 0; s < count; ++s) {
    std::int64_t flat = 0;
    product.assign(support.members.size(), 1 / static_cast<double>(shape.points()));
    for (int d = 0; d < shape.rank(); ++d) {
      const std::int64_t position = at[static_cast<std::size_t>(d)][static_cast<std::size_t>(s)];
      flat = flat * shape[d] + position;
      multiply_by_phases(support, d, roots[static_cast<std::size_t>(d)], position, product);
    }
    data.samples.push_back(flat);
    double* const re = &data.rows[static_cast<std::size_t>(s) * reals];
    for (std::size_t m = 0; m < support.members.size(); ++m) {
      const SupportMember& member = support.members[m];
      if (member.conjugate) continue;
      const std::complex<double> root = product[m];
      const auto j = static_cast<std::size_t>(2 * member.coefficient);
      if (support.real) {
        // f contributes X times the root, −f the conjugate of that: real parts add.
        const bool paired = m + 1 < support.members.size() && support.members[m + 1].conjugate;
        const double halves = paired ? 2 : 1;
        re[j] = halves * root.real();
        re[j + 1] = -halves * root.imag();
      } else {
        double* const im = re + static_cast<std::size_t>(count) * reals;
        re[j] = root.real();
        re[j + 1] = -root.imag();
        im[j] = root.imag();
        im[j + 1] = root.real();
      }
    }
  }
  return data;
}

}  // namespace sfft::detail
