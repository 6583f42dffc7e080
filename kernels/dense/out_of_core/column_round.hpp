// SPDX-License-Identifier: Apache-2.0
// FFTs across the slabs of an array. The host transforms columns directly in the arrays, in blocks that stay
// in cache.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/out_of_core/host_factors.hpp"
#include "kernels/dense/out_of_core/round.hpp"

namespace sfft::detail {

template <class Real>
class ColumnRound : public Round<Real> {
 public:
  explicit ColumnRound(const DeviceArray& array) : Round<Real>(array) {}

  const char* name() const noexcept override { return "columns"; }
  std::int64_t units() const noexcept override { return array_.slab_points(); }
  std::int64_t grain() const noexcept override {
    constexpr std::int64_t kLine = 128 / static_cast<std::int64_t>(sizeof(std::complex<Real>));
    return std::min(kLine, units());
  }
  std::int64_t unit_points() const noexcept override { return array_.slabs; }
  std::size_t row_bytes() const noexcept override { return sizeof(std::complex<Real>); }
  std::unique_ptr<const DeviceKernel<Real>> kernel(OutOfCoreDevice<Real>& device,
                                                   std::int64_t units) const override {
    return device.columns(array_.slabs, units);
  }
  DeviceRows rows(const std::complex<Real>* array, std::int64_t first, std::int64_t count) const {
    auto* const begin = const_cast<std::complex<Real>*>(array + first);
    return {reinterpret_cast<std::byte*>(begin), bytes(array_.slab_points()), bytes(count),
            static_cast<std::size_t>(array_.slabs)};
  }
  PieceFactors factors(const RoundCall<Real>& call, std::int64_t first, std::int64_t count) const override {
    return {array_.slabs, count, first, array_.twiddles, call.inverse, call.scale};
  }

  std::vector<PieceSegment> segments_in(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    return segments(rows(call.from, first, count), call.found, first, memory);
  }
  std::vector<PieceSegment> segments_out(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    return segments(rows(call.to, first, count), call.left, first, memory);
  }

  void give_host(std::int64_t first) override {
    first_ = first;
    stage_.reset();
    if (first < units())
      stage_ = std::make_unique<const ColumnStage<Real>>(array_.slabs, units() - first, units());
    if (stage_) factors_ = HostFactors<Real>(array_.twiddles.length);
  }
  std::size_t host_bytes() const noexcept override {
    return stage_ ? (stage_->workspace_reals() * sizeof(Real) + 63) / 64 * 64 : 0;
  }
  std::int64_t host_parts() const noexcept override { return stage_ ? stage_->blocks() : 0; }
  void host_part(std::int64_t part, const RoundCall<Real>& call, std::byte* scratch) const override {
    const PieceFactors by = factors(call, first_, units() - first_);
    stage_->block(part, call.from + first_, call.to + first_, call.inverse, scratch, finish(by));
  }

 protected:
  using Round<Real>::array_;

  /// Multiplies the values of the host's columns; null if all factors are 1. `by` must outlive the result.
  typename ColumnStage<Real>::Finish finish(const PieceFactors& by) const {
    if (by.all_one()) return nullptr;
    return [this, &by](std::int64_t column, std::int64_t count, Real* re, Real* im) {
      factors_.multiply(by, first_ + column, count, re, im);
    };
  }
  static std::size_t bytes(std::int64_t values) {
    return static_cast<std::size_t>(values) * sizeof(std::complex<Real>);
  }

  std::int64_t first_ = 0;
  std::unique_ptr<const ColumnStage<Real>> stage_;

 private:
  /// Segments of a piece's columns. Some slabs may stay on the device.
  static std::vector<PieceSegment> segments(const DeviceRows& array, const Residency& resident,
                                            std::int64_t first, std::byte* memory) {
    const DeviceRows piece = array.packed_at(memory);
    const auto staying = static_cast<std::size_t>(resident.slabs),
               from = staying > 0 ? static_cast<std::size_t>(resident.first_slab) : 0, end = from + staying;
    std::vector<PieceSegment> parts;
    const auto add = [&](std::size_t row, std::size_t count) {
      if (count > 0) parts.push_back({piece.with_rows(row, count), array.with_rows(row, count)});
    };
    add(0, from);
    if (staying > 0) {
      const DeviceRows kept{resident.memory + bytes(first - resident.first_column), bytes(resident.columns),
                            array.width, staying};
      parts.push_back({piece.with_rows(from, staying), kept, true});
    }
    add(end, array.rows - end);
    return parts;
  }

  HostFactors<Real> factors_;
};

/// The device transposes a piece into separate memory, which is the workspace of its FFTs.
template <class Real>
class TransposingRound : public ColumnRound<Real> {
 public:
  using ColumnRound<Real>::ColumnRound;

  std::size_t work_bytes(const DeviceKernel<Real>& kernel, std::int64_t units) const override {
    return std::max(kernel.workspace_bytes(), this->bytes(units * array_.slabs));
  }
  std::byte* compute(const OutOfCoreDevice<Real>& device, const DeviceKernel<Real>& kernel,
                     const RoundCall<Real>& call, std::int64_t first, std::int64_t count, std::byte* memory,
                     std::byte* work, OutOfCoreStream& stream) const override {
    auto* const values = reinterpret_cast<std::complex<Real>*>(memory);
    kernel.run(values, call.inverse, work, stream);
    device.multiply_transposed(values, this->factors(call, first, count),
                               reinterpret_cast<std::complex<Real>*>(work), stream);
    return work;
  }

 protected:
  using Round<Real>::array_;
};

}  // namespace sfft::detail
