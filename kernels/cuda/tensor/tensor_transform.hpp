// SPDX-License-Identifier: Apache-2.0
// A split-half transform on tensor cores: its passes and their tables.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "kernels/base/tensor/tables.hpp"
#include "kernels/cuda/tensor/tensor_fft.hpp"

namespace sfft::detail::cuda {

/// Throws Error(backend_unavailable) if the device or this build lacks the instructions.
void check_tensor_device(int device);

/// Its device must be current for construction and run(). Immutable.
class TensorTransform {
 public:
  /// Arguments of a call. `split` = false: products use fp16 alone, for comparison.
  struct Call {
    const void* from = nullptr;
    void* to = nullptr;  ///< may be `from`
    bool inverse = false;
    float scale = 1;
    std::byte* workspace = nullptr;
    bool split = true;
  };

  /// Throws Error(backend_unavailable) if the device lacks the instructions, or if there are too many blocks.
  TensorTransform(std::vector<tensor::PlannedPass> passes, std::int64_t points_of_batch, int device,
                  bool forward_only);

  /// Bytes of 256-byte aligned device memory that run() needs.
  std::size_t workspace_bytes() const noexcept;
  /// Stream-ordered, allocates nothing.
  void run(const Call& call, Stream stream) const;
  const std::vector<tensor::PlannedPass>& passes() const noexcept { return passes_; }

 private:
  void add_tables(const tensor::TileChoice& tile, int sign);

  std::vector<tensor::PlannedPass> passes_;
  std::int64_t points_;
  bool overlap_ = false;  ///< passes may start before the previous one ends
  std::map<std::pair<tensor::MatrixKind, int>, DeviceBuffer> matrices_;  ///< by kind and sign
  std::map<std::pair<tensor::TileChoice, int>, DeviceBuffer> twiddles_;
};

}  // namespace sfft::detail::cuda
