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

template <class Real>
SlabFft<Real>::SlabFft(const SlabGrid& grid, bool real, const SlabCuts& cuts, std::vector<bool> reaches)
    : grid_(grid),
      real_(real),
      chunks_(static_cast<int>(
          std::clamp<std::int64_t>(cuts.chunks, 1, std::max<std::int64_t>(1, grid.planes / grid.devices)))),
      parts_(static_cast<int>(std::clamp<std::int64_t>(cuts.parts, 1, row_blocks(grid, cuts.rows_together)))),
      cuts_(cuts),
      peer_access_(std::move(reaches)) {}

template <class Real>
Share SlabFft<Real>::chunk_of(int device, int chunk) const noexcept {
  return share_of(grid_.planes_of(device).count, chunks_, chunk);
}

template <class Real>
Share SlabFft<Real>::planes_of(int device, int chunk, int part) const noexcept {
  return part == 0 ? chunk_of(device, chunk) : Share{0, grid_.planes_of(device).count};
}

/// The first part gets its fraction of the whole blocks, and the rows that do not fill a block. Each other
/// part gets at least one block.
template <class Real>
Share SlabFft<Real>::part_of(int device, int part) const noexcept {
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

template <class Real>
int SlabFft<Real>::ready(int step) const noexcept {
  return 1 + step;
}
template <class Real>
int SlabFft<Real>::sent(int chunk, int part) const noexcept {
  return 1 + std::max(chunks_, parts_) + (part == 0 ? chunk : chunks_ + part - 1);
}
template <class Real>
int SlabFft<Real>::received(int chunk, int part) const noexcept {
  return sent(chunk, part) + chunks_ + parts_ - 1;
}
template <class Real>
int SlabFft<Real>::emptied(int from, int slot) const noexcept {
  return received(0, parts_) + from * SlabStaging<Real>::kSlots + slot;
}
template <class Real>
int SlabFft<Real>::events() const noexcept {
  return emptied(grid_.devices, 0) + 1;
}
template <class Real>
int SlabFft<Real>::turn_of(int chunk, int part, bool inverse) const noexcept {
  if (inverse) return part == 0 ? parts_ - 1 + chunk : parts_ - 1 - part;
  return part == 0 ? chunk : chunks_ - 1 + part;
}

template <class Real>
std::size_t SlabFft<Real>::pair_of(int from, int to) const noexcept {
  return static_cast<std::size_t>(from) * static_cast<std::size_t>(grid_.devices) +
         static_cast<std::size_t>(to);
}

template <class Real>
bool SlabFft<Real>::has_peer_access(int from, int to) const noexcept {
  return peer_access_[pair_of(from, to)];
}

template <class Real>
std::int64_t SlabFft<Real>::planes_values(int device, bool inverse) const noexcept {
  return inverse && !real_ ? 0 : grid_.planes_values(device);
}

template <class Real>
std::int64_t SlabFft<Real>::rows_values(int device, bool inverse) const noexcept {
  return inverse ? grid_.spectrum_values(device) : 0;
}

template <class Real>
std::int64_t SlabFft<Real>::staging_values(int from, int to) const noexcept {
  if (has_peer_access(from, to)) return 0;
  std::int64_t max = 0;
  for (int part = 0; part < parts_; ++part) {
    max = std::max({max, planes_of(from, 0, part).count * part_of(to, part).count,
                    planes_of(to, 0, part).count * part_of(from, part).count});
  }
  return max * grid_.inner;
}

template <class Real>
std::complex<Real>* SlabFft<Real>::in_planes(const std::vector<std::complex<Real>*>& planes,
                                             const Block& block) const {
  return planes[static_cast<std::size_t>(block.planes_of)] + block.planes.first * grid_.plane_values() +
         (grid_.rows_of(block.rows_of).first + block.rows.first) * grid_.inner;
}

template <class Real>
std::complex<Real>* SlabFft<Real>::in_rows(const std::vector<std::complex<Real>*>& rows,
                                           const Block& block) const {
  return rows[static_cast<std::size_t>(block.rows_of)] +
         (grid_.planes_of(block.planes_of).first + block.planes.first) * grid_.row_values(block.rows_of) +
         block.rows.first * grid_.inner;
}

template <class Real>
SlabPiece<Real> SlabFft<Real>::piece_of(const SlabArrays<Real>& arrays, const Block& block,
                                        bool inverse) const {
  const std::int64_t width = block.rows.count * grid_.inner, of_rows = grid_.row_values(block.rows_of);
  if (inverse) {
    return {in_rows(arrays.rows, block),
            in_planes(real_ ? arrays.planes : arrays.signals, block),
            of_rows,
            grid_.plane_values(),
            width,
            block.planes.count};
  }
  return {in_planes(arrays.planes, block),
          in_rows(arrays.spectra, block),
          grid_.plane_values(),
          of_rows,
          width,
          block.planes.count};
}

/// Sends come after work of their device, so they need not wait for the other devices.
template <class Real>
void SlabFft<Real>::begin(DeviceQueues<Real>& queues) const {
  for (int d = 0; d < grid_.devices; ++d) queues.record(d, Lane::work, kBegun);
  for (int d = 0; d < grid_.devices; ++d)
    for (int other = 0; other < grid_.devices; ++other)
      if (other != d) queues.wait(d, Lane::work, other, kBegun);
}

/// Each device sends to its next neighbour first, so that no two devices begin with the same receiver.
template <class Real>
void SlabFft<Real>::send_others(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays,
                                const SlabStaging<Real>& staging, double scale, bool inverse, int from,
                                int chunk, int part) const {
  constexpr int kSlots = SlabStaging<Real>::kSlots;
  const int turn = turn_of(chunk, part, inverse), slot = turn % kSlots;
  const int turns = chunks_ + parts_ - 1;
  std::vector<SlabPiece<Real>> sent_pieces;
  std::vector<std::pair<int, SlabPiece<Real>>> staged;
  for (int i = 1; i < grid_.devices; ++i) {
    const int to = (from + i) % grid_.devices;
    const Block block = inverse ? Block{to, from, planes_of(to, chunk, part), part_of(from, part)}
                                : Block{from, to, planes_of(from, chunk, part), part_of(to, part)};
    SlabPiece<Real> piece = piece_of(arrays, block, inverse);
    if (!has_peer_access(from, to)) {
      staged.emplace_back(to, piece);
      piece.to = staging.slots[pair_of(from, to) * kSlots + static_cast<std::size_t>(slot)];
      piece.to_pitch = piece.width;
      staged.back().second.from = piece.to;
      staged.back().second.from_pitch = piece.width;
      queues.wait(from, Lane::send, to, turn < kSlots ? lasting_event() : emptied(from, slot));
    }
    sent_pieces.push_back(piece);
  }
  if (!sent_pieces.empty()) queues.send(from, sent_pieces, scale);
  const bool last = inverse ? part == 0 : chunk == chunks_ - 1;  // another device waits for this
  if (last || !staged.empty()) queues.record(from, Lane::send, sent(chunk, part));
  for (const auto& [to, piece] : staged) {
    queues.wait(to, Lane::receive, from, sent(chunk, part));
    queues.receive(to, piece);
    queues.record(to, Lane::receive, emptied(from, slot));
    if (turn == turns - 1) queues.record(to, Lane::receive, lasting_event());
    queues.record(to, Lane::receive, received(chunk, part));
  }
}

template <class Real>
SlabPiece<Real> SlabFft<Real>::own_piece(const SlabArrays<Real>& arrays, int device, int chunk,
                                         bool inverse) const {
  return piece_of(arrays, {device, device, chunk_of(device, chunk), {0, grid_.rows_of(device).count}},
                  inverse);
}

template <class Real>
void SlabFft<Real>::arrive(DeviceQueues<Real>& queues, int device, int chunk, int part) const {
  for (int from = 0; from < grid_.devices; ++from) queues.wait(device, Lane::work, from, sent(chunk, part));
  queues.wait(device, Lane::work, device, received(chunk, part));
}

template <class Real>
void SlabFft<Real>::forward(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays,
                            const SlabStaging<Real>& staging, double scale) const {
  begin(queues);
  for (int d = 0; d < grid_.devices; ++d) {
    queues.by_itself(d, [&] {
      for (int chunk = 0; chunk < chunks_; ++chunk) {
        const Share share = chunk_of(d, chunk);
        queues.planes_forward(d, share.first, share.count,
                              arrays.planes[static_cast<std::size_t>(d)] + share.first * grid_.plane_values(),
                              own_piece(arrays, d, chunk, false), scale);
        queues.record(d, Lane::work, ready(chunk));
        queues.wait(d, Lane::send, d, ready(chunk));
        send_others(queues, arrays, staging, scale, false, d, chunk, 0);
      }
      for (int part = 1; part < parts_; ++part)
        send_others(queues, arrays, staging, scale, false, d, chunks_ - 1, part);
    });
  }
  for (int part = 0; part < parts_; ++part) {
    for (int d = 0; d < grid_.devices; ++d) {
      arrive(queues, d, chunks_ - 1, part);
      std::complex<Real>* const spectra = arrays.spectra[static_cast<std::size_t>(d)];
      const Share rows = part_of(d, part);
      queues.columns(d, rows.first, rows.count, spectra, spectra, false);
    }
  }
}

template <class Real>
void SlabFft<Real>::inverse(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays,
                            const SlabStaging<Real>& staging, double scale) const {
  begin(queues);
  for (int part = parts_ - 1; part >= 0; --part) {
    for (int d = 0; d < grid_.devices; ++d) {
      const auto at = static_cast<std::size_t>(d);
      const Share rows = part_of(d, part);
      queues.columns(d, rows.first, rows.count, arrays.spectra[at], arrays.rows[at], true);
      queues.record(d, Lane::work, ready(part));
    }
  }
  for (int part = parts_ - 1; part >= 0; --part) {
    for (int d = 0; d < grid_.devices; ++d) queues.wait(d, Lane::send, d, ready(part));
    for (int chunk = part == 0 ? 0 : chunks_ - 1; chunk < chunks_; ++chunk)
      for (int d = 0; d < grid_.devices; ++d)
        send_others(queues, arrays, staging, scale, true, d, chunk, part);
  }
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    for (int d = 0; d < grid_.devices; ++d) {
      arrive(queues, d, chunk, 0);
      const Share share = chunk_of(d, chunk);
      const auto& planes = real_ ? arrays.planes : arrays.signals;
      queues.planes_inverse(d, share.first, share.count,
                            planes[static_cast<std::size_t>(d)] + share.first * grid_.plane_values(),
                            own_piece(arrays, d, chunk, true), scale);
    }
  }
}

template class SlabFft<float>;
template class SlabFft<double>;

}  // namespace sfft::detail
