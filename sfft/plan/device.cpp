// SPDX-License-Identifier: Apache-2.0
// Names devices, and queries the driver about them.
#include "sfft/device.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfft/error.hpp"
#include "sfft/plan/device_memory.hpp"

namespace sfft {

Device Device::gpus(const std::vector<int>& numbers) {
  if (numbers.empty() || numbers.size() > kMaxGpus) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("Device::gpus() takes 1 to {} GPUs, not {}", kMaxGpus, numbers.size()));
  }
  Device device(Backend::cuda, {});
  device.count_ = numbers.size();
  std::copy(numbers.begin(), numbers.end(), device.gpus_.begin());
  return device;
}

std::string to_string(const Device& device) {
  if (device.backend() != Backend::cuda) return to_string(device.backend());
  std::string text = device.several() ? "GPUs " : "GPU ";
  const std::span<const int> gpus = device.gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (i > 0) text += i + 1 == gpus.size() ? " and " : ", ";
    text += fmt::format("{}", gpus[i]);
  }
  return text;
}

Availability availability(const Device& device) {
  if (device.backend() != Backend::cuda) return {};
  for (const int gpu : device.gpus()) {
    if (std::string problem = detail::device_problem(gpu); !problem.empty()) return {std::move(problem)};
  }
  return {};
}

}  // namespace sfft
