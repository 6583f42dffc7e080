// SPDX-License-Identifier: Apache-2.0
// One set of names for both precisions of FFTW, whose functions begin with fftwf_ and fftw_.
#pragma once

#include <fftw3.h>

#include <complex>

namespace sfft::detail {

template <class Real>
struct Fftw;

#if defined(SFFT_HAVE_FFTW_THREADS)
/// Sets the thread count of later plans. The caller must lock FFTW's planner. Without FFTW's threads library
/// the count stays at one.
#define SFFT_FFTW_THREADS(prefix)                           \
  static void plan_with_threads(int threads) {              \
    static const bool ready = prefix##_init_threads() != 0; \
    if (ready) prefix##_plan_with_nthreads(threads);        \
  }
#else
#define SFFT_FFTW_THREADS(prefix) \
  static void plan_with_threads(int) {}
#endif

#define SFFT_FFTW(Real, prefix)                                                                         \
  template <>                                                                                           \
  struct Fftw<Real> {                                                                                   \
    using Plan = prefix##_plan;                                                                         \
    using Extent = prefix##_iodim64;                                                                    \
    using Complex = prefix##_complex;                                                                   \
    static Complex* complex(const std::complex<Real>* x) {                                              \
      return reinterpret_cast<Complex*>(const_cast<std::complex<Real>*>(x));                            \
    }                                                                                                   \
    static Plan plan_complex(int rank, const Extent* n, Complex* in, Complex* out, int sign,            \
                             unsigned flags) {                                                          \
      return prefix##_plan_guru64_dft(rank, n, 0, nullptr, in, out, sign, flags);                       \
    }                                                                                                   \
    static Plan plan_forward(int rank, const Extent* n, Real* in, Complex* out, unsigned flags) {       \
      return prefix##_plan_guru64_dft_r2c(rank, n, 0, nullptr, in, out, flags);                         \
    }                                                                                                   \
    static Plan plan_inverse(int rank, const Extent* n, Complex* in, Real* out, unsigned flags) {       \
      return prefix##_plan_guru64_dft_c2r(rank, n, 0, nullptr, in, out, flags);                         \
    }                                                                                                   \
    static void execute(Plan plan, Complex* in, Complex* out) { prefix##_execute_dft(plan, in, out); }  \
    static void execute(Plan plan, Real* in, Complex* out) { prefix##_execute_dft_r2c(plan, in, out); } \
    static void execute(Plan plan, Complex* in, Real* out) { prefix##_execute_dft_c2r(plan, in, out); } \
    static void destroy(Plan plan) { prefix##_destroy_plan(plan); }                                     \
    static int alignment(const void* x) {                                                               \
      return prefix##_alignment_of(const_cast<Real*>(static_cast<const Real*>(x)));                     \
    }                                                                                                   \
    static const char* version() { return prefix##_version; }                                           \
    SFFT_FFTW_THREADS(prefix)                                                                           \
  };
SFFT_FFTW(float, fftwf)
SFFT_FFTW(double, fftw)
#undef SFFT_FFTW
#undef SFFT_FFTW_THREADS

}  // namespace sfft::detail
