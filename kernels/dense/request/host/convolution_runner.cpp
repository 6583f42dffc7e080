// SPDX-License-Identifier: Apache-2.0
// Convolutions on the CPU. Threads share the blocks of all signals, or one block after another if there are
// fewer blocks than threads.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/base/math/region.hpp"
#include "kernels/cpu/platform/isa.hpp"
#include "kernels/dense/cpu/convert.hpp"
#include "kernels/dense/cpu/convolution.hpp"
#include "kernels/dense/request/host/batch_threads.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/argument_checks.hpp"

namespace sfft::detail {

namespace {

std::array<ConvolutionAxis, 3> axes_of(const Shape& signal, const ConvolutionRequest& convolution) {
  std::array<ConvolutionAxis, 3> axes;
  const auto unused = static_cast<std::size_t>(3 - signal.rank());
  for (int d = 0; d < signal.rank(); ++d) {
    axes[unused + static_cast<std::size_t>(d)] =
        convolution_axis(signal[d], convolution.kernel.shape()[d], convolution.extent, convolution.correlate);
  }
  return axes;
}

/// The kernel in the plan's type; for correlations reversed and conjugated.
template <class T>
std::vector<T> taps_of(const ConvolutionRequest& convolution) {
  const SignalView& view = convolution.kernel;
  std::vector<T> taps(static_cast<std::size_t>(view.shape().points()));
  std::vector<std::byte> copy(view.bytes());
  copy_elements(view, copy.data());
  if constexpr (std::is_arithmetic_v<T>)
    copy_as_real(copy.data(), view.type(), view.shape().points(), taps.data());
  else
    copy_as_complex(copy.data(), view.type(), view.shape().points(), taps.data());
  if (!convolution.correlate) return taps;
  std::reverse(taps.begin(), taps.end());
  if constexpr (!std::is_arithmetic_v<T>) {
    for (T& tap : taps) tap = std::conj(tap);
  }
  return taps;
}

template <class T>
class ConvolutionRunner final : public Runner<FullCall> {
 public:
  ConvolutionRunner(const DenseRequest& request, const ConvolutionRequest& convolution)
      : problem_(request.problem),
        convolution_(axes_of(problem_.shape, convolution), taps_of<T>(convolution).data()),
        results_(convolution_shape(problem_.shape, convolution).points()),
        threads_(BatchThreads::divided(thread_count(request.options), problem_.batch * convolution_.blocks(),
                                       convolution_.threads_of(thread_count(request.options)))),
        slot_bytes_(convolution_.workspace_bytes(threads_.within())) {}

  std::size_t workspace_bytes() const noexcept override {
    return slot_bytes_ * static_cast<std::size_t>(threads_.slots());
  }
  void run(const FullCall& call) const override {
    const std::int64_t blocks = convolution_.blocks();
    threads_.run(problem_.batch * blocks, [&](std::int64_t part, int slot, cpu::ThreadPool* pool) {
      const std::int64_t b = part / blocks;
      convolution_.run(part % blocks, static_cast<const T*>(call.from) + b * problem_.shape.points(),
                       static_cast<T*>(call.to) + b * results_,
                       {call.workspace + static_cast<std::size_t>(slot) * slot_bytes_, pool});
    });
  }
  bool on_gpu() const noexcept override { return false; }
  std::string name() const override { return fmt::format("built-in {}", cpu::isa_name()); }

  std::string reason() const {
    std::string points;
    for (const ConvolutionAxis& axis : convolution_.axes()) points += fmt::format("{}x", axis.block);
    points.pop_back();
    return fmt::format("by operations counted, {} block{} of {} points {} fastest", convolution_.blocks(),
                       convolution_.blocks() == 1 ? "" : "s", points,
                       convolution_.blocks() == 1 ? "is" : "are");
  }

 private:
  DenseProblem problem_;
  Convolution<T> convolution_;
  std::int64_t results_;  ///< of a signal
  BatchThreads threads_;
  std::size_t slot_bytes_;
};

template <class T>
Choice<FullCall> make(const DenseRequest& request, const ConvolutionRequest& convolution) {
  auto runner = std::make_unique<const ConvolutionRunner<T>>(request, convolution);
  std::string reason = runner->reason();
  return {std::move(runner), dense::Engine::built_in, std::move(reason)};
}

}  // namespace

Shape convolution_shape(const Shape& signal, const ConvolutionRequest& convolution) {
  using Extent = dense::Options::Extent;
  check_enumerator(convolution.extent, Extent::circular, "the extent of a convolution");
  const Shape& kernel = convolution.kernel.shape();
  if (kernel.rank() != signal.rank()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("the kernel is {} and the signal {}: give both as many dimensions",
                            kernel.to_string(), signal.to_string()));
  }
  std::array<std::int64_t, 3> extents;
  for (int d = 0; d < signal.rank(); ++d) {
    const bool small = convolution.extent == Extent::valid || convolution.extent == Extent::circular;
    if (small && kernel[d] > signal[d]) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the kernel is {} and the signal {}: `valid` and `circular` need a kernel that is "
                      "no larger than the signal",
                      kernel.to_string(), signal.to_string()));
    }
    extents[static_cast<std::size_t>(d)] =
        convolution_axis(signal[d], kernel[d], convolution.extent, convolution.correlate).results;
  }
  return Shape(std::span<const std::int64_t>(extents).first(static_cast<std::size_t>(signal.rank())));
}

template <class Real>
Choice<FullCall> choose_convolution(const DenseRequest& request, const ConvolutionRequest& convolution) {
  require_plain_cpu(request, "convolutions");
  if (!request.problem.real) return make<std::complex<Real>>(request, convolution);
  if (is_complex(convolution.kernel.type()))
    throw Error(ErrorCode::type_mismatch, "the kernel is complex and the plan real: make the plan complex");
  return make<Real>(request, convolution);
}

template Choice<FullCall> choose_convolution<float>(const DenseRequest&, const ConvolutionRequest&);
template Choice<FullCall> choose_convolution<double>(const DenseRequest&, const ConvolutionRequest&);

}  // namespace sfft::detail
