// SPDX-License-Identifier: Apache-2.0
// The built-in engine: small FFTs along rows, then across them, dimension by dimension.
#include <algorithm>
#include <optional>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/dense/cpu/built_in_parts.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/cpu/row_group.hpp"

namespace sfft::detail {

namespace {

/// Threads share runs of rows, then blocks of columns, one dimension after another. Their number does not
/// change the result. Stages work on blocks that stay in cache, so a thread's workspace is small. 1D signals
/// are an exception: one thread transforms them and needs four arrays of N reals. Real 2D and 3D inverses
/// copy the half spectrum, because the input must be preserved.
template <class Real>
class BuiltInEngine final : public DenseEngine<Real> {
 public:
  BuiltInEngine(const Shape& shape, bool real)
      : real_(real),
        row_points_(shape[shape.rank() - 1]),
        rows_(shape.points() / row_points_),
        row_(row_points_, real) {
    std::size_t reals = row_.workspace_reals();
    // Two real rows form one complex row.
    const std::int64_t together =
        std::min(rows_, (real ? 2 : 1) * columns_in_cache<Real>(row_points_, rows_));
    if (together > 1 && row_points_ > 1 && RowGroup<Real>::worthwhile(row_points_, together, real)) {
      together_.emplace(row_points_, together, real);
      if (rows_ % together > 0) rest_.emplace(row_points_, rows_ % together, real);
      reals = std::max({reals, together_->workspace_reals(), rest_ ? rest_->workspace_reals() : 0});
    }
    std::int64_t inner = row_.spectrum_points();
    for (int d = shape.rank() - 2; d >= 0; --d) {
      if (shape[d] > 1) {
        // The first and the last frequency of real rows are real, so their columns are transformed as one.
        if (columns_.empty() && real && row_points_ % 2 == 0) {
          without_last_.emplace(shape[d], inner - 1, inner);
          reals = std::max(reals, without_last_->workspace_reals());
        }
        columns_.push_back({ColumnStage<Real>(shape[d], inner),
                            rows_ * row_.spectrum_points() / (inner * shape[d]), shape[d], inner});
        reals = std::max(reals, columns_.back().stage.workspace_reals());
      }
      inner *= shape[d];
    }
    stage_bytes_ = (reals * sizeof(Real) + 63) / 64 * 64;
  }

  std::size_t workspace_bytes(int threads) const noexcept override {
    const auto copy = static_cast<std::size_t>(rows_ * row_.spectrum_points()) * sizeof(std::complex<Real>);
    return static_cast<std::size_t>(threads) * stage_bytes_ + (real_ && !columns_.empty() ? copy : 0);
  }
  int threads_of(int max) const noexcept override {
    return rows_ > 1 ? threads_worth(rows_ * row_points_, max) : 1;
  }

  void forward(const void* signal, ElementType type, std::complex<Real>* spectrum,
               const EngineScratch& scratch) const override {
    if (rows_ == 1) return row_.forward(signal, type, spectrum, scratch.workspace);
    const auto row_bytes = static_cast<std::size_t>(row_points_) * element_bytes(type);
    over_rows(scratch, [&](const auto& stage, std::int64_t row, std::byte* workspace) {
      std::complex<Real>* const to = spectrum + row * row_.spectrum_points();
      stage.forward(static_cast<const std::byte*>(signal) + static_cast<std::size_t>(row) * row_bytes, type,
                    to, workspace);
      if (without_last_) join_ends(to, rows_of(stage));
    });
    for (const Columns& columns : columns_) {
      const bool joined = without_last_ && &columns == &columns_.front();
      run(columns, joined ? *without_last_ : columns.stage, spectrum, spectrum, false, scratch,
          [&](std::int64_t block, std::complex<Real>* grid) {
            if (joined && block == 0) separate_ends(grid, columns.extent);
          });
    }
  }

  void inverse(const std::complex<Real>* spectrum, std::complex<Real>* signal, Real scale,
               const EngineScratch& scratch) const override {
    over_rows(scratch, [&](const auto& stage, std::int64_t row, std::byte* workspace) {
      stage.inverse(spectrum + row * row_points_, signal + row * row_points_, scale, workspace);
    });
    for (const Columns& columns : columns_) run(columns, columns.stage, signal, signal, true, scratch);
  }

  void inverse(const std::complex<Real>* spectrum, Real* signal, Real scale,
               const EngineScratch& scratch) const override {
    const auto threads = static_cast<std::size_t>(scratch.pool == nullptr ? 1 : scratch.pool->threads());
    auto* copy = reinterpret_cast<std::complex<Real>*>(scratch.workspace + threads * stage_bytes_);
    for (auto columns = columns_.rbegin(); columns != columns_.rend(); ++columns) {
      run(*columns, columns->stage, spectrum, copy, true, scratch);
      spectrum = copy;
    }
    over_rows(scratch, [&](const auto& stage, std::int64_t row, std::byte* workspace) {
      stage.inverse(spectrum + row * row_.spectrum_points(), signal + row * row_points_, scale, workspace);
    });
  }

  std::string name() const override { return std::string("built-in ") + cpu::isa_name(); }

 private:
  /// A dimension other than the last: `outer` grids of extent × inner values.
  struct Columns {
    ColumnStage<Real> stage;
    std::int64_t outer, extent, inner;
  };

  static std::int64_t rows_of(const RowStage<Real>&) { return 1; }
  static std::int64_t rows_of(const RowGroup<Real>& group) { return group.rows(); }

  /// The real last value of each row becomes the imaginary part of its first value.
  void join_ends(std::complex<Real>* spectra, std::int64_t rows) const {
    const std::int64_t kept = row_.spectrum_points();
    for (std::int64_t r = 0; r < rows; ++r) spectra[r * kept].imag(spectra[r * kept + kept - 1].real());
  }
  /// Separates the spectra A and B of two real columns after the transform of the first column, Z = A + iB.
  void separate_ends(std::complex<Real>* grid, std::int64_t extent) const {
    const std::int64_t kept = row_.spectrum_points();
    for (std::int64_t r = 0; 2 * r <= extent; ++r) {
      std::complex<Real>*const one = grid + r * kept, *const other = grid + (extent - r) % extent * kept;
      const std::complex<Real> z = *one, mirrored = std::conj(*other);
      const std::complex<Real> a = Real(0.5) * (z + mirrored), ib = Real(0.5) * (z - mirrored);
      *one = a;
      *other = std::conj(a);
      one[kept - 1] = {ib.imag(), -ib.real()};
      other[kept - 1] = {ib.imag(), ib.real()};
    }
  }

  /// Calls job(stage, row, workspace) for every row, or for the first row of each group that the stage
  /// handles together.
  template <class Job>
  void over_rows(const EngineScratch& scratch, const Job& job) const {
    const std::int64_t each = together_ ? together_->rows() : 1;
    over_stretches(scratch, stage_bytes_, (rows_ + each - 1) / each, each * row_points_,
                   [&](std::int64_t first, std::int64_t end, std::byte* workspace) {
                     for (std::int64_t i = first; i < end; ++i) {
                       if (!together_) {
                         job(row_, i, workspace);
                       } else {
                         job(i < rows_ / each ? *together_ : *rest_, i * each, workspace);
                       }
                     }
                   });
  }

  /// Calls done(block, grid) after every block.
  template <class Done = void (*)(std::int64_t, std::complex<Real>*)>
  void run(
      const Columns& columns, const ColumnStage<Real>& stage, const std::complex<Real>* from,
      std::complex<Real>* to, bool inverse, const EngineScratch& scratch,
      const Done& done = [](std::int64_t, std::complex<Real>*) {}) const {
    const std::int64_t blocks = stage.blocks(), points = columns.extent * columns.inner;
    over_stretches(scratch, stage_bytes_, columns.outer * blocks, points / blocks,
                   [&](std::int64_t first, std::int64_t end, std::byte* workspace) {
                     for (std::int64_t b = first; b < end; ++b) {
                       const std::int64_t start = b / blocks * points;
                       stage.block(b % blocks, from + start, to + start, inverse, workspace);
                       done(b % blocks, to + start);
                     }
                   });
  }

  bool real_;
  std::int64_t row_points_, rows_;
  RowStage<Real> row_;
  std::optional<RowGroup<Real>> together_, rest_;  ///< groups of short rows: as many as fit in a cache, and
                                                   ///< the remainder
  std::vector<Columns> columns_;                   ///< fastest dimension first
  std::optional<ColumnStage<Real>> without_last_;  ///< for the fastest dimension of columns, in forward real
                                                   ///< transforms
  std::size_t stage_bytes_ = 0;
};

}  // namespace

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_built_in_engine(const Shape& shape, bool real, int threads) {
  if (auto engine = make_long_line_engine<Real>(shape, real, threads)) return engine;
  if (auto engine = make_long_chirp_engine<Real>(shape, real)) return engine;
  if (auto engine = make_direct_engine<Real>(shape, real)) return engine;
  if (auto engine = make_small_grid_engine<Real>(shape, real)) return engine;
  return std::make_unique<const BuiltInEngine<Real>>(shape, real);
}

template std::unique_ptr<const DenseEngine<float>> make_built_in_engine(const Shape&, bool, int);
template std::unique_ptr<const DenseEngine<double>> make_built_in_engine(const Shape&, bool, int);

}  // namespace sfft::detail
