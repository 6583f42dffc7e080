// SPDX-License-Identifier: Apache-2.0
// Sums over pieces are computed digit by digit of the piece's index; SIMD kernels fold the samples.
#include "template/discovery/sample_reader.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/stages/waves.hpp"
#include "template/discovery/round.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

constexpr std::int64_t kColumns = cpu::kWaveOffsets;
constexpr std::int64_t kBlock = cpu::kWaveBlock;
/// Target number of cells: 100 estimate a power within 10 %.
constexpr std::int64_t kCells = 96;

constexpr std::size_t whole_blocks(std::size_t count) {
  return (count + cpu::kWaveBlock - 1) / cpu::kWaveBlock * cpu::kWaveBlock;
}

/// Bits of a random fraction of a turn.
constexpr int kTurnBits = 40;

/// exp(2 pi i t / 2^kTurnBits), from the wave kernel: a library sine for each would take as long as the pass.
std::vector<Complex> random_roots(const std::vector<double>& turns) {
  static_assert(kBlock == 16, "a digit's phases are whole blocks of positions");
  const auto count = static_cast<std::int64_t>(turns.size());
  std::vector<double> re(turns.size()), im(turns.size());
  const double one = 1;
  cpu::wave_kernels<double>().roots({{&one}, 1}, nullptr, nullptr, {{turns.data()}, count},
                                    {{std::ldexp(1.0, kTurnBits)}, 1}, re.data(), im.data());
  std::vector<Complex> roots;
  for (std::size_t i = 0; i < turns.size(); ++i) roots.emplace_back(re[i], im[i]);
  return roots;
}

}  // namespace

/// Sums over the pieces of each set, for a block of frequencies: [set·kWaveBlock + frequency].
struct RandomFold::Sums {
  double re[kMaxSets * cpu::kWaveBlock] = {}, im[kMaxSets * cpu::kWaveBlock] = {};
};

RandomFold::RandomFold(const Shape& shape, DiscoveryRandom& random) : shape_(shape) {
  const int last = shape.rank() - 1;
  columns_ = std::min(kColumns, shape[last]);
  while (sets_ < kMaxSets && sets_ * columns_ < kCells) sets_ *= 2;
  std::int64_t weight = 1;
  for (int d = last; d >= 0; --d) {
    Dimension& own = dimensions_[d];
    own.step = d == last ? columns_ : 1;
    own.indices = (shape[d] + own.step - 1) / own.step;
    own.weight = weight;
    weight = weight * (own.indices % sets_) % sets_;
    std::vector<double> turns;
    for (std::int64_t left = own.indices; left > 0; left /= kDigit) {
      for (std::int64_t j = 0; j < kDigit; ++j)
        turns.push_back(static_cast<double>(random() >> (64 - kTurnBits)));
    }
    own.phases = random_roots(turns);
  }
}

/// The product of the phases of index i along a dimension, from digit `from` on.
Complex RandomFold::along(const Dimension& own, std::int64_t i, int from) noexcept {
  Complex product = 1;
  i >>= 4 * from;
  for (auto digit = own.phases.begin() + from * kDigit; digit != own.phases.end();
       digit += kDigit, i /= kDigit)
    product = times(product, digit[i % kDigit]);
  return product;
}

void RandomFold::phases(std::int64_t piece, std::int64_t count, Complex* u) const noexcept {
  const int last = shape_.rank() - 1;
  const Dimension& row = dimensions_[last];
  while (count > 0) {
    // All phases of a row share the factors of the outer dimensions, and sixteen neighbours share all digits
    // but one.
    std::int64_t outer = piece / row.indices, at = piece % row.indices;
    Complex of_outer = 1;
    for (int d = last - 1; d >= 0; --d) {
      of_outer = times(of_outer, along(dimensions_[d], outer % dimensions_[d].indices, 0));
      outer /= dimensions_[d].indices;
    }
    const std::int64_t end = std::min(row.indices, at + count);
    piece += end - at;
    count -= end - at;
    while (at < end) {
      const Complex of_digits = times(of_outer, along(row, at, 1));
      for (const std::int64_t stop = std::min(end, (at / kDigit + 1) * kDigit); at < stop; ++at)
        *u++ = times(of_digits, row.phases[static_cast<std::size_t>(at % kDigit)]);
    }
  }
}

double RandomFold::chance(bool real) const noexcept {
  const auto cells = static_cast<double>(std::min(shape_.points(), sets_ * columns_));
  // A cell of many real samples has a complex Gaussian sum; one of a single real sample has one real part.
  const double of_real = real ? cells / static_cast<double>(shape_.points()) : 0;
  return std::sqrt((1 + of_real) / cells);
}

/// Σ u(i) exp(2 pi i f·i·step/n) along dimension d over i < indices, for each residue of the set and a block
/// of frequencies.
void RandomFold::add_up(int d, const double* f, std::int64_t indices, Sums& sums) const {
  const Dimension& own = dimensions_[d];
  const cpu::DigitPhases digits{reinterpret_cast<const double*>(own.phases.data()),
                                static_cast<std::int64_t>(own.phases.size()) / kDigit,
                                indices,
                                own.step,
                                shape_[d],
                                own.weight,
                                sets_};
  cpu::wave_kernels<double>().digit_sums(f, digits, sums.re, sums.im);
}

/// Contributions of components of value 1 to column 0 of every set: from full pieces, and from the shorter
/// pieces at the ends of rows.
void RandomFold::weigh(const double* const* f, Sums& full, Sums& cut) const {
  const int last = shape_.rank() - 1;
  const Dimension& row = dimensions_[last];
  const bool any_cut = shape_[last] % columns_ != 0;
  add_up(last, f[last], row.indices - (any_cut ? 1 : 0), full);
  if (any_cut) {
    cut = {};
    const std::int64_t end = row.indices - 1;
    for (std::int64_t l = 0; l < kBlock; ++l) {
      const double turns = turns_of(static_cast<std::int64_t>(f[last][l]), end * row.step, shape_[last]);
      const Complex term = times(along(row, end, 0), root_of_turns(turns));
      const std::int64_t to = row.weight * end % sets_ * kBlock + l;
      cut.re[to] = term.real();
      cut.im[to] = term.imag();
    }
  }
  for (int d = last - 1; d >= 0; --d) {
    Sums own;
    add_up(d, f[d], dimensions_[d].indices, own);
    join(own, full);
    if (any_cut) join(own, cut);
  }
}

/// Numbers of pieces add up, and so do their residues: this is a cyclic convolution over the sets.
void RandomFold::join(const Sums& outer, Sums& sums) const {
  const Sums inner = sums;
  for (std::int64_t a = 0; a < sets_; ++a) {
    double re[kBlock] = {}, im[kBlock] = {};
    for (std::int64_t b = 0; b < sets_; ++b) {
      const double *x = outer.re + b * kBlock, *y = outer.im + b * kBlock;
      const double* u = inner.re + (a + sets_ - b) % sets_ * kBlock;
      const double* v = inner.im + (a + sets_ - b) % sets_ * kBlock;
      for (std::int64_t l = 0; l < kBlock; ++l) {
        re[l] += x[l] * u[l] - y[l] * v[l];
        im[l] += x[l] * v[l] + y[l] * u[l];
      }
    }
    std::copy(re, re + kBlock, sums.re + a * kBlock);
    std::copy(im, im + kBlock, sums.im + a * kBlock);
  }
}

std::vector<Complex> RandomFold::cells(const std::vector<DiscoveryComponent>& components) const {
  constexpr std::size_t kAtOnce = 64;
  const auto& kernels = cpu::wave_kernels<double>();
  const auto last = static_cast<std::size_t>(shape_.rank() - 1);
  const std::int64_t extent = shape_[shape_.rank() - 1], cut_columns = extent % columns_;
  const std::int64_t anchors = cut_columns == 0 ? sets_ : 2 * sets_;
  double positions[kColumns];
  for (std::int64_t c = 0; c < kColumns; ++c) positions[c] = static_cast<double>(c % extent);
  const cpu::WaveGrid line{{static_cast<double>(extent)}, 1};
  const double share = 1 / static_cast<double>(shape_.points());
  const auto sums = static_cast<std::size_t>(anchors * kColumns);
  std::vector<double> f[3];
  for (std::vector<double>& own : f) own.resize(kAtOnce);
  Sums full, cut;
  std::vector<double> re(sums), im(sums);
  const std::size_t firsts = static_cast<std::size_t>(anchors) * kAtOnce, seconds = kColumns * kAtOnce;
  const auto tables = std::make_unique_for_overwrite<double[]>(2 * (firsts + seconds));
  double* const first_re = tables.get();
  double* const first_im = first_re + firsts;
  double* const second_re = first_im + firsts;
  double* const second_im = second_re + seconds;
  for (std::size_t start = 0; start < components.size(); start += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, components.size() - start);
    for (std::size_t i = 0; i < whole_blocks(count); ++i) {
      // The last block is padded with its last component.
      const DiscoveryComponent& component = components[start + std::min(i, count - 1)];
      for (std::size_t d = 0; d <= last; ++d) f[d][i] = static_cast<double>(component.f[d]);
    }
    for (std::size_t block = 0; block < count; block += kBlock) {
      const double* own[3] = {f[0].data() + block, f[1].data() + block, f[2].data() + block};
      weigh(own, full, cut);
      for (std::size_t i = block; i < std::min(count, block + kBlock); ++i) {
        const Complex value = share * components[start + i].value;
        const auto set_values = [&](const Sums& own_sums, std::int64_t from_anchor) {
          for (std::int64_t a = 0; a < sets_; ++a) {
            const std::size_t at = static_cast<std::size_t>(a * kBlock) + i - block;
            const Complex term = times(value, {own_sums.re[at], own_sums.im[at]});
            const std::size_t to =
                i * static_cast<std::size_t>(anchors) + static_cast<std::size_t>(from_anchor + a);
            first_re[to] = term.real();
            first_im[to] = term.imag();
          }
        };
        set_values(full, 0);
        if (cut_columns > 0) set_values(cut, sets_);
      }
    }
    const auto waves = static_cast<std::int64_t>(count);
    kernels.roots({{f[last].data()}, waves}, nullptr, nullptr, {{positions}, kColumns}, line, second_re,
                  second_im);
    kernels.sums({first_re, first_im, second_re, second_im, waves, anchors}, re.data(), im.data());
  }
  std::vector<Complex> cells(static_cast<std::size_t>(sets_ * kColumns), 0.0);
  for (std::size_t a = 0; a < static_cast<std::size_t>(sets_); ++a) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns_); ++c) {
      const std::size_t at = a * kColumns + c, at_cut = at + cells.size();
      cells[at] = {re[at], im[at]};
      if (static_cast<std::int64_t>(c) < cut_columns) cells[at] += Complex(re[at_cut], im[at_cut]);
    }
  }
  return cells;
}

void add_pieces(const void* samples, ElementType type, std::int64_t first, std::int64_t elements,
                double scale, const RandomFold& fold, WholeSignal& whole) {
  const std::int64_t sets = fold.sets(), columns = fold.columns();
  const auto add = cpu::wave_kernels<double>().fold[static_cast<std::size_t>(type)];
  const auto bytes = static_cast<std::int64_t>(element_bytes(type));
  const auto* at = static_cast<const std::byte*>(samples);
  whole.re.resize(static_cast<std::size_t>(sets * kColumns));
  whole.im.resize(static_cast<std::size_t>(sets * kColumns));
  double weight_re[16][cpu::kFoldRows], weight_im[16][cpu::kFoldRows];
  // Blocks consist of whole rows of pieces, because the kernel adds up pieces of one set.
  for (std::int64_t start = 0; start < elements; start += sets * columns * cpu::kFoldRows) {
    const std::int64_t piece = first + start / columns;
    const std::int64_t left = std::min(elements - start, sets * columns * cpu::kFoldRows);
    const std::int64_t full = left / columns, rest = left % columns;
    const std::int64_t pieces = full + (rest > 0 ? 1 : 0);
    Complex u[16 * cpu::kFoldRows];
    fold.phases(piece, pieces, u);
    for (std::int64_t j = 0; j < sets; ++j) {
      for (std::int64_t i = j, row = 0; i < pieces; i += sets, ++row) {
        weight_re[j][row] = u[i].real();
        weight_im[j][row] = u[i].imag();
      }
    }
    const std::byte* block = at + start * bytes;
    double energy = 0;
    // weight[j] belongs to pieces piece + j, piece + j + sets, ...
    for (std::int64_t j = 0; j < std::min(sets, full); ++j) {
      const std::int64_t rows = (full - j + sets - 1) / sets;
      const auto to = static_cast<std::size_t>((piece + j) % sets * kColumns);
      add(block + j * columns * bytes, rows, sets * columns, columns, scale, weight_re[j], weight_im[j],
          whole.re.data() + to, whole.im.data() + to, energy);
    }
    if (rest > 0) {
      const auto to = static_cast<std::size_t>((piece + full) % sets * kColumns);
      add(block + full * columns * bytes, 1, columns, rest, scale, &weight_re[full % sets][full / sets],
          &weight_im[full % sets][full / sets], whole.re.data() + to, whole.im.data() + to, energy);
    }
    whole.energy += energy;
  }
}

}  // namespace sfft::detail
