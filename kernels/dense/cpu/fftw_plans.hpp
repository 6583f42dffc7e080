// SPDX-License-Identifier: Apache-2.0
// FFTW: one set of names for both precisions, whose functions begin with fftwf_ and fftw_, and transforms for
// arrays of any alignment, planned at first use.
#pragma once

#include <fftw3.h>
#include <fmt/format.h>

#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>

#include "sfft/error.hpp"

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

/// The lock for FFTW's planner, which is not thread-safe: everything except execution needs it.
inline std::mutex& fftw_planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Scratch that the planner may overwrite, aligned for vectors.
class FftwScratch {
 public:
  explicit FftwScratch(std::size_t bytes) : data_(::operator new(bytes, kAlignment, std::nothrow)) {
    if (data_ == nullptr)
      throw Error(ErrorCode::out_of_memory, fmt::format("FFTW's planner needs {} bytes", bytes));
  }
  ~FftwScratch() { ::operator delete(data_, kAlignment); }
  FftwScratch(const FftwScratch&) = delete;
  FftwScratch& operator=(const FftwScratch&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  void* data_;
};

/// Plans made by make(in, out, flags) for distinct input and output arrays. Unaligned arrays use a second
/// plan, which does not rely on alignment.
template <class Real, class In, class Out>
class FftwPlans {
 public:
  using Plan = typename Fftw<Real>::Plan;
  using Make = std::function<Plan(In*, Out*, unsigned flags)>;

  FftwPlans(Make make, std::size_t in_bytes, std::size_t out_bytes, unsigned flags, int threads)
      : make_(std::move(make)),
        in_bytes_(in_bytes),
        out_bytes_(out_bytes),
        flags_(flags),
        threads_(threads) {}
  ~FftwPlans() {
    const std::lock_guard lock(fftw_planner_mutex());
    for (const Lazy* lazy : {&aligned_, &unaligned_}) {
      if (lazy->plan != nullptr) Fftw<Real>::destroy(lazy->plan);
    }
  }
  FftwPlans(const FftwPlans&) = delete;
  FftwPlans& operator=(const FftwPlans&) = delete;

  void prepare() const { get(aligned_, flags_); }

  void execute(In* in, Out* out) const {
    const bool aligned = Fftw<Real>::alignment(in) == 0 && Fftw<Real>::alignment(out) == 0;
    const Plan plan = aligned ? get(aligned_, flags_)
                              : get(unaligned_, (flags_ & ~FFTW_MEASURE) | FFTW_ESTIMATE | FFTW_UNALIGNED);
    Fftw<Real>::execute(plan, in, out);
  }

 private:
  struct Lazy {
    std::once_flag once;
    Plan plan = nullptr;
  };

  Plan get(Lazy& lazy, unsigned flags) const {
    std::call_once(lazy.once, [&] {
      const FftwScratch in(in_bytes_), out(out_bytes_);
      const std::lock_guard lock(fftw_planner_mutex());
      Fftw<Real>::plan_with_threads(threads_);
      lazy.plan = make_(in.as<In>(), out.as<Out>(), flags);
      Fftw<Real>::plan_with_threads(1);  // the program's other plans expect one thread
      if (lazy.plan == nullptr) {
        throw Error(ErrorCode::backend_unavailable,
                    "FFTW has no plan for this shape: use the built-in engine");
      }
    });
    return lazy.plan;
  }

  Make make_;
  std::size_t in_bytes_, out_bytes_;
  unsigned flags_;
  int threads_;
  mutable Lazy aligned_, unaligned_;
};

}  // namespace sfft::detail
