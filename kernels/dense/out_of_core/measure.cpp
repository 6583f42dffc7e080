// SPDX-License-Identifier: Apache-2.0
// Profiles samples of the rounds and derives the shares from them. A sample is a round on a subset of the
// array's columns or slabs, in scratch memory.
#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"

namespace sfft::detail {

class OutOfCoreFft::Sample {
 public:
  /// Samples step `number`. `scratch` is kept from one step to the next.
  Sample(const OutOfCoreFft& fft, std::size_t number, HostScratch& scratch)
      : fft_(fft),
        number_(number),
        part_(fft.parts_[number]),
        pair_(fft.pair_of(number)),
        units_(units_of(fft, part_)),
        array_(array_of(fft, part_, units_)),
        partition_(make_round(step_of(part_, array_), fft.value_bytes_), fft.devices_,
                   fft.slot_budget(part_.step.kind), fft.streams_, fft.options_),
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
    values_ = scratch.of(*fft.devices_[0], fft.bytes(apart ? 2 * room : room));
    results_ = apart ? values_ + fft.bytes(room) : values_;
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
    std::vector<DeviceSlots> slots = make_slots(true);
    const std::shared_ptr<std::byte> kept = keep(0, {});
    RoundCall call = make_call(true);
    call.kept = kept.get();
    return partition_.profile_device(call, slots[0]);
  }

  /// Returns the times of the second of two runs. If `devices_read`, the devices access the arrays directly;
  /// otherwise pieces are staged through buffers.
  RoundTimes run(double host_share, bool devices_read = true) {
    partition_.set_host_share(host_share);
    fill();
    const auto threads = static_cast<std::size_t>(fft_.options_.threads);
    const cpu::LargeBuffer scratch =
        cpu::make_large_buffer(threads * static_cast<std::size_t>(partition_.round().host_bytes()) + 64);
    std::vector<DeviceSlots> slots = make_slots(devices_read);
    std::vector<std::shared_ptr<std::byte>> kept;
    std::vector<DeviceShare> shares;
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
    const std::int64_t max_bytes = std::max(std::int64_t{5} << 29, fft.bytes(part.step.array.points()) / 24);
    const Round& round = part.round->round();
    const std::int64_t fitting = max_bytes / fft.bytes(round.unit_points());
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

  static Step step_of(const Part& part, const DeviceArray& array) {
    Step step = part.step;
    step.array = array;
    return step;
  }

  void fill() const {
    if (fft_.value_bytes_ == sizeof(std::complex<float>))
      return fill(reinterpret_cast<std::complex<float>*>(values_));
    fill(reinterpret_cast<std::complex<double>*>(values_));
  }
  /// Fills the sample with numbers of either sign: with zeros, processors draw less power and run faster.
  template <class Real>
  void fill(std::complex<Real>* values) const {
    const EngineScratch threads{nullptr, pool_.get()};
    const auto part = [&](std::int64_t first, std::int64_t end, std::byte*) {
      for (std::int64_t i = first; i < end; ++i) {
        const auto bits = static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15ULL;
        values[i] = {static_cast<Real>(static_cast<std::int32_t>(bits >> 32)) / Real(2147483648.0),
                     static_cast<Real>(static_cast<std::int32_t>(bits >> 11)) / Real(2147483648.0)};
      }
    };
    over_stretches(threads, 0, array_.points() + 1, 1, part);
  }
  RoundCall make_call(bool devices_read) const {
    RoundCall call{values_, results_};
    call.reads_from = call.writes_to = devices_read;
    return call;
  }
  std::vector<DeviceSlots> make_slots(bool devices_read) const {
    const bool buffers = fft_.options_.packed || !devices_read;
    std::vector<DeviceSlots> slots;
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
    const std::int64_t slots = fft_.streams_ * partition_.slot_bytes();
    while (some.slabs > 0 && slots + partition_.kept_bytes(some) > fft_.budget_) some.slabs -= piece;
    return some;
  }
  std::shared_ptr<std::byte> keep(std::size_t device, const Residency& some) const {
    const std::int64_t bytes = partition_.kept_bytes(some);
    return bytes > 0 ? fft_.devices_[device]->allocate(bytes) : nullptr;
  }

  const OutOfCoreFft& fft_;
  std::size_t number_;
  const Part& part_;
  const Pair& pair_;
  std::int64_t units_;
  DeviceArray array_;
  PartitionedRound partition_;
  std::unique_ptr<cpu::ThreadPool> pool_;
  std::byte *values_, *results_;
  double staying_ = 0;
};

void OutOfCoreFft::measure() {
  if (devices_.empty()) return;
  const std::lock_guard lock(mutex_);
  HostScratch scratch;
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    if (parts_[r].round == nullptr) {
      measure_transposition(parts_[r]);
      continue;
    }
    measure_step(r, scratch);
    if (options_.host_share < 0) choose_share(r);  // determines what stays on the devices for the next step
  }
  profiled_ = true;
  if (options_.host_share >= 0) return;
  choose_shares();
  for (const bool in_place : {true, false}) balance_pair(in_place);
}

void OutOfCoreFft::measure_step(std::size_t number, HostScratch& scratch) {
  constexpr double kReach = 0.06, kStep = 0.02;
  free_device_memory();
  Sample sample(*this, number, scratch);
  const Part& part = parts_[number];
  RoundProfile& profile = parts_[number].profile;
  profile = sample.profile_device();
  if (!options_.packed) {
    const double device_us = sample.run(0).device_us;
    profile.overlap = overlap_of(profile_of(number, sample.staying(), 0), sample.limits(), device_us);
  }
  const double copied_us = sample.run(0, false).device_us;
  profile.copied_us = copied_us / (static_cast<double>(sample.units()) * (1 - sample.staying() / 2));
  if (part.round->round().ordered()) return;
  profile.host_us = 1;
  profile.host_us = sample.run(1).host_us / predict(profile, sample.limits(), 1).host_us;

  Loss device_loss, host_loss;
  const auto learn_from = [&](double share) {
    const RoundTimes times = sample.run(share);
    profile.device_loss = profile.host_loss = 0;
    const RoundProfile concurrent = profile_of(number, sample.staying(), buffered_always());
    const RoundTimes alone = predict(concurrent, sample.limits(), share);
    device_loss.add(alone.device_us, times.device_us, times.host_us);
    host_loss.add(alone.host_us, times.host_us, times.device_us);
    profile.device_loss = device_loss.value();
    profile.host_loss = host_loss.value();
  };
  // Uses the limits of the whole array, because the host's parts are larger in the sample.
  const auto best = [&] {
    const double stays = staying(number, pairs_[1].has(number));
    return best_host_share(profile_of(number, stays, buffered_always()), part.round->limits());
  };
  // Both processors are slower when they work together, which moves the share at which they end at the same
  // time.
  learn_from(best());
  const double around = best();
  for (double share = around - kReach; share <= around + kReach + kStep / 2; share += kStep)
    learn_from(std::clamp(share, 0.0, 1.0));
}

/// Times a matrix of the same proportions.
void OutOfCoreFft::measure_transposition(Part& part) {
  constexpr std::int64_t kMaxValues = 1 << 27;
  const std::int64_t element = part.step.array.slab[1];
  std::int64_t rows = part.step.array.slabs, columns = part.step.array.slab[0];
  while (rows * columns * element > kMaxValues && rows % 2 == 0 && columns % 2 == 0) {
    rows /= 2;
    columns /= 2;
  }
  const std::int64_t values = rows * columns * element;
  const auto size = static_cast<std::size_t>(bytes(values));
  const cpu::LargeBuffer matrix = cpu::make_large_buffer(size);
  std::memset(matrix.get(), 0, size);
  const cpu::LargeBuffer scratch = cpu::make_large_buffer(static_cast<std::size_t>(workspace_bytes()) + 64);
  auto pool = pools_.take();
  const double us =
      transpose(Transposition(rows, columns, element, value_bytes_), matrix.get(), pool.get(), scratch.get());
  pools_.give_back(std::move(pool));
  part.profile.host_us = us * static_cast<double>(part.step.array.points()) / static_cast<double>(values);
}

}  // namespace sfft::detail
