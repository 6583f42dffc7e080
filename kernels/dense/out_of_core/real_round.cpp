// SPDX-License-Identifier: Apache-2.0
// On the device, rows of samples have room for their half spectra, like in-place transforms on the host.
#include <algorithm>

#include "kernels/dense/out_of_core/host_slab.hpp"
#include "kernels/dense/out_of_core/round.hpp"

namespace sfft::detail {

namespace {

template <class Real>
class RealSlabRound final : public Round<Real> {
 public:
  explicit RealSlabRound(const DeviceArray& array)
      : Round<Real>(array), slab_(array.slab, array.real_points, array.real_pitch) {}

  const char* name() const noexcept override { return "real slabs"; }
  std::int64_t units() const noexcept override { return array_.slabs; }
  std::int64_t grain() const noexcept override { return 1; }
  std::int64_t unit_points() const noexcept override { return array_.slab_points(); }
  std::unique_ptr<const DeviceKernel<Real>> kernel(OutOfCoreDevice<Real>& device,
                                                   std::int64_t units) const override {
    return device.real_slabs(array_.slab, array_.real_points, units);
  }
  std::vector<PieceSegment> segments_in(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    if (call.inverse) return segments_of_slabs(call.from, unit_points(), first, count, call.found, memory);
    return samples(call.from, first, count, memory);
  }
  std::vector<PieceSegment> segments_out(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    if (!call.inverse) return segments_of_slabs(call.to, unit_points(), first, count, call.left, memory);
    return samples(call.to, first, count, memory);
  }

  void give_host(std::int64_t first) override {
    first_ = first;
    each_ = std::max<std::int64_t>(1, kPartPoints / unit_points());
  }
  std::size_t host_bytes() const noexcept override { return slab_.scratch_bytes(); }
  std::int64_t host_parts() const noexcept override { return (units() - first_ + each_ - 1) / each_; }
  void host_part(std::int64_t part, const RoundCall<Real>& call, std::byte* scratch) const override {
    const std::int64_t begin = first_ + part * each_, end = std::min(units(), begin + each_);
    for (std::int64_t slab = begin; slab < end; ++slab) {
      const std::int64_t reals = slab * slab_rows() * array_.real_pitch, values = slab * unit_points();
      if (call.inverse) {
        slab_.inverse(call.from + values, reinterpret_cast<Real*>(call.to) + reals, call.scale, scratch);
      } else {
        slab_.forward(reinterpret_cast<const Real*>(call.from) + reals, call.to + values, call.scale,
                      scratch);
      }
    }
  }

 private:
  using Round<Real>::array_;
  static constexpr std::int64_t kPartPoints = 1 << 16;

  PieceFactors factors(const RoundCall<Real>& call, std::int64_t, std::int64_t count) const override {
    return {1, count * unit_points(), 0, {}, call.inverse, call.scale};
  }
  std::int64_t row_values() const noexcept { return array_.slab[array_.slab.rank() - 1]; }
  std::int64_t slab_rows() const noexcept { return unit_points() / row_values(); }

  /// Copies only the samples: the gaps between them belong to the caller.
  std::vector<PieceSegment> samples(const std::complex<Real>* array, std::int64_t first, std::int64_t count,
                                    std::byte* memory) const {
    const auto bytes = [](std::int64_t reals) { return static_cast<std::size_t>(reals) * sizeof(Real); };
    auto* const begin = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(array));
    const auto rows = static_cast<std::size_t>(count * slab_rows());
    const std::size_t width = bytes(array_.real_points);
    return {
        {{memory, bytes(2 * row_values()), width, rows},
         {begin + bytes(first * slab_rows() * array_.real_pitch), bytes(array_.real_pitch), width, rows}}};
  }

  std::int64_t first_ = 0, each_ = 1;
  HostRealSlab<Real> slab_;
};

}  // namespace

template <class Real>
std::unique_ptr<Round<Real>> make_real_slab_round(const DeviceArray& array) {
  return std::make_unique<RealSlabRound<Real>>(array);
}

template std::unique_ptr<Round<float>> make_real_slab_round(const DeviceArray&);
template std::unique_ptr<Round<double>> make_real_slab_round(const DeviceArray&);

}  // namespace sfft::detail
