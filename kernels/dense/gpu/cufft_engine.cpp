// SPDX-License-Identifier: Apache-2.0
// cuFFT as a dense engine: strides become cuFFT's advanced data layout, and scaling is a kernel of its own.
#include <cuda_runtime.h>
#include <cufft.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "kernels/base/error.hpp"
#include "kernels/cuda/runtime/cufft_handle.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/gpu/grid.hpp"
#include "kernels/dense/problem/problem.hpp"

namespace sfft::detail {

namespace {

using cuda::check_cufft;

/// The dimensions that a transform has, slowest first. Those of extent 1 are left out, except the rows of
/// real signals and a single point.
struct Dimensions {
  int rank = 0;
  std::array<long long, 3> extents{1, 1, 1};
  std::array<std::int64_t, 3> strides{1, 1, 1};
};

Dimensions dimensions(const DenseProblem& problem) {
  Dimensions out;
  for (int d = 0; d < problem.shape.rank(); ++d) {
    const bool last = d + 1 == problem.shape.rank();
    if (problem.shape[d] == 1 && !(last && (problem.real || out.rank == 0))) continue;
    const auto at = static_cast<std::size_t>(out.rank++);
    out.extents[at] = problem.shape[d];
    out.strides[at] = problem.shape[d] == 1 ? 1 : problem.strides.dims[static_cast<std::size_t>(d)];
  }
  return out;
}

/// A batch in cuFFT's advanced data layout: (i1, i2, i3) of signal b is at b·distance + ((i1·embed[1] +
/// i2)·embed[2] + i3)·stride. Without embedding: contiguous.
struct Layout {
  std::array<long long, 3> embed{1, 1, 1};
  long long stride = 1, distance = 1;
};

Layout signal_layout(const Dimensions& dims, const DenseProblem& problem) {
  Layout layout;
  layout.stride = dims.strides[static_cast<std::size_t>(dims.rank - 1)];
  layout.distance = problem.strides.batch;
  layout.embed[0] = dims.extents[0];
  for (std::size_t d = 1; d < static_cast<std::size_t>(dims.rank); ++d) {
    layout.embed[d] = dims.strides[d - 1] / dims.strides[d];
    if (dims.strides[d - 1] % dims.strides[d] != 0 || layout.embed[d] < dims.extents[d])
      throw Error(
          ErrorCode::backend_unavailable,
          fmt::format(
              "cuFFT takes signals on a row-major grid only, and strides of {} and {} do not make one",
              dims.strides[d - 1], dims.strides[d]));
  }
  return layout;
}

Layout spectrum_layout(const Dimensions& dims, const DenseProblem& problem) {
  Layout layout;
  layout.embed = dims.extents;
  if (problem.real) {
    auto& row = layout.embed[static_cast<std::size_t>(dims.rank - 1)];
    row = row / 2 + 1;
  }
  layout.distance = problem.spectrum_points();
  return layout;
}

/// A cuFFT plan. Stream and work area are its state, so calls take turns.
class Transform {
 public:
  /// `compiled`: with kernels compiled for the problem, if this cuFFT can do that.
  Transform(const DenseProblem& problem, const Layout& in, const Layout& out, cufftType type, bool compiled) {
    if (compiled) compiled_ = handle_.compile_kernels();
    Dimensions dims = dimensions(problem);
    Layout from = in, to = out;
    const bool plain = problem.contiguous();
    check_cufft(cufftMakePlanMany64(handle_.get(), dims.rank, dims.extents.data(),
                                    plain ? nullptr : from.embed.data(), from.stride, from.distance,
                                    plain ? nullptr : to.embed.data(), to.stride, to.distance, type,
                                    problem.batch, &work_bytes_),
                "planning an FFT with cuFFT");
  }

  std::size_t work_bytes() const noexcept { return work_bytes_; }
  bool compiled() const noexcept { return compiled_; }

  template <class Execute>
  void run(std::byte* work, cuda::Stream stream, const Execute& execute) const {
    const std::lock_guard lock(mutex_);
    check_cufft(cufftSetStream(handle_.get(), stream), "giving an FFT its stream");
    if (work_bytes_ > 0) check_cufft(cufftSetWorkArea(handle_.get(), work), "giving an FFT its work area");
    check_cufft(execute(handle_.get()), "queueing an FFT with cuFFT");
  }

 private:
  mutable std::mutex mutex_;
  cuda::CufftHandle handle_;
  std::size_t work_bytes_ = 0;
  bool compiled_ = false;
};

/// cuFFT's types and functions for one precision.
template <class Real>
struct Api;
template <>
struct Api<float> {
  using Complex = cufftComplex;
  static constexpr cufftType kComplex = CUFFT_C2C, kForward = CUFFT_R2C, kInverse = CUFFT_C2R;
  static constexpr auto complex = cufftExecC2C;
  static constexpr auto forward = cufftExecR2C;
  static constexpr auto inverse = cufftExecC2R;
};
template <>
struct Api<double> {
  using Complex = cufftDoubleComplex;
  static constexpr cufftType kComplex = CUFFT_Z2Z, kForward = CUFFT_D2Z, kInverse = CUFFT_Z2D;
  static constexpr auto complex = cufftExecZ2Z;
  static constexpr auto forward = cufftExecD2Z;
  static constexpr auto inverse = cufftExecZ2D;
};

template <class Real>
class CufftEngine final : public GpuDenseEngine<Real> {
  using Complex = typename Api<Real>::Complex;

 public:
  CufftEngine(const DenseProblem& problem, bool compiled)
      : problem_(problem),
        forward_(problem, signal_layout(dimensions(problem), problem),
                 spectrum_layout(dimensions(problem), problem),
                 problem.real ? Api<Real>::kForward : Api<Real>::kComplex, compiled),
        copied_(problem.real && dimensions(problem).rank > 1 && !problem.forward_only),
        work_bytes_(cuda::aligned(forward_.work_bytes())) {
    if (problem.forward_only) return;
    inverse_.emplace(problem, spectrum_layout(dimensions(problem), problem),
                     signal_layout(dimensions(problem), problem),
                     problem.real ? Api<Real>::kInverse : Api<Real>::kComplex, compiled);
    work_bytes_ = std::max(work_bytes_, cuda::aligned(inverse_->work_bytes()));
  }

  std::size_t workspace_bytes() const noexcept override {
    return work_bytes_ + (copied_ ? cuda::aligned(spectrum_bytes()) : 0);
  }
  bool reads(ElementType type) const noexcept override { return type == own_type<Real>(problem_); }
  bool writes_strides() const noexcept override { return true; }

  void forward(const void* signals, ElementType, std::complex<Real>* spectra, Real scale,
               std::byte* workspace, CUstream_st* stream) const override {
    void* in = const_cast<void*>(signals);  // cuFFT only reads it, unless it is the output
    forward_.run(workspace, stream, [&](cufftHandle handle) {
      return problem_.real
                 ? Api<Real>::forward(handle, static_cast<Real*>(in), device(spectra))
                 : Api<Real>::complex(handle, static_cast<Complex*>(in), device(spectra), CUFFT_FORWARD);
    });
    if (scale != 1)
      scale_by(scale, cuda::copy_rows(1, total_spectrum_points(problem_), 0, 0), spectra, false, stream);
  }

  void inverse(const std::complex<Real>* spectra, void* signals, Real scale, std::byte* workspace,
               CUstream_st* stream) const override {
    // Inverse real transforms of several dimensions destroy their input.
    const std::complex<Real>* from = spectra;
    if (copied_) {
      from = reinterpret_cast<std::complex<Real>*>(workspace + work_bytes_);
      cuda::copy_on_device(workspace + work_bytes_, spectra, spectrum_bytes(), stream);
    }
    inverse_->run(workspace, stream, [&](cufftHandle handle) {
      return problem_.real
                 ? Api<Real>::inverse(handle, device(from), static_cast<Real*>(signals))
                 : Api<Real>::complex(handle, device(from), static_cast<Complex*>(signals), CUFFT_INVERSE);
    });
    if (scale != 1)
      scale_by(scale, signal_grid(problem_, Side::strided, Side::strided, problem_.row_points()), signals,
               problem_.real, stream);
  }

  std::string name() const override {
    int version = 0;
    static_cast<void>(cufftGetVersion(&version));
    return fmt::format("cuFFT {}.{}{}", version / 1000, version % 1000 / 100,
                       forward_.compiled() ? ", kernels compiled for the problem" : "");
  }
  std::string kernel() const override { return forward_.compiled() ? kCompiledKernels : ""; }

 private:
  static Complex* device(const std::complex<Real>* values) {
    return reinterpret_cast<Complex*>(const_cast<std::complex<Real>*>(values));
  }
  std::size_t spectrum_bytes() const noexcept {
    return static_cast<std::size_t>(total_spectrum_points(problem_)) * sizeof(std::complex<Real>);
  }
  static void scale_by(Real scale, const cuda::CopyGrid& grid, void* values, bool real, cuda::Stream stream) {
    const auto type = static_cast<cuda::Element>(real ? element_type_of<Real>::value
                                                      : element_type_of<std::complex<Real>>::value);
    cuda::launch_copy(grid, values, type, values, type, static_cast<double>(scale), stream);
  }

  DenseProblem problem_;
  Transform forward_;
  std::optional<Transform> inverse_;
  bool copied_;  ///< the spectrum is copied before an inverse transform
  std::size_t work_bytes_;
};

}  // namespace

template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_cufft_engine(const DenseProblem& problem,
                                                              const std::string& kernel) {
  return std::make_unique<const CufftEngine<Real>>(problem, kernel == kCompiledKernels);
}

template std::unique_ptr<const GpuDenseEngine<float>> make_cufft_engine(const DenseProblem&,
                                                                        const std::string&);
template std::unique_ptr<const GpuDenseEngine<double>> make_cufft_engine(const DenseProblem&,
                                                                         const std::string&);

}  // namespace sfft::detail
