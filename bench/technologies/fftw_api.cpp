// SPDX-License-Identifier: Apache-2.0
// FFTW's interface is the same in both precisions, except for one letter in its names.
#include "bench/technologies/fftw_api.hpp"

#include <algorithm>
#include <thread>
#include <type_traits>

namespace sfft::technologies {

template <class Real>
FftwApi<Real>::FftwApi(int threads) {
  const std::string letter = std::is_same_v<Real, float> ? "f" : "";
  const std::string prefix = "fftw" + letter + "_";
  const DynamicLibrary library({"libfftw3" + letter + ".so.3"});
  const auto find = [&](auto& function, const char* name) {
    library.require(function, (prefix + name).c_str());
  };
  find(allocate, "malloc");
  find(release, "free");
  find(execute, "execute_dft");
  find(destroy, "destroy_plan");
  find(limit_seconds, "set_timelimit");
  find(plan_many_, "plan_many_dft");
  if (threads <= 1) return;
  const DynamicLibrary threaded({"libfftw3" + letter + "_omp.so.3", "libfftw3" + letter + "_threads.so.3"});
  threads_library = threaded.name();
  int (*start)() = nullptr;
  void (*use)(int) = nullptr;
  threaded.require(start, (prefix + "init_threads").c_str());
  threaded.require(use, (prefix + "plan_with_nthreads").c_str());
  if (start() == 0) throw Failure("FFTW cannot start its threads");
  use(threads);
}

template <class Real>
typename FftwApi<Real>::Plan FftwApi<Real>::plan(const Problem& problem, Real* input, Real* output,
                                                 bool estimate) const {
  constexpr int kForward = -1;
  constexpr unsigned kMeasure = 0, kEstimate = 1U << 6;
  const int extent = static_cast<int>(problem.length());
  const int extents[] = {extent, extent};
  Plan made = plan_many_(problem.rank, extents, static_cast<int>(problem.batch), input, nullptr, 1, extent,
                         output, nullptr, 1, extent, kForward, estimate ? kEstimate : kMeasure);
  if (made == nullptr) throw Failure("FFTW makes no plan for this");
  return made;
}

template class FftwApi<float>;
template class FftwApi<double>;

int host_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace sfft::technologies
