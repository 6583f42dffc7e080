// SPDX-License-Identifier: Apache-2.0
// A copy kernel converts signals that an engine does not read. Host arrays go through a DenseTransfer that is
// created on first use.
#include <mutex>

#include "kernels/dense/gpu/grid.hpp"
#include "kernels/dense/request/device/runners.hpp"
#include "kernels/dense/request/device/transfer.hpp"

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

template <class Real>
class GpuRunner final : public Runner<FullCall> {
 public:
  using Make = MakeGpuEngine<Real>;

  GpuRunner(const DenseProblem& problem, const DenseScales& scales, Make make);
  ~GpuRunner() override;

  void run(const FullCall& call) const override;
  std::size_t device_workspace_bytes() const noexcept override;
  void enqueue(const FullCall& call) const override;
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override { return any_engine().name(); }
  std::string kernel() const override { return any_engine().kernel(); }

 private:
  using Engine = GpuDenseEngine<Real>;

  const Engine& any_engine() const noexcept { return strided_ != nullptr ? *strided_ : *packed_; }
  /// The engine that reads signals in place; may be null.
  const Engine* direct() const noexcept {
    return strided_ != nullptr ? strided_.get() : contiguous_ ? packed_.get() : nullptr;
  }
  bool reads_everything(const Engine& engine) const noexcept;
  void enqueue_forward(const FullCall& call) const;
  void enqueue_inverse(const FullCall& call) const;
  const DenseTransfer<Real>& transfer() const;

  DenseProblem problem_;
  DenseScales scales_;
  Make make_;
  bool contiguous_;
  std::unique_ptr<const Engine> strided_;  ///< for strided problems that an engine supports directly
  std::unique_ptr<const Engine> packed_;   ///< for contiguous signals; null if nothing is ever converted
  std::size_t conversion_bytes_ = 0;       ///< after the workspace of packed_
  mutable std::once_flag once_;
  mutable std::unique_ptr<const GpuRunner> chunk_;  ///< for a part of the batch, contiguous
  mutable std::unique_ptr<const DenseTransfer<Real>> transfer_;
};

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
void GpuRunner<Real>::enqueue(const FullCall& call) const {
  const cuda::DeviceScope scope(problem_.device);
  call.direction == Direction::forward ? enqueue_forward(call) : enqueue_inverse(call);
}

template <class Real>
void GpuRunner<Real>::enqueue_forward(const FullCall& call) const {
  auto* const spectra = static_cast<std::complex<Real>*>(call.to);
  const auto scale = static_cast<Real>(scales_.forward);
  const ElementType own = own_type<Real>(problem_);
  const Engine* engine = direct();
  const bool convertible = packed_ != nullptr && (!problem_.real || conversion_bytes_ > 0);
  if (engine != nullptr && engine->reads(call.type) && (!convertible || is_aligned(call.from, call.type)))
    return engine->forward(call.from, call.type, spectra, scale, call.workspace, call.stream);
  // Complex transforms then work in place, in the spectra.
  void* packed = problem_.real
                     ? static_cast<void*>(call.workspace + cuda::aligned(packed_->workspace_bytes()))
                     : spectra;
  cuda::launch_copy(signal_grid(problem_, Side::strided, Side::packed, problem_.row_points()), call.from,
                    device_type(call.type), packed, device_type(own), 1, call.stream);
  packed_->forward(packed, own, spectra, scale, call.workspace, call.stream);
}

template <class Real>
void GpuRunner<Real>::enqueue_inverse(const FullCall& call) const {
  const auto* const spectra = static_cast<const std::complex<Real>*>(call.from);
  const auto scale = static_cast<Real>(scales_.inverse);
  const Engine* engine = direct();
  if (engine != nullptr && engine->writes_strides() &&
      (conversion_bytes_ == 0 || is_aligned(call.to, own_type<Real>(problem_))))
    return engine->inverse(spectra, call.to, scale, call.workspace, call.stream);
  void* packed = call.workspace + cuda::aligned(packed_->workspace_bytes());
  packed_->inverse(spectra, packed, scale, call.workspace, call.stream);
  const cuda::Element own = device_type(own_type<Real>(problem_));
  cuda::launch_copy(signal_grid(problem_, Side::packed, Side::strided, problem_.row_points()), packed, own,
                    call.to, own, 1, call.stream);
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
void GpuRunner<Real>::run(const FullCall& call) const {
  const cuda::DeviceScope scope(problem_.device);
  transfer().run(call);
}

}  // namespace

template <class Real>
std::unique_ptr<const Runner<FullCall>> make_gpu_runner(const DenseRequest& request,
                                                        MakeGpuEngine<Real> make) {
  return std::make_unique<const GpuRunner<Real>>(request.problem, request.scales, std::move(make));
}

template std::unique_ptr<const Runner<FullCall>> make_gpu_runner(const DenseRequest&, MakeGpuEngine<float>);
template std::unique_ptr<const Runner<FullCall>> make_gpu_runner(const DenseRequest&, MakeGpuEngine<double>);

}  // namespace sfft::detail
