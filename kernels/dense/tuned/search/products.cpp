// SPDX-License-Identifier: Apache-2.0
// Counts instructions, accesses to shared memory and products, and what their overlap with memory leaves.
#include "kernels/dense/tuned/search/products.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/dense/tuned/plan/matrix_layout.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr int kLeastRadix = 4;
constexpr int kMostPoints = 1152;  ///< of a warp that transforms several lines
constexpr int kMostLines = 16;     ///< of a warp

/// Warps of a block whose lanes hold what lies between the products, columns of points, and sums.
int warps_of(const KernelPolicy& kernel) {
  const MatrixLayout at(kernel);
  const int parts = kernel.tensor_cores == TensorCores::split ? 2 : 1,
            registers = 2 * parts * at.first_tiles * at.second_tiles * at.lines +
                        6 * at.first_tiles + 4 * std::max(4, at.first_tiles) + 40;
  return registers <= 128 ? 16 : registers <= 168 ? 12 : registers <= 255 ? 8 : 0;
}

}  // namespace

std::vector<KernelPolicy> products(const LineNeed& need, const Limits& limits) {
  std::vector<KernelPolicy> all;
  if (need.products == TensorCores::none) return all;
  for (int first = kLeastRadix; first <= kMostOfMatrix; ++first) {
    const int second = need.points / first;
    if (need.points % first != 0 || second < kLeastRadix || second > kMostOfMatrix) continue;
    for (int lines = 1; lines <= kMostLines; lines *= 2) {
      if (lines > 1 && lines * need.points > kMostPoints) break;
      KernelPolicy kernel;
      kernel.radices = IntList(first, second);
      kernel.threads_per_transform = 32 / lines;
      kernel.transforms_per_block = lines;
      kernel.tensor_cores = need.products;
      for (int warps = warps_of(kernel); warps >= 4; warps -= 4) {
        kernel.transforms_per_block = warps * lines;
        if (MatrixLayout(kernel).shared_bytes() > static_cast<int>(limits.shared_bytes)) continue;
        all.push_back(kernel);
        break;
      }
    }
  }
  return all;
}

double product_cost(const KernelPolicy& kernel) {
  const MatrixLayout at(kernel);
  const bool split = kernel.tensor_cores == TensorCores::split;
  const double a = at.first_tiles, b = at.second_tiles, lines = at.lines, columns = lines * b,
               rounds = std::ceil(columns / (a <= 4 ? 5 : 3)), points = lines * at.points();
  // Instructions of a warp: products, matrices and points that are read, twiddle factors, values that are split and
  // stored, two copies of the lines.
  const double products = a * a * columns + (split ? 2 : 1) * b * b * a * lines,
               matrices = a * a * rounds + b * b * lines, between = a * columns,
               copies = std::ceil(points / 128),
               instructions = products + matrices + between * (2 + 1 + (split ? 20 : 10) + 5) + 14 * copies + 60;
  const double shared = 4 * (matrices + between) + between * (2 * 1.1 + 2 * 1.1) + 8 * copies;
  // Microseconds of 2^25 points: of an instruction and of a wavefront of shared memory per 32 points, of a product
  // per 64 points, and of memory. They overlap in part.
  constexpr double kIssue = 1.0, kShared = 4.5, kProduct = 2.0, kMemory = 62, kOverlap = 2.6, kOfWarp = 0.012;
  constexpr int kEnoughWarps = 16;
  const double of_32 = 32 / points;
  double sum = std::pow(kMemory, kOverlap);
  for (const double us : {kIssue * instructions * of_32, kShared * shared * of_32, kProduct * products * 2 * of_32})
    sum += std::pow(us, kOverlap);
  return std::pow(sum, 1 / kOverlap) * (1 + kOfWarp * std::max(0, kEnoughWarps - at.warps));
}

}  // namespace sfft::detail::tuned
