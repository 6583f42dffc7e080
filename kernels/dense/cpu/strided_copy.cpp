// SPDX-License-Identifier: Apache-2.0
// Copies with three nested loops over the dimensions, compiled for every element type.
#include "kernels/dense/cpu/strided_copy.hpp"

#include "kernels/dense/cpu/convert.hpp"

namespace sfft::detail {

namespace {

/// Calls copy(element of the signals, element of the packed signal) for each element of one signal.
template <class Copy>
void over_elements(const DenseProblem& problem, std::int64_t index, const Copy& copy) {
  std::int64_t extents[3] = {1, 1, 1}, strides[3] = {0, 0, 0};
  const int rank = problem.shape.rank();
  for (int d = 0; d < rank; ++d) {
    extents[3 - rank + d] = problem.shape[d];
    strides[3 - rank + d] = problem.strides.dims[static_cast<std::size_t>(d)];
  }
  std::int64_t packed = 0;
  for (std::int64_t i = 0; i < extents[0]; ++i) {
    for (std::int64_t j = 0; j < extents[1]; ++j) {
      const std::int64_t row = index * problem.strides.batch + i * strides[0] + j * strides[1];
      for (std::int64_t k = 0; k < extents[2]; ++k) copy(row + k * strides[2], packed++);
    }
  }
}

}  // namespace

void gather_signal(const DenseProblem& problem, std::int64_t index, const void* signals, ElementType type,
                   void* packed) {
  with_elements(signals, type, [&](const auto* from) {
    auto* to = static_cast<std::remove_cvref_t<decltype(*from)>*>(packed);
    over_elements(problem, index, [&](std::int64_t strided, std::int64_t at) { to[at] = from[strided]; });
  });
}

void scatter_signal(const DenseProblem& problem, std::int64_t index, const void* packed, ElementType type,
                    void* signals) {
  with_elements(packed, type, [&](const auto* from) {
    auto* to = static_cast<std::remove_cvref_t<decltype(*from)>*>(signals);
    over_elements(problem, index, [&](std::int64_t strided, std::int64_t at) { to[strided] = from[at]; });
  });
}

}  // namespace sfft::detail
