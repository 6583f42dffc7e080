// SPDX-License-Identifier: Apache-2.0
// Tuned kernels for the lines of one dimension of arrays, from and to wherever strides say: what transforms
// that are made of several arrays consist of.
#pragma once

#include <memory>
#include <vector>

#include "kernels/dense/tuned/run/executable.hpp"

namespace sfft::detail::tuned {

/// Complex lines. A group of them consists of outer · inner lines; a run transforms any number of groups.
struct Lines {
  struct Strides {
    std::int64_t group = 0, outer = 0, inner = 1, element = 1;  ///< in complex values
    friend bool operator==(const Strides&, const Strides&) = default;
  };
  std::int64_t points = 1;
  std::int64_t outer = 1, inner = 1;
  Strides in, out;
  bool inverse = false;
  bool scaled = false;  ///< times the scale of the run
  friend bool operator==(const Lines&, const Lines&) = default;
};

/// Kernels for several kinds of lines, compiled together for one GPU. Immutable.
class LineKernels {
 public:
  /// Policies by the count of operations or, if `measure`, the fastest of the best few of them, on arrays that
  /// hold `measured_groups` groups, which takes seconds. Throws Error(backend_unavailable) for lines that no
  /// block holds, and where NVRTC is missing.
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
