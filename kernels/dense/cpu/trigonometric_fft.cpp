// SPDX-License-Identifier: Apache-2.0
// The tables of each kind, derived from cos and sin as parts of exp, and the blocks of lines that stay in
// cache.
#include "kernels/dense/cpu/trigonometric_fft.hpp"

#include <algorithm>
#include <complex>
#include <numbers>
#include <utility>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/platform/isa.hpp"
#include "kernels/cpu/small_fft/small_fft_kernels.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"

namespace sfft::detail {

namespace {

using Trigonometric = dense::Options::Trigonometric;

/// A sum of values with complex weights.
struct Weighted {
  std::int64_t index = 0;
  std::complex<double> weight = 1;
};
using Terms = std::vector<Weighted>;

/// exp(−2 pi i numerator/denominator)
std::complex<double> fft_root(std::int64_t numerator, std::int64_t denominator) {
  return std::conj(unit_root(numerator % denominator, denominator));
}

/// The cosine transform that becomes the sine transform by reversals and signs.
Trigonometric cosine_of(Trigonometric kind) noexcept {
  switch (kind) {
    case Trigonometric::dst2:
      return Trigonometric::dct2;
    case Trigonometric::dst3:
      return Trigonometric::dct3;
    case Trigonometric::dst4:
      return Trigonometric::dct4;
    default:
      return kind;
  }
}

std::int64_t fft_points(Trigonometric kind, std::int64_t n) noexcept {
  return kind == Trigonometric::dct1 || kind == Trigonometric::dst1 ? logical_points(kind, n) : n;
}

/// The r-th sample in Makhoul's order (1980): even ones ascending, then odd ones descending. And the reverse.
std::int64_t interleaved(std::int64_t r, std::int64_t n) noexcept {
  return 2 * r < n ? 2 * r : 2 * (n - r) - 1;
}
std::int64_t deinterleaved(std::int64_t k, std::int64_t n) noexcept {
  return k % 2 == 0 ? k / 2 : n - 1 - k / 2;
}

/// Value r of the FFT's input.
Terms input_of(Trigonometric kind, std::int64_t n, std::int64_t r) {
  const std::int64_t points = fft_points(kind, n);
  switch (kind) {
    case Trigonometric::dct1:
      return {{std::min(r, points - r)}};
    case Trigonometric::dst1:
      if (r % (n + 1) == 0) return {{0, 0}};
      return r <= n ? Terms{{r - 1}} : Terms{{points - r - 1, -1}};
    case Trigonometric::dct2:
      return {{interleaved(r, n)}};
    case Trigonometric::dct3: {
      const std::complex<double> back = std::conj(fft_root(r, 4 * n));
      return r == 0 ? Terms{{0}} : Terms{{r, back}, {n - r, std::complex<double>(0, -1) * back}};
    }
    case Trigonometric::dct4:
      return {{interleaved(r, n), (2 * r < n ? 1.0 : -1.0) * fft_root(r, 2 * n)}};
    default:
      return {{r}};
  }
}

/// Result k from the FFT's output.
Terms output_of(Trigonometric kind, std::int64_t n, std::int64_t k) {
  switch (kind) {
    case Trigonometric::dct1:
      return {{k}};
    case Trigonometric::dst1:
      return {{k + 1, {0, 1}}};
    case Trigonometric::dct2:
      return {{k, fft_root(k, 4 * n)}, {(n - k) % n, std::conj(fft_root(k, 4 * n))}};
    case Trigonometric::dct3:
      return {{(n - deinterleaved(k, n)) % n}};  // a forward FFT stands for the inverse one
    case Trigonometric::dct4:
      return {{k, fft_root(2 * k + 1, 8 * n)}, {n - 1 - k, std::conj(fft_root(2 * k + 1, 8 * n))}};
    default:
      return {{k, {0.5, 0.5}}, {(n - k) % n, {0.5, -0.5}}};
  }
}

/// The same for single lines of even length, as an FFT of `half` the points of pairs of real values: z[t] =
/// u[2t] + i u[2t+1] of the FFT's input u, whose transform is U[k] = (Z[k] + conj Z[half−k])/2 + w^k (Z[k] −
/// conj Z[half−k])/2i, w = exp(−πi/half). Results are the real part of the sum.
Terms half_input_of(Trigonometric kind, std::int64_t n, std::int64_t half, std::int64_t t) {
  constexpr std::complex<double> kI(0, 1);
  if (kind == Trigonometric::dct4) {
    const std::complex<double> root = fft_root(4 * t + 1, 8 * n);
    return {{2 * t, root}, {n - 1 - 2 * t, kI * root}};
  }
  const bool inverse = kind == Trigonometric::dct3;  // z is real, and u is not: the pairs are of results
  const std::complex<double> root = kI * std::conj(fft_root(t, n));
  Terms terms;
  for (const bool second : {false, true}) {
    const std::int64_t r = inverse ? t + (second ? half : 0) : 2 * t + (second ? 1 : 0);
    const std::complex<double> weight = inverse ? 1.0 + (second ? -root : root) : second ? kI : 1.0;
    for (const Weighted& term : input_of(kind, n, r)) terms.push_back({term.index, weight * term.weight});
  }
  return terms;
}
Terms half_output_of(Trigonometric kind, std::int64_t n, std::int64_t half, std::int64_t k) {
  constexpr std::complex<double> kI(0, 1);
  if (kind == Trigonometric::dct4) {
    const std::int64_t at = k % 2 == 0 ? k / 2 : (n - 1 - k) / 2;
    return {{at, (k % 2 == 0 ? 2.0 : 2.0 * kI) * fft_root(4 * at, 8 * n)}};
  }
  if (kind == Trigonometric::dct3) {
    const std::int64_t j = deinterleaved(k, n);
    return {{(half - j / 2) % half, j % 2 == 0 ? 1.0 : -kI}};
  }
  std::complex<double> first = 0, second = 0;  // of Z[m] and Z[half − m], m = terms[0].index
  const Terms terms = output_of(kind, n, k);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::complex<double> root = kI * fft_root(terms[i].index, 2 * half);
    const std::complex<double> of_z = terms[i].weight * (1.0 - root) / 2.0,
                               of_conjugate = std::conj(terms[i].weight * (1.0 + root) / 2.0);
    first += i == 0 ? of_z : of_conjugate;
    second += i == 0 ? of_conjugate : of_z;
  }
  const std::int64_t m = terms[0].index % half;
  return {{m, first}, {(half - m) % half, second}};
}

/// What the orthogonal form multiplies sample j of the input, or result k, by.
double input_weight(Trigonometric kind, std::int64_t n, std::int64_t j) {
  const bool end = (kind == Trigonometric::dct1 && (j == 0 || j == n - 1)) ||
                   (kind == Trigonometric::dct3 && j == 0) || (kind == Trigonometric::dst3 && j == n - 1);
  return end ? std::numbers::sqrt2 : 1;
}
double output_weight(Trigonometric kind, std::int64_t n, std::int64_t k) {
  const bool end = (kind == Trigonometric::dct1 && (k == 0 || k == n - 1)) ||
                   (kind == Trigonometric::dct2 && k == 0) || (kind == Trigonometric::dst2 && k == n - 1);
  return end ? 1 / std::numbers::sqrt2 : 1;
}

/// The same for every kind; `half`: points of the FFT of pairs, or 0. dst2: of the signal with alternating
/// signs, results reversed; dst3: of the reversed signal, results with alternating signs; dst4: as dst3.
Terms input_terms(Trigonometric kind, std::int64_t n, std::int64_t half, std::int64_t r, bool orthogonal) {
  Terms terms = half > 0 ? half_input_of(cosine_of(kind), n, half, r) : input_of(cosine_of(kind), n, r);
  for (Weighted& term : terms) {
    if (kind == Trigonometric::dst2 && term.index % 2 != 0) term.weight = -term.weight;
    if (kind == Trigonometric::dst3 || kind == Trigonometric::dst4) term.index = n - 1 - term.index;
    if (orthogonal) term.weight *= input_weight(kind, n, term.index);
  }
  return terms;
}
Terms output_terms(Trigonometric kind, std::int64_t n, std::int64_t half, std::int64_t k, double factor) {
  const std::int64_t from = kind == Trigonometric::dst2 ? n - 1 - k : k;
  Terms terms =
      half > 0 ? half_output_of(cosine_of(kind), n, half, from) : output_of(cosine_of(kind), n, from);
  if ((kind == Trigonometric::dst3 || kind == Trigonometric::dst4) && k % 2 != 0) factor = -factor;
  for (Weighted& term : terms) term.weight *= factor;
  return terms;
}

template <class Real>
cpu::RowCombination<Real> row_of(const Terms& terms) {
  cpu::RowCombination<Real> row;
  row.terms =
      static_cast<std::int64_t>(terms.size());  // three terms count as four, one of them with weight 0
  for (std::size_t i = 0; i < terms.size(); ++i) {
    row.index[i] = terms[i].index;
    row.re[i] = static_cast<Real>(terms[i].weight.real());
    row.im[i] = static_cast<Real>(terms[i].weight.imag());
  }
  return row;
}

/// Complex lines of a block: as many as stay in cache, but one for long lines.
template <class Real>
std::int64_t lanes_in_cache(std::int64_t points, std::int64_t lines) {
  constexpr std::int64_t kMaxPoints = 1 << 18;
  return std::max<std::int64_t>(1, std::min(columns_in_cache<Real>(points, lines), kMaxPoints / points));
}

}  // namespace

dense::Options::Trigonometric inverse_of(dense::Options::Trigonometric kind) noexcept {
  switch (kind) {
    case Trigonometric::dct2:
      return Trigonometric::dct3;
    case Trigonometric::dct3:
      return Trigonometric::dct2;
    case Trigonometric::dst2:
      return Trigonometric::dst3;
    case Trigonometric::dst3:
      return Trigonometric::dst2;
    default:
      return kind;
  }
}

std::int64_t logical_points(Trigonometric kind, std::int64_t n) noexcept {
  if (kind == Trigonometric::dct1) return 2 * (n - 1);
  if (kind == Trigonometric::dst1) return 2 * (n + 1);
  return kind == Trigonometric::hartley ? n : 2 * n;
}

template <class Real>
TrigonometricLines<Real>::TrigonometricLines(Trigonometric kind, const LineGrid& grid, double factor,
                                             bool orthogonal)
    : grid_(grid), points_(fft_points(kind, grid.n)) {
  // Fewer pairs than a vector has lanes are no faster than single lines.
  constexpr std::int64_t kVector = 64 / sizeof(Real);
  paired_ = grid.one_signal && grid.lines >= kVector;
  complex_ = paired_ ? grid.lines / 2 : grid.lines;
  const std::int64_t half = !paired_ && points_ % 2 == 0 ? points_ / 2 : 0;
  if (half > 0) points_ = half;
  for (std::int64_t r = 0; r < points_; ++r)
    before_.push_back(row_of<Real>(input_terms(kind, grid.n, half, r, orthogonal)));
  for (std::int64_t k = 0; k < grid.n; ++k) {
    const double weight = factor * (orthogonal ? output_weight(kind, grid.n, k) : 1);
    after_.push_back(row_of<Real>(output_terms(kind, grid.n, half, k, weight)));
  }
  const auto make = [&](std::int64_t lanes) {
    cpu::SmallFft<Real> fft({&points_, 1}, lanes);
    std::size_t reals = SplitWorkspace<Real>::total(fft.buffer_reals());
    if (grid.inner == 1) reals += static_cast<std::size_t>(2 * (grid.n * lanes + 16));
    workspace_bytes_ = std::max(workspace_bytes_, (reals * sizeof(Real) + 63) / 64 * 64);
    return std::make_unique<const Block>(Block{lanes, std::move(fft)});
  };
  const std::int64_t lanes = lanes_in_cache<Real>(points_, complex_);
  whole_ = make(lanes);
  if (complex_ % lanes != 0) rest_ = make(complex_ % lanes);
  if (paired_ && grid.lines % 2 != 0) single_ = make(1);  // with a zero imaginary part
  parts_ = (complex_ + lanes - 1) / lanes + (single_ ? 1 : 0);
}

template <class Real>
void TrigonometricLines<Real>::transform(const Real* from, Real* to, const EngineScratch& scratch) const {
  over_stretches(scratch, workspace_bytes_, grid_.units * parts_, whole_->lanes * points_,
                 [&](std::int64_t first, std::int64_t end, std::byte* workspace) {
                   for (std::int64_t part = first; part < end; ++part) run_part(part, from, to, workspace);
                 });
}

template <class Real>
void TrigonometricLines<Real>::run_part(std::int64_t part, const Real* from, Real* to,
                                        std::byte* workspace) const {
  const std::int64_t unit = part / parts_, first = part % parts_ * whole_->lanes;
  if (first >= complex_) return block(*single_, unit, grid_.lines - 1, false, from, to, workspace);
  block(first + whole_->lanes <= complex_ ? *whole_ : *rest_, unit, first, paired_, from, to, workspace);
}

/// The lines first … first + lanes − 1 of a unit are real parts; if `paired`, those complex_ lines later are
/// imaginary parts.
template <class Real>
void TrigonometricLines<Real>::block(const Block& block, std::int64_t unit, std::int64_t first, bool paired,
                                     const Real* from, Real* to, std::byte* workspace) const {
  const std::int64_t n = grid_.n, lanes = block.lanes, start = unit * n * grid_.lines;
  const bool contiguous = grid_.inner == 1;
  const std::int64_t re_at = start + first * (contiguous ? n : 1);
  const std::int64_t im_at = re_at + complex_ * (contiguous ? n : 1);
  const auto& kernels = cpu::row_combination_kernels<Real>();
  const auto& fft_kernels = cpu::small_fft_kernels<Real>(cpu::best_isa());
  SplitWorkspace<Real> split(workspace, block.fft.buffer_reals());
  Real* const lines_re =
      reinterpret_cast<Real*>(workspace) + SplitWorkspace<Real>::total(block.fft.buffer_reals());
  Real* const lines_im = lines_re + (n * lanes + 15) / 16 * 16;
  cpu::SplitRows<const Real> source{from + re_at, paired ? from + im_at : nullptr, grid_.inner};
  cpu::SplitRows<Real> target{to + re_at, paired ? to + im_at : nullptr, grid_.inner};
  if (contiguous) {
    fft_kernels.transpose(source.re, lanes, n, lines_re);
    if (paired) fft_kernels.transpose(source.im, lanes, n, lines_im);
    source = {lines_re, paired ? lines_im : nullptr, lanes};
  }
  kernels.combine(before_.data(), points_, source, lanes, {split.re, split.im, lanes});
  split.transform(block.fft, false);
  const cpu::SplitRows<const Real> spectrum{split.re, split.im, lanes};
  if (!contiguous) return kernels.combine(after_.data(), n, spectrum, lanes, target);
  kernels.combine(after_.data(), n, spectrum, lanes, {lines_re, paired ? lines_im : nullptr, lanes});
  fft_kernels.transpose(lines_re, n, lanes, target.re);
  if (paired) fft_kernels.transpose(lines_im, n, lanes, target.im);
}

template class TrigonometricLines<float>;
template class TrigonometricLines<double>;

}  // namespace sfft::detail
