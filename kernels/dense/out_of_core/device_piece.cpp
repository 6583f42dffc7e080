// SPDX-License-Identifier: Apache-2.0
// Runs a piece on the device. Copies in, kernels and copies out of different pieces overlap.
#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/base/elapsed.hpp"
#include "kernels/dense/out_of_core/partitioned_round.hpp"

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
bool is_short(const DeviceRows& rows) {
  constexpr std::size_t kFullSpeedBytes = std::size_t{32} << 10;
  return rows.rows > 1 && rows.width < std::min(rows.pitch, kFullSpeedBytes);
}
/// Kernels copy words of 16 bytes; with shorter words they are slower than the engines.
bool has_words(const PieceSegment& segment) {
  const DeviceRows &device = segment.piece, &host = segment.array;
  const auto place = [](const DeviceRows& rows) { return reinterpret_cast<std::uintptr_t>(rows.data); };
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
DeviceRows whole(const BufferedPiece& piece, std::byte* buffer) {
  return {buffer, piece.bytes(), piece.bytes(), piece.rows.empty() ? std::size_t{0} : 1};
}

}  // namespace

template <class Real>
std::byte* PartitionedRound<Real>::compute(std::int64_t first, std::int64_t count, const OnDevice& on,
                                           const RoundCall<Real>& call, const Slot& slot,
                                           OutOfCoreStream& stream) const {
  const DeviceKernel<Real>& kernel = count == partition_.piece_units ? *on.full : *on.rest;
  std::byte* const memory = slot.memory.get();
  return round_->compute(*on.device, kernel, call, first, count, memory, memory + aligned(piece_bytes()),
                         stream);
}

template <class Real>
std::vector<PieceSegment> PartitionedRound<Real>::compute_packed(std::int64_t first, std::int64_t count,
                                                                 const OnDevice& on,
                                                                 const RoundCall<Real>& call,
                                                                 const BufferedPiece& from, const Slot& slot,
                                                                 OutOfCoreStream& stream) const {
  std::byte* const packed = packed_in(slot);
  for (const BufferedRows& rows : from.rows) on.device->unpack(packed + rows.offset, rows.piece, stream);
  std::vector<PieceSegment> out =
      round_->segments_out(call, first, count, compute(first, count, on, call, slot, stream));
  for (const BufferedRows& rows : buffered(out, true).rows)
    on.device->pack(rows.piece, packed + rows.offset, stream);
  return out;
}

/// Results of the previous piece may still be leaving the slot.
template <class Real>
void PartitionedRound<Real>::enqueue_in(std::vector<PieceSegment> segments, Copier copier,
                                        DeviceSlots<Real>& slots, Slot& slot) const {
  OutOfCoreStream& stream = slots.in();
  PieceParts parts(std::move(segments));
  stream.wait(*slot.computed);
  for (std::size_t part = 0; part < DeviceSlots<Real>::kParts; ++part) {
    if (slot.in_place) stream.wait(*slot.left[part]);
    parts.pass(part_end(slot, part), true, [&](const PieceSegment& segment) {
      segment.resident ? stream.copy_within(segment.piece, segment.array)
                       : stream.copy_in(segment.piece, segment.array, copier);
    });
  }
  stream.record(*slot.filled);
}

template <class Real>
std::byte* PartitionedRound<Real>::enqueue_kernels(std::int64_t first, std::int64_t count, Turns& turns,
                                                   Slot& slot) const {
  OutOfCoreStream& stream = turns.slots.kernels();
  stream.wait(*slot.filled);
  stream.wait(*slot.left.back());
  std::byte* const results = compute(first, count, turns.on, turns.call, slot, stream);
  stream.record(*slot.computed);
  slot.in_place = results == slot.memory.get();
  return results;
}

/// Results outside the piece's memory leave as a whole, because the next piece does not overwrite them.
template <class Real>
void PartitionedRound<Real>::enqueue_out(std::vector<PieceSegment> segments, Copier copier,
                                         DeviceSlots<Real>& slots, Slot& slot) const {
  OutOfCoreStream& stream = slots.out();
  stream.wait(*slot.computed);
  const auto copy = [&](const PieceSegment& segment) {
    segment.resident ? stream.copy_within(segment.array, segment.piece)
                     : stream.copy_out(segment.array, segment.piece, copier);
  };
  if (!slot.in_place) {
    for (const PieceSegment& segment : segments) copy(segment);
    stream.record(*slot.left.back());
    return;
  }
  PieceParts parts(std::move(segments));
  for (std::size_t part = 0; part < DeviceSlots<Real>::kParts; ++part) {
    parts.pass(part_end(slot, part), false, copy);
    stream.record(*slot.left[part]);
  }
}

/// Packed values have separate memory in the slot and cross the bus in one copy.
template <class Real>
std::vector<PieceSegment> PartitionedRound<Real>::enqueue_packed(std::int64_t first, std::int64_t count,
                                                                 Turns& turns,
                                                                 const std::vector<PieceSegment>& in,
                                                                 const BufferedPiece& from,
                                                                 Slot& slot) const {
  DeviceSlots<Real>& slots = turns.slots;
  std::byte *const packed = packed_in(slot), *const buffer = slot.staging.get();
  slots.in().wait(*slot.left.back());
  for (const PieceSegment& segment : in)
    if (segment.resident) slots.in().copy_within(segment.piece, segment.array);
  if (!from.rows.empty()) slots.in().copy_in(whole(from, packed), whole(from, buffer), Copier::engine);
  slots.in().record(*slot.filled);
  slots.kernels().wait(*slot.filled);
  std::vector<PieceSegment> out =
      compute_packed(first, count, turns.on, turns.call, from, slot, slots.kernels());
  slots.kernels().record(*slot.computed);
  slot.in_place = false;
  const BufferedPiece to = buffered(out, true);
  slots.out().wait(*slot.computed);
  for (const PieceSegment& segment : out)
    if (segment.resident) slots.out().copy_within(segment.array, segment.piece);
  if (!to.rows.empty()) slots.out().copy_out(whole(to, buffer), whole(to, packed), Copier::engine);
  slots.out().record(*slot.left.back());
  return out;
}

template <class Real>
template <class Enqueue>
bool PartitionedRound<Real>::in_turn(std::int64_t piece, Turns& turns, const Enqueue& ask) {
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

template <class Real>
void PartitionedRound<Real>::device_piece(std::int64_t piece, Turns& turns, Slot& slot,
                                          HostCopies& copies) const {
  const RoundCall<Real>& call = turns.call;
  const std::int64_t first = piece * partition_.piece_units;
  const std::int64_t count = std::min(partition_.piece_units, partition_.device_units - first);
  const bool copied_in = packed_ || !call.reads_from, copied_out = packed_ || !call.writes_to;
  std::vector<PieceSegment> in = round_->segments_in(call, first, count, slot.memory.get()), to;
  const BufferedPiece from = copied_in ? buffered(in, packed_) : BufferedPiece{};
  if (copied_in) copies.to_buffer(from, slot.staging.get());
  const bool asked = in_turn(piece, turns, [&] {
    if (packed_) {
      to = enqueue_packed(first, count, turns, in, from, slot);
      return;
    }
    if (copied_in) in = through(std::move(in), slot.staging.get());
    const Copier copier = copier_in(in);
    enqueue_in(std::move(in), copier, turns.slots, slot);
    to = round_->segments_out(call, first, count, enqueue_kernels(first, count, turns, slot));
    const std::vector<PieceSegment> out = copied_out ? through(to, slot.staging.get()) : to;
    enqueue_out(out, copier_out(out, copier), turns.slots, slot);
  });
  if (!asked || !(copied_in || copied_out)) return;
  slot.left.back()->wait();
  if (copied_out) copies.from_buffer(buffered(to, packed_), slot.staging.get());
}

template <class Real>
RoundProfile PartitionedRound<Real>::profile_device(const RoundCall<Real>& call,
                                                    DeviceSlots<Real>& slots) const {
  if (partition_.pieces == 0) return {};
  Slot& slot = slots.all().front();
  // In the middle of an ordered round, a piece stores some of its results and some of those of earlier
  // pieces.
  const std::int64_t count = partition_.piece_units,
                     first = round_->ordered() ? (partition_.pieces - 1) / 2 * partition_.piece_units : 0;
  const auto units = static_cast<double>(count);
  const auto timed = [&](OutOfCoreStream& stream, const auto& step) {
    constexpr int kTimes = 3;
    double min = 0;
    for (int time = 0; time <= kTimes; ++time) {
      const auto start = std::chrono::steady_clock::now();
      step(stream);
      stream.wait();
      const double us = us_since(start) / units;
      if (time == 1 || us < min) min = us;  // the first run includes lazy set-up
    }
    return min;
  };
  RoundProfile profile;
  const std::vector<PieceSegment> in = round_->segments_in(call, first, count, slot.memory.get());
  const BufferedPiece from = buffered(in, packed_);
  const Copier copier = copier_in(in);
  profile.in_us = timed(slots.in(), [&](OutOfCoreStream& stream) {
    if (packed_)
      return stream.copy_in(whole(from, packed_in(slot)), whole(from, slot.staging.get()), Copier::engine);
    for (const PieceSegment& segment : in) stream.copy_in(segment.piece, segment.array, copier);
  });
  std::vector<PieceSegment> out;
  profile.kernel_us = timed(slots.kernels(), [&](OutOfCoreStream& stream) {
    out = packed_
              ? compute_packed(first, count, on_[0], call, from, slot, stream)
              : round_->segments_out(call, first, count, compute(first, count, on_[0], call, slot, stream));
  });
  const BufferedPiece to = buffered(out, packed_);
  profile.out_us = timed(slots.out(), [&](OutOfCoreStream& stream) {
    if (packed_)
      return stream.copy_out(whole(to, slot.staging.get()), whole(to, packed_in(slot)), Copier::engine);
    for (const PieceSegment& segment : out)
      segment.resident ? stream.copy_within(segment.array, segment.piece)
                       : stream.copy_out(segment.array, segment.piece, copier_out(out, copier));
  });
  return profile;
}

template std::byte* PartitionedRound<float>::compute(std::int64_t, std::int64_t, const OnDevice&,
                                                     const RoundCall<float>&, const Slot&,
                                                     OutOfCoreStream&) const;
template std::vector<PieceSegment> PartitionedRound<float>::compute_packed(std::int64_t, std::int64_t,
                                                                           const OnDevice&,
                                                                           const RoundCall<float>&,
                                                                           const BufferedPiece&, const Slot&,
                                                                           OutOfCoreStream&) const;
template void PartitionedRound<float>::enqueue_in(std::vector<PieceSegment>, Copier, DeviceSlots<float>&,
                                                  Slot&) const;
template std::byte* PartitionedRound<float>::enqueue_kernels(std::int64_t, std::int64_t, Turns&, Slot&) const;
template void PartitionedRound<float>::enqueue_out(std::vector<PieceSegment>, Copier, DeviceSlots<float>&,
                                                   Slot&) const;
template std::vector<PieceSegment> PartitionedRound<float>::enqueue_packed(std::int64_t, std::int64_t, Turns&,
                                                                           const std::vector<PieceSegment>&,
                                                                           const BufferedPiece&, Slot&) const;
template void PartitionedRound<float>::device_piece(std::int64_t, Turns&, Slot&, HostCopies&) const;
template RoundProfile PartitionedRound<float>::profile_device(const RoundCall<float>&,
                                                              DeviceSlots<float>&) const;
template std::byte* PartitionedRound<double>::compute(std::int64_t, std::int64_t, const OnDevice&,
                                                      const RoundCall<double>&, const Slot&,
                                                      OutOfCoreStream&) const;
template std::vector<PieceSegment> PartitionedRound<double>::compute_packed(std::int64_t, std::int64_t,
                                                                            const OnDevice&,
                                                                            const RoundCall<double>&,
                                                                            const BufferedPiece&, const Slot&,
                                                                            OutOfCoreStream&) const;
template void PartitionedRound<double>::enqueue_in(std::vector<PieceSegment>, Copier, DeviceSlots<double>&,
                                                   Slot&) const;
template std::byte* PartitionedRound<double>::enqueue_kernels(std::int64_t, std::int64_t, Turns&,
                                                              Slot&) const;
template void PartitionedRound<double>::enqueue_out(std::vector<PieceSegment>, Copier, DeviceSlots<double>&,
                                                    Slot&) const;
template std::vector<PieceSegment> PartitionedRound<double>::enqueue_packed(
    std::int64_t, std::int64_t, Turns&, const std::vector<PieceSegment>&, const BufferedPiece&, Slot&) const;
template void PartitionedRound<double>::device_piece(std::int64_t, Turns&, Slot&, HostCopies&) const;
template RoundProfile PartitionedRound<double>::profile_device(const RoundCall<double>&,
                                                               DeviceSlots<double>&) const;

}  // namespace sfft::detail
