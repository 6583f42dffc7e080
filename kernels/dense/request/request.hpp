// SPDX-License-Identifier: Apache-2.0
// Checks of the options and of the calls of every dense plan.
#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <span>

#include "kernels/dense/problem/problem.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/dense_options.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

/// A checked request for a plan.
struct DenseRequest {
  DenseProblem problem;
  DenseScales scales;
  dense::Options options;
  std::optional<dense::Layout> layout{};  ///< set if it is not the layout of `problem`

  dense::Layout whole_layout() const { return layout ? *layout : layout_of(problem); }
};

/// Throws Error(invalid_argument, size_overflow, backend_unavailable) for invalid options, for
/// Options::formats, which only CompactPlan uses, and for engines that the build lacks.
DenseRequest make_request(const Shape& shape, bool real, const dense::Options& options);
DenseRequest make_request(const dense::Layout& layout, bool real, const dense::Options& options);
/// The same for a CompactPlan.
DenseRequest make_request_with_formats(const Shape& shape, bool real, const dense::Options& options);
/// Throws Error(backend_unavailable) if the request names a device or engine other than the CPU's built_in,
/// and Error(invalid_argument) for strides. `what`: the plan's transforms.
void require_plain_cpu(const DenseRequest& request, const char* what);
/// Throws Error(backend_unavailable) if the request is for several devices.
void refuse_several(const DenseRequest& request, const char* plan);
/// Whether exchanged values are packed in block16. Throws Error(invalid_argument) for plans of double.
template <class Real>
bool exchanges_packed(const DenseRequest& request) {
  if (request.options.exchange != dense::Storage::block16) return false;
  if (sizeof(Real) == sizeof(float)) return true;
  throw Error(ErrorCode::invalid_argument,
              "block16 holds values of float: leave Options::exchange at f32 for plans of double");
}
/// Whether a plan with these options runs on a GPU.
bool for_gpu(const dense::Options& options) noexcept;
/// The number of host threads that the options request; at least 1.
int thread_count(const dense::Options& options) noexcept;

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

/// Throw Error(invalid_argument) for a workspace that is too small or misaligned. check_queued() also throws
/// Error(backend_unavailable) for an enqueue call of a plan that is not on a GPU.
void check_workspace(std::span<std::byte> given, std::size_t bytes, std::size_t alignment,
                     const char* function);
void check_queued(bool on_gpu, std::span<std::byte> workspace, std::size_t bytes);

/// The caller's workspace, which is checked, or one for this call. A small workspace is on the stack, because
/// allocation takes longer than a transform of a few dozen points. Throws Error(invalid_argument,
/// out_of_memory).
class Scratch {
 public:
  Scratch(std::span<std::byte> given, std::size_t bytes) : data_(given.data()) {
    if (given.empty() && bytes <= kSmallBytes) {
      data_ = small_;
    } else {
      take(given, bytes);
    }
  }
  ~Scratch() {
    if (own_ != nullptr) ::operator delete(own_, kAlignment);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() const noexcept { return data_; }

 private:
  void take(std::span<std::byte> given, std::size_t bytes);

  static constexpr std::align_val_t kAlignment{64};
  static constexpr std::size_t kSmallBytes = 4096;
  alignas(64) std::byte small_[kSmallBytes];  // not initialised
  std::byte* data_;
  MemoryShare share_;
  std::byte* own_ = nullptr;
};

/// Input and output may be the same memory if `in_place`, otherwise they must not overlap. Throws
/// Error(invalid_argument).
void check_overlap(const void* input, std::size_t input_bytes, const void* output, std::size_t output_bytes,
                   bool in_place);

}  // namespace sfft::detail
