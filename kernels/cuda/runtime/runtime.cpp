// SPDX-License-Identifier: Apache-2.0
// Thin wrappers that turn a status into an error. Each device is examined once; allocations are counted, and
// tests can make one fail.
#include "kernels/cuda/runtime/runtime.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "kernels/cuda/runtime/allocation.hpp"
#include "kernels/cuda/runtime/probe.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

std::atomic<std::int64_t> failing{0};
std::atomic<std::int64_t> held{0};

std::string describe(cudaError_t status) {
  return fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
}

DeviceInfo query(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "reading the properties of the GPU");
  DeviceInfo info;
  info.index = device;
  info.name = properties.name;
  info.major = properties.major;
  info.minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  info.shared_bytes_per_multiprocessor = properties.sharedMemPerMultiprocessor;
  info.memory_bytes = properties.totalGlobalMem;
  return info;
}

/// Examines every device once, at its first use.
class Devices {
 public:
  std::string unavailable(int device) {
    const std::lock_guard lock(mutex_);
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary)
      return "there is no NVIDIA driver, or it is older than this build's CUDA toolkit";
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) return "there is no NVIDIA GPU";
    if (status != cudaSuccess) return fmt::format("the GPU driver failed: {}", describe(status));
    if (device < 0 || device >= count)
      return fmt::format("there is no GPU {}: this machine has {}", device, count);
    if (known_.size() < static_cast<std::size_t>(count)) known_.resize(static_cast<std::size_t>(count));
    auto& entry = known_[static_cast<std::size_t>(device)];
    if (!entry) {
      DeviceInfo info = query(device);
      const DeviceScope scope(device);
      const int code = code_version();
      // A 9.0 GPU may run code compiled for an older target; such code ignores both features.
      if (info.major >= 9 && code >= kClusterCode) {
        info.overlap = true;
        info.largest_cluster = largest_cluster();
      }
      entry =
          Entry{info, code > 0 ? ""
                               : fmt::format("this build has no code for the GPU {} of compute capability "
                                             "{}.{}: configure with CMAKE_CUDA_ARCHITECTURES={}{}",
                                             info.name, info.major, info.minor, info.major, info.minor)};
    }
    return entry->problem;
  }

  const DeviceInfo& info(int device) {
    const std::string problem = unavailable(device);
    if (!problem.empty()) throw Error(ErrorCode::backend_unavailable, problem);
    const std::lock_guard lock(mutex_);
    return known_[static_cast<std::size_t>(device)]->info;
  }

 private:
  struct Entry {
    DeviceInfo info;
    std::string problem;
  };
  std::mutex mutex_;
  std::vector<std::optional<Entry>> known_;
};

Devices& devices() {
  static Devices instance;
  return instance;
}

}  // namespace

bool injected_failure() noexcept {
  if (failing.load(std::memory_order_relaxed) == 0) return false;
  return failing.fetch_sub(1) == 1;
}

void* counted(void* data, std::size_t bytes) noexcept {
  held += static_cast<std::int64_t>(bytes);
  return data;
}

void uncount(std::size_t bytes) noexcept {
  held -= static_cast<std::int64_t>(bytes);
}

void out_of_memory(std::size_t bytes, const char* kind) {
  std::size_t free = 0, total = 0;
  const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("allocating {} bytes of {} memory failed{}", bytes, kind,
                  known ? fmt::format("; {} of the GPU's {} bytes are free, of which CUDA allocates whole "
                                      "blocks of 2 MiB and keeps some for kernels",
                                      free, total)
                        : ""));
}

std::string unavailable(int device) {
  try {
    return devices().unavailable(device);
  } catch (const std::exception& error) {
    return error.what();
  }
}

int device_count() noexcept {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string device_name(int device) {
  static std::mutex mutex;
  static std::map<int, std::string> names;  // the query takes a millisecond, and every plan makes it
  const std::lock_guard lock(mutex);
  if (const auto known = names.find(device); known != names.end()) return known->second;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "reading the name of the GPU");
  return names[device] = properties.name;
}

std::string driver_version() {
  int version = 0;
  check(cudaDriverGetVersion(&version), "reading the version of the GPU driver");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

const DeviceInfo& device_info(int device) {
  return devices().info(device);
}

void check(int status, const char* what) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // a failed call leaves its error behind
  if (error == cudaErrorMemoryAllocation)
    throw Error(ErrorCode::out_of_memory, fmt::format("{}: the GPU is out of memory", what));
  throw Error(ErrorCode::device, fmt::format("{}: {}", what, describe(error)));
}

void check_launch(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess)
    throw Error(ErrorCode::device, fmt::format("launching the kernel {}: {}", kernel, describe(status)));
}

DeviceScope::DeviceScope(int device) {
  int current = 0;
  check(cudaGetDevice(&current), "asking for the current GPU");
  if (current == device) return;
  check(cudaSetDevice(device), "selecting the GPU");
  before_ = current;
}

DeviceScope::~DeviceScope() {
  if (before_ >= 0) static_cast<void>(cudaSetDevice(before_));
}

void* DeviceMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  const cudaError_t status = injected_failure() ? cudaErrorMemoryAllocation : cudaMalloc(&data, bytes);
  if (status == cudaErrorMemoryAllocation) out_of_memory(bytes, "GPU");
  check(status, "allocating GPU memory");
  return counted(data, bytes);
}

void* PinnedMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  constexpr unsigned kFlags = cudaHostAllocPortable | cudaHostAllocMapped;
  const cudaError_t status =
      injected_failure() ? cudaErrorMemoryAllocation : cudaHostAlloc(&data, bytes, kFlags);
  if (status == cudaErrorMemoryAllocation) out_of_memory(bytes, "page-locked host");
  check(status, "allocating page-locked memory");
  return counted(data, bytes);
}

void DeviceMemory::release(void* data, std::size_t bytes) noexcept {
  if (data == nullptr) return;
  static_cast<void>(cudaFree(data));
  uncount(bytes);
}

void PinnedMemory::release(void* data, std::size_t bytes) noexcept {
  if (data == nullptr) return;
  static_cast<void>(cudaFreeHost(data));
  held -= static_cast<std::int64_t>(bytes);
}

void* ManagedMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  int device = 0, at_once = 0;
  check(cudaGetDevice(&device), "asking for the current GPU");
  check(cudaDeviceGetAttribute(&at_once, cudaDevAttrConcurrentManagedAccess, device),
        "asking about managed memory");
  if (at_once == 0)
    throw Error(ErrorCode::device, "the host cannot read managed memory while kernels run on this GPU");
  void* data = nullptr;
  const cudaError_t status = injected_failure() ? cudaErrorMemoryAllocation : cudaMallocManaged(&data, bytes);
  if (status == cudaErrorMemoryAllocation) out_of_memory(bytes, "managed");
  check(status, "allocating managed memory");
  // This is only advice to the driver, so a failure does not matter.
#if CUDART_VERSION >= 13000
  const cudaMemLocation home{cudaMemLocationTypeDevice, device};
#else
  const int home = device;
#endif
  if (cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, home) != cudaSuccess)
    static_cast<void>(cudaGetLastError());
  return counted(data, bytes);
}

void ManagedMemory::release(void* data, std::size_t bytes) noexcept {
  DeviceMemory::release(data, bytes);
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the GPU's free memory");
  return free;
}

DeviceBuffer upload(const void* data, std::size_t bytes) {
  DeviceBuffer buffer(bytes);
  if (bytes > 0)
    check(cudaMemcpy(buffer.data(), data, bytes, cudaMemcpyHostToDevice), "copying a table to the GPU");
  // A copy from pageable memory may still be in progress, and streams that do not wait for the default one
  // would read too early.
  if (bytes > 0) check(cudaStreamSynchronize(nullptr), "copying a table to the GPU");
  return buffer;
}

Event::Event(Kind kind) {
  const unsigned flags = kind == Kind::timed      ? cudaEventDefault
                         : kind == Kind::blocking ? cudaEventDisableTiming | cudaEventBlockingSync
                                                  : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&event_, flags), "creating an event");
}
Event::~Event() {
  if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
}
void Event::record(Stream stream) {
  check(cudaEventRecord(event_, stream), "recording an event");
}
bool Event::query() const {
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  check(status, "asking the GPU");
  return true;
}
void Event::wait() {
  check(cudaEventSynchronize(event_), "waiting for the GPU");
}
void Event::block(Stream stream) const {
  check(cudaStreamWaitEvent(stream, event_, 0), "making a stream wait");
}
double Event::us_until(const Event& later) const {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, event_, later.event_), "reading the time of an event");
  return 1e3 * static_cast<double>(ms);
}

Queue::Queue(Kind kind) {
  check(cudaGetDevice(&device_), "asking for the current GPU");
  int min = 0, greatest = 0;
  if (kind == Kind::urgent)
    check(cudaDeviceGetStreamPriorityRange(&min, &greatest), "asking about priorities of streams");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "creating a stream");
  if (kind == Kind::sleeping) done_.emplace(Event::Kind::blocking);
}
Queue::~Queue() {
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}
void Queue::copy(const Rows& to, const Rows& from, Copier copier) {
  const DeviceScope scope(device_);
  copier == Copier::kernel ? launch_row_copy(to, from, stream_) : cuda::copy(to, from, stream_);
}
void Queue::launch(const std::function<void(Stream)>& work) {
  const DeviceScope scope(device_);
  work(stream_);
}
void Queue::record(detail::Event& event) {
  const DeviceScope scope(device_);
  static_cast<Event&>(event).record(stream_);
}
void Queue::wait(const detail::Event& event) {
  const DeviceScope scope(device_);
  static_cast<const Event&>(event).block(stream_);
}
void Queue::wait() {
  if (!done_) return synchronize(stream_);
  record(*done_);
  done_->wait();
}

void copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream) {
  // cudaMemcpyDefault, because "host" memory may be managed and already on the GPU.
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyDefault, stream), "copying to the GPU");
}
void clear(void* device, std::size_t bytes, Stream stream) {
  check(cudaMemsetAsync(device, 0, bytes, stream), "clearing memory of the GPU");
}
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying on the GPU");
}
void copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "copying from the GPU");
}
void copy(const Rows& to, const Rows& from, Stream stream) {
  constexpr std::int64_t kLargestPitch = 0x7FFFFFFF;  // limit of CUDA's strided copies
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  if (to.pitch == to.width && from.pitch == to.width)
    return copy_on_device(to.data, from.data, bytes(to.bytes()), stream);
  if (std::max(to.pitch, from.pitch) <= kLargestPitch) {
    return check(cudaMemcpy2DAsync(to.data, bytes(to.pitch), from.data, bytes(from.pitch), bytes(to.width),
                                   bytes(to.rows), cudaMemcpyDefault, stream),
                 "copying parts of an array");
  }
  for (std::int64_t r = 0; r < to.rows; ++r)
    copy_on_device(to.data + r * to.pitch, from.data + r * from.pitch, bytes(to.width), stream);
}
void synchronize(Stream stream) {
  check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

std::uint64_t capture_of(Stream stream) {
  if (stream == nullptr) return 0;  // must not be queried during a capture
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, &number), "asking whether a graph is captured");
  return status == cudaStreamCaptureStatusNone ? 0 : number;
}

namespace {

/// A thread that has not used the GPU has no context and gets no device addresses. Allowed during graph
/// capture, unlike cudaFree(nullptr).
void enter_context() noexcept {
  thread_local int entered = -1;
  int current = 0;
  if (cudaGetDevice(&current) != cudaSuccess ||
      (entered != current && cudaSetDevice(current) != cudaSuccess)) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  entered = current;
}

}  // namespace

bool kernels_can_read(const void* data, int device) noexcept {
  enter_context();
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  if (attributes.type == cudaMemoryTypeDevice) return attributes.device == device;
  return attributes.type == cudaMemoryTypeManaged ||
         (attributes.type == cudaMemoryTypeHost && attributes.devicePointer == data);
}

namespace {

/// The address at which kernels see memory of this kind; nullptr for other kinds.
const void* address_of(const void* host, cudaMemoryType kind) noexcept {
  enter_context();
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return attributes.type == kind ? attributes.devicePointer : nullptr;
}

}  // namespace

const void* mapped_address(const void* host) noexcept {
  return address_of(host, cudaMemoryTypeHost);
}
const void* managed_address(const void* host) noexcept {
  return address_of(host, cudaMemoryTypeManaged);
}

std::int64_t fail_allocation(std::int64_t n) noexcept {
  return failing.exchange(n);
}

std::int64_t allocated_bytes() noexcept {
  return held;
}

}  // namespace sfft::detail::cuda
