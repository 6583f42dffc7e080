// SPDX-License-Identifier: Apache-2.0
// Counts instructions, accesses to shared memory and products, and what their overlap with memory leaves.
#include "kernels/dense/tuned/search/products.hpp"

#include <algorithm>
#include <cmath>

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
    // Points and sums of a lane.
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
  const ProductLayout at(kernel);
  const double matrices = at.matrices(), units = at.lines / ProductLayout::kColumns,
               points = at.lines * at.points;
  // Instructions of a warp: products, matrices and points that are read, outputs, two copies of the lines.
  const double products = 2 * matrices * units, held = 4 * at.in_tiles * units,
               outputs = 8 * at.out_tiles * units, copies = std::ceil(points / 128),
               instructions = products + matrices + 2 * held + 5 * outputs + 14 * copies + 60,
               shared = 4 * matrices + held + outputs + 8 * copies;
  // Microseconds of 2^25 points: of an instruction, of a wavefront of shared memory and of a product per 32
  // points, and of memory. They overlap in part.
  constexpr double kIssue = 1.0, kShared = 4.2, kProduct = 8.0, kMemory = 62, kOverlap = 2.6, kOfWarp = 0.012;
  constexpr int kEnoughWarps = 20;
  double sum = std::pow(kMemory, kOverlap);
  for (const double us : {kIssue * instructions, kShared * shared, kProduct * products})
    sum += std::pow(us * 32 / points, kOverlap);
  return std::pow(sum, 1 / kOverlap) * (1 + kOfWarp * std::max(0, kEnoughWarps - at.warps));
}

}  // namespace sfft::detail::tuned
