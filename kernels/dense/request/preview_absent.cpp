// SPDX-License-Identifier: Apache-2.0
// Stands in for GPU code that only SFFT_PREVIEW builds: its tests on a GPU, under the sanitizers too, are not
// complete.
#include "kernels/dense/request/compact_runner.hpp"

namespace sfft::detail {

CompactChoice choose_compact_on_gpu(const CompactRequest&) {
  throw Error(
      ErrorCode::backend_unavailable,
      "this build has no 16-bit storage on GPUs, a preview: plan with Backend::cpu, or build with a CUDA "
      "toolkit and SFFT_PREVIEW=ON");
}

}  // namespace sfft::detail
