// SPDX-License-Identifier: Apache-2.0
// FFTW at its best setting for the comparison: FFTW_MEASURE, one thread, aligned, out of place, straight from
// the caller's samples.
#pragma once

#if SFFT_BENCH_FFTW

#include <fftw3.h>

#include <complex>
#include <numeric>
#include <span>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::apps {

class FftwPlan {
 public:
  FftwPlan(const Shape& shape, bool real)
      : real_(real), points_(static_cast<std::size_t>(shape.points())), bins_(points_) {
    std::vector<int> extents(shape.extents().begin(), shape.extents().end());
    if (real) {
      const auto last = static_cast<std::size_t>(extents.back());
      bins_ = points_ / last * (last / 2 + 1);
    }
    fftwf_forget_wisdom();  // every plan pays for itself
    output_ = fftwf_alloc_complex(bins_);
    // Planning overwrites its arrays; executions bring their own input.
    fftwf_complex* scratch = fftwf_alloc_complex(points_);
    plan_ = real ? fftwf_plan_dft_r2c(shape.rank(), extents.data(), reinterpret_cast<float*>(scratch),
                                      output_, FFTW_MEASURE)
                 : fftwf_plan_dft(shape.rank(), extents.data(), scratch, output_, FFTW_FORWARD, FFTW_MEASURE);
    fftwf_free(scratch);
  }
  ~FftwPlan() {
    fftwf_destroy_plan(plan_);
    fftwf_free(output_);
  }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;

  /// `signal` is aligned to 64 bytes and kept; complex samples, or real ones for a real plan.
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
  bool real_;
  std::size_t points_, bins_;
  fftwf_complex* output_;
  fftwf_plan plan_;
};

}  // namespace sfft::apps

#endif
