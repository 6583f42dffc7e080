// SPDX-License-Identifier: Apache-2.0
// One memory pool per device, made at first use; a device without pools falls back to cudaMalloc.
#include "kernels/cuda/runtime/stream_buffer.hpp"

#include <cuda_runtime.h>

#include <map>
#include <mutex>

#include "kernels/cuda/runtime/allocation.hpp"

namespace sfft::detail::cuda {

namespace {

cudaMemPool_t make_pool(int device) {
  constexpr std::uint64_t kKeptBytes = std::uint64_t{64} << 20;
  int supported = 0;
  check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device),
        "asking about memory pools");
  if (supported == 0) return nullptr;
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  check(cudaMemPoolCreate(&pool, &properties), "making a memory pool");
  std::uint64_t kept = kKeptBytes;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "making a memory pool");
  return pool;
}

/// The pool of the current device; nullptr if there is none. Never destroyed: when the process ends the
/// driver may be gone already.
cudaMemPool_t current_pool() {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t>& pools = *new std::map<int, cudaMemPool_t>;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current GPU");
  const std::lock_guard lock(mutex);
  const auto known = pools.find(device);
  return known != pools.end() ? known->second : pools[device] = make_pool(device);
}

/// Returns nullptr if there is no pool: the caller falls back to cudaMalloc.
void* allocate_from_pool(std::size_t bytes, Stream stream) {
  const cudaMemPool_t pool = current_pool();
  if (pool == nullptr) return nullptr;
  void* data = nullptr;
  const cudaError_t status =
      injected_failure() ? cudaErrorMemoryAllocation : cudaMallocFromPoolAsync(&data, bytes, pool, stream);
  if (status == cudaErrorMemoryAllocation) out_of_memory(bytes, "GPU");
  check(status, "allocating GPU memory");
  return counted(data, bytes);
}

}  // namespace

StreamBuffer::StreamBuffer(std::size_t bytes, Stream stream) : bytes_(bytes), stream_(stream) {
  if (bytes == 0) return;
  data_ = allocate_from_pool(bytes, stream);
  pooled_ = data_ != nullptr;
  if (!pooled_) data_ = DeviceMemory::allocate(bytes);
}

StreamBuffer::~StreamBuffer() {
  if (data_ == nullptr) return;
  static_cast<void>(pooled_ ? cudaFreeAsync(data_, stream_) : cudaFree(data_));
  uncount(bytes_);
}

PooledBuffer::PooledBuffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  int current = 0;
  check(cudaGetDevice(&current), "asking for the current GPU");
  data_ = allocate_from_pool(bytes, nullptr);
  if (data_ != nullptr) {
    device_ = current;
  } else {
    data_ = DeviceMemory::allocate(bytes);
  }
}

PooledBuffer::~PooledBuffer() {
  if (data_ == nullptr) return;
  if (device_ < 0) {
    DeviceMemory::release(data_, bytes_);
    return;
  }
  int current = 0;
  const bool elsewhere = cudaGetDevice(&current) == cudaSuccess && current != device_;
  if (elsewhere) static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaDeviceSynchronize());
  // During a capture from a stream that waits for the default one, the default stream accepts no work.
  if (cudaFreeAsync(data_, nullptr) != cudaSuccess && cudaFree(data_) != cudaSuccess)
    static_cast<void>(cudaGetLastError());
  if (elsewhere) static_cast<void>(cudaSetDevice(current));
  uncount(bytes_);
}

}  // namespace sfft::detail::cuda
