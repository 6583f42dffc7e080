// SPDX-License-Identifier: Apache-2.0
// Thin wrappers over the runtime; failures that users may meet become sentences, not exceptions.
#include "kernels/cuda/runtime/peers.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <mutex>
#include <set>

#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

void check_several(const std::vector<int>& devices) {
  for (const int device : devices) static_cast<void>(device_info(device));  // throws
}

std::string enable_peer_access(int from, int to) {
  if (from == to) return {};
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, from, to), "asking whether GPUs reach each other");
  if (can == 0) return fmt::format("GPU {} cannot reach the memory of GPU {}", from, to);
  static std::mutex& mutex = *new std::mutex;  // never destroyed: threads may plan while the process ends
  static std::set<std::pair<int, int>>& enabled = *new std::set<std::pair<int, int>>;
  const std::lock_guard lock(mutex);
  if (enabled.count({from, to}) > 0) return {};
  const DeviceScope scope(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (status == cudaSuccess ||
      status == cudaErrorPeerAccessAlreadyEnabled) {  // by others, the program or cuFFT
    enabled.insert({from, to});
    return {};
  }
  if (status == cudaErrorTooManyPeers)
    return fmt::format("GPU {} reaches as many other GPUs as it can, and GPU {} is not among them", from, to);
  check(status, "letting GPUs reach each other");
  return {};
}

bool linked(int from, int to) {
  if (from == to) return true;
  int atomics = 0;
  check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to),
        "asking how GPUs are joined");
  return atomics != 0;
}

double peak_memory_rate(int device) {
  int clock_khz = 0, bits = 0;
  if (cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return 2e3 * clock_khz * bits / 8;  // two transfers per clock
}

}  // namespace sfft::detail::cuda
