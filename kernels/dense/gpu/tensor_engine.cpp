// SPDX-License-Identifier: Apache-2.0
// Split-half transforms on tensor cores as dense engines, for complex floats: powers of two in stages, and
// other short lines as products with the DFT matrix.
#include <fmt/format.h>

#include <bit>

#include "kernels/cuda/tensor/tensor_transform.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::backend_unavailable, "the engine tensor " + why + ": use another engine");
}

/// Throws for problems that the kernels do not support.
std::vector<tensor::PlannedPass> checked_passes(const DenseProblem& problem) {
  std::vector<int> logs;
  for (int d = 0; d < problem.shape.rank(); ++d) {
    const auto extent = static_cast<std::uint64_t>(problem.shape[d]);
    if (!std::has_single_bit(extent)) {
      refuse(fmt::format("takes powers of two, in one dimension also {} to {} points, and not {}",
                         tensor::kMinFolded, tensor::kMaxFolded, problem.shape.to_string()));
    }
    if (extent > 1) logs.push_back(static_cast<int>(std::bit_width(extent)) - 1);
  }
  if (logs.empty() || !tensor::has_passes(logs)) {
    refuse(fmt::format(
        "takes 2^{} to 2^{} points in one dimension, in more of them rows of at most 2^{} points and "
        "columns of 2^{} to 2^{}, and not {}",
        tensor::kMinLog, tensor::kMaxLog, tensor::kMaxBatchLog, tensor::kMinSideLog, tensor::kMaxSideLog,
        problem.shape.to_string()));
  }
  return tensor::planned_passes(logs, {problem.batch});
}

class TensorEngine final : public GpuDenseEngine<float> {
 public:
  explicit TensorEngine(const DenseProblem& problem)
      : transform_(checked_passes(problem), total_points(problem), problem.device, problem.forward_only) {}

  std::size_t workspace_bytes() const noexcept override { return transform_.workspace_bytes(); }
  bool reads(ElementType type) const noexcept override { return type == ElementType::c64; }
  bool writes_strides() const noexcept override { return true; }
  void forward(const void* signals, ElementType, std::complex<float>* spectra, float scale,
               std::byte* workspace, CUstream_st* stream) const override {
    transform_.run({signals, spectra, false, scale, workspace}, stream);
  }
  void inverse(const std::complex<float>* spectra, void* signals, float scale, std::byte* workspace,
               CUstream_st* stream) const override {
    transform_.run({spectra, signals, true, scale, workspace}, stream);
  }
  std::string name() const override {
    std::string text = "split-half on tensor cores, lines of";
    for (const tensor::PlannedPass& pass : transform_.passes())
      text += fmt::format(" {}", 1 << pass.tile.log);
    return text;
  }

 private:
  cuda::TensorTransform transform_;
};

/// Transforms each line by one product.
class FoldedEngine final : public GpuDenseEngine<float> {
 public:
  explicit FoldedEngine(const DenseProblem& problem)
      : points_(static_cast<int>(problem.row_points())), transform_(points_, problem.batch, problem.device) {}

  std::size_t workspace_bytes() const noexcept override { return 0; }
  bool reads(ElementType type) const noexcept override { return type == ElementType::c64; }
  bool writes_strides() const noexcept override { return true; }
  void forward(const void* signals, ElementType, std::complex<float>* spectra, float scale, std::byte*,
               CUstream_st* stream) const override {
    transform_.run({signals, spectra, false, scale}, stream);
  }
  void inverse(const std::complex<float>* spectra, void* signals, float scale, std::byte*,
               CUstream_st* stream) const override {
    transform_.run({spectra, signals, true, scale}, stream);
  }
  std::string name() const override {
    return fmt::format("split-half on tensor cores, one product for lines of {}", points_);
  }

 private:
  int points_;
  cuda::FoldedTransform transform_;
};

bool is_folded(const Shape& shape) {
  const std::int64_t points = shape[0];
  return shape.rank() == 1 && points >= tensor::kMinFolded && points <= tensor::kMaxFolded &&
         !std::has_single_bit(static_cast<std::uint64_t>(points));
}

}  // namespace

template <>
std::unique_ptr<const GpuDenseEngine<float>> make_tensor_engine(const DenseProblem& problem) {
  if (problem.real || !problem.contiguous()) refuse("transforms contiguous complex signals");
  if (is_folded(problem.shape)) return std::make_unique<const FoldedEngine>(problem);
  return std::make_unique<const TensorEngine>(problem);
}
template <>
std::unique_ptr<const GpuDenseEngine<double>> make_tensor_engine(const DenseProblem&) {
  refuse("computes in float");
}

}  // namespace sfft::detail
