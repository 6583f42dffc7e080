// SPDX-License-Identifier: Apache-2.0
// Where plans run, and views of arrays in GPU memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sfft/export.hpp"
#include "sfft/types.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft {

/// Where something runs: on the CPU, on one GPU, on several, or where the library chooses. GPUs are numbered
/// as by the driver. The options that contain a Device say what `automatic` means. The driver is queried only
/// when a plan is made.
class SFFT_EXPORT Device {
 public:
  /// A Device has at most this many GPUs.
  static constexpr std::size_t kMaxGpus = 16;

  /// The same as automatic().
  Device() = default;
  /// The library chooses between the CPU and this GPU.
  static Device automatic(int gpu = 0) { return {Backend::automatic, gpu}; }
  /// The CPU.
  static Device cpu() { return {Backend::cpu, {}}; }
  /// One GPU.
  static Device gpu(int number = 0) { return {Backend::cuda, number}; }
  /// Several GPUs of this machine, which share the work; the first one counts where one is needed. Tests may
  /// name one GPU several times. Throws invalid_argument if there is none, or more than kMaxGpus.
  static Device gpus(const std::vector<int>& numbers);

  /// automatic, cpu or cuda.
  Backend backend() const noexcept { return backend_; }
  /// The GPUs; empty for the CPU, and the candidate for `automatic`. Valid as long as this object.
  std::span<const int> gpus() const& noexcept { return {gpus_.data(), count_}; }
  std::span<const int> gpus() const&& = delete;  ///< would dangle
  /// The first GPU; 0 for the CPU.
  int gpu_number() const noexcept { return gpus_.front(); }
  /// Whether several GPUs share the work.
  bool several() const noexcept { return count_ > 1; }
  /// Equal in backend and GPUs.
  friend bool operator==(const Device&, const Device&) = default;

 private:
  Device(Backend backend, std::optional<int> gpu)
      : backend_(backend), count_(gpu ? 1 : 0), gpus_{gpu.value_or(0)} {}

  Backend backend_ = Backend::automatic;
  std::size_t count_ = 1;
  std::array<int, kMaxGpus> gpus_{};  ///< 0 from count_ on
};

/// "auto", "cpu", "GPU 1", "GPUs 0 and 1".
SFFT_EXPORT std::string to_string(const Device& device);

/// Whether something can be used here, and if not, why.
struct Availability {
  std::string reason;  ///< what is missing: the driver, the GPU, the code in this build; empty if usable
  /// True if usable.
  explicit operator bool() const noexcept { return reason.empty(); }
};

/// Whether plans can run there. `automatic` always can.
SFFT_EXPORT Availability availability(const Device& device);

/// Row-major, contiguous signals in the memory of one GPU, one after another. Managed memory counts, and
/// page-locked host memory at its device address. The view owns nothing.
struct DeviceView {
  const void* data = nullptr;  ///< the first element
  /// Type of one element, u8 … c128; must be set, because every call refuses this value.
  ElementType type = static_cast<ElementType>(0xff);
  /// Extents of one signal, in elements.
  Shape shape{1};
  std::int64_t count = 1;  ///< signals
  /// Elements from one signal's start to the next's; not set: shape.points().
  std::optional<std::int64_t> pitch = std::nullopt;
  /// Number of the GPU; not set: the plan's in calls of a plan, that of LearnOptions::device in learn(), else
  /// 0.
  std::optional<int> gpu = std::nullopt;
};

}  // namespace sfft
