// SPDX-License-Identifier: Apache-2.0
// The transform of a single frame (kernels/cuda/spectrum/frame_fft.hpp) as a dense engine.
#include "kernels/cuda/spectrum/frame_fft.hpp"
#include "kernels/cuda/spectrum/shape_extents.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

class FrameEngine final : public GpuDenseEngine<double> {
 public:
  explicit FrameEngine(const DenseProblem& problem)
      : real_(problem.real), fft_(cuda::extents_of(problem.shape, problem.real), problem.device) {}

  std::size_t workspace_bytes() const noexcept override { return fft_.workspace_bytes(); }
  bool reads(ElementType type) const noexcept override { return is_complex(type) != real_; }
  bool writes_strides() const noexcept override { return false; }
  void forward(const void* signals, ElementType type, std::complex<double>* spectra, double scale,
               std::byte* workspace, CUstream_st* stream) const override {
    fft_.enqueue(signals, static_cast<cuda::Element>(type), spectra, nullptr, scale, workspace, stream);
  }
  void inverse(const std::complex<double>*, void*, double, std::byte*, CUstream_st*) const override {
    throw Error(ErrorCode::backend_unavailable, "this engine transforms forward only: use another one");
  }
  std::string name() const override { return "lines in shared memory"; }

 private:
  bool real_;
  cuda::FrameFft fft_;
};

}  // namespace

std::unique_ptr<const GpuDenseEngine<double>> make_frame_engine(const DenseProblem& problem,
                                                                std::int64_t frames) {
  const bool one = problem.batch == 1 && problem.forward_only && problem.contiguous();
  if (!one ||
      !cuda::FrameFft::supports(cuda::extents_of(problem.shape, problem.real), problem.device, frames))
    return nullptr;
  return std::make_unique<const FrameEngine>(problem);
}

}  // namespace sfft::detail
