// SPDX-License-Identifier: Apache-2.0
// Runs programs whose kernels are compiled and loaded for a GPU.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/tuned/device/arguments.cuh"
#include "kernels/dense/tuned/plan/program.hpp"

namespace sfft::detail::tuned {

using Image = std::vector<char>;

/// Copies bytes to memory that kernels can read.
using Copy = std::function<std::shared_ptr<const void>(const void*, std::size_t)>;
/// Copies to device memory.
std::shared_ptr<const void> copy_to_gpu(const void* data, std::size_t bytes);

/// Tables of constants that kernels read. Each table is made once.
class Tables {
 public:
  explicit Tables(bool single, Copy copy = copy_to_gpu) : single_(single), copy_(std::move(copy)) {}
  device::StepTables of(const Step& step);

 private:
  template <class T>
  const void* add(const std::string& key, const std::vector<T>& values) {
    return (copies_[key] = copy_(values.data(), values.size() * sizeof(T))).get();
  }
  const void* values(const std::string& key, const std::vector<std::complex<double>>& table);
  const void* known(const std::string& key) const;
  void convolution_of(const Step& step, device::StepTables& tables);
  const void* all_roots(const Step& step);
  const void* matrices(const Step& step);

  bool single_;
  Copy copy_;
  std::map<std::string, std::shared_ptr<const void>> copies_;
};

/// The arguments of one execution.
struct Call {
  const void* input = nullptr;
  void* output = nullptr;
  void* scratch = nullptr;
  double scale = 1;
  std::int64_t batch = 1;
  std::size_t input_bytes = 0, output_bytes = 0;  ///< bytes of one transform
  device::KeptPart kept{};                        ///< for a program that keeps only a part
};

/// Immutable except for the streams on which alternating steps run. A mutex guards these. Events order their
/// work, so callers on several threads wait only for each other's launches.
class Executable {
 public:
  /// An empty image stands for a kernel that never runs. `tables` must outlive this object.
  Executable(Program program, const std::vector<Image>& images, bool single, Tables& tables,
             const cuda::DeviceInfo& device);

  /// Enqueues the work in `stream` and returns at once. Throws Error(device).
  void run(const Call& call, cuda::Stream stream) const;
  /// Runs one of the kernels over all groups.
  void run_kernel(std::size_t kernel, const Call& call, cuda::Stream stream) const;
  /// Runs the first kernel over the first groups of the arrays.
  void run_groups(const Call& call, std::int64_t groups, cuda::Stream stream) const;
  /// If not 0, the program may run in parts. It consists of alternating steps over lines across planes and
  /// over planes, or it is a volume in two steps. The columns of a part begin at a multiple of this number;
  /// its planes are groups.
  std::int64_t columns_at_once() const noexcept;
  bool planes_first() const noexcept { return program_.volume_in_two() || program_.alternating_from == 0; }
  void run_columns(const Call& call, std::int64_t first, std::int64_t count, cuda::Stream stream) const;
  void run_planes(const Call& call, std::int64_t first, std::int64_t count, cuda::Stream stream) const;
  std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }
  /// The number of the kernel's blocks that the GPU holds at once.
  std::int64_t resident(std::size_t kernel) const { return kernels_.at(kernel).resident_blocks; }

 private:
  struct Loaded {
    std::unique_ptr<const cuda::Module> module;
    CUfunction function = nullptr;
    device::StepTables tables{};
    unsigned threads = 0;
    std::size_t shared_bytes = 0;
    std::int64_t groups = 1, tiles = 0;
    bool stays = false;                  ///< its blocks are persistent
    std::int64_t resident_blocks = 0;    ///< blocks that the GPU holds at once
    std::int64_t prefetch_distance = 0;  ///< in tiles
    KernelPolicy policy;
  };

  void launch(const Loaded& kernel, const Call& call, std::int64_t first_group, std::int64_t tiles,
              cuda::Stream stream) const;
  void run_once(const Call& call, cuda::Stream stream) const;
  void run_alternating(const Call& call, std::int64_t first_group, std::int64_t groups,
                       cuda::Stream stream) const;
  /// The kernel in addition to the two that alternate.
  std::size_t kernel_of_columns() const noexcept { return program_.alternating_from == 0 ? 2 : 0; }

  /// The streams for alternating steps in addition to the caller's.
  struct SideStreams {
    std::vector<cuda::Queue> streams;
    std::vector<cuda::Event> events;  ///< one per stream, and one more
  };
  SideStreams& side_streams_for(cuda::Stream stream) const;

  Program program_;
  std::size_t value_bytes_;  ///< size of a complex value
  std::vector<Loaded> kernels_;
  std::size_t scratch_bytes_ = 0;
  int multiprocessors_;
  bool overlap_ = false;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SideStreams>>
      side_streams_;  ///< more than one only during graph captures
};

}  // namespace sfft::detail::tuned
