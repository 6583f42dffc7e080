// SPDX-License-Identifier: Apache-2.0
// Draws stratified positions with evenly spread residues, and tabulates the contribution of each coefficient
// to the samples there.
#include "template/planning/witness.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"

namespace sfft::detail {

namespace {

/// `count` indices of an extent, one in each of `count` intervals, in random order; if there is room, their
/// residues modulo `count` are also a permutation.
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

/// exp(2πi f t_s/n) for the frequencies f of one dimension and the coordinates t_s of a few samples. For many
/// frequencies each is a product of two factors, f = high·2^bits + low, from tables of about √n rows.
class Phases {
 public:
  Phases(std::int64_t n, std::size_t members, const RootsOfUnity& roots, std::vector<std::int64_t> t)
      : roots_(roots), t_(std::move(t)) {
    while ((std::int64_t{1} << 2 * bits_) < n) ++bits_;
    const std::int64_t lows = std::int64_t{1} << bits_, highs = (n - 1) / lows + 1;
    if (lows + highs > static_cast<std::int64_t>(members)) return;
    add_rows(lows, 1, n, low_);
    add_rows(highs, lows, n, high_);
  }

  /// products[s] *= exp(2πi f t_s/n).
  void multiply(std::int64_t f, std::complex<double>* products) const {
    const std::size_t count = t_.size();
    if (low_.empty()) {
      for (std::size_t s = 0; s < count; ++s) products[s] = times(products[s], roots_(f, t_[s]));
      return;
    }
    const std::size_t mask = (std::size_t{1} << bits_) - 1, at = static_cast<std::size_t>(f);
    const std::complex<double>* const low = &low_[(at & mask) * count];
    const std::complex<double>* const high = &high_[(at >> bits_) * count];
    for (std::size_t s = 0; s < count; ++s) products[s] = times(products[s], times(high[s], low[s]));
  }

 private:
  /// Rows of exp(2πi step·r t_s/n), r < rows.
  void add_rows(std::int64_t rows, std::int64_t step, std::int64_t n,
                std::vector<std::complex<double>>& table) const {
    table.reserve(static_cast<std::size_t>(rows) * t_.size());
    for (std::int64_t r = 0; r < rows; ++r) {
      for (const std::int64_t t : t_) table.push_back(roots_(r * step % n, t));
    }
  }

  const RootsOfUnity& roots_;
  std::vector<std::int64_t> t_;
  int bits_ = 0;
  std::vector<std::complex<double>> low_, high_;
};

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
  add_columns(support, data, pool);
  return data;
}

void add_columns(const SupportSet& support, WitnessData& data, cpu::ThreadPool* pool) {
  const Shape& shape = support.shape;
  const auto reals = static_cast<std::size_t>(2 * support.k);
  const std::size_t count = data.block_samples();
  std::size_t together = kWitnessReals / 2;  // samples that share tables; fewer if threads would idle
  while (together > 1 && pool != nullptr &&
         together * static_cast<std::size_t>(pool->threads()) > data.samples.size())
    together /= 2;
  data.columns.assign(data.blocks() * kWitnessReals * reals, 0.0);
  const std::array<RootsOfUnity, 3> roots{RootsOfUnity(shape[0]), RootsOfUnity(shape[1]),
                                          RootsOfUnity(shape[2])};
  const std::vector<OwnMember> own = own_members(support);
  const double scale = 1 / static_cast<double>(shape.points());
  cpu::for_each(pool, data.samples.size() / together, [&](std::size_t part, int) {
    const std::size_t first = part * together;
    std::array<std::vector<std::int64_t>, 3> at;
    for (std::size_t s = first; s < first + together; ++s) {
      const std::array<std::int64_t, 3> t = coordinates(shape, data.samples[s]);
      for (std::size_t d = 0; d < 3; ++d) at[d].push_back(t[d]);
    }
    std::vector<Phases> phases;
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.rank()); ++d)
      phases.emplace_back(shape[static_cast<int>(d)], own.size(), roots[d], std::move(at[d]));
    double* const block = &data.columns[first / count * kWitnessReals * reals + first % count];
    for (const OwnMember& member : own) {
      std::array<std::complex<double>, kWitnessReals / 2> product;
      product.fill(scale);
      for (std::size_t d = 0; d < phases.size(); ++d) phases[d].multiply(member.f[d], product.data());
      double* const re = block + 2 * member.coefficient * kWitnessReals;  // contribution of re X̂
      double* const im = re + kWitnessReals;
      // In a real signal, f contributes X times the root and −f the conjugate of that, so real parts add.
      const double parts = member.paired ? 2 : 1;
      for (std::size_t s = 0; s < together; ++s) {
        const std::complex<double> root = product[s];
        re[s] = parts * root.real();
        im[s] = -parts * root.imag();
        if (!support.real) {
          re[s + count] = root.imag();
          im[s + count] = root.real();
        }
      }
    }
  });
}

}  // namespace sfft::detail
