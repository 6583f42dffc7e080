// SPDX-License-Identifier: Apache-2.0
// The interface of every engine that computes dense FFTs on the CPU.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>

#include "sfft/dense_options.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

namespace cpu {
class ThreadPool;
}

/// Resources of one execution: the pool, and workspace_bytes() of memory for its number of threads. Without a
/// pool the caller's thread works alone.
struct EngineScratch {
  std::byte* workspace = nullptr;
  cpu::ThreadPool* pool = nullptr;
};

/// Transforms of one shape, real or complex, in the layouts of sfft/dense.hpp. Arguments have been checked.
/// Execution is thread-safe with one workspace per thread and preserves its inputs.
template <class Real>
class DenseEngine {
 public:
  virtual ~DenseEngine() = default;

  /// Bytes of 64-byte aligned scratch for one execution on `threads` threads; enough for every element type
  /// and both directions.
  virtual std::size_t workspace_bytes(int threads) const noexcept = 0;
  /// The number of threads, up to `max`, with which one transform is fastest. More threads would wait or cost
  /// more than they save. The result does not depend on the number.
  virtual int threads_of(int max) const noexcept = 0;
  /// `signal` holds N elements of `type`. It may be the same memory as `spectrum`.
  virtual void forward(const void* signal, ElementType type, std::complex<Real>* spectrum,
                       const EngineScratch& scratch) const = 0;
  /// For complex plans. The result is multiplied by `scale`. The arrays may be the same memory.
  virtual void inverse(const std::complex<Real>* spectrum, std::complex<Real>* signal, Real scale,
                       const EngineScratch& scratch) const = 0;
  /// For real plans. The arrays of 1D transforms may be the same memory.
  virtual void inverse(const std::complex<Real>* spectrum, Real* signal, Real scale,
                       const EngineScratch& scratch) const = 0;
  virtual std::string name() const = 0;
};

/// `threads` is the maximum number of threads that share a transform. The algorithm may differ between one
/// thread and several; otherwise the number does not affect the result.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_built_in_engine(const Shape& shape, bool real, int threads = 1);

/// Null if this build has no FFTW. `threads` share each transform.
template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_fftw_engine(const Shape& shape, bool real,
                                                          dense::Options::Planning planning, int threads);
bool have_fftw() noexcept;

}  // namespace sfft::detail
