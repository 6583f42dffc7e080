// SPDX-License-Identifier: Apache-2.0
// A copy kernel converts signals that an engine does not read. Host arrays go through a DenseTransfer that is
// created on first use.
#include "kernels/dense/request/device/gpu_runner.hpp"

#include "kernels/dense/gpu/grid.hpp"

namespace sfft::detail {

namespace {

cuda::Element device_type(ElementType type) {
  return static_cast<cuda::Element>(type);
}

/// Engines load two reals at once.
bool is_aligned(const void* signals, ElementType type) {
  const std::size_t together = element_bytes(type) * (is_complex(type) ? 1 : 2);
  return reinterpret_cast<std::uintptr_t>(signals) % together == 0;
}

}  // namespace

template <class Real>
GpuRunner<Real>::GpuRunner(const DenseProblem& problem, const DenseScales& scales, Make make)
    : problem_(problem), scales_(scales), make_(std::move(make)), contiguous_(problem.contiguous()) {
  if (!contiguous_) {
    try {
      strided_ = make_(problem_, nullptr);
      if (!strided_->reads(own_type<Real>(problem_)) && !strided_->writes_strides()) strided_ = nullptr;
    } catch (const Error& error) {  // everything is then converted
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
    if (strided_ != nullptr && reads_everything(*strided_) && strided_->writes_strides()) return;
  }
  packed_ = make_(contiguous_problem(problem_, problem_.batch), nullptr);
  const auto points = static_cast<std::size_t>(total_points(problem_));
  if (problem_.real) {
    if (!contiguous_ || !reads_everything(*packed_)) conversion_bytes_ = cuda::aligned(points * sizeof(Real));
  } else if (!contiguous_ && (strided_ == nullptr || !strided_->writes_strides())) {
    conversion_bytes_ =
        cuda::aligned(points * sizeof(std::complex<Real>));  // forward() converts into the spectra
  }
}

template <class Real>
GpuRunner<Real>::~GpuRunner() {
  try {
    const cuda::DeviceScope scope(problem_.device);
    transfer_ = nullptr;
    chunk_ = nullptr;
    strided_ = nullptr;
    packed_ = nullptr;
  } catch (...) {  // the GPU is gone, and its memory with it
  }
}

template <class Real>
bool GpuRunner<Real>::reads_everything(const Engine& engine) const noexcept {
  for (const ElementType type : {ElementType::u8, ElementType::u16, ElementType::f32, ElementType::f64,
                                 ElementType::c64, ElementType::c128}) {
    if (!(problem_.real && is_complex(type)) && !engine.reads(type)) return false;
  }
  return true;
}

template <class Real>
std::size_t GpuRunner<Real>::device_workspace_bytes() const noexcept {
  const std::size_t strided = strided_ != nullptr ? cuda::aligned(strided_->workspace_bytes()) : 0;
  const std::size_t packed =
      packed_ != nullptr ? cuda::aligned(packed_->workspace_bytes()) + conversion_bytes_ : 0;
  return std::max(strided, packed);
}

template <class Real>
void GpuRunner<Real>::enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                                      std::byte* workspace, CUstream_st* stream) const {
  const cuda::DeviceScope scope(problem_.device);
  const auto scale = static_cast<Real>(scales_.forward);
  const ElementType own = own_type<Real>(problem_);
  const Engine* engine = direct();
  const bool convertible = packed_ != nullptr && (!problem_.real || conversion_bytes_ > 0);
  if (engine != nullptr && engine->reads(type) && (!convertible || is_aligned(signals, type)))
    return engine->forward(signals, type, spectra, scale, workspace, stream);
  // Complex transforms then work in place, in the spectra.
  void* packed =
      problem_.real ? static_cast<void*>(workspace + cuda::aligned(packed_->workspace_bytes())) : spectra;
  cuda::launch_copy(signal_grid(problem_, Side::strided, Side::packed, problem_.row_points()), signals,
                    device_type(type), packed, device_type(own), 1, stream);
  packed_->forward(packed, own, spectra, scale, workspace, stream);
}

template <class Real>
void GpuRunner<Real>::enqueue_inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace,
                                      CUstream_st* stream) const {
  const cuda::DeviceScope scope(problem_.device);
  const auto scale = static_cast<Real>(scales_.inverse);
  const Engine* engine = direct();
  if (engine != nullptr && engine->writes_strides() &&
      (conversion_bytes_ == 0 || is_aligned(signals, own_type<Real>(problem_))))
    return engine->inverse(spectra, signals, scale, workspace, stream);
  void* packed = workspace + cuda::aligned(packed_->workspace_bytes());
  packed_->inverse(spectra, packed, scale, workspace, stream);
  const cuda::Element own = device_type(own_type<Real>(problem_));
  cuda::launch_copy(signal_grid(problem_, Side::packed, Side::strided, problem_.row_points()), packed, own,
                    signals, own, 1, stream);
}

template <class Real>
const DenseTransfer<Real>& GpuRunner<Real>::transfer() const {
  std::call_once(once_, [&] {
    const std::int64_t part = transfer_part<Real>(problem_);
    const GpuRunner* runner = this;
    if (part != problem_.batch || !contiguous_) {
      chunk_ = std::make_unique<const GpuRunner>(
          contiguous_problem(problem_, part), scales_,
          [this](const DenseProblem& problem, const Engine*) { return make_(problem, &any_engine()); });
      runner = chunk_.get();
    }
    const bool whole = runner == this && problem_.batch == 1;
    transfer_ = std::make_unique<const DenseTransfer<Real>>(problem_, part, *runner,
                                                            whole ? packed_->phases() : nullptr, scales_);
  });
  return *transfer_;
}

template <class Real>
void GpuRunner<Real>::forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                              std::byte*) const {
  const cuda::DeviceScope scope(problem_.device);
  transfer().forward(signals, type, spectra);
}

template <class Real>
void GpuRunner<Real>::inverse(const std::complex<Real>* spectra, void* signals, std::byte*) const {
  const cuda::DeviceScope scope(problem_.device);
  transfer().inverse(spectra, signals);
}

template class GpuRunner<float>;
template class GpuRunner<double>;

}  // namespace sfft::detail
