// SPDX-License-Identifier: Apache-2.0
// Split-half transforms on tensor cores as dense engines, for complex floats: powers of two in stages, and
// short lines of prime lengths as products with the DFT matrix.
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

/// Transform: cuda::TensorTransform or cuda::FoldedTransform.
template <class Transform>
class TensorEngine final : public GpuDenseEngine<float> {
 public:
  TensorEngine(std::int64_t points, Transform transform)
      : points_(points), transform_(std::move(transform)) {}

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
    return fmt::format("split-half on tensor cores, lines of {}", points_);
  }

 private:
  std::int64_t points_;
  Transform transform_;
};

template <class Transform>
std::unique_ptr<const GpuDenseEngine<float>> make_engine(std::int64_t points, Transform transform) {
  return std::make_unique<const TensorEngine<Transform>>(points, std::move(transform));
}

/// The points of a problem's lines; 0 if it has several dimensions.
std::int64_t points_of_lines(const Shape& shape) {
  const std::int64_t points = shape.points();
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == points) return points;
  }
  return 0;
}

}  // namespace

template <>
std::unique_ptr<const GpuDenseEngine<float>> make_tensor_engine(const DenseProblem& problem) {
  if (problem.real || !problem.contiguous()) refuse("transforms contiguous complex signals");
  const std::int64_t points = points_of_lines(problem.shape);
  if (tensor::is_folded(points)) {
    return make_engine(points,
                       cuda::FoldedTransform(static_cast<int>(points), problem.batch, problem.device));
  }
  const auto bits = static_cast<std::uint64_t>(points);
  const int log = std::bit_width(bits) - 1;
  if (std::has_single_bit(bits) && tensor::has_passes(log, problem.batch)) {
    return make_engine(points,
                       cuda::TensorTransform(log, problem.batch, problem.device, problem.forward_only));
  }
  refuse(fmt::format(
      "takes lines of 2^{} to 2^{} points, of a prime from {} to {} except {}, and of 2^{} to 2^{} "
      "if there are fewer than {} points in all, and not {}, batch {}",
      tensor::kMinLog, tensor::kMaxShortLog, tensor::kMinFolded, tensor::kMaxFolded, tensor::kSlowFolded,
      tensor::kMinLongLog, tensor::kMaxLongLog, tensor::kFewPoints, problem.shape.to_string(),
      problem.batch));
}
template <>
std::unique_ptr<const GpuDenseEngine<double>> make_tensor_engine(const DenseProblem&) {
  refuse("computes in float");
}

}  // namespace sfft::detail
