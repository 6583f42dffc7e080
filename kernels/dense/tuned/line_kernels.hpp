// SPDX-License-Identifier: Apache-2.0
// Tuned kernels for the lines along one dimension of arrays.
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
  /// Chooses policies by the count of operations. With `measure`, it times the best few in memory that it
  /// allocates and takes the fastest. Throws Error(backend_unavailable) for lines that do not fit in a block,
  /// and if NVRTC is missing.
  LineKernels(int device, const std::vector<Lines>& lines, bool single, bool measure);

  /// Transforms the first groups of lines `kind`, an index into the constructor's list. Works in place if
  /// from equals to and the strides are the same. Enqueues in `stream`, on the GPU of the constructor, which
  /// must be current. Throws Error(device).
  void run(std::size_t kind, const void* from, void* to, std::int64_t groups, double scale,
           cuda::Stream stream) const;
  /// The kernel's policy as text.
  std::string name(std::size_t kind) const;

 private:
  Tables tables_;
  std::vector<std::unique_ptr<const Executable>> kernels_;
  std::vector<std::string> names_;
};

}  // namespace sfft::detail::tuned
