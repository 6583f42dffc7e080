// SPDX-License-Identifier: Apache-2.0
// Runs a piece on the device. Copies in, kernels and copies out of different pieces overlap.
#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/dense/out_of_core/partitioned_round.hpp"
#include "kernels/runtime/elapsed.hpp"

namespace sfft::detail {

namespace {

/// Replaces the host's arrays by contiguous rows in the staging buffer.
std::vector<PieceSegment> through(std::vector<PieceSegment> segments, std::byte* staging) {
  for (PieceSegment& segment : segments) {
    if (segment.resident) continue;
    segment.array = segment.array.packed_at(staging);
    staging += segment.array.bytes();
  }
  return segments;
}

/// Copy engines are as fast with rows of 32 KB as with contiguous data. While kernels run, they lose a third
/// of their rate with rows of 8 or 16 KB, and half of it with rows of 4 KB (H200).
bool is_short(const Rows& rows) {
  constexpr std::int64_t kFullSpeedBytes = 32 << 10;
  return rows.rows > 1 && rows.width < std::min(rows.pitch, kFullSpeedBytes);
}
/// Kernels copy words of 16 bytes; with shorter words they are slower than the engines.
bool has_words(const PieceSegment& segment) {
  const Rows &device = segment.piece, &host = segment.array;
  const auto place = [](const Rows& rows) { return reinterpret_cast<std::intptr_t>(rows.data); };
  return (place(device) | place(host) | device.pitch | host.pitch | host.width) % 16 == 0;
}
bool rows_are_short(const std::vector<PieceSegment>& segments) {
  bool any = false;
  for (const PieceSegment& segment : segments) {
    if (segment.resident) continue;
    if (!has_words(segment)) return false;
    any = any || is_short(segment.array);
  }
  return any;
}
/// A kernel copies short rows in. It copies short rows out only if no kernel copies in, because two kernels
/// are slower than a kernel and an engine together.
Copier copier_in(const std::vector<PieceSegment>& in) {
  return rows_are_short(in) ? Copier::kernel : Copier::engine;
}
Copier copier_out(const std::vector<PieceSegment>& out, Copier in) {
  return in == Copier::engine ? copier_in(out) : Copier::engine;
}

/// The complete packed piece in a host or device buffer.
Rows whole(const BufferedPiece& piece, std::byte* buffer) {
  return {buffer, piece.bytes(), piece.bytes(), piece.rows.empty() ? 0 : 1};
}

}  // namespace

std::byte* PartitionedRound::compute(const Work& work, Queue& queue) const {
  const DeviceKernel& kernel = work.count == partition_.piece_units ? *work.on.full : *work.on.rest;
  std::byte* const memory = work.slot.memory.get();
  return round_->compute(*work.on.device, kernel, work.call,
                         {work.first, work.count, memory, memory + aligned(piece_bytes())}, queue);
}

std::vector<PieceSegment> PartitionedRound::compute_packed(const Work& work, const BufferedPiece& from,
                                                           Queue& queue) const {
  const OutOfCoreDevice& device = *work.on.device;
  std::byte* const packed = packed_in(work.slot);
  for (const BufferedRows& rows : from.rows) device.unpack(packed + rows.offset, rows.piece, queue);
  std::vector<PieceSegment> out =
      round_->segments_out(work.call, work.first, work.count, compute(work, queue));
  for (const BufferedRows& rows : buffered(out, true).rows)
    device.pack(rows.piece, packed + rows.offset, queue);
  return out;
}

/// Results of the previous piece may still be leaving the slot.
void PartitionedRound::enqueue_in(std::vector<PieceSegment> segments, Copier copier, DeviceSlots& slots,
                                  Slot& slot) const {
  Queue& queue = slots.in();
  PieceParts parts(std::move(segments));
  queue.wait(*slot.computed);
  for (int part = 0; part < DeviceSlots::kParts; ++part) {
    if (slot.in_place) queue.wait(*slot.left[static_cast<std::size_t>(part)]);
    parts.pass(part_end(slot, part), true, [&](const PieceSegment& segment) {
      queue.copy(segment.piece, segment.array, segment.resident ? Copier::engine : copier);
    });
  }
  queue.record(*slot.filled);
}

std::byte* PartitionedRound::enqueue_kernels(const Work& work, DeviceSlots& slots) const {
  Queue& queue = slots.kernels();
  Slot& slot = work.slot;
  queue.wait(*slot.filled);
  queue.wait(*slot.left.back());
  std::byte* const results = compute(work, queue);
  queue.record(*slot.computed);
  slot.in_place = results == slot.memory.get();
  return results;
}

/// Results outside the piece's memory leave as a whole, because the next piece does not overwrite them.
void PartitionedRound::enqueue_out(std::vector<PieceSegment> segments, Copier copier, DeviceSlots& slots,
                                   Slot& slot) const {
  Queue& queue = slots.out();
  queue.wait(*slot.computed);
  const auto copy = [&](const PieceSegment& segment) {
    queue.copy(segment.array, segment.piece, segment.resident ? Copier::engine : copier);
  };
  if (!slot.in_place) {
    for (const PieceSegment& segment : segments) copy(segment);
    queue.record(*slot.left.back());
    return;
  }
  PieceParts parts(std::move(segments));
  for (int part = 0; part < DeviceSlots::kParts; ++part) {
    parts.pass(part_end(slot, part), false, copy);
    queue.record(*slot.left[static_cast<std::size_t>(part)]);
  }
}

/// Packed values have separate memory in the slot and cross the bus in one copy.
std::vector<PieceSegment> PartitionedRound::enqueue_packed(const Work& work,
                                                           const std::vector<PieceSegment>& in,
                                                           const BufferedPiece& from,
                                                           DeviceSlots& slots) const {
  Slot& slot = work.slot;
  std::byte *const packed = packed_in(slot), *const buffer = slot.staging.get();
  slots.in().wait(*slot.left.back());
  for (const PieceSegment& segment : in)
    if (segment.resident) slots.in().copy(segment.piece, segment.array);
  if (!from.rows.empty()) slots.in().copy(whole(from, packed), whole(from, buffer));
  slots.in().record(*slot.filled);
  slots.kernels().wait(*slot.filled);
  std::vector<PieceSegment> out = compute_packed(work, from, slots.kernels());
  slots.kernels().record(*slot.computed);
  slot.in_place = false;
  const BufferedPiece to = buffered(out, true);
  slots.out().wait(*slot.computed);
  for (const PieceSegment& segment : out)
    if (segment.resident) slots.out().copy(segment.array, segment.piece);
  if (!to.rows.empty()) slots.out().copy(whole(to, buffer), whole(to, packed));
  slots.out().record(*slot.left.back());
  return out;
}

template <class Enqueue>
bool PartitionedRound::in_turn(std::int64_t piece, Turns& turns, const Enqueue& ask) {
  {
    std::unique_lock lock(turns.mutex);
    turns.taken.wait(lock, [&] { return turns.next == piece || turns.failed; });
    if (turns.failed) return false;
    ask();
    ++turns.next;
  }
  turns.taken.notify_all();
  return true;
}

void PartitionedRound::device_piece(std::int64_t piece, Turns& turns, Slot& slot, HostCopies& copies) const {
  const RoundCall& call = turns.call;
  const std::int64_t first = piece * partition_.piece_units;
  const std::int64_t count = std::min(partition_.piece_units, partition_.device_units - first);
  const bool copied_in = packed_ || !call.reads_from, copied_out = packed_ || !call.writes_to;
  std::vector<PieceSegment> in = round_->segments_in(call, first, count, slot.memory.get()), to;
  const BufferedPiece from = copied_in ? buffered(in, packed_) : BufferedPiece{};
  if (copied_in) copies.to_buffer(from, slot.staging.get());
  const Work work{first, count, turns.on, call, slot};
  const bool asked = in_turn(piece, turns, [&] {
    if (packed_) {
      to = enqueue_packed(work, in, from, turns.slots);
      return;
    }
    if (copied_in) in = through(std::move(in), slot.staging.get());
    const Copier copier = copier_in(in);
    enqueue_in(std::move(in), copier, turns.slots, slot);
    to = round_->segments_out(call, first, count, enqueue_kernels(work, turns.slots));
    const std::vector<PieceSegment> out = copied_out ? through(to, slot.staging.get()) : to;
    enqueue_out(out, copier_out(out, copier), turns.slots, slot);
  });
  if (!asked || !(copied_in || copied_out)) return;
  slot.left.back()->wait();
  if (copied_out) copies.from_buffer(buffered(to, packed_), slot.staging.get());
}

RoundProfile PartitionedRound::profile_device(const RoundCall& call, DeviceSlots& slots) const {
  if (partition_.pieces == 0) return {};
  Slot& slot = slots.all().front();
  // In the middle of an ordered round, a piece stores some of its results and some of those of earlier
  // pieces.
  const std::int64_t count = partition_.piece_units,
                     first = round_->ordered() ? (partition_.pieces - 1) / 2 * partition_.piece_units : 0;
  const Work work{first, count, on_[0], call, slot};
  const auto timed = [&](Queue& queue, const auto& step) {
    constexpr int kTimes = 3;
    double min = 0;
    for (int time = 0; time <= kTimes; ++time) {
      const auto start = std::chrono::steady_clock::now();
      step(queue);
      queue.wait();
      const double us = us_since(start) / static_cast<double>(count);
      if (time == 1 || us < min) min = us;  // the first run includes lazy set-up
    }
    return min;
  };
  RoundProfile profile;
  const std::vector<PieceSegment> in = round_->segments_in(call, first, count, slot.memory.get());
  const BufferedPiece from = buffered(in, packed_);
  const Copier copier = copier_in(in);
  profile.in_us = timed(slots.in(), [&](Queue& queue) {
    if (packed_) return queue.copy(whole(from, packed_in(slot)), whole(from, slot.staging.get()));
    for (const PieceSegment& segment : in) queue.copy(segment.piece, segment.array, copier);
  });
  std::vector<PieceSegment> out;
  profile.kernel_us = timed(slots.kernels(), [&](Queue& queue) {
    out = packed_ ? compute_packed(work, from, queue)
                  : round_->segments_out(call, first, count, compute(work, queue));
  });
  const BufferedPiece to = buffered(out, packed_);
  profile.out_us = timed(slots.out(), [&](Queue& queue) {
    if (packed_) return queue.copy(whole(to, slot.staging.get()), whole(to, packed_in(slot)));
    for (const PieceSegment& segment : out)
      queue.copy(segment.array, segment.piece, segment.resident ? Copier::engine : copier_out(out, copier));
  });
  return profile;
}

}  // namespace sfft::detail
