// SPDX-License-Identifier: Apache-2.0
// Slots are all allocated, or none. A copy through a buffer is divided into parts of about a megabyte. The
// requesting thread and the helping threads take parts one by one.
#include "kernels/dense/out_of_core/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/cpu/platform/non_temporal.hpp"
#include "kernels/dense/cpu/stored_values.hpp"
#include "kernels/runtime/log.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

DeviceSlots::DeviceSlots(OutOfCoreDevice& device, int count, std::int64_t bytes, std::int64_t staging_bytes)
    : in_(device.make_queue()),
      kernels_(device.make_queue()),
      out_(device.make_queue()),
      bytes_(bytes),
      staging_bytes_(staging_bytes) {
  for (int s = 0; s < count; ++s) {
    Slot slot;
    slot.memory = device.allocate(bytes);
    if (staging_bytes > 0) slot.staging = host_memory(device, staging_bytes, &pageable_);
    slot.filled = device.make_event();
    slot.computed = device.make_event();
    for (auto& left : slot.left) left = device.make_event();
    slots_.push_back(std::move(slot));
  }
}

std::shared_ptr<std::byte> DeviceSlots::host_memory(OutOfCoreDevice& device, std::int64_t bytes,
                                                    bool* pageable) {
  try {
    return device.allocate_on_host(bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
  }
  if (pageable != nullptr) *pageable = true;
  log_decision("dense", [&] {
    return fmt::format(
        "no page-locked memory of {} bytes: pieces go through pageable memory, which is slower", bytes);
  });
  try {
    return {cpu::make_large_buffer(static_cast<std::size_t>(bytes))};
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} bytes of host memory are needed to pass pieces to the GPU", bytes));
  }
}

void DeviceSlots::settle() noexcept {
  for (Queue* const queue : {in_.get(), kernels_.get(), out_.get()}) {
    try {
      queue->wait();
    } catch (...) {  // the caller already has the first error
    }
  }
}

namespace {

/// Bytes that one thread copies at a time, and bytes of the rows that a single long row is cut into.
constexpr std::int64_t kPartBytes = std::int64_t{1} << 20, kRowBytes = std::int64_t{64} << 10;

std::int64_t floats_of(const BufferedRows& rows) {
  return rows.array.width / static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

BufferedPiece buffered(const std::vector<PieceSegment>& segments, bool packed) {
  BufferedPiece all{{}, packed};
  const auto add = [&](const Rows& piece, const Rows& array) {
    if (piece.rows == 0 || piece.width == 0) return;
    BufferedRows rows{piece, array, all.bytes(), piece.width};
    if (packed)
      rows.row_bytes = static_cast<std::int64_t>(storage_bytes(dense::Storage::block16, floats_of(rows)));
    all.rows.push_back(rows);
  };
  for (const PieceSegment& segment : segments) {
    if (segment.resident) continue;
    if (segment.piece.rows != 1 || segment.piece.width <= kRowBytes) {
      add(segment.piece, segment.array);
      continue;
    }
    const std::int64_t rows = segment.piece.width / kRowBytes, cut = rows * kRowBytes,
                       rest = segment.piece.width - cut;
    add({segment.piece.data, kRowBytes, kRowBytes, rows}, {segment.array.data, kRowBytes, kRowBytes, rows});
    add(segment.piece.with_columns(cut, rest), segment.array.with_columns(cut, rest));
  }
  return all;
}

template <class Copy>
void HostCopies::over_rows(const std::vector<BufferedRows>& all, const Copy& copy) {
  struct Part {
    const BufferedRows* rows;
    std::int64_t first, end;
  };
  std::vector<Part> parts;
  for (const BufferedRows& rows : all) {
    const std::int64_t together = std::max<std::int64_t>(1, kPartBytes / rows.array.width);
    for (std::int64_t first = 0; first < rows.array.rows; first += together)
      parts.push_back({&rows, first, std::min(first + together, rows.array.rows)});
  }
  share(static_cast<std::int64_t>(parts.size()), [&](std::int64_t p) {
    const Part& part = parts[static_cast<std::size_t>(p)];
    for (std::int64_t r = part.first; r < part.end; ++r)
      copy(*part.rows, part.rows->array.data + r * part.rows->array.pitch,
           part.rows->offset + r * part.rows->row_bytes);
    cpu::non_temporal_fence();
  });
}

namespace {

/// Runs write(to) into a small buffer in cache, and copies that with non-temporal stores; writes large
/// results directly.
template <class Write>
void non_temporal(std::byte* to, std::int64_t bytes, const Write& write) {
  alignas(64) std::array<std::byte, std::size_t{kRowBytes}> near;
  if (bytes > kRowBytes) return write(to);
  write(near.data());
  cpu::copy_non_temporal(to, near.data(), bytes);
}

}  // namespace

void HostCopies::to_buffer(const BufferedPiece& piece, std::byte* buffer) {
  over_rows(piece.rows, [&](const BufferedRows& of, const std::byte* from, std::int64_t offset) {
    if (!piece.packed) return cpu::copy_non_temporal(buffer + offset, from, of.array.width);
    non_temporal(buffer + offset, of.row_bytes, [&](std::byte* to) {
      pack_stored(reinterpret_cast<const float*>(from), floats_of(of), dense::Storage::block16, to);
    });
  });
}

void HostCopies::from_buffer(const BufferedPiece& piece, const std::byte* buffer) {
  over_rows(piece.rows, [&](const BufferedRows& of, std::byte* array, std::int64_t offset) {
    if (!piece.packed) return cpu::copy_non_temporal(array, buffer + offset, of.array.width);
    non_temporal(array, of.array.width, [&](std::byte* to) {
      read_stored(buffer + offset, dense::Storage::block16, floats_of(of), 0, reinterpret_cast<float*>(to));
    });
  });
}

void HostCopies::run_part(Job& job, std::unique_lock<std::mutex>& lock) {
  const std::int64_t part = job.next++;
  if (job.next == job.parts) open_.remove(&job);
  lock.unlock();
  job.part(part);
  lock.lock();
  if (--job.left == 0) changed_.notify_all();
}

void HostCopies::share(std::int64_t parts, const std::function<void(std::int64_t)>& part) {
  if (parts == 0) return;
  Job job{parts, 0, parts, part};
  std::unique_lock lock(mutex_);
  open_.push_back(&job);
  changed_.notify_all();
  while (job.next < job.parts) run_part(job, lock);
  changed_.wait(lock, [&] { return job.left == 0; });
}

void HostCopies::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return finished_ || !open_.empty(); });
    if (open_.empty()) return;
    run_part(*open_.front(), lock);
  }
}

void HostCopies::finish() noexcept {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
}

}  // namespace sfft::detail
