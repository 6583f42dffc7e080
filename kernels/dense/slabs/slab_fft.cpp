// SPDX-License-Identifier: Apache-2.0
// Forward: planes, chunk by chunk, each sent while the next is transformed; then the lines across all planes.
// Inverse: those lines first, then chunks of planes, each sent while the one before is transformed.
#include "kernels/dense/slabs/slab_fft.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

/// Events of a device: those of a call, three for each chunk, and those of staging memory that it has
/// emptied.
enum Event { kBegun, kRows, kFirstOfChunks };
enum ChunkEvent { kReady, kSent, kReceived };
int event_of(int chunk, ChunkEvent event) {
  return kFirstOfChunks + 3 * chunk + event;
}

}  // namespace

template <class Real>
SlabFft<Real>::SlabFft(const SlabGrid& grid, bool real, int chunks, std::vector<bool> reaches)
    : grid_(grid),
      real_(real),
      chunks_(static_cast<int>(
          std::clamp<std::int64_t>(chunks, 1, std::max<std::int64_t>(1, grid.planes / grid.devices)))),
      reaches_(std::move(reaches)) {}

template <class Real>
Share SlabFft<Real>::chunk_of(int device, int chunk) const noexcept {
  return share_of(grid_.planes_of(device).count, chunks_, chunk);
}

template <class Real>
int SlabFft<Real>::events() const noexcept {
  return kFirstOfChunks + 3 * chunks_ + SlabStaging<Real>::kSlots * grid_.devices;
}

template <class Real>
int SlabFft<Real>::emptied(int from, int slot) const noexcept {
  return kFirstOfChunks + 3 * chunks_ + from * SlabStaging<Real>::kSlots + slot;
}

template <class Real>
bool SlabFft<Real>::reaches(int from, int to) const noexcept {
  return reaches_[static_cast<std::size_t>(from * grid_.devices + to)];
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
  if (reaches(from, to)) return 0;
  return std::max(chunk_of(from, 0).count * grid_.row_values(to),
                  chunk_of(to, 0).count * grid_.row_values(from));
}

template <class Real>
void SlabFft<Real>::begin(DeviceQueues<Real>& queues) const {
  for (int d = 0; d < grid_.devices; ++d) queues.record(d, Lane::work, kBegun);
  for (int d = 0; d < grid_.devices; ++d)
    for (int other = 0; other < grid_.devices; ++other) queues.wait(d, Lane::send, other, kBegun);
}

template <class Real>
void SlabFft<Real>::send_chunk(DeviceQueues<Real>& queues, const SlabStaging<Real>& staging, double scale,
                               int from, int chunk, const std::vector<SlabPiece<Real>>& pieces) const {
  constexpr int kSlots = SlabStaging<Real>::kSlots;
  const int slot = chunk % kSlots;
  std::vector<SlabPiece<Real>> sent = pieces;
  for (int to = 0; to < grid_.devices; ++to) {
    if (reaches(from, to)) continue;
    auto& piece = sent[static_cast<std::size_t>(to)];
    piece.to = staging.slots[static_cast<std::size_t>((from * grid_.devices + to) * kSlots + slot)];
    piece.to_pitch = piece.width;
    queues.wait(from, Lane::send, to, emptied(from, slot));
  }
  queues.send(from, sent, scale);
  queues.record(from, Lane::send, event_of(chunk, kSent));
  for (int to = 0; to < grid_.devices; ++to) {
    if (reaches(from, to)) continue;
    SlabPiece<Real> piece = pieces[static_cast<std::size_t>(to)];
    piece.from = sent[static_cast<std::size_t>(to)].to;
    piece.from_pitch = piece.width;
    queues.wait(to, Lane::receive, from, event_of(chunk, kSent));
    queues.receive(to, piece);
    queues.record(to, Lane::receive, emptied(from, slot));
    queues.record(to, Lane::receive, event_of(chunk, kReceived));
  }
}

template <class Real>
void SlabFft<Real>::arrive(DeviceQueues<Real>& queues, int device, int chunk) const {
  for (int from = 0; from < grid_.devices; ++from)
    queues.wait(device, Lane::work, from, event_of(chunk, kSent));
  queues.wait(device, Lane::work, device, event_of(chunk, kReceived));
}

template <class Real>
void SlabFft<Real>::forward(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays,
                            const SlabStaging<Real>& staging, double scale) const {
  begin(queues);
  std::vector<SlabPiece<Real>> pieces(static_cast<std::size_t>(grid_.devices));
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    for (int d = 0; d < grid_.devices; ++d) {
      const Share share = chunk_of(d, chunk);
      std::complex<Real>* const planes =
          arrays.planes[static_cast<std::size_t>(d)] + share.first * grid_.plane_values();
      queues.planes_forward(d, share.first, share.count, planes);
      queues.record(d, Lane::work, event_of(chunk, kReady));
      queues.wait(d, Lane::send, d, event_of(chunk, kReady));
      for (int to = 0; to < grid_.devices; ++to) {
        const std::int64_t width = grid_.row_values(to);
        pieces[static_cast<std::size_t>(to)] = {
            planes + grid_.rows_of(to).first * grid_.inner,
            arrays.spectra[static_cast<std::size_t>(to)] + (grid_.planes_of(d).first + share.first) * width,
            grid_.plane_values(),
            width,
            width,
            share.count};
      }
      send_chunk(queues, staging, scale, d, chunk, pieces);
    }
  }
  for (int d = 0; d < grid_.devices; ++d) {
    arrive(queues, d, chunks_ - 1);  // lanes are in order, so the chunks before have arrived, too
    std::complex<Real>* const spectra = arrays.spectra[static_cast<std::size_t>(d)];
    queues.columns(d, spectra, spectra, false);
  }
}

template <class Real>
void SlabFft<Real>::inverse(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays,
                            const SlabStaging<Real>& staging, double scale) const {
  begin(queues);
  for (int d = 0; d < grid_.devices; ++d) {
    const auto at = static_cast<std::size_t>(d);
    queues.columns(d, arrays.spectra[at], arrays.rows[at], true);
    queues.record(d, Lane::work, kRows);
    queues.wait(d, Lane::send, d, kRows);
  }
  const auto planes_of = [&](int d, int chunk) {
    const auto at = static_cast<std::size_t>(d);
    return (real_ ? arrays.planes[at] : arrays.signals[at]) + chunk_of(d, chunk).first * grid_.plane_values();
  };
  std::vector<SlabPiece<Real>> pieces(static_cast<std::size_t>(grid_.devices));
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    for (int d = 0; d < grid_.devices; ++d) {
      const std::int64_t width = grid_.row_values(d);
      for (int to = 0; to < grid_.devices; ++to) {
        const Share share = chunk_of(to, chunk);
        pieces[static_cast<std::size_t>(to)] = {
            arrays.rows[static_cast<std::size_t>(d)] + (grid_.planes_of(to).first + share.first) * width,
            planes_of(to, chunk) + grid_.rows_of(d).first * grid_.inner,
            width,
            grid_.plane_values(),
            width,
            share.count};
      }
      send_chunk(queues, staging, scale, d, chunk, pieces);
    }
    for (int d = 0; d < grid_.devices; ++d) {
      arrive(queues, d, chunk);
      const Share share = chunk_of(d, chunk);
      queues.planes_inverse(d, share.first, share.count, planes_of(d, chunk));
    }
  }
}

template class SlabFft<float>;
template class SlabFft<double>;

}  // namespace sfft::detail
