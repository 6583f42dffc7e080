// SPDX-License-Identifier: Apache-2.0
// The interface behind compact plans, which store values in few bytes and transform them as floats.
#pragma once

#include <memory>
#include <string>

#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

/// Exponents of a batch in GPU memory, one per transform.
struct CompactExponents {
  const int* input = nullptr;  ///< of the input; null: all are 0
  int* output = nullptr;       ///< receives the exponents of the results; null: not stored
};

struct CompactRequest {
  DenseRequest dense;
  CompactFormats formats;
};

/// Throws as make_request() does, and Error(invalid_argument) for strides,
/// unknown formats and invalid peaks.
CompactRequest make_compact_request(const Shape& shape, bool real, const dense::Options& options);

/// Throws Error(invalid_argument) for an unknown format.
void check_storage(dense::Storage storage);

/// The number of real and imaginary parts of one transform's input, and of its output.
std::int64_t source_parts(const DenseProblem& problem, Direction direction) noexcept;
std::int64_t target_parts(const DenseProblem& problem, Direction direction) noexcept;
/// Relative RMS error that float arithmetic adds to a transform.
double arithmetic_error(const DenseProblem& problem) noexcept;

/// For GPUs: the constant part of a result's exponent. The caller adds it to the input's exponent and to the
/// one found on the device.
int exponent_of(const CompactRequest& request, Direction direction) noexcept;

/// Arguments have been checked. Thread-safe with one workspace per call.
class CompactRunner {
 public:
  virtual ~CompactRunner() = default;

  /// Bytes of 64-byte aligned host memory for one execution.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// `from_scales`: one per transform, or null for exponents and errors of 0. `to_scales` may be null.
  virtual void run(Direction direction, const void* from, const dense::CompactScale* from_scales, void* to,
                   dense::CompactScale* to_scales, std::byte* workspace) const = 0;

  /// Bytes of 256-byte aligned device memory for one enqueued transform.
  virtual std::size_t device_workspace_bytes() const noexcept = 0;
  /// Arrays are in device memory.
  virtual void enqueue(Direction direction, const void* from, void* to, const CompactExponents& exponents,
                       std::byte* workspace, CUstream_st* stream) const = 0;
  /// The number of times that values are stored in the format `between`.
  virtual int handovers(Direction direction) const noexcept = 0;
  /// The relative error of 16-bit matrix kernels, in addition to that of float kernels.
  virtual double kernel_error() const noexcept { return 0; }
  virtual bool on_gpu() const noexcept = 0;
  virtual std::string name() const = 0;
};

struct CompactChoice {
  std::unique_ptr<const CompactRunner> runner;
  dense::Engine engine = dense::Engine::automatic;
  std::string reason;
};

/// The requested engine must be automatic or a CPU engine.
CompactChoice choose_compact_on_cpu(const CompactRequest& request);
/// The requested engine must be automatic or a GPU engine. Throws Error(backend_unavailable) if there is no
/// GPU or no such engine.
CompactChoice choose_compact_on_gpu(const CompactRequest& request);

}  // namespace sfft::detail
