// SPDX-License-Identifier: Apache-2.0
// Runs FFTW at one setting of the comparison: aligned, out of place, and directly on the caller's samples.
#pragma once

#if SFFT_BENCH_FFTW

#include <fftw3.h>

#include <complex>
#include <span>
#include <string>
#include <vector>

#include "setting.hpp"
#include "sfft/error.hpp"
#include "sfft/types.hpp"

namespace sfft::apps {

class FftwPlan {
 public:
  /// Throws backend_unavailable if this build's FFTW lacks threads.
  FftwPlan(const Shape& shape, bool real, const FftwSetting& setting)
      : real_(real), points_(static_cast<std::size_t>(shape.points())), bins_(points_) {
    use_threads(setting.threads);
    std::vector<int> extents(shape.extents().begin(), shape.extents().end());
    if (real) {
      const auto last = static_cast<std::size_t>(extents.back());
      bins_ = points_ / last * (last / 2 + 1);
    }
    fftwf_forget_wisdom();  // so that every plan's time is its full cost
    output_ = fftwf_alloc_complex(bins_);
    // Planning overwrites its arrays, so executions pass a different input.
    fftwf_complex* scratch = fftwf_alloc_complex(points_);
    const unsigned flags = flags_of(setting.planner);
    plan_ = real ? fftwf_plan_dft_r2c(shape.rank(), extents.data(), reinterpret_cast<float*>(scratch),
                                      output_, flags)
                 : fftwf_plan_dft(shape.rank(), extents.data(), scratch, output_, FFTW_FORWARD, flags);
    fftwf_free(scratch);
  }
  ~FftwPlan() {
    fftwf_destroy_plan(plan_);
    fftwf_free(output_);
  }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;

  /// "float, FFTW_MEASURE, OpenMP".
  static std::string describe(const FftwSetting& setting) {
    return "float, " + setting.planner_name() +
           (setting.threads > 1 ? std::string(", ") + SFFT_BENCH_FFTW_THREADS : std::string());
  }

  /// `signal` must be aligned to 64 bytes, and is preserved. It has complex samples, or real ones for a real
  /// plan.
  void execute(const void* signal) const {
    void* input = const_cast<void*>(signal);
    if (real_) {
      fftwf_execute_dft_r2c(plan_, static_cast<float*>(input), output_);
    } else {
      fftwf_execute_dft(plan_, static_cast<fftwf_complex*>(input), output_);
    }
  }
  std::span<const std::complex<float>> output() const {
    return {reinterpret_cast<const std::complex<float>*>(output_), bins_};
  }

 private:
  static unsigned flags_of(FftwPlanner planner) {
    return planner == FftwPlanner::estimate  ? FFTW_ESTIMATE
           : planner == FftwPlanner::measure ? FFTW_MEASURE
                                             : FFTW_PATIENT;
  }
  /// Sets the number of threads of the next plans, which FFTW keeps until the next change.
  static void use_threads([[maybe_unused]] int threads) {
#if SFFT_BENCH_FFTW_THREADED
    static const bool ready = fftwf_init_threads() != 0;
    if (!ready) throw Error(ErrorCode::backend_unavailable, "FFTW cannot start its threads");
    fftwf_plan_with_nthreads(threads);
#else
    if (threads > 1) {
      throw Error(
          ErrorCode::backend_unavailable,
          "this build's FFTW has one thread: install libfftw3f_omp or libfftw3f_threads (they come with "
          "libfftw3-dev) and configure again");
    }
#endif
  }

  bool real_;
  std::size_t points_, bins_;
  fftwf_complex* output_;
  fftwf_plan plan_;
};

}  // namespace sfft::apps

#endif
