// SPDX-License-Identifier: Apache-2.0
// The host transforms columns without transposition, in blocks that stay in cache, and slabs one by one.
#include <algorithm>

#include "kernels/dense/out_of_core/column_round.hpp"
#include "kernels/dense/out_of_core/host_slab.hpp"

namespace sfft::detail {

namespace {

/// The device transposes a piece, so that its results leave in long rows.
template <class Real>
class TransposedRound final : public TransposingRound<Real> {
 public:
  explicit TransposedRound(const DeviceArray& array) : TransposingRound<Real>(array) {}

  const char* name() const noexcept override { return "columns, transposed"; }
  std::vector<PieceSegment> segments_out(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    return segments_of_slabs(call.to, array_.slabs, first, count, call.left, memory);
  }
  void host_part(std::int64_t part, const RoundCall<Real>& call, std::byte* scratch) const override {
    const PieceFactors by = this->factors(call, this->first_, this->units() - this->first_);
    this->stage_->transposed_block(part, call.from + this->first_, call.to + this->first_ * array_.slabs,
                                   call.inverse, scratch, this->finish(by));
  }

 private:
  using Round<Real>::array_;
};

template <class Real>
class SlabRound final : public Round<Real> {
 public:
  explicit SlabRound(const DeviceArray& array) : Round<Real>(array), slab_(array.slab, row_points(array)) {}

  const char* name() const noexcept override { return "slabs"; }
  std::int64_t units() const noexcept override { return array_.slabs; }
  std::int64_t grain() const noexcept override { return 1; }
  std::int64_t unit_points() const noexcept override { return array_.slab_points(); }
  std::unique_ptr<const DeviceKernel<Real>> kernel(OutOfCoreDevice<Real>& device,
                                                   std::int64_t units) const override {
    return device.slabs(array_.slab, row_points(array_), units);
  }
  PieceFactors factors(const RoundCall<Real>& call, std::int64_t, std::int64_t count) const override {
    return {1, count * unit_points(), 0, {}, call.inverse, call.scale};
  }
  std::vector<PieceSegment> segments_in(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    return segments_of_slabs(call.from, unit_points(), first, count, call.found, memory);
  }
  std::vector<PieceSegment> segments_out(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    return segments_of_slabs(call.to, unit_points(), first, count, call.left, memory);
  }

  void give_host(std::int64_t first) override {
    first_ = first;
    // Threads take several short slabs at a time.
    each_ = std::max<std::int64_t>(1, kPartPoints / unit_points());
  }
  std::size_t host_bytes() const noexcept override { return slab_.scratch_bytes(); }
  std::int64_t host_parts() const noexcept override { return (units() - first_ + each_ - 1) / each_; }
  void host_part(std::int64_t part, const RoundCall<Real>& call, std::byte* scratch) const override {
    const std::int64_t begin = first_ + part * each_, end = std::min(units(), begin + each_);
    for (std::int64_t slab = begin; slab < end; ++slab)
      slab_.transform(call.from + slab * unit_points(), call.to + slab * unit_points(), call.inverse,
                      call.scale, scratch);
  }

 private:
  using Round<Real>::array_;
  static constexpr std::int64_t kPartPoints = 1 << 16;

  static std::int64_t row_points(const DeviceArray& array) noexcept {
    return array.row_points != 0 ? array.row_points : array.slab[array.slab.rank() - 1];
  }

  std::int64_t first_ = 0, each_ = 1;
  HostSlab<Real> slab_;
};

}  // namespace

template <class Real>
std::unique_ptr<Round<Real>> make_column_round(const DeviceArray& array) {
  return std::make_unique<ColumnRound<Real>>(array);
}
template <class Real>
std::unique_ptr<Round<Real>> make_transposed_round(const DeviceArray& array) {
  return std::make_unique<TransposedRound<Real>>(array);
}
template <class Real>
std::unique_ptr<Round<Real>> make_slab_round(const DeviceArray& array) {
  return std::make_unique<SlabRound<Real>>(array);
}

template std::unique_ptr<Round<float>> make_column_round(const DeviceArray&);
template std::unique_ptr<Round<double>> make_column_round(const DeviceArray&);
template std::unique_ptr<Round<float>> make_transposed_round(const DeviceArray&);
template std::unique_ptr<Round<double>> make_transposed_round(const DeviceArray&);
template std::unique_ptr<Round<float>> make_slab_round(const DeviceArray&);
template std::unique_ptr<Round<double>> make_slab_round(const DeviceArray&);

}  // namespace sfft::detail
