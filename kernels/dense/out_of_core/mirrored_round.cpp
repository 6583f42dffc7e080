// SPDX-License-Identifier: Apache-2.0
// The transform of pairs of samples has rows × width values. The value at row r and column c has frequency k
// = r·width + c. It exchanges values with frequency h − k, at row rows − 1 − r and column width − c. Column 0
// and, for even width, column width/2 are their own mirrors; the host transforms them.
#include <algorithm>

#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/out_of_core/host_stages.hpp"
#include "kernels/dense/out_of_core/round.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

/// Converts values k and h − k of a transform of pairs to those of half spectra, times 2·half.
void unpack_real(Complex& a, Complex& b, const Complex& root, double half) {
  const Complex sum = half * (a + std::conj(b)), difference = -half * times_i(a - std::conj(b));
  const Complex odd = times(root, difference);
  a = sum + odd;
  b = std::conj(sum - odd);
}
/// The inverse of unpack_real(), times 2.
void pack_real(Complex& a, Complex& b, const Complex& root) {
  const Complex sum = a + std::conj(b), odd = times_i(times(std::conj(root), a - std::conj(b)));
  a = sum + odd;
  b = std::conj(sum - odd);
}

/// The rounds on rows × width = slabs × slab values. The first round of a call transposes; inverse calls pack
/// before it. The second round does not transpose; forward calls unpack after it.
template <class Real>
class MirroredRound final : public Round {
 public:
  MirroredRound(const DeviceArray& array, std::int64_t value_bytes, bool transposes)
      : Round(array, value_bytes),
        transposes_(transposes),
        rows_(array.slabs),
        width_(array.slab_points()),
        half_(array.points()),
        roots_(2 * half_, half_),
        factors_(array.twiddles.length),
        row_(rows_, false) {}

  const char* name() const noexcept override {
    return transposes_ ? "mirrored columns, transposed" : "mirrored columns";
  }
  std::int64_t units() const noexcept override { return (width_ - 1) / 2; }
  std::int64_t unit_points() const noexcept override { return 2 * rows_; }
  bool transposes() const noexcept override { return transposes_; }
  std::unique_ptr<const DeviceKernel> kernel(OutOfCoreDevice& device, std::int64_t units) const override {
    return device.columns(rows_, 2 * units);
  }
  std::byte* compute(const OutOfCoreDevice& device, const DeviceKernel& kernel, const RoundCall& call,
                     const DevicePiece& piece, Queue& queue) const override {
    const MirroredPiece columns{rows_, 2 * piece.count, piece.first + 1, width_};
    if (transposes_ && call.inverse) device.pack_real(piece.memory, columns, queue);
    kernel.run(piece.memory, call.inverse, piece.work, queue);
    if (transposes_ || call.inverse)
      return multiply(device, factors(call, piece.first, piece.count), piece, queue);
    device.unpack_real(piece.memory, columns, call.scale, queue);
    return piece.memory;
  }
  std::vector<PieceSegment> segments_in(const RoundCall& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    return columns(call.from, first, count, memory);
  }
  std::vector<PieceSegment> segments_out(const RoundCall& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    if (!transposes_) return columns(call.to, first, count, memory);
    const std::int64_t size = bytes(count * rows_);
    const auto at = [&](std::int64_t column) { return Rows{call.to + bytes(column * rows_), size, size, 1}; };
    const Rows left = at(first + 1), right = at(mirror(first + 1, count));
    return {{left.packed_at(memory), left}, {right.packed_at(memory + size), right}};
  }

  void give_host(std::int64_t first) override {
    first_ = first;
    stage_.reset();
    if (first < units()) stage_ = std::make_unique<const ColumnStage<Real>>(rows_, units() - first, width_);
  }
  std::int64_t host_bytes() const noexcept override {
    const std::int64_t own = reals_bytes(row_.workspace_reals()) + aligned_bytes(bytes(rows_));
    return std::max(own, stage_ ? 2 * stage_bytes() : 0);
  }
  std::int64_t host_parts() const noexcept override { return 1 + (stage_ ? stage_->blocks() : 0); }
  void host_part(std::int64_t part, const RoundCall& call, std::byte* scratch) const override {
    if (part > 0) return block(part - 1, call, scratch);
    self_mirrored(0, call, scratch);
    if (width_ % 2 == 0) self_mirrored(width_ / 2, call, scratch);
  }

 private:
  static std::int64_t reals_bytes(std::size_t reals) {
    return aligned_bytes(static_cast<std::int64_t>(reals * sizeof(Real)));
  }
  std::int64_t stage_bytes() const noexcept { return reals_bytes(stage_->workspace_reals()); }
  /// The first of the columns that mirror columns first … first + count − 1.
  std::int64_t mirror(std::int64_t first, std::int64_t count) const noexcept {
    return width_ - first - count + 1;
  }
  PieceFactors factors(const RoundCall& call, std::int64_t first, std::int64_t count) const override {
    return {rows_, 2 * count, first + 1, array_.twiddles, call.inverse, call.scale, width_};
  }
  std::vector<PieceSegment> columns(const std::byte* array, std::int64_t first, std::int64_t count,
                                    std::byte* memory) const {
    const std::int64_t size = bytes(count);
    const Rows piece{memory, 2 * size, 2 * size, rows_};
    const auto at = [&](std::int64_t column) {
      return Rows{writable(array) + bytes(column), bytes(width_), size, rows_};
    };
    return {{piece.with_columns(0, size), at(first + 1)},
            {piece.with_columns(size, size), at(mirror(first + 1, count))}};
  }

  /// Transforms a block of columns and their mirrors.
  void block(std::int64_t block, const RoundCall& call, std::byte* scratch) const {
    const std::int64_t count = stage_->columns_of(block), left = 1 + first_ + block * stage_->columns_of(0),
                       right = mirror(left, count);
    auto a = stage_->split(scratch), b = stage_->split(scratch + stage_bytes());
    stage_->load(block, values_at<Real>(call.from, left), a);
    stage_->load(block, values_at<Real>(call.from, right), b);
    if (transposes_ && call.inverse)
      exchange(left, count, a, b,
               [](Complex& one, Complex& other, const Complex& root) { pack_real(one, other, root); });
    stage_->transform(block, call.inverse, a);
    stage_->transform(block, call.inverse, b);
    if (!transposes_ && !call.inverse) {
      const double half = 0.5 * call.scale;
      exchange(left, count, a, b, [&](Complex& one, Complex& other, const Complex& root) {
        unpack_real(one, other, root, half);
      });
    } else if (const PieceFactors by = factors(call, 0, 1); !by.all_one()) {
      factors_.multiply(by, left, count, a.re, a.im);
      factors_.multiply(by, right, count, b.re, b.im);
    }
    if (transposes_) {
      stage_->store_transposed(block, a, values_at<Real>(call.to, left * rows_));
      stage_->store_transposed(block, b, values_at<Real>(call.to, right * rows_));
    } else {
      stage_->store(block, a, values_at<Real>(call.to, left));
      stage_->store(block, b, values_at<Real>(call.to, right));
    }
  }
  template <class Job>
  void exchange(std::int64_t left, std::int64_t count, const SplitWorkspace<Real>& a,
                const SplitWorkspace<Real>& b, const Job& job) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int64_t i = row * count + c, j = rows_ * count - 1 - i;
        Complex one(a.re[i], a.im[i]), other(b.re[j], b.im[j]);
        job(one, other, roots_(row * width_ + left + c));
        a.re[i] = static_cast<Real>(one.real());
        a.im[i] = static_cast<Real>(one.imag());
        b.re[j] = static_cast<Real>(other.real());
        b.im[j] = static_cast<Real>(other.imag());
      }
    }
  }

  /// Transforms a column that mirrors itself. Row r is opposite to row rows − r in column 0, otherwise to
  /// rows − 1 − r. Frequency h, which only half spectra have, is opposite to 0.
  void self_mirrored(std::int64_t column, const RoundCall& call, std::byte* scratch) const {
    auto* const values = reinterpret_cast<std::complex<Real>*>(scratch);
    const auto* const from = values_at<Real>(call.from, 0);
    auto* const to = values_at<Real>(call.to, 0);
    std::byte* const own = scratch + aligned_bytes(bytes(rows_));
    for (std::int64_t r = 0; r < rows_; ++r) values[r] = from[r * width_ + column];
    const auto exchange = [&](const auto& job) {
      const std::int64_t last = column == 0 ? rows_ : rows_ - 1;
      for (std::int64_t r = column == 0 ? 1 : 0; 2 * r <= last; ++r) {
        Complex one(values[r]), other(values[last - r]);
        job(one, other, roots_(r * width_ + column));
        values[last - r] = std::complex<Real>(other);
        values[r] = std::complex<Real>(one);
      }
    };
    if (transposes_ && call.inverse) {
      if (column == 0) {
        const double mean = from[0].real(), last = from[half_].real();
        values[0] = {static_cast<Real>(mean + last), static_cast<Real>(mean - last)};
      }
      exchange([](Complex& one, Complex& other, const Complex& root) { pack_real(one, other, root); });
    }
    if (call.inverse) {
      row_.inverse(values, values, transposes_ ? Real(1) : static_cast<Real>(call.scale), own);
    } else {
      row_.forward(values, element_type_of<std::complex<Real>>::value, values, own);
    }
    if (!transposes_ && !call.inverse) {
      const double scale = call.scale;
      exchange([&](Complex& one, Complex& other, const Complex& root) {
        unpack_real(one, other, root, 0.5 * scale);
      });
      if (column == 0) {
        const Complex first(values[0]);
        values[0] = static_cast<Real>(scale * (first.real() + first.imag()));
        to[half_] = static_cast<Real>(scale * (first.real() - first.imag()));
      }
    }
    for (std::int64_t r = 0; r < rows_; ++r) {
      if (!transposes_) {
        to[r * width_ + column] = values[r];
      } else {
        // exp(∓2πi·r·column/h)
        const std::int64_t turn = 2 * r * column % (2 * half_);
        Complex root = turn <= half_ ? roots_(turn) : std::conj(roots_(2 * half_ - turn));
        if (call.inverse) root = std::conj(root);
        to[column * rows_ + r] = std::complex<Real>(times(Complex(values[r]), root));
      }
    }
  }

  bool transposes_;
  std::int64_t rows_, width_, half_;  ///< half_: number of frequencies h
  RootTable roots_;                   ///< exp(−2πi·k/2h)
  HostFactors<Real> factors_;
  RowStage<Real> row_;  ///< for columns that mirror themselves
  std::int64_t first_ = 0;
  std::unique_ptr<const ColumnStage<Real>> stage_;
};

}  // namespace

std::unique_ptr<Round> make_mirrored_round(const DeviceArray& array, std::int64_t value_bytes,
                                           bool transposes) {
  if (value_bytes == sizeof(std::complex<float>))
    return std::make_unique<MirroredRound<float>>(array, value_bytes, transposes);
  return std::make_unique<MirroredRound<double>>(array, value_bytes, transposes);
}

}  // namespace sfft::detail
