// SPDX-License-Identifier: Apache-2.0
// The built-in engine: the small FFT along rows, then across them, dimension by dimension.
#include <algorithm>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

namespace {

/// Runs on the calling thread alone. Stages work on blocks that stay in cache, so the workspace is small
/// except for 1D signals (four arrays of N reals) and real inverses of 2D and 3D (a copy of the half
/// spectrum, because the input must be preserved).
template <class Real>
class BuiltInEngine final : public DenseEngine<Real> {
 public:
  BuiltInEngine(const Shape& shape, bool real)
      : real_(real),
        row_points_(shape[shape.rank() - 1]),
        rows_(shape.points() / row_points_),
        row_(row_points_, real) {
    std::size_t reals = row_.workspace_reals();
    std::int64_t inner = row_.spectrum_points();
    for (int d = shape.rank() - 2; d >= 0; --d) {
      if (shape[d] > 1) {
        columns_.push_back({ColumnStage<Real>(shape[d], inner),
                            rows_ * row_.spectrum_points() / (inner * shape[d]), inner * shape[d]});
        reals = std::max(reals, columns_.back().stage.workspace_reals());
      }
      inner *= shape[d];
    }
    stage_bytes_ = (reals * sizeof(Real) + 63) / 64 * 64;
  }

  std::size_t workspace_bytes() const noexcept override {
    const auto copy = static_cast<std::size_t>(rows_ * row_.spectrum_points()) * sizeof(std::complex<Real>);
    return stage_bytes_ + (real_ && !columns_.empty() ? copy : 0);
  }

  void forward(const void* signal, ElementType type, std::complex<Real>* spectrum,
               std::byte* workspace) const override {
    const auto row_bytes = static_cast<std::size_t>(row_points_) * element_bytes(type);
    for (std::int64_t row = 0; row < rows_; ++row) {
      row_.forward(static_cast<const std::byte*>(signal) + static_cast<std::size_t>(row) * row_bytes, type,
                   spectrum + row * row_.spectrum_points(), workspace);
    }
    for (const Columns& columns : columns_) run(columns, spectrum, spectrum, false, workspace);
  }

  void inverse(const std::complex<Real>* spectrum, std::complex<Real>* signal, Real scale,
               std::byte* workspace) const override {
    for (std::int64_t row = 0; row < rows_; ++row) {
      row_.inverse(spectrum + row * row_points_, signal + row * row_points_, scale, workspace);
    }
    for (const Columns& columns : columns_) run(columns, signal, signal, true, workspace);
  }

  void inverse(const std::complex<Real>* spectrum, Real* signal, Real scale,
               std::byte* workspace) const override {
    auto* copy = reinterpret_cast<std::complex<Real>*>(workspace + stage_bytes_);
    for (auto columns = columns_.rbegin(); columns != columns_.rend(); ++columns) {
      run(*columns, spectrum, copy, true, workspace);
      spectrum = copy;
    }
    for (std::int64_t row = 0; row < rows_; ++row) {
      row_.inverse(spectrum + row * row_.spectrum_points(), signal + row * row_points_, scale, workspace);
    }
  }

  std::string name() const override { return std::string("built-in ") + cpu::small_fft_isa(); }

 private:
  /// A dimension other than the last: `outer` grids of `points` values.
  struct Columns {
    ColumnStage<Real> stage;
    std::int64_t outer, points;
  };

  static void run(const Columns& columns, const std::complex<Real>* from, std::complex<Real>* to,
                  bool inverse, std::byte* workspace) {
    for (std::int64_t o = 0; o < columns.outer; ++o) {
      columns.stage.transform(from + o * columns.points, to + o * columns.points, inverse, workspace);
    }
  }

  bool real_;
  std::int64_t row_points_, rows_;
  RowStage<Real> row_;
  std::vector<Columns> columns_;  ///< fastest dimension first
  std::size_t stage_bytes_ = 0;
};

}  // namespace

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_built_in_engine(const Shape& shape, bool real) {
  return std::make_unique<const BuiltInEngine<Real>>(shape, real);
}

template std::unique_ptr<const DenseEngine<float>> make_built_in_engine(const Shape&, bool);
template std::unique_ptr<const DenseEngine<double>> make_built_in_engine(const Shape&, bool);

}  // namespace sfft::detail
