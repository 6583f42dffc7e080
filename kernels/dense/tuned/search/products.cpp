// SPDX-License-Identifier: Apache-2.0
// Chooses how many warps of products fit in a block.
#include "kernels/dense/tuned/search/products.hpp"

#include "kernels/dense/tuned/plan/product_layout.hpp"

namespace sfft::detail::tuned {

std::vector<KernelPolicy> products(const LineNeed& need, const Limits& limits) {
  std::vector<KernelPolicy> all;
  if (!need.products) return all;
  for (const int threads : {4, 2, 1}) {
    KernelPolicy kernel;
    kernel.radices = IntList(need.points);
    kernel.threads_per_transform = threads;
    kernel.tensor_cores = true;
    // Registers for the points and sums of a lane.
    const int units = 4 / threads, registers = units * (4 * ((need.points + 15) / 16) + 16) + 40;
    for (int warps = registers <= 128 ? 16 : registers <= 168 ? 12 : 8; warps >= 8; warps -= 4) {
      kernel.transforms_per_block = warps * 32 / threads;
      if (ProductLayout(kernel).shared_bytes() > static_cast<int>(limits.shared_bytes)) continue;
      all.push_back(kernel);
      break;
    }
  }
  return all;
}

double product_cost(const KernelPolicy& kernel) {
  // With four threads per line, lengths from 37 to 127 take 75 to 83. Warps with more lines read matrices
  // less often, but fewer of them fit (measured).
  return kernel.threads_per_transform == 4 ? 77 : kernel.threads_per_transform == 2 ? 79 : 92;
}

}  // namespace sfft::detail::tuned
