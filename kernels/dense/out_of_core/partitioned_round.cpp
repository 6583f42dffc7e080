// SPDX-License-Identifier: Apache-2.0
// One host thread enqueues all pieces of a device. If pieces have to be staged through memory that the device
// can access directly, there is one thread per slot. The other threads take parts of the host's share, and
// then help to copy staged pieces.
#include "kernels/dense/out_of_core/partitioned_round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// Sizes of pieces, and of rows with gaps, that reach the full speed of the bus. Larger pieces would only
/// take memory from values that may stay on the device.
constexpr std::int64_t kMaxPieceBytes = std::int64_t{128} << 20;
constexpr std::int64_t kLongRowBytes = 8 << 10, kShortRowBytes = 4 << 10;

void raise(std::atomic<double>& max, double value) {
  double known = max.load();
  while (known < value && !max.compare_exchange_weak(known, value)) {
  }
}

}  // namespace

std::int64_t PartitionedRound::min_bytes(const Round& round, OutOfCoreDevice& device, bool packed) {
  const std::int64_t units = std::min(round.grain(), round.units());
  const std::int64_t data = round.bytes(units * round.unit_points());
  const std::int64_t packed_memory = packed ? aligned((round.ordered() ? 2 : 1) * data) : 0;
  return aligned(data) + aligned(round.work_bytes(*round.kernel(device, units), units)) + packed_memory;
}

/// Device memory of a piece and its workspace.
std::int64_t PartitionedRound::needed_bytes(const DeviceKernel& kernel, std::int64_t units) const {
  return aligned(data_bytes(units)) + aligned(round_->work_bytes(kernel, units)) + packed_bytes(units);
}
std::int64_t PartitionedRound::packed_bytes(std::int64_t units) const noexcept {
  return packed_ ? aligned((round_->ordered() ? 2 : 1) * data_bytes(units)) : 0;
}

PartitionedRound::PartitionedRound(std::unique_ptr<Round> round, const OutOfCoreDevices& devices,
                                   std::int64_t slot_bytes, int streams, const OutOfCoreOptions& options)
    : round_(std::move(round)), slot_budget_(slot_bytes), packed_(options.packed) {
  for (const auto& device : devices) {
    if (on_.empty() || !round_->ordered()) on_.push_back({device.get(), nullptr, nullptr});
  }
  limits_ = {round_->units(), round_->grain(), 0, 1, streams};
  limits_.devices = std::max(1, static_cast<int>(on_.size()));
  limits_.threads = options.threads;
  if (on_.empty() || !round_->ordered()) {
    set_host_share(1);
    const std::int64_t parts = std::max<std::int64_t>(1, round_->host_parts());
    limits_.host_part = (limits_.units + parts - 1) / parts;
  }
  if (!on_.empty()) {
    OutOfCoreDevice& device = *on_[0].device;
    const std::int64_t unit_bytes = data_bytes(1);
    limits_.min = std::max<std::int64_t>(1, options.min_piece_bytes / unit_bytes);
    // Most transforms need a workspace as large as the piece; some need none.
    const std::int64_t row_bytes = round_->row_bytes(),
                       enough = row_bytes == 0
                                    ? kMaxPieceBytes
                                    : std::max(kMaxPieceBytes, unit_bytes * kLongRowBytes / row_bytes);
    std::int64_t units = std::min(slot_bytes, std::max(enough, unit_bytes)) / unit_bytes;
    units = std::max(units, limits_.grain);
    for (units = std::min(units, limits_.units); limits_.max == 0; units = units * 3 / 4) {
      units = units / limits_.grain * limits_.grain;
      if (units == 0) {
        throw Error(
            ErrorCode::out_of_memory,
            fmt::format(
                "the device's memory of {} bytes for each of {} streams cannot hold a piece: one needs {} "
                "bytes",
                slot_bytes, streams, min_bytes(*round_, device, packed_)));
      }
      try {
        if (within_budget(needed_bytes(*round_->kernel(device, units), units), units)) limits_.max = units;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
      }
    }
    // Copy engines reached 35 GB/s in each direction with rows of 11 KB, 41 and 47 GB/s with rows of 8 and 16
    // KB, and 33 GB/s with both while kernels ran (H200).
    for (std::int64_t row = kLongRowBytes; row_bytes > 0 && row >= kShortRowBytes; row /= 2) {
      const std::int64_t good = row / row_bytes;
      if (good % limits_.grain != 0 || good > limits_.max) continue;
      limits_.good = good;
      break;
    }
    set_host_share(0);
  }
}

void PartitionedRound::set_host_share(double host_share) {
  while (true) {
    partition_ = make_partition(limits_, on_.empty() ? 1 : round_->ordered() ? 0 : host_share);
    round_->partition(partition_);
    for (OnDevice& on : on_) {
      on.full.reset();
      on.rest.reset();
    }
    if (partition_.pieces == 0) break;
    for (OnDevice& on : on_) on.full = round_->kernel(*on.device, partition_.piece_units);
    const std::int64_t rest = partition_.device_units - (partition_.pieces - 1) * partition_.piece_units;
    if (rest != partition_.piece_units) on_.back().rest = round_->kernel(*on_.back().device, rest);
    // A smaller piece may need a larger workspace.
    if (within_budget(slot_bytes(), partition_.piece_units) || limits_.max <= limits_.grain) break;
    limits_.max = std::max(limits_.grain, partition_.piece_units * 3 / 4 / limits_.grain * limits_.grain);
  }
  round_->give_host(partition_.device_units);
}

bool PartitionedRound::copies_fast() const noexcept {
  const std::int64_t row = round_->row_bytes();
  return row == 0 || limits_.good * row >= kLongRowBytes;
}

std::int64_t PartitionedRound::slot_bytes() const noexcept {
  if (partition_.pieces == 0) return 0;
  const std::int64_t rest = partition_.device_units - (partition_.pieces - 1) * partition_.piece_units;
  const OnDevice& on = on_.back();
  const std::int64_t whole = round_->work_bytes(*on.full, partition_.piece_units),
                     last = on.rest != nullptr ? round_->work_bytes(*on.rest, rest) : 0;
  return aligned(piece_bytes()) + aligned(std::max(whole, last)) + packed_bytes(partition_.piece_units);
}

void PartitionedRound::Turns::fail() {
  {
    const std::lock_guard lock(mutex);
    failed = true;
  }
  taken.notify_all();
}

RoundTimes PartitionedRound::run(const RoundCall& call, const std::vector<DeviceShare>& shares,
                                 cpu::ThreadPool* pool, std::byte* scratch) const {
  const bool staged = packed_ || !call.reads_from || !call.writes_to;
  std::deque<Turns> devices;
  for (std::size_t c = 0; partition_.pieces > 0 && c < on_.size(); ++c)
    devices.emplace_back(on_[c], call, shares[c], partition_.pieces_of(static_cast<std::int64_t>(c)));
  const std::int64_t each = staged ? limits_.streams : 1,
                     enqueuers = each * static_cast<std::int64_t>(devices.size());
  const std::int64_t parts = round_->host_parts();
  std::atomic<std::int64_t> next_part = 0;
  std::atomic<double> device_us = 0, host_us = 0;
  std::atomic<bool> failed = false;
  std::mutex failing;
  std::exception_ptr failure;
  HostCopies copies;
  std::atomic<std::int64_t> pieces_left = partition_.pieces;
  const bool helps = staged && partition_.pieces > 0;
  const auto start = std::chrono::steady_clock::now();
  LoopPolls polls(parts + partition_.pieces);
  const auto work = [&](std::int64_t worker) {
    try {
      if (worker < enqueuers) {
        Turns& turns = devices[static_cast<std::size_t>(worker / each)];
        for (std::int64_t p = turns.to_take++; p < turns.end && !failed; p = turns.to_take++) {
          polls.poll();
          const std::int64_t slot = staged ? worker % each : (p - turns.first) % limits_.streams;
          device_piece(p, turns, turns.slots.all()[static_cast<std::size_t>(slot)], copies);
          if (--pieces_left == 0) copies.finish();
        }
        if (!staged) turns.slots.out().wait();
        raise(device_us, us_since(start));
        return;
      }
      std::byte* const own = scratch + (worker - enqueuers) * round_->host_bytes();
      for (std::int64_t p = next_part++; p < parts && !failed; p = next_part++) {
        polls.poll();
        round_->host_part(p, call, own);
      }
      if (parts > 0) raise(host_us, us_since(start));
      if (helps) copies.help();
    } catch (...) {
      failed = true;
      copies.finish();
      for (Turns& turns : devices) turns.fail();
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::int64_t workers = enqueuers + (parts > 0 || helps ? limits_.threads : 0);
  if (pool != nullptr) {
    pool->run(workers, [&](std::int64_t worker, int) { work(worker); });
  } else {
    for (std::int64_t worker = 0; worker < workers; ++worker) work(worker);
  }
  if (failure) {
    // No part of the arrays may be in use when the exception reaches the caller.
    for (Turns& turns : devices) turns.slots.settle();
    std::rethrow_exception(failure);
  }
  return {us_since(start), device_us, host_us};
}

}  // namespace sfft::detail
