// SPDX-License-Identifier: Apache-2.0
// cuFFT as a dense engine: strides become cuFFT's advanced data layout, and a separate kernel scales.
#include <cuda_runtime.h>
#include <cufft.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/gpu/cufft_transform.hpp"
#include "kernels/dense/gpu/grid.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// The dimensions of a transform, slowest first. Extents of 1 are dropped, except the rows of real signals
/// and a single point.
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

CufftLayout signal_layout(const Dimensions& dims, const DenseProblem& problem) {
  CufftLayout layout;
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

CufftLayout spectrum_layout(const Dimensions& dims, const DenseProblem& problem) {
  CufftLayout layout;
  layout.embed = dims.extents;
  if (problem.real) {
    auto& row = layout.embed[static_cast<std::size_t>(dims.rank - 1)];
    row = row / 2 + 1;
  }
  layout.distance = problem.spectrum_points();
  return layout;
}

template <class Real>
class CufftEngine final : public GpuDenseEngine<Real> {
  using Complex = typename CufftApi<Real>::Complex;

 public:
  CufftEngine(const DenseProblem& problem, bool compiled)
      : problem_(problem),
        forward_(request(problem, false), compiled),
        copied_(problem.real && dimensions(problem).rank > 1 && !problem.forward_only),
        work_bytes_(cuda::aligned(forward_.work_bytes())) {
    if (problem.forward_only) return;
    inverse_.emplace(request(problem, true), compiled);
    work_bytes_ = std::max(work_bytes_, cuda::aligned(inverse_->work_bytes()));
  }

  std::size_t workspace_bytes() const noexcept override {
    return work_bytes_ + (copied_ ? cuda::aligned(spectrum_bytes()) : 0);
  }
  bool reads(ElementType type) const noexcept override { return type == own_type<Real>(problem_); }
  bool writes_strides() const noexcept override { return true; }

  void forward(const void* signals, ElementType, std::complex<Real>* spectra, Real scale,
               std::byte* workspace, CUstream_st* stream) const override {
    void* in = const_cast<void*>(signals);  // cuFFT does not write it, unless it is the output
    forward_.run(workspace, stream, [&](cufftHandle handle) {
      return problem_.real
                 ? CufftApi<Real>::forward(handle, static_cast<Real*>(in), device(spectra))
                 : CufftApi<Real>::complex(handle, static_cast<Complex*>(in), device(spectra), CUFFT_FORWARD);
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
      // cuFFT ignores what contradicts a real signal, but not in rows of one point.
      if (problem_.row_points() == 1)
        make_hermitian(problem_, reinterpret_cast<std::complex<Real>*>(workspace + work_bytes_), stream);
    }
    inverse_->run(workspace, stream, [&](cufftHandle handle) {
      return problem_.real ? CufftApi<Real>::inverse(handle, device(from), static_cast<Real*>(signals))
                           : CufftApi<Real>::complex(handle, device(from), static_cast<Complex*>(signals),
                                                     CUFFT_INVERSE);
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
  static CufftRequest request(const DenseProblem& problem, bool inverse) {
    const Dimensions dims = dimensions(problem);
    const CufftLayout signal = signal_layout(dims, problem), spectrum = spectrum_layout(dims, problem);
    const cufftType real = inverse ? CufftApi<Real>::kInverse : CufftApi<Real>::kForward;
    return {dims.rank,
            dims.extents,
            inverse ? spectrum : signal,
            inverse ? signal : spectrum,
            problem.real ? real : CufftApi<Real>::kComplex,
            problem.batch,
            problem.contiguous()};
  }
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
  CufftTransform forward_;
  std::optional<CufftTransform> inverse_;
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
