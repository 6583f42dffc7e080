// SPDX-License-Identifier: Apache-2.0
// The CPU's port on all threads, if the compiler has OpenMP.
#ifdef _OPENMP
#include <omp.h>

#include "bench/technologies/constant_geometry.hpp"
#else
#include "bench/technologies/technology.hpp"
#endif

namespace sfft::technologies {

std::unique_ptr<Technology> open_openmp([[maybe_unused]] int device) {
#ifdef _OPENMP
  if (device > 0) return nullptr;
  return std::make_unique<ConstantGeometry<true>>(std::to_string(omp_get_max_threads()) + " threads");
#else
  throw Failure("this build's compiler has no OpenMP");
#endif
}

}  // namespace sfft::technologies
