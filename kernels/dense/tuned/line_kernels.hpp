// SPDX-License-Identifier: Apache-2.0
// Tuned kernels for the lines of one dimension of arrays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/dense/tuned/plan/lines.hpp"
#include "kernels/dense/tuned/run/executable.hpp"

namespace sfft::detail::tuned {

/// Kernels for several kinds of lines, compiled together for one GPU. Immutable.
class LineKernels {
 public:
  /// Policies by the count of operations or, if `measure`, the fastest of the best few of them, on arrays
  /// that hold `measured_groups` groups, which takes seconds. Throws Error(backend_unavailable) for lines
  /// that no block holds, and where NVRTC is missing.
  LineKernels(int device, const std::vector<Lines>& lines, bool single, bool measure);

  /// Transforms groups 0 … groups − 1 of lines `kind`, in the order given; in place where from equals to and
  /// the strides are the same. At most `blocks` blocks of threads work on it at once; 0: as many as there are
  /// tiles. Ordered in `stream`, on the GPU of the constructor, which is current. Throws Error(device).
  void run(std::size_t kind, const void* from, void* to, std::int64_t groups, double scale,
           std::int64_t blocks, cuda::Stream stream) const;
  /// The kernel's policy, as text.
  std::string name(std::size_t kind) const;

 private:
  Tables tables_;
  std::vector<std::unique_ptr<const Executable>> kernels_;
  std::vector<std::string> names_;
};

}  // namespace sfft::detail::tuned
