// SPDX-License-Identifier: Apache-2.0
// The rounds of columns and of slabs. The host transforms columns directly in the arrays, without
// transposition, in blocks that stay in cache, and slabs one by one.
#include "kernels/dense/out_of_core/round.hpp"

#include <algorithm>
#include <type_traits>

#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/out_of_core/host_stages.hpp"

namespace sfft::detail {

std::vector<PieceSegment> Round::segments_of_slabs(const std::byte* array, std::int64_t slab_points,
                                                   const Residency& resident, std::int64_t first,
                                                   std::int64_t count, std::byte* memory) const {
  const std::int64_t slab = bytes(slab_points), before = first - resident.first_slab;
  std::byte* const begin = writable(array) + first * slab;
  if (before < 0 || before >= resident.slabs) {
    const Rows all{begin, slab * count, slab * count, 1};
    return {{all.packed_at(memory), all}};
  }
  const std::int64_t from = bytes(resident.first_column), columns = bytes(resident.columns),
                     end = from + columns;
  const Rows piece{memory, slab, slab, count}, whole{begin, slab, slab, count};
  const Rows kept{resident.memory + before * columns, columns, columns, count};
  std::vector<PieceSegment> segments{{piece.with_columns(from, columns), kept, true}};
  const auto add = [&](std::int64_t at, std::int64_t width) {
    if (width > 0) segments.push_back({piece.with_columns(at, width), whole.with_columns(at, width)});
  };
  add(0, from);
  add(end, slab - end);
  return segments;
}

namespace {

/// If it transposes, the device transposes a piece, so that its results leave in long rows.
template <class Real>
class ColumnRound final : public Round {
 public:
  ColumnRound(const DeviceArray& array, std::int64_t value_bytes, bool transposes)
      : Round(array, value_bytes), transposes_(transposes) {}

  const char* name() const noexcept override { return transposes_ ? "columns, transposed" : "columns"; }
  std::int64_t units() const noexcept override { return array_.slab_points(); }
  std::int64_t unit_points() const noexcept override { return array_.slabs; }
  bool transposes() const noexcept override { return transposes_; }
  std::unique_ptr<const DeviceKernel> kernel(OutOfCoreDevice& device, std::int64_t units) const override {
    return device.columns(array_.slabs, units);
  }
  PieceFactors factors(const RoundCall& call, std::int64_t first, std::int64_t count) const override {
    return {array_.slabs, count, first, array_.twiddles, call.inverse, call.scale};
  }
  std::vector<PieceSegment> segments_in(const RoundCall& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    return segments(rows(call.from, first, count), call.found, first, memory);
  }
  std::vector<PieceSegment> segments_out(const RoundCall& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    if (transposes_) return segments_of_slabs(call.to, array_.slabs, call.left, first, count, memory);
    return segments(rows(call.to, first, count), call.left, first, memory);
  }

  void give_host(std::int64_t first) override {
    first_ = first;
    stage_.reset();
    if (first < units())
      stage_ = std::make_unique<const ColumnStage<Real>>(array_.slabs, units() - first, units());
    if (stage_) factors_ = HostFactors<Real>(array_.twiddles.length);
  }
  std::int64_t host_bytes() const noexcept override {
    return stage_ ? static_cast<std::int64_t>((stage_->workspace_reals() * sizeof(Real) + 63) / 64 * 64) : 0;
  }
  std::int64_t host_parts() const noexcept override { return stage_ ? stage_->blocks() : 0; }
  void host_part(std::int64_t part, const RoundCall& call, std::byte* scratch) const override {
    const PieceFactors by = factors(call, first_, units() - first_);
    const auto* const from = values_at<Real>(call.from, first_);
    if (transposes_) {
      stage_->transposed_block(part, from, values_at<Real>(call.to, first_ * array_.slabs), call.inverse,
                               scratch, finish(by));
    } else {
      stage_->block(part, from, values_at<Real>(call.to, first_), call.inverse, scratch, finish(by));
    }
  }

 private:
  Rows rows(const std::byte* array, std::int64_t first, std::int64_t count) const {
    return {writable(array) + bytes(first), bytes(array_.slab_points()), bytes(count), array_.slabs};
  }
  /// Segments of a piece's columns. Some slabs may stay on the device.
  std::vector<PieceSegment> segments(const Rows& array, const Residency& resident, std::int64_t first,
                                     std::byte* memory) const {
    const Rows piece = array.packed_at(memory);
    const std::int64_t from = resident.slabs > 0 ? resident.first_slab : 0, end = from + resident.slabs;
    std::vector<PieceSegment> parts;
    const auto add = [&](std::int64_t row, std::int64_t count) {
      if (count > 0) parts.push_back({piece.with_rows(row, count), array.with_rows(row, count)});
    };
    add(0, from);
    if (resident.slabs > 0) {
      const Rows kept{resident.memory + bytes(first - resident.first_column), bytes(resident.columns),
                      array.width, resident.slabs};
      parts.push_back({piece.with_rows(from, resident.slabs), kept, true});
    }
    add(end, array.rows - end);
    return parts;
  }
  /// Multiplies the values of the host's columns; null if all factors are 1. `by` must outlive the result.
  typename ColumnStage<Real>::Finish finish(const PieceFactors& by) const {
    if (by.all_one()) return nullptr;
    return [this, &by](std::int64_t column, std::int64_t count, Real* re, Real* im) {
      factors_.multiply(by, first_ + column, count, re, im);
    };
  }

  bool transposes_;
  std::int64_t first_ = 0;
  std::unique_ptr<const ColumnStage<Real>> stage_;
  HostFactors<Real> factors_;
};

/// `Slab`, a HostSlab or a HostRealSlab, transforms a slab on the host. On the device, rows of samples have
/// room for their half spectra, like in-place transforms on the host.
template <class Real, class Slab>
class SlabRound final : public Round {
 public:
  SlabRound(const DeviceArray& array, std::int64_t value_bytes, Slab slab)
      : Round(array, value_bytes), slab_(std::move(slab)) {}

  const char* name() const noexcept override { return kReal ? "real slabs" : "slabs"; }
  std::int64_t units() const noexcept override { return array_.slabs; }
  std::int64_t grain() const noexcept override { return 1; }
  std::int64_t row_bytes() const noexcept override { return 0; }
  std::int64_t unit_points() const noexcept override { return array_.slab_points(); }
  std::unique_ptr<const DeviceKernel> kernel(OutOfCoreDevice& device, std::int64_t units) const override {
    return kReal ? device.real_slabs(array_.slab, array_.real_points, units)
                 : device.slabs(array_.slab, array_.row_points, units);
  }
  PieceFactors factors(const RoundCall& call, std::int64_t, std::int64_t count) const override {
    return {1, count * unit_points(), 0, {}, call.inverse, call.scale};
  }
  std::vector<PieceSegment> segments_in(const RoundCall& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    if (kReal && !call.inverse) return samples(call.from, first, count, memory);
    return segments_of_slabs(call.from, unit_points(), call.found, first, count, memory);
  }
  std::vector<PieceSegment> segments_out(const RoundCall& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    if (kReal && call.inverse) return samples(call.to, first, count, memory);
    return segments_of_slabs(call.to, unit_points(), call.left, first, count, memory);
  }

  void give_host(std::int64_t first) override {
    first_ = first;
    // Threads take several short slabs at a time.
    each_ = std::max<std::int64_t>(1, kPartPoints / unit_points());
  }
  std::int64_t host_bytes() const noexcept override {
    return static_cast<std::int64_t>(slab_.scratch_bytes());
  }
  std::int64_t host_parts() const noexcept override { return (units() - first_ + each_ - 1) / each_; }
  void host_part(std::int64_t part, const RoundCall& call, std::byte* scratch) const override {
    const std::int64_t begin = first_ + part * each_, end = std::min(units(), begin + each_);
    const auto scale = static_cast<Real>(call.scale);
    for (std::int64_t slab = begin; slab < end; ++slab) {
      const auto* const from = values_at<Real>(call.from, slab * unit_points());
      auto* const to = values_at<Real>(call.to, slab * unit_points());
      if constexpr (kReal) {
        const std::int64_t reals = slab * slab_rows() * array_.real_pitch;
        if (call.inverse) {
          slab_.inverse(from, reinterpret_cast<Real*>(call.to) + reals, scale, scratch);
        } else {
          slab_.forward(reinterpret_cast<const Real*>(call.from) + reals, to, scale, scratch);
        }
      } else {
        slab_.transform(from, to, call.inverse, scale, scratch);
      }
    }
  }

 private:
  static constexpr bool kReal = std::is_same_v<Slab, HostRealSlab<Real>>;
  static constexpr std::int64_t kPartPoints = 1 << 16;

  std::int64_t slab_rows() const noexcept { return unit_points() / row_values(); }
  std::int64_t row_values() const noexcept { return array_.slab[array_.slab.rank() - 1]; }
  /// Copies only the samples: the gaps between them belong to the caller.
  std::vector<PieceSegment> samples(const std::byte* array, std::int64_t first, std::int64_t count,
                                    std::byte* memory) const {
    constexpr std::int64_t kSample = sizeof(Real);
    const std::int64_t rows = count * slab_rows(), width = array_.real_points * kSample,
                       pitch = array_.real_pitch * kSample;
    return {{{memory, bytes(row_values()), width, rows},
             {writable(array) + first * slab_rows() * pitch, pitch, width, rows}}};
  }

  std::int64_t first_ = 0, each_ = 1;
  Slab slab_;
};

template <class Real>
std::unique_ptr<Round> slab_round(DeviceArray array, std::int64_t value_bytes) {
  if (array.real_points > 0) {
    return std::make_unique<SlabRound<Real, HostRealSlab<Real>>>(
        array, value_bytes, HostRealSlab<Real>(array.slab, array.real_points, array.real_pitch));
  }
  if (array.row_points == 0) array.row_points = array.slab[array.slab.rank() - 1];
  return std::make_unique<SlabRound<Real, HostSlab<Real>>>(array, value_bytes,
                                                           HostSlab<Real>(array.slab, array.row_points));
}

}  // namespace

std::unique_ptr<Round> make_column_round(const DeviceArray& array, std::int64_t value_bytes,
                                         bool transposes) {
  if (value_bytes == sizeof(std::complex<float>))
    return std::make_unique<ColumnRound<float>>(array, value_bytes, transposes);
  return std::make_unique<ColumnRound<double>>(array, value_bytes, transposes);
}

std::unique_ptr<Round> make_slab_round(const DeviceArray& array, std::int64_t value_bytes) {
  return value_bytes == sizeof(std::complex<float>) ? slab_round<float>(array, value_bytes)
                                                    : slab_round<double>(array, value_bytes);
}

}  // namespace sfft::detail
