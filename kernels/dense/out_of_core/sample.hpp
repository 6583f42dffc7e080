// SPDX-License-Identifier: Apache-2.0
// A round on a subset of the array's columns or slabs, in scratch memory, for profiling runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

namespace sfft::detail {

template <class Real>
class OutOfCoreFft<Real>::Sample {
 public:
  /// Samples step `number`. `scratch` is kept from one step to the next.
  Sample(const OutOfCoreFft& fft, std::size_t number, HostScratch& scratch)
      : fft_(fft),
        number_(number),
        part_(fft.parts_[number]),
        pair_(fft.pair_of(number)),
        units_(units_of(fft, part_)),
        array_(array_of(fft, part_, units_)),
        partition_(make_round<Real>(part_.step.kind, array_), fft.devices_, fft.slot_budget(part_.step.kind),
                   fft.streams_, fft.options_),
        pool_(fft.pools_.take()) {
    // Later steps work in the array that the first one writes. Samples without gaps have no room for half
    // spectra.
    const bool first_apart =
        part_.step.calls == Step::Calls::apart && fft.order(false, false).front() == number;
    const bool apart = first_apart || fft.grid_.real_line ||
                       (part_.step.array.real_points > 0 && fft.grid_.real_pitch < 2 * fft.grid_.row_pitch);
    // Half spectra of a real line have one value more. The second array begins at an alignment like that of
    // whole arrays.
    const std::int64_t room = (array_.points() / 512 + 1) * 512;
    std::byte* const memory = scratch.of(*fft.devices_[0], array_bytes<Real>(apart ? 2 * room : room));
    values_ = reinterpret_cast<std::complex<Real>*>(memory);
    results_ = apart ? values_ + room : values_;
  }
  ~Sample() { fft_.pools_.give_back(std::move(pool_)); }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  std::int64_t units() const noexcept { return units_; }
  const PieceLimits& limits() const noexcept { return partition_.limits(); }
  /// The fraction of the devices' values that stayed there in the last run.
  double staying() const noexcept { return staying_; }

  RoundProfile profile_device() {
    partition_.set_host_share(0);
    std::vector<DeviceSlots<Real>> slots = make_slots(true);
    const std::shared_ptr<std::byte> kept = keep(0, {});
    RoundCall<Real> call = make_call(true);
    call.kept = kept.get();
    return partition_.profile_device(call, slots[0]);
  }

  /// Returns the times of the second of two runs. If `devices_read`, the devices access the arrays directly;
  /// otherwise pieces are staged through buffers.
  RoundTimes run(double host_share, bool devices_read = true) {
    partition_.set_host_share(host_share);
    fill();
    const auto threads = static_cast<std::size_t>(fft_.options_.threads);
    const cpu::LargeBuffer scratch = cpu::make_large_buffer(threads * partition_.round().host_bytes() + 64);
    std::vector<DeviceSlots<Real>> slots = make_slots(devices_read);
    std::vector<std::shared_ptr<std::byte>> kept;
    std::vector<DeviceShare<Real>> shares;
    std::int64_t stay = 0;
    for (std::size_t c = 0; c < slots.size(); ++c) {
      const Residency some = resident(c);
      kept.push_back(keep(c, some));
      shares.push_back({&slots[c], kept[c].get(), {}, {}});
      (pair_.first(number_, false) ? shares[c].left : shares[c].found) = some;
      stay += some.slabs * some.columns;
    }
    const std::int64_t done =
        std::max<std::int64_t>(1, partition_.partition().device_units * partition_.round().unit_points());
    staying_ = static_cast<double>(stay) / static_cast<double>(done);
    static_cast<void>(partition_.run(make_call(devices_read), shares, pool_.get(), scratch.get()));
    return partition_.run(make_call(devices_read), shares, pool_.get(), scratch.get());
  }

 private:
  /// All units, or a half, a quarter and so on. Columns that are a power of two apart collide in the host's
  /// caches, and halving preserves this property of the array. Every thread gets two slabs unless they are
  /// too large.
  static std::int64_t units_of(const OutOfCoreFft& fft, const Part& part) {
    // Slabs of large arrays are large, and each host thread needs several.
    const std::size_t max_bytes =
        std::max(std::size_t{5} << 29, array_bytes<Real>(part.step.array.points()) / 24);
    const Round<Real>& round = part.round->round();
    const auto fitting = static_cast<std::int64_t>(max_bytes / array_bytes<Real>(round.unit_points()));
    std::int64_t min =
        std::max(2 * fft.streams_ * static_cast<std::int64_t>(fft.devices_.size()) * round.grain(), fitting);
    if (part.step.kind == Step::Kind::slabs)
      min = std::max(min, std::min<std::int64_t>(2 * fft.options_.threads, 2 * fitting));
    std::int64_t units = round.units();
    // In a sample of one or several squares, strips must be as large a fraction as in the whole array.
    while (units > min && !(round.ordered() && units % 2 != 0)) units = (units + 1) / 2;
    return units;
  }
  static DeviceArray array_of(const OutOfCoreFft& fft, const Part& part, std::int64_t units) {
    DeviceArray array = part.step.array;
    if (part.step.kind == Step::Kind::slabs || part.step.kind == Step::Kind::exchanged) {
      array.slabs = units;
    } else {
      array.slab = Shape(fft.grid_.real_line ? 2 * units + 1 : units);  // units of a real line are pairs
    }
    return array;
  }

  /// Fills the sample with numbers of either sign: with zeros, processors draw less power and run faster.
  void fill() const {
    const EngineScratch threads{nullptr, pool_.get()};
    const auto part = [&](std::int64_t first, std::int64_t end, std::byte*) {
      for (std::int64_t i = first; i < end; ++i) {
        const auto bits = static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15ULL;
        values_[i] = {static_cast<Real>(static_cast<std::int32_t>(bits >> 32)) / Real(2147483648.0),
                      static_cast<Real>(static_cast<std::int32_t>(bits >> 11)) / Real(2147483648.0)};
      }
    };
    over_stretches(threads, 0, array_.points() + 1, 1, part);
  }
  RoundCall<Real> make_call(bool devices_read) const {
    RoundCall<Real> call{values_, results_};
    call.reads_from = call.writes_to = devices_read;
    return call;
  }
  std::vector<DeviceSlots<Real>> make_slots(bool devices_read) const {
    const bool buffers = fft_.options_.packed || !devices_read;
    std::vector<DeviceSlots<Real>> slots;
    for (const auto& device : fft_.devices_)
      slots.emplace_back(*device, fft_.streams_, partition_.slot_bytes(),
                         buffers ? partition_.staging_bytes() : 0);
    return slots;
  }
  /// Keeps the same fraction of the sample as of the array, if it fits in addition to the streams.
  Residency resident(std::size_t device) const {
    if (!pair_.has(number_)) return {};
    const bool by_slabs = static_cast<int>(number_) == pair_.slabs;
    const std::int64_t piece = by_slabs ? std::max<std::int64_t>(1, partition_.partition().piece_units) : 1;
    const auto [first, end] = partition_.partition().units_of(static_cast<std::int64_t>(device));
    Residency some = fft_.resident_[fft_.pairs_[1].has(number_) ? 1 : 0][device];
    if (by_slabs) {
      const std::int64_t all = part_.round->round().units();
      some.first_slab = first;
      some.slabs = std::min((some.slabs * units_ + all - 1) / all, end - first) / piece * piece;
    } else {
      some.first_column = first;
      some.columns = end - first;
    }
    const std::size_t slots = static_cast<std::size_t>(fft_.streams_) * partition_.slot_bytes();
    while (some.slabs > 0 && slots + partition_.kept_bytes(some) > fft_.budget_) some.slabs -= piece;
    return some;
  }
  std::shared_ptr<std::byte> keep(std::size_t device, const Residency& some) const {
    const std::size_t bytes = partition_.kept_bytes(some);
    return bytes > 0 ? fft_.devices_[device]->allocate(bytes) : nullptr;
  }

  const OutOfCoreFft& fft_;
  std::size_t number_;
  const Part& part_;
  const Pair& pair_;
  std::int64_t units_;
  DeviceArray array_;
  PartitionedRound<Real> partition_;
  std::unique_ptr<cpu::ThreadPool> pool_;
  std::complex<Real>*values_, *results_;
  double staying_ = 0;
};

}  // namespace sfft::detail
