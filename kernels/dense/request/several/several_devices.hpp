// SPDX-License-Identifier: Apache-2.0
// Chooses which of the listed devices a plan uses, and gives the reason.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/dense/slabs/slab_model.hpp"

namespace sfft::detail {

/// Runs a job with the device current, and adds the device to the text of errors.
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
  std::vector<std::string> notes;  ///< further remarks
  SlabRates rates;                 ///< for one transform in slabs
};

/// Throws Error: backend_unavailable for missing devices and transforms that cannot be shared, out_of_memory
/// if one transform does not fit in the devices' memory.
template <class Real>
ChosenDevices choose_devices(const DenseRequest& request);

}  // namespace sfft::detail
