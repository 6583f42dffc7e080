// SPDX-License-Identifier: Apache-2.0
// Selective dense plans on a GPU: through the output hook of the tuned kernels, or from a complete spectrum.
#include <algorithm>
#include <numeric>
#include <optional>

#include "kernels/cuda/spectrum/device_support.hpp"
#include "kernels/cuda/spectrum/keep.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

namespace {

using device::Keep;
using device::KeptPart;

template <class Real>
class SelectedGpuRunner final : public Runner<SelectedCall<Real>> {
  using Call = SelectedCall<Real>;
  using Value = std::complex<Real>;

 public:
  SelectedGpuRunner(const DenseRequest& request, Choice<FullCall> full, std::span<const std::int64_t> support)
      : problem_(request.problem),
        scale_(static_cast<Real>(request.scales.forward)),
        name_(full.runner->name()),
        keep_(support.empty() ? Keep::above : Keep::at) {
    const cuda::DeviceScope scope(problem_.device);
    if (keep_ == Keep::at) support_.emplace(support, problem_.spectrum_points());
    try {
      if (full.engine == dense::Engine::tuned)
        hooked_ = make_keeping_engine<Real>(problem_, full.runner->kernel(), keep_);
    } catch (const Error& error) {  // the kernels do not support these strides: use the complete spectrum
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
    if (hooked_ == nullptr) full_ = std::move(full.runner);
  }
  ~SelectedGpuRunner() override {
    try {
      const cuda::DeviceScope scope(problem_.device);
      support_.reset();
      hooked_ = nullptr;
    } catch (...) {  // the GPU is gone, and its memory with it
    }
  }

  std::size_t device_workspace_bytes() const noexcept override {
    return hooked_ != nullptr ? hooked_->workspace_bytes()
                              : cuda::aligned(full_->device_workspace_bytes()) + spectra_bytes();
  }

  void enqueue(const Call& call) const override {
    const cuda::DeviceScope scope(problem_.device);
    if (keep_ == Keep::at) return keep(call, support_->part(call.to));
    static_assert(sizeof(long long) == sizeof(std::int64_t));
    KeptPart part{};
    part.min_power = static_cast<double>(call.magnitude * call.magnitude);
    part.capacity = call.on_device.capacity;
    part.count = reinterpret_cast<unsigned long long*>(call.on_device.count);
    part.indices = reinterpret_cast<long long*>(call.on_device.indices);
    part.values = call.on_device.values;
    cuda::clear(call.on_device.count, sizeof *call.on_device.count, call.stream);
    keep(call, part);
  }

  void run(const Call& call) const override {
    const cuda::DeviceScope scope(problem_.device);
    const cuda::Queue stream;
    const cuda::DeviceBuffer input = to_device(call.from, call.type, stream.get()),
                             workspace(device_workspace_bytes());
    Call on_device;
    on_device.from = input.data();
    on_device.type = call.type;
    on_device.magnitude = call.magnitude;
    on_device.workspace = workspace.data();
    on_device.stream = stream.get();
    keep_ == Keep::at ? run_at(on_device, call.to) : run_above(on_device, *call.indices, *call.values);
  }

  bool stores_spectrum() const noexcept override { return hooked_ == nullptr; }
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override { return name_; }

 private:
  std::size_t spectra_bytes() const noexcept {
    return static_cast<std::size_t>(total_spectrum_points(problem_)) * sizeof(Value);
  }

  void keep(const Call& call, const KeptPart& part) const {
    if (hooked_ != nullptr)
      return hooked_->forward(call.from, call.type, part, scale_, call.workspace, call.stream);
    auto* spectra = reinterpret_cast<Value*>(call.workspace + cuda::aligned(full_->device_workspace_bytes()));
    full_->enqueue({Direction::forward, call.from, call.type, spectra, call.workspace, call.stream});
    cuda::launch_keep<Real>(keep_, spectra, total_spectrum_points(problem_), problem_.spectrum_points(), part,
                            call.stream);
  }

  /// Usually few coefficients exceed the threshold; otherwise runs again with room for all.
  void run_above(Call call, std::vector<std::int64_t>& indices, std::vector<Value>& values) const {
    const cuda::DeviceBuffer count(sizeof(std::uint64_t));
    const std::int64_t all = total_spectrum_points(problem_);
    std::int64_t capacity = std::min<std::int64_t>(all, std::max<std::int64_t>(4096, all / 64));
    for (;;) {
      const auto room = static_cast<std::size_t>(capacity);
      const cuda::DeviceBuffer kept_indices(room * sizeof(std::int64_t)), kept_values(room * sizeof(Value));
      call.on_device = {kept_indices.as<std::int64_t>(), kept_values.template as<Value>(),
                        count.as<std::uint64_t>(), capacity};
      enqueue(call);
      std::uint64_t found = 0;
      cuda::copy_to_host(&found, count.data(), sizeof found, call.stream);
      cuda::synchronize(call.stream);
      if (found <= room)
        return append_sorted(kept_indices, kept_values, static_cast<std::size_t>(found), indices, values,
                             call.stream);
      capacity = static_cast<std::int64_t>(found);
    }
  }
  void run_at(Call call, void* values) const {
    const std::int64_t count = problem_.batch * support_->part(nullptr).kept;
    const cuda::DeviceBuffer kept(static_cast<std::size_t>(count) * sizeof(Value));
    call.to = kept.data();
    enqueue(call);
    cuda::copy_to_host(values, kept.data(), kept.bytes(), call.stream);
    cuda::synchronize(call.stream);
  }

  cuda::DeviceBuffer to_device(const void* signals, ElementType type, cuda::Stream stream) const {
    cuda::DeviceBuffer input(static_cast<std::size_t>(span_points(problem_)) * element_bytes(type));
    cuda::copy_to_device(input.data(), signals, input.bytes(), stream);
    return input;
  }

  static void append_sorted(const cuda::DeviceBuffer& indices, const cuda::DeviceBuffer& values,
                            std::size_t count, std::vector<std::int64_t>& kept_indices,
                            std::vector<Value>& kept_values, cuda::Stream stream) {
    std::vector<std::int64_t> found(count);
    std::vector<Value> x(count);
    cuda::copy_to_host(found.data(), indices.data(), count * sizeof(std::int64_t), stream);
    cuda::copy_to_host(x.data(), values.data(), count * sizeof(Value), stream);
    cuda::synchronize(stream);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return found[a] < found[b]; });
    for (const std::size_t i : order) {
      kept_indices.push_back(found[i]);
      kept_values.push_back(x[i]);
    }
  }

  DenseProblem problem_;
  Real scale_;
  std::string name_;
  Keep keep_;
  std::optional<const cuda::DeviceSupport> support_;
  std::unique_ptr<const GpuKeepingEngine<Real>> hooked_;
  std::unique_ptr<const Runner<FullCall>> full_;  ///< only if the hook is unused
};

}  // namespace

template <class Real>
Choice<SelectedCall<Real>> select_on_gpu(const DenseRequest& request, std::span<const std::int64_t> support) {
  Choice<FullCall> full = choose_on_gpu<Real>(request);
  const dense::Engine engine = full.engine;
  auto runner = std::make_unique<const SelectedGpuRunner<Real>>(request, std::move(full), support);
  const bool stores = runner->stores_spectrum();
  return {std::move(runner), engine, stores ? "stores the spectrum" : "never stores the spectrum"};
}

template Choice<SelectedCall<float>> select_on_gpu(const DenseRequest&, std::span<const std::int64_t>);
template Choice<SelectedCall<double>> select_on_gpu(const DenseRequest&, std::span<const std::int64_t>);

}  // namespace sfft::detail
