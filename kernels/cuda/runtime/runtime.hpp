// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime that host code uses (devices, memory, streams), without its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/runtime/queue.hpp"

struct CUevent_st;

namespace sfft::detail::cuda {

using Stream = CUstream_st*;

struct DeviceInfo {
  int index = 0;
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  std::size_t shared_bytes_per_block = 0;  ///< with opt-in
  std::size_t shared_bytes_per_multiprocessor = 0;
  std::size_t memory_bytes = 0;
  int largest_cluster = 1;  ///< in blocks; above 1: clusters and distributed shared memory
  bool overlap = false;     ///< kernels may start before the stream's previous one ends
};

/// Why no device can be used: no driver, no device, or an architecture without code in this build. Empty if
/// one can. Never throws.
std::string unavailable(int device = 0);
int device_count() noexcept;
/// Creates no context, unlike device_info(). Throws Error(device) if there is no such device.
std::string device_name(int device);
/// The newest CUDA version that the driver supports, such as "13.0".
std::string driver_version();
/// Throws Error(backend_unavailable) with unavailable()'s sentence.
const DeviceInfo& device_info(int device);

/// Throws Error(device or out_of_memory) unless `status` (a cudaError_t) is success; `what`: the operation.
void check(int status, const char* what);
/// Call after a launch: throws like check() if the launch failed.
void check_launch(const char* kernel);

/// Makes a device current for the calling thread and restores the previous one.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = -1;
};

/// Memory of one kind, freed with its owner. A size of 0 allocates nothing. Throws Error(out_of_memory) with
/// the requested size.
template <class Kind>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes) : data_(Kind::allocate(bytes)), bytes_(bytes) {}
  ~Buffer() { Kind::release(data_, bytes_); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  std::size_t bytes() const noexcept { return bytes_; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct DeviceMemory {  ///< memory of the current device
  static void* allocate(std::size_t bytes);
  static void release(void* data, std::size_t bytes) noexcept;
};
struct PinnedMemory {  ///< page-locked host memory that every device can read
  static void* allocate(std::size_t bytes);
  static void release(void* data, std::size_t bytes) noexcept;
};
struct ManagedMemory {  ///< migrates between the current device, its home, and the host
  static void* allocate(std::size_t bytes);
  static void release(void* data, std::size_t bytes) noexcept;
};
using DeviceBuffer = Buffer<DeviceMemory>;
using PinnedBuffer = Buffer<PinnedMemory>;
using ManagedBuffer = Buffer<ManagedMemory>;

/// Parts of one allocation are aligned to 256 bytes.
constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + 255) / 256 * 256;
}

/// How much memory of the current device can be allocated now.
std::size_t free_bytes();

/// Copies a host array to new device memory; blocks.
DeviceBuffer upload(const void* data, std::size_t bytes);
template <class T>
DeviceBuffer upload(const std::vector<T>& values) {
  return upload(values.data(), values.size() * sizeof(T));
}

class Event final : public detail::Event {
 public:
  enum class Kind { untimed, timed, blocking };  ///< blocking: wait() yields the core
  /// An event of the current device.
  explicit Event(Kind kind = Kind::untimed);
  ~Event() override;
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  void record(Stream stream);
  bool query() const;  ///< whether wait() would return at once
  void wait() override;
  void block(Stream stream) const;  ///< later work in the stream waits for the event
  /// Microseconds until a later event; both timed, recorded and reached.
  double us_until(const Event& later) const;
  CUevent_st* get() const noexcept { return event_; }

 private:
  CUevent_st* event_ = nullptr;
};

/// A stream. Its functions may be called whichever device is current. Events are cuda::Events of its device,
/// except those that it waits for.
class Queue final : public detail::Queue {
 public:
  /// urgent: kernels of this stream get multiprocessors before those of other streams. sleeping: wait()
  /// yields the core.
  enum class Kind { usual, urgent, sleeping };
  /// Creates a stream of the current device that does not synchronise with the legacy default stream.
  explicit Queue(Kind kind = Kind::usual);
  ~Queue() override;
  Queue(Queue&& other) noexcept { *this = std::move(other); }
  Queue& operator=(Queue&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(stream_, other.stream_);
    std::swap(done_, other.done_);
    return *this;
  }
  Stream get() const noexcept { return stream_; }

  void copy(const Rows& to, const Rows& from, Copier copier = Copier::engine) override;
  void launch(const std::function<void(Stream)>& work) override;
  void record(detail::Event& event) override;
  void wait(const detail::Event& event) override;
  void wait() override;

 private:
  int device_ = 0;
  Stream stream_ = nullptr;
  std::optional<Event> done_;  ///< of a sleeping queue
};

void copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream);
/// Copies from any memory that the GPU can read.
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream);
void copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream);
/// Copies rows with a copy engine.
void copy(const Rows& to, const Rows& from, Stream stream);
/// Copies rows with a kernel. Addresses, widths and pitches are multiples of 16. Uses just enough blocks for
/// the bus and leaves the rest of the GPU to concurrent work.
void launch_row_copy(const Rows& to, const Rows& from, Stream stream);
void clear(void* device, std::size_t bytes, Stream stream);  ///< sets to zero
void synchronize(Stream stream);
/// The id of the graph capture that the stream takes part in; 0 if there is none.
std::uint64_t capture_of(Stream stream);
/// Whether kernels of `device` can read `data`: its own memory, managed or page-locked.
bool kernels_can_read(const void* data, int device) noexcept;
/// The address at which kernels read page-locked host memory; nullptr if it is not page-locked.
const void* mapped_address(const void* host) noexcept;
/// The same for managed memory.
const void* managed_address(const void* host) noexcept;

/// For tests: the n-th allocation from now on fails (1: the next), 0: none. Returns how many allocations were
/// left until the previously requested failure; 0 if it has happened or none was requested.
std::int64_t fail_allocation(std::int64_t n) noexcept;
/// Bytes that buffers of this process hold, device and pinned.
std::int64_t allocated_bytes() noexcept;

}  // namespace sfft::detail::cuda
