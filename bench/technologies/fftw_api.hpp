// SPDX-License-Identifier: Apache-2.0
// Loads FFTW at run time. It is compared in single precision, and is the reference in double. The few
// functions that this needs are declared here, so that nothing of FFTW is linked.
#pragma once

#include <cstdint>
#include <string>

#include "bench/technologies/dynamic_library.hpp"
#include "bench/technologies/problem.hpp"

namespace sfft::technologies {

template <class Real>
class FftwApi {
 public:
  /// More than one thread also needs FFTW's library of threads. Throws Failure if either library is missing.
  explicit FftwApi(int threads);

  using Plan = void*;
  Plan plan(const Problem& problem, Real* input, Real* output, bool estimate) const;
  void* (*allocate)(std::size_t) = nullptr;
  void (*release)(void*) = nullptr;
  void (*execute)(Plan, Real*, Real*) = nullptr;
  void (*destroy)(Plan) = nullptr;
  void (*limit_seconds)(double) = nullptr;
  std::string threads_library;

 private:
  using PlanMany = Plan (*)(int, const int*, int, Real*, const int*, int, int, Real*, const int*, int, int,
                            int, unsigned);
  PlanMany plan_many_ = nullptr;
};

/// The number of cores of this machine.
int host_threads();

}  // namespace sfft::technologies
