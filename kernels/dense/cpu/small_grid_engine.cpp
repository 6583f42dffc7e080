// SPDX-License-Identifier: Apache-2.0
// The whole grid is split into real and imaginary parts once, transformed dimension by dimension, and joined
// again. Rows that would fill vectors badly are transposed, so that vectors go across them.
#include "kernels/dense/cpu/small_grid_engine.hpp"

#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cpu/small_fft/small_fft_line.hpp"
#include "kernels/cpu/small_fft/small_fft_radix.hpp"
#include "kernels/cpu/stages/layout.hpp"
#include "kernels/dense/cpu/line_stage.hpp"

namespace sfft::detail {

namespace {

/// Nanoseconds to transpose a point there and back, on the scale of choose_radices().
constexpr double kTransposition = 0.25;

template <class Real>
class SmallGridEngine final : public DenseEngine<Real> {
 public:
  explicit SmallGridEngine(const Shape& shape)
      : points_(shape.points()), kernels_(&cpu::small_fft_kernels<Real>(cpu::best_isa())) {
    std::int64_t inner = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (shape[d] == 1) continue;
      turned_ = turned_ || (inner == 1 && better_turned(shape[d]));
      const bool turned = inner == 1 && turned_;
      stages_.push_back({cpu::LineFft<Real>(shape[d], turned ? points_ / shape[d] : inner, cpu::best_isa()),
                         turned ? 1 : points_ / (inner * shape[d]), turned ? points_ : inner * shape[d]});
      inner *= shape[d];
      if (turned) row_points_ = shape[d];
    }
  }

  std::size_t workspace_bytes(int) const noexcept override {
    return (SplitWorkspace<Real>::total(reals()) * sizeof(Real) + 63) / 64 * 64;
  }
  int most_threads() const noexcept override { return 1; }

  void forward(const void* signal, ElementType type, std::complex<Real>* spectrum,
               const EngineScratch& scratch) const override {
    const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
    SplitWorkspace<Real> split(scratch.workspace, reals());
    auto part = static_cast<std::size_t>(type);
    if (is_complex(type))
      part -= static_cast<std::size_t>(ElementType::c64) - static_cast<std::size_t>(ElementType::f32);
    const auto load = (is_complex(type) ? layout.deinterleave : layout.widen)[part];
    const cpu::SplitBuffers<Real> done = transform(
        [&](std::int64_t at, std::int64_t count, Real* re, Real* im) {
          load(static_cast<const std::byte*>(signal) + static_cast<std::size_t>(at) * element_bytes(type),
               count, re, im);
        },
        {split.re, split.im, split.other_re, split.other_im});
    layout.interleave(done.re, done.im, points_, 1, reinterpret_cast<Real*>(spectrum));
  }

  /// The forward transform with real and imaginary parts exchanged.
  void inverse(const std::complex<Real>* spectrum, std::complex<Real>* signal, Real scale,
               const EngineScratch& scratch) const override {
    const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
    SplitWorkspace<Real> split(scratch.workspace, reals());
    const auto load = layout.deinterleave[sizeof(Real) == 4 ? 2 : 3];
    const cpu::SplitBuffers<Real> done = transform(
        [&](std::int64_t at, std::int64_t count, Real* re, Real* im) { load(spectrum + at, count, im, re); },
        {split.im, split.re, split.other_im, split.other_re});
    layout.interleave(done.im, done.re, points_, scale, reinterpret_cast<Real*>(signal));
  }

  void inverse(const std::complex<Real>*, Real*, Real, const EngineScratch&) const override {
    throw Error(ErrorCode::type_mismatch, "the engine is for complex signals: plan a real one");
  }

  std::string name() const override { return std::string("built-in ") + cpu::small_fft_isa(); }

 private:
  /// One dimension: `count` transforms, `reals` apart.
  struct Stage {
    cpu::LineFft<Real> line;
    std::int64_t count, reals;
  };

  std::size_t reals() const noexcept { return static_cast<std::size_t>(points_); }

  bool better_turned(std::int64_t n) const {
    const std::int64_t rows = points_ / n;
    if (rows < kernels_->level_reals[0]) return false;
    const double along = static_cast<double>(rows) * cpu::choose_radices(n, 1, *kernels_).cost;
    const double across = cpu::choose_radices(n, rows, *kernels_).cost;
    return across + kTransposition * static_cast<double>(points_) < along;
  }

  static void swap(cpu::SplitBuffers<Real>& data) { data = {data.other_re, data.other_im, data.re, data.im}; }
  void transpose(cpu::SplitBuffers<Real>& data, std::int64_t rows, std::int64_t columns) const {
    kernels_->transpose(data.re, rows, columns, data.other_re);
    kernels_->transpose(data.im, rows, columns, data.other_im);
    swap(data);
  }

  /// load(at, count, re, im) splits points at … at + count − 1. Returns where the result is.
  template <class Load>
  cpu::SplitBuffers<Real> transform(const Load& load, cpu::SplitBuffers<Real> data) const {
    const Stage& rows = stages_.front();
    if (turned_) {
      load(0, points_, data.re, data.im);
      transpose(data, points_ / row_points_, row_points_);
      run(rows, data, [](std::int64_t) {});
      transpose(data, row_points_, points_ / row_points_);
    } else {
      run(rows, data, [&](std::int64_t at) { load(at, rows.reals, data.re + at, data.im + at); });
    }
    for (std::size_t d = 1; d < stages_.size(); ++d) run(stages_[d], data, [](std::int64_t) {});
    return data;
  }

  /// Calls first(at) before the transform that begins there.
  template <class First>
  static void run(const Stage& stage, cpu::SplitBuffers<Real>& data, const First& first) {
    for (std::int64_t i = 0; i < stage.count; ++i) {
      const std::int64_t at = i * stage.reals;
      first(at);
      stage.line.execute({data.re + at, data.im + at, data.other_re + at, data.other_im + at}, {});
    }
    if (stage.line.toggles()) swap(data);
  }

  std::int64_t points_, row_points_ = 0;  ///< row_points_: of rows that are transposed
  const cpu::SmallFftKernels<Real>* kernels_;
  bool turned_ = false;        ///< the fastest dimension is transposed first
  std::vector<Stage> stages_;  ///< fastest dimension first
};

}  // namespace

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_small_grid_engine(const Shape& shape, bool real) {
  if (real || shape.points() > kMostSmallPoints) return nullptr;
  int dimensions = 0;
  for (const std::int64_t n : shape.extents()) {
    dimensions += n > 1 ? 1 : 0;
    if (!cpu::choose_radices(n, 1, cpu::small_fft_kernels<Real>(cpu::best_isa())).possible) return nullptr;
  }
  if (dimensions < 2) return nullptr;
  return std::make_unique<const SmallGridEngine<Real>>(shape);
}

template std::unique_ptr<const DenseEngine<float>> make_small_grid_engine(const Shape&, bool);
template std::unique_ptr<const DenseEngine<double>> make_small_grid_engine(const Shape&, bool);

}  // namespace sfft::detail
