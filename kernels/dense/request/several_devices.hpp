// SPDX-License-Identifier: Apache-2.0
// Which of the devices that a plan may use it uses, and why.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/dense/slabs/slab_model.hpp"

namespace sfft::detail {

/// Runs a job with the device current; its errors say which one it was.
template <class Job>
void on_device(int device, const Job& job) {
  try {
    const cuda::DeviceScope scope(device);
    job();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("GPU {}: {}", device, error.what()));
  }
}

struct ChosenDevices {
  std::vector<int> devices;
  std::string reason;              ///< one sentence
  std::vector<std::string> notes;  ///< what else is worth knowing
  SlabRates rates;                 ///< of one transform in slabs
};

/// Throws Error: backend_unavailable for devices that are not there and transforms that are not shared out,
/// out_of_memory where one transform does not fit in the memory of the devices.
template <class Real>
ChosenDevices choose_devices(const DenseRequest& request);

}  // namespace sfft::detail
