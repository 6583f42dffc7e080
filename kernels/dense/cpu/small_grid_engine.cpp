// SPDX-License-Identifier: Apache-2.0
// Splits the whole grid once into real and imaginary parts, transforms it dimension by dimension, and
// interleaves the parts again. Dimensions that would fill vectors badly are transposed, so that vectors span
// them.
#include "kernels/dense/cpu/built_in_parts.hpp"

#include <optional>
#include <vector>

#include "kernels/cpu/small_fft/small_fft_radix.hpp"
#include "kernels/cpu/stages/layout.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/cpu/row_group.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// Four buffers of this size leave room in the L2 cache for signal and spectrum. Larger grids are faster in
/// blocks that stay in the L1 cache.
template <class Real>
constexpr std::int64_t kMaxValues = (128 << 10) / (4 * static_cast<std::int64_t>(sizeof(Real)));

/// The grid [slow][middle][row] without its extents of one. `middle` is 1 for two dimensions.
struct SmallGrid {
  std::int64_t slow = 1, middle = 1, row = 1;
  int dimensions = 0;

  explicit SmallGrid(const Shape& shape) {
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (shape[d] == 1) continue;
      (dimensions == 0 ? row : dimensions == 1 ? slow : middle) = shape[d];
      if (++dimensions == 3) std::swap(slow, middle);
    }
  }
  std::int64_t rows() const { return slow * middle; }
};

template <class Real>
class SmallGridEngine final : public DenseEngine<Real> {
  using Buffers = cpu::SplitBuffers<Real>;
  using Complex = std::complex<Real>;

 public:
  SmallGridEngine(const SmallGrid& grid, bool real)
      : grid_(grid),
        real_(real),
        kept_(real ? grid.row / 2 + 1 : grid.row),
        kernels_(&cpu::small_fft_kernels<Real>(cpu::best_isa())),
        columns_(grid.slow, grid.middle * kept_, cpu::best_isa()) {
    if (real || RowGroup<Real>::worthwhile(grid.row, grid.rows(), false)) {
      group_.emplace(grid.row, grid.rows(), real);
      rotated_ = grid.middle > 1 && better_rotated();
    } else {
      row_.emplace(grid.row, 1, cpu::best_isa());
    }
    if (grid.middle > 1) middle_.emplace(grid.middle, rotated_ ? kept_ * grid.slow : kept_, cpu::best_isa());
  }

  std::size_t workspace_bytes(int) const noexcept override {
    return (SplitWorkspace<Real>::total(reals()) * sizeof(Real) + 63) / 64 * 64;
  }
  int threads_of(int) const noexcept override { return 1; }

  void forward(const void* signal, ElementType type, Complex* spectrum,
               const EngineScratch& scratch) const override {
    const Buffers data = buffers(scratch);
    if (real_) return finish(slower(group_->half_spectra(signal, type, data)), false, 1, spectrum);
    finish(slabs(signal, type, false, data), false, 1, spectrum);
  }

  /// The inverse is the forward transform with real and imaginary parts exchanged.
  void inverse(const Complex* spectrum, Complex* signal, Real scale,
               const EngineScratch& scratch) const override {
    finish(slabs(spectrum, element_type_of<Complex>::value, true, buffers(scratch)), true, scale, signal);
  }

  void inverse(const Complex* spectrum, Real* signal, Real scale,
               const EngineScratch& scratch) const override {
    Buffers data = exchanged(buffers(scratch));
    split_elements(spectrum, element_type_of<Complex>::value, points(), data.im, data.re);
    data = columns(data);
    if (rotated_) {
      data = transposed(*kernels_, grid_.slow, grid_.middle * kept_, data);
      data = transposed(*kernels_, grid_.middle, kept_ * grid_.slow, middle(data));
    } else {
      data = transposed(*kernels_, grid_.rows(), kept_, middle(data));
    }
    group_->signals(exchanged(data), scale, signal);
  }

  std::string name() const override { return std::string("built-in ") + cpu::isa_name(); }

 private:
  std::int64_t points() const noexcept { return grid_.rows() * kept_; }
  std::size_t reals() const noexcept {
    return group_ ? group_->buffer_reals() : static_cast<std::size_t>(points());
  }

  /// Whether [row][slow][middle] should become [middle][row][slow] rather than [slow][middle][row]. The first
  /// of these later needs one more transposition.
  bool better_rotated() const {
    constexpr double kRotation = 0.025 * sizeof(Complex), kCall = 8;
    const double here =
        static_cast<double>(grid_.slow) * (cpu::choose_radices(grid_.middle, kept_, *kernels_).cost + kCall);
    return cpu::choose_radices(grid_.middle, kept_ * grid_.slow, *kernels_).cost +
               kRotation * static_cast<double>(points()) <
           here;
  }

  Buffers buffers(const EngineScratch& scratch) const {
    const SplitWorkspace<Real> split(scratch.workspace, reals());
    return {split.re, split.im, split.other_re, split.other_im};
  }
  static Buffers other(const Buffers& data) { return {data.other_re, data.other_im, data.re, data.im}; }

  /// Transforms the slowest dimension. For an inverse, real and imaginary parts arrive exchanged.
  void finish(const Buffers& data, bool inverse, Real scale, Complex* to) const {
    auto* const values = reinterpret_cast<Real*>(to);
    const std::int64_t pitch = points() / grid_.slow;
    const cpu::ComplexEnds<Real> ends{nullptr, 0, values, pitch, scale, inverse};
    if (columns_.can(ends)) {
      columns_.execute(ends, inverse ? exchanged(data) : data);
      return;
    }
    const Buffers done = inverse ? exchanged(columns(data)) : columns(data);
    cpu::layout_kernels<Real>().interleave(done.re, done.im, points(), scale, values);
  }

  /// Transforms all other dimensions. Returns where the result is.
  Buffers slabs(const void* signal, ElementType type, bool inverse, Buffers data) const {
    if (group_) return slower(group_->spectra(signal, type, inverse, data));
    const std::int64_t row = grid_.row;
    const bool own = type == element_type_of<Complex>::value && !inverse;
    cpu::ComplexEnds<Real> ends{static_cast<const Real*>(signal), 1, nullptr, 1, 1, false};
    if (own && row_->can(ends)) {
      for (std::int64_t at = 0; at < points(); at += row, ends.from += 2 * row)
        row_->execute(ends, {data.re + at, data.im + at, data.other_re + at, data.other_im + at});
      return middle(row_->toggles() ? other(data) : data);
    }
    const auto row_bytes = static_cast<std::size_t>(row) * element_bytes(type);
    const auto* from = static_cast<const std::byte*>(signal);
    data = run(*row_, grid_.rows(), row, data, [&](std::int64_t at) {
      split_elements(from, type, row, (inverse ? data.im : data.re) + at, (inverse ? data.re : data.im) + at);
      from += row_bytes;
    });
    return middle(data);
  }
  /// Transforms all dimensions of transposed rows except the slowest.
  Buffers slower(const Buffers& data) const {
    if (!rotated_) return middle(transposed(*kernels_, kept_, grid_.rows(), data));
    const Buffers turned = middle(transposed(*kernels_, kept_ * grid_.slow, grid_.middle, data));
    return transposed(*kernels_, grid_.middle * kept_, grid_.slow, turned);
  }
  Buffers middle(const Buffers& data) const {
    if (!middle_) return data;
    const std::int64_t count = rotated_ ? 1 : grid_.slow;
    return run(*middle_, count, points() / count, data, [](std::int64_t) {});
  }
  Buffers columns(const Buffers& data) const {
    return run(columns_, 1, points(), data, [](std::int64_t) {});
  }

  /// Runs `count` transforms, `reals` apart. Calls first(at) before each one, with the index where it begins.
  template <class First>
  static Buffers run(const cpu::LineFft<Real>& line, std::int64_t count, std::int64_t reals,
                     const Buffers& data, const First& first) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = i * reals;
      first(at);
      line.execute({data.re + at, data.im + at, data.other_re + at, data.other_im + at}, {});
    }
    return line.toggles() ? other(data) : data;
  }

  SmallGrid grid_;
  bool real_;
  std::int64_t kept_;  ///< values of a row's spectrum
  const cpu::SmallFftKernels<Real>* kernels_;
  std::optional<RowGroup<Real>> group_;    ///< all rows together, or else
  std::optional<cpu::LineFft<Real>> row_;  ///< rows one by one
  bool rotated_ = false;
  std::optional<cpu::LineFft<Real>> middle_;
  cpu::LineFft<Real> columns_;
};

}  // namespace

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_small_grid_engine(const Shape& shape, bool real) {
  const SmallGrid grid(shape);
  const std::int64_t values = shape.points() / (real ? 2 : 1);
  if (shape.points() > kMaxSmallPoints || grid.dimensions < 2 || values > kMaxValues<Real>) return nullptr;
  for (const std::int64_t n : shape.extents()) {
    if (!cpu::choose_radices(n, 1, cpu::small_fft_kernels<Real>(cpu::best_isa())).possible) return nullptr;
  }
  if (real && (shape[shape.rank() - 1] == 1 || !RowGroup<Real>::worthwhile(grid.row, grid.rows(), true)))
    return nullptr;
  return std::make_unique<const SmallGridEngine<Real>>(grid, real);
}

template std::unique_ptr<const DenseEngine<float>> make_small_grid_engine(const Shape&, bool);
template std::unique_ptr<const DenseEngine<double>> make_small_grid_engine(const Shape&, bool);

}  // namespace sfft::detail
