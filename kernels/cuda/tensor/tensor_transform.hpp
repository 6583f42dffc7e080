// SPDX-License-Identifier: Apache-2.0
// Split-half transforms on tensor cores: their passes, tables and launches.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "kernels/base/tensor/folded.hpp"
#include "kernels/base/tensor/passes.hpp"
#include "kernels/base/tensor/tables.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Whether the kernels were compiled for a GPU that has the instructions. Code for an older GPU lacks them,
/// although newer GPUs also run it.
bool have_tensor_kernels();
/// Lets kernels use the shared memory that their tiles need, on the current device.
void prepare_tensor_pass(const tensor::TileChoice& choice);
/// All arrays are in device memory. `overlap`: the device can start a kernel before the stream's previous one
/// ends. Stream-ordered, allocates nothing.
void launch_tensor_pass(const tensor::TileChoice& choice, const tensor::Pass& pass, bool overlap,
                        Stream stream);

/// For tests: splits points into registers and joins them again.
void launch_tensor_split(const tensor::Point* from, tensor::SplitPoint* to, std::int64_t count,
                         Stream stream);
/// root_of() for exponents 0 … count - 1.
void launch_tensor_roots(int log_order, float sign, tensor::Point* to, std::int64_t count, Stream stream);

/// Throws Error(backend_unavailable) if the device or this build lacks the instructions.
void check_tensor_device(int device);

/// Arguments of a transform.
struct TensorCall {
  const void* from = nullptr;
  void* to = nullptr;  ///< may be `from`
  bool inverse = false;
  float scale = 1;
  std::byte* workspace = nullptr;
  bool split = true;  ///< false: products use fp16 alone, for comparison
};

/// Transforms contiguous lines of 2^log points, if has_passes() of these. Its device must be current for
/// construction and run(). Immutable.
class TensorTransform {
 public:
  /// Throws Error(backend_unavailable) if the device lacks the instructions, or if there are too many blocks.
  TensorTransform(int log, std::int64_t lines, int device, bool forward_only);

  /// Bytes of 256-byte aligned device memory that run() needs.
  std::size_t workspace_bytes() const noexcept;
  /// Stream-ordered, allocates nothing.
  void run(const TensorCall& call, Stream stream) const;

 private:
  void add_tables(int sign);

  std::vector<tensor::PlannedPass> passes_;
  int log_;
  std::int64_t lines_;
  bool overlap_ = false;                  ///< passes may start before the previous one ends
  std::map<int, DeviceBuffer> matrices_;  ///< by sign; all passes have the same
  std::map<std::pair<tensor::TileChoice, int>, DeviceBuffer> twiddles_;
};

/// Transforms batches of contiguous lines for which is_folded() holds. Its device must be current for
/// construction and run(). Immutable.
class FoldedTransform {
 public:
  /// Throws Error(backend_unavailable) if the device or the build lacks the instructions.
  FoldedTransform(int points, std::int64_t lines, int device);

  std::size_t workspace_bytes() const noexcept { return 0; }
  /// Stream-ordered, allocates nothing.
  void run(const TensorCall& call, Stream stream) const;

 private:
  tensor::FoldedPass pass_;
  bool overlap_ = false;
  int blocks_ = 0;
  DeviceBuffer matrices_;
};

}  // namespace sfft::detail::cuda
