// SPDX-License-Identifier: Apache-2.0
// The rows of N1 × N2 values go through the device in strips. Their transforms, which are columns of N2 × N1
// values, overwrite strips that have been read.
// A strip occupies a whole number of rows of the result, so the results consist of tiles (j, i): the columns
// of strip j in the rows where strip i was. Tiles with i ≤ j are stored at once. The others stay on the
// device until strip i has been read; they take at most a quarter of the array and half a strip.
// If the previous round has left its first strips on the device, tiles reuse their memory as the strips are
// consumed. Both together need little more memory than one of them.
#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/dense/out_of_core/round.hpp"

namespace sfft::detail {

namespace {

class ExchangedRound final : public Round {
 public:
  using Round::Round;

  const char* name() const noexcept override { return "rows, transposed in place"; }
  std::int64_t units() const noexcept override { return array_.slabs; }
  std::int64_t unit_points() const noexcept override { return array_.slab_points(); }
  bool ordered() const noexcept override { return true; }
  bool transposes() const noexcept override { return true; }
  /// A strip occupies whole rows of the result, and contributes whole cache lines to each.
  std::int64_t grain() const noexcept override {
    return std::min(units(), std::lcm(units() / std::gcd(units(), unit_points()), line_values()));
  }
  std::unique_ptr<const DeviceKernel> kernel(OutOfCoreDevice& device, std::int64_t units) const override {
    return device.slabs(array_.slab, unit_points(), units);
  }
  std::int64_t kept_bytes(std::int64_t strip, const Residency& found) const override {
    constexpr std::int64_t kMaxStrips = 64;  // narrower strips are copied slowly
    if (strips(strip) > kMaxStrips) return std::numeric_limits<std::int64_t>::max() / 2;
    return placed(strip, found).bytes;
  }

  std::vector<PieceSegment> segments_in(const RoundCall& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    return segments_of_slabs(call.from, unit_points(), call.found, first, count, memory);
  }
  /// Copies to device memory come first. The values that they overwrite have been stored with the previous
  /// strip, or have been read as a part of this one.
  std::vector<PieceSegment> segments_out(const RoundCall& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    const std::int64_t strip = first / strip_, strips = this->strips(strip_);
    const Places places = placed(strip_, call.found);
    const auto kept = [&](std::int64_t j, std::int64_t i) {
      const Rows tile = in_array(nullptr, j, i, i + 1);
      return tile.packed_at(call.kept + places.of[static_cast<std::size_t>(j * strips + i)]);
    };
    const auto own = [&](std::int64_t i, std::int64_t end) {  // tiles of this strip are contiguous
      const Rows tiles = in_array(nullptr, strip, i, end);
      return tiles.packed_at(memory + bytes(row_of(i) * count));
    };
    std::vector<PieceSegment> segments;
    for (std::int64_t i = strip + 1; i < strips; ++i)
      segments.push_back({own(i, i + 1), kept(strip, i), true});
    segments.push_back({own(0, strip + 1), in_array(call.to, strip, 0, strip + 1)});
    for (std::int64_t j = 0; j < strip; ++j)
      segments.push_back({kept(j, strip), in_array(call.to, j, strip, strip + 1)});
    return segments;
  }

  void partition(const Partition& partition) override {
    strip_ = std::max<std::int64_t>(1, partition.piece_units);
  }
  void give_host(std::int64_t) override {}
  std::int64_t host_bytes() const noexcept override { return 0; }
  std::int64_t host_parts() const noexcept override { return 0; }
  void host_part(std::int64_t, const RoundCall&, std::byte*) const override {}

 protected:
  PieceFactors factors(const RoundCall& call, std::int64_t, std::int64_t count) const override {
    return {count, unit_points(), 0, {}, call.inverse, call.scale};
  }

 private:
  /// Offsets at which tiles (j, i), with index j·strips + i, wait on the device, and the bytes needed for
  /// this.
  struct Places {
    std::vector<std::int64_t> of;
    std::int64_t bytes;
  };

  std::int64_t strips(std::int64_t strip) const noexcept { return (units() + strip - 1) / strip; }
  /// The first row of the result where strip i was.
  std::int64_t row_of(std::int64_t i) const noexcept {
    return std::min(units(), i * strip_) * unit_points() / units();
  }
  /// Tiles (j, i) … (j, end − 1) in the array of results.
  Rows in_array(std::byte* array, std::int64_t j, std::int64_t i, std::int64_t end) const {
    const std::int64_t column = j * strip_;
    return {array + bytes(row_of(i) * units() + column), bytes(units()),
            bytes(std::min(strip_, units() - column)), row_of(end) - row_of(i)};
  }
  Places placed(std::int64_t strip, const Residency& found) const {
    const std::int64_t count = strips(strip);
    const std::int64_t tile = bytes(strip * (strip * unit_points() / units())), row = bytes(found.columns);
    Places places{std::vector<std::int64_t>(static_cast<std::size_t>(count * count)), found.slabs * row};
    std::vector<std::int64_t> free;
    const auto place = [&](std::int64_t j, std::int64_t i) -> std::int64_t& {
      return places.of[static_cast<std::size_t>(j * count + i)];
    };
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t first = std::min(found.slabs, j * strip) * row,
                         end = std::min(found.slabs, (j + 1) * strip) * row;
      for (std::int64_t at = first; at + tile <= end; at += tile) free.push_back(at);
      for (std::int64_t i = j + 1; i < count; ++i) {
        if (free.empty()) {
          free.push_back(places.bytes);
          places.bytes += tile;
        }
        place(j, i) = free.back();
        free.pop_back();
      }
      for (std::int64_t earlier = 0; earlier < j; ++earlier) free.push_back(place(earlier, j));
    }
    return places;
  }

  std::int64_t strip_ = 1;
};

}  // namespace

std::unique_ptr<Round> make_exchanged_round(const DeviceArray& array, std::int64_t value_bytes) {
  return std::make_unique<ExchangedRound>(array, value_bytes);
}

}  // namespace sfft::detail
