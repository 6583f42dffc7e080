// SPDX-License-Identifier: Apache-2.0
// Roots of long dimensions are products from two short tables; SIMD kernels compute the sums.
#include "template/discovery/whole_signal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/turns.hpp"
#include "kernels/cpu/stages/waves.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

/// Frequencies are multiples of 1/kUnits, so that phases are exact fractions.
constexpr std::int64_t kUnits = 1024;

/// root(i · step) for i < count; most are products, which cost less than a sine.
template <class Root>
void tabulate(const Root& root, std::int64_t step, std::int64_t count, std::vector<Complex>& table) {
  constexpr std::int64_t kShort = 16;
  table.resize(static_cast<std::size_t>(count));
  Complex first[kShort];
  for (std::int64_t i = 0; i < std::min(kShort, count); ++i) first[i] = root(i * step);
  for (std::int64_t start = 0; start < count; start += kShort) {
    const Complex base = root(start * step);
    for (std::int64_t i = 0; i < std::min(kShort, count - start); ++i)
      table[static_cast<std::size_t>(start + i)] = times(base, first[i]);
  }
}

}  // namespace

OffGridWave::OffGridWave(const Shape& shape, bool real, BlindRandom& random) : shape_(shape) {
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t extent = shape[d];
    Dimension& own = dimensions_[d];
    const auto whole = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
    const auto part = static_cast<std::int64_t>(random() % (kUnits / 4));
    own.numerator = whole * kUnits + kUnits / 4 + 2 * part + 1;
    const auto root = [&](std::int64_t t) {
      return std::conj(root_of_turns(turns_of(own.numerator, t, extent * kUnits)));
    };
    tabulate(root, 1, std::min(kRun, extent), own.fine);
    tabulate(root, kRun, (extent + kRun - 1) / kRun, own.coarse);
  }
  const std::vector<Complex>& last = dimensions_[shape.rank() - 1].fine;
  const std::size_t parts = real ? 1 : 2;
  weights_re_.resize(parts * last.size());
  weights_im_.resize(parts * last.size());
  for (std::size_t t = 0; t < last.size(); ++t) {
    weights_re_[parts * t] = last[t].real();
    weights_im_[parts * t] = last[t].imag();
    if (real) continue;
    weights_re_[2 * t + 1] = -last[t].imag();
    weights_im_[2 * t + 1] = last[t].real();
  }
}

Complex OffGridWave::along(int d, std::int64_t t) const noexcept {
  const Dimension& own = dimensions_[d];
  return times(own.fine[static_cast<std::size_t>(t % kRun)], own.coarse[static_cast<std::size_t>(t / kRun)]);
}

/// A geometric sum: exp(pi i δ (n−1)/n) sin(pi δ) / sin(pi δ/n) for δ = f_d − g_d.
Complex OffGridWave::overlap(const GridPoint& f) const noexcept {
  Complex product = 1;
  for (int d = 0; d < shape_.rank(); ++d) {
    const std::int64_t extent = shape_[d];
    const std::int64_t difference = f[static_cast<std::size_t>(d)] * kUnits - dimensions_[d].numerator;
    const std::int64_t within = difference % (2 * kUnits);
    const double halves = static_cast<double>(within) / (2 * kUnits);  // δ/2, modulo 1
    const double share = static_cast<double>(difference) / static_cast<double>(2 * kUnits * extent);
    const double ratio = std::sin(2 * std::numbers::pi * halves) /
                         (static_cast<double>(extent) * std::sin(2 * std::numbers::pi * share));
    product = times(product, ratio * root_of_turns(halves - share));
  }
  return product;
}

void add_row(const void* samples, ElementType type, std::int64_t row, double scale, const OffGridWave& wave,
             WholeSignal& whole) {
  const Shape& shape = wave.shape();
  const int last = shape.rank() - 1;
  const auto bytes = static_cast<std::int64_t>(element_bytes(type));
  const auto add = cpu::wave_kernels<double>().whole[static_cast<std::size_t>(type)];
  Complex sum = 0;
  for (std::int64_t start = 0; start < shape[last]; start += OffGridWave::kRun) {
    double sums[3] = {};
    add(static_cast<const std::byte*>(samples) + start * bytes,
        std::min(OffGridWave::kRun, shape[last] - start), scale, wave.weights_re(), wave.weights_im(), sums);
    whole.energy += sums[0];
    sum += times(wave.along(last, start), {sums[1], sums[2]});
  }
  for (int d = last - 1; d >= 0; --d) {
    sum = times(sum, wave.along(d, row % shape[d]));
    row /= shape[d];
  }
  whole.wave += sum;
}

}  // namespace sfft::detail
