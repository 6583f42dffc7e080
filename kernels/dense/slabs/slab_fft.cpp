// SPDX-License-Identifier: Apache-2.0
// Queues run in order, so an event after the last item that a queue sends covers everything before it.
#include "kernels/dense/slabs/slab_fft.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::detail {

namespace {

constexpr int kBegun = 0;  // the event of a device at the beginning of a call

/// The minimum number of row blocks that a device has.
std::int64_t row_blocks(const SlabGrid& grid, std::int64_t rows_together) {
  return std::max<std::int64_t>(1, grid.across / grid.devices / rows_together);
}

}  // namespace

SlabFft::SlabFft(const SlabGrid& grid, std::int64_t value_bytes, bool real, const SlabCuts& cuts,
                 std::vector<bool> reaches)
    : grid_(grid),
      value_bytes_(value_bytes),
      real_(real),
      chunks_(static_cast<int>(
          std::clamp<std::int64_t>(cuts.chunks, 1, std::max<std::int64_t>(1, grid.planes / grid.devices)))),
      parts_(static_cast<int>(std::clamp<std::int64_t>(cuts.parts, 1, row_blocks(grid, cuts.rows_together)))),
      cuts_(cuts),
      peer_access_(std::move(reaches)) {}

Share SlabFft::chunk_of(int device, int chunk) const noexcept {
  return share_of(grid_.planes_of(device).count, chunks_, chunk);
}

Share SlabFft::planes_of(int device, int chunk, int part) const noexcept {
  return part == 0 ? chunk_of(device, chunk) : Share{0, grid_.planes_of(device).count};
}

/// The first part gets its fraction of the whole blocks, and the rows that do not fill a block. Each other
/// part gets at least one block.
Share SlabFft::part_of(int device, int part) const noexcept {
  const std::int64_t rows = grid_.rows_of(device).count;
  if (parts_ == 1) return {0, rows};
  const std::int64_t blocks = rows / cuts_.rows_together, others = parts_ - 1;
  const auto wanted = static_cast<std::int64_t>(std::lround(static_cast<double>(blocks) * cuts_.first_part));
  const std::int64_t late = std::max(others, blocks - std::max<std::int64_t>(1, wanted));
  const std::int64_t first = rows - late * cuts_.rows_together;
  if (part == 0) return {0, first};
  const Share share = share_of(late, others, part - 1);
  return {first + share.first * cuts_.rows_together, share.count * cuts_.rows_together};
}

int SlabFft::ready(int step) const noexcept {
  return 1 + step;
}
int SlabFft::sent(int chunk, int part) const noexcept {
  return 1 + std::max(chunks_, parts_) + (part == 0 ? chunk : chunks_ + part - 1);
}
int SlabFft::received(int chunk, int part) const noexcept {
  return sent(chunk, part) + chunks_ + parts_ - 1;
}
int SlabFft::emptied(int from, int slot) const noexcept {
  return received(0, parts_) + from * SlabStaging::kSlots + slot;
}
int SlabFft::events() const noexcept {
  return emptied(grid_.devices, 0) + 1;
}
int SlabFft::turn_of(int chunk, int part, bool inverse) const noexcept {
  if (inverse) return part == 0 ? parts_ - 1 + chunk : parts_ - 1 - part;
  return part == 0 ? chunk : chunks_ - 1 + part;
}

std::size_t SlabFft::pair_of(int from, int to) const noexcept {
  return static_cast<std::size_t>(from) * static_cast<std::size_t>(grid_.devices) +
         static_cast<std::size_t>(to);
}

bool SlabFft::has_peer_access(int from, int to) const noexcept {
  return peer_access_[pair_of(from, to)];
}

std::int64_t SlabFft::planes_values(int device, bool inverse) const noexcept {
  return inverse && !real_ ? 0 : grid_.planes_values(device);
}

std::int64_t SlabFft::rows_values(int device, bool inverse) const noexcept {
  return inverse ? grid_.spectrum_values(device) : 0;
}

std::int64_t SlabFft::staging_values(int from, int to) const noexcept {
  if (has_peer_access(from, to)) return 0;
  std::int64_t max = 0;
  for (int part = 0; part < parts_; ++part) {
    max = std::max({max, planes_of(from, 0, part).count * part_of(to, part).count,
                    planes_of(to, 0, part).count * part_of(from, part).count});
  }
  return max * grid_.inner;
}

Rows SlabFft::in_planes(const std::vector<std::byte*>& planes, const Block& block) const {
  const std::int64_t first = block.planes.first * grid_.plane_values() +
                             (grid_.rows_of(block.rows_of).first + block.rows.first) * grid_.inner;
  return {planes[static_cast<std::size_t>(block.planes_of)] + bytes(first), bytes(grid_.plane_values()),
          bytes(block.rows.count * grid_.inner), block.planes.count};
}

Rows SlabFft::in_rows(const std::vector<std::byte*>& rows, const Block& block) const {
  const std::int64_t pitch = grid_.row_values(block.rows_of),
                     first = (grid_.planes_of(block.planes_of).first + block.planes.first) * pitch +
                             block.rows.first * grid_.inner;
  return {rows[static_cast<std::size_t>(block.rows_of)] + bytes(first), bytes(pitch),
          bytes(block.rows.count * grid_.inner), block.planes.count};
}

SlabPiece SlabFft::piece_of(const Call& call, const Block& block) const {
  const SlabArrays& arrays = call.arrays;
  if (call.inverse)
    return {in_rows(arrays.rows, block), in_planes(real_ ? arrays.planes : arrays.signals, block)};
  return {in_planes(arrays.planes, block), in_rows(arrays.spectra, block)};
}

/// Sends come after work of their device, so they need not wait for the other devices.
void SlabFft::begin(const Call& call) const {
  for (int d = 0; d < grid_.devices; ++d) call.record(d, Lane::work, kBegun);
  for (int d = 0; d < grid_.devices; ++d)
    for (int other = 0; other < grid_.devices; ++other)
      if (other != d) call.wait(d, Lane::work, other, kBegun);
}

/// Each device sends to its next neighbour first, so that no two devices begin with the same receiver.
void SlabFft::send_others(const Call& call, int from, int chunk, int part) const {
  constexpr int kSlots = SlabStaging::kSlots;
  const int turn = turn_of(chunk, part, call.inverse), slot = turn % kSlots;
  const int turns = chunks_ + parts_ - 1;
  std::vector<SlabPiece> sent_pieces;
  std::vector<std::pair<int, SlabPiece>> staged;
  for (int i = 1; i < grid_.devices; ++i) {
    const int to = (from + i) % grid_.devices;
    const Block block = call.inverse ? Block{to, from, planes_of(to, chunk, part), part_of(from, part)}
                                     : Block{from, to, planes_of(from, chunk, part), part_of(to, part)};
    SlabPiece piece = piece_of(call, block);
    if (!has_peer_access(from, to)) {
      const Rows there =
          piece.to.packed_at(call.staging.slots[pair_of(from, to) * kSlots + static_cast<std::size_t>(slot)]);
      staged.push_back({to, {there, piece.to}});
      piece.to = there;
      call.wait(from, Lane::send, to, turn < kSlots ? lasting_event() : emptied(from, slot));
    }
    sent_pieces.push_back(piece);
  }
  if (!sent_pieces.empty()) call.devices.send(from, sent_pieces, call.scale);
  const bool last = call.inverse ? part == 0 : chunk == chunks_ - 1;  // another device waits for this
  if (last || !staged.empty()) call.record(from, Lane::send, sent(chunk, part));
  for (const auto& [to, piece] : staged) {
    call.wait(to, Lane::receive, from, sent(chunk, part));
    call.devices.receive(to, piece);
    call.record(to, Lane::receive, emptied(from, slot));
    if (turn == turns - 1) call.record(to, Lane::receive, lasting_event());
    call.record(to, Lane::receive, received(chunk, part));
  }
}

SlabPiece SlabFft::own_piece(const Call& call, int device, int chunk) const {
  return piece_of(call, {device, device, chunk_of(device, chunk), {0, grid_.rows_of(device).count}});
}

void SlabFft::arrive(const Call& call, int device, int chunk, int part) const {
  for (int from = 0; from < grid_.devices; ++from) call.wait(device, Lane::work, from, sent(chunk, part));
  call.wait(device, Lane::work, device, received(chunk, part));
}

void SlabFft::forward(SlabDevices& devices, const SlabArrays& arrays, const SlabStaging& staging,
                      double scale) const {
  const Call call{devices, arrays, staging, scale, false};
  begin(call);
  for (int d = 0; d < grid_.devices; ++d) {
    devices.by_itself(d, [&] {
      for (int chunk = 0; chunk < chunks_; ++chunk) {
        const Share planes = chunk_of(d, chunk);
        devices.planes_forward(
            d, planes,
            arrays.planes[static_cast<std::size_t>(d)] + bytes(planes.first * grid_.plane_values()),
            own_piece(call, d, chunk), scale);
        call.record(d, Lane::work, ready(chunk));
        call.wait(d, Lane::send, d, ready(chunk));
        send_others(call, d, chunk, 0);
      }
      for (int part = 1; part < parts_; ++part) send_others(call, d, chunks_ - 1, part);
    });
  }
  for (int part = 0; part < parts_; ++part) {
    for (int d = 0; d < grid_.devices; ++d) {
      arrive(call, d, chunks_ - 1, part);
      std::byte* const spectra = arrays.spectra[static_cast<std::size_t>(d)];
      devices.columns(d, part_of(d, part), spectra, spectra, false);
    }
  }
}

void SlabFft::inverse(SlabDevices& devices, const SlabArrays& arrays, const SlabStaging& staging,
                      double scale) const {
  const Call call{devices, arrays, staging, scale, true};
  begin(call);
  for (int part = parts_ - 1; part >= 0; --part) {
    for (int d = 0; d < grid_.devices; ++d) {
      const auto at = static_cast<std::size_t>(d);
      devices.columns(d, part_of(d, part), arrays.spectra[at], arrays.rows[at], true);
      call.record(d, Lane::work, ready(part));
    }
  }
  for (int part = parts_ - 1; part >= 0; --part) {
    for (int d = 0; d < grid_.devices; ++d) call.wait(d, Lane::send, d, ready(part));
    for (int chunk = part == 0 ? 0 : chunks_ - 1; chunk < chunks_; ++chunk)
      for (int d = 0; d < grid_.devices; ++d) send_others(call, d, chunk, part);
  }
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    for (int d = 0; d < grid_.devices; ++d) {
      arrive(call, d, chunk, 0);
      const Share share = chunk_of(d, chunk);
      std::byte* const planes = (real_ ? arrays.planes : arrays.signals)[static_cast<std::size_t>(d)];
      devices.planes_inverse(d, share, planes + bytes(share.first * grid_.plane_values()),
                             own_piece(call, d, chunk), scale);
    }
  }
}

}  // namespace sfft::detail
