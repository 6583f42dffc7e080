// SPDX-License-Identifier: Apache-2.0
// Selective dense plans on a GPU: through the output hook of the tuned kernels, or from a complete spectrum.
#include <algorithm>
#include <numeric>
#include <optional>

#include "kernels/cuda/spectrum/device_support.hpp"
#include "kernels/cuda/spectrum/keep.hpp"
#include "kernels/dense/request/device/gpu_runner.hpp"
#include "kernels/dense/request/selective_runner.hpp"

namespace sfft::detail {

namespace {

using device::Keep;
using device::KeptPart;

template <class Real>
class GpuSelection final : public SelectiveRunner<Real> {
  using Value = std::complex<Real>;

 public:
  GpuSelection(const DenseRequest& request, std::span<const std::int64_t> support)
      : problem_(request.problem),
        scale_(static_cast<Real>(request.scales.forward)),
        choice_(choose_on_gpu<Real>(request)),
        name_(choice_.runner->name()),
        keep_(support.empty() ? Keep::above : Keep::at) {
    const cuda::DeviceScope scope(problem_.device);
    if (keep_ == Keep::at) support_.emplace(support, problem_.spectrum_points());
    if (choice_.engine != dense::Engine::tuned) return;
    try {
      const auto& runner = static_cast<const GpuRunner<Real>&>(*choice_.runner);
      hooked_ = make_keeping_engine<Real>(problem_, runner.kernel(), keep_);
      choice_.runner = nullptr;
    } catch (const Error& error) {  // the kernels do not support these strides: use the complete spectrum
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
  }
  ~GpuSelection() override {
    try {
      const cuda::DeviceScope scope(problem_.device);
      support_.reset();
      hooked_ = nullptr;
    } catch (...) {  // the GPU is gone, and its memory with it
    }
  }

  std::size_t device_workspace_bytes() const noexcept override {
    return hooked_ != nullptr ? hooked_->workspace_bytes()
                              : cuda::aligned(choice_.runner->device_workspace_bytes()) + spectra_bytes();
  }

  void enqueue_above(const void* signals, ElementType type, Real magnitude,
                     const dense::DeviceCoefficients<Real>& kept, std::byte* workspace,
                     CUstream_st* stream) const override {
    const cuda::DeviceScope scope(problem_.device);
    static_assert(sizeof(long long) == sizeof(std::int64_t));
    KeptPart part{};
    part.min_power = static_cast<double>(magnitude * magnitude);
    part.capacity = kept.capacity;
    part.count = reinterpret_cast<unsigned long long*>(kept.count);
    part.indices = reinterpret_cast<long long*>(kept.indices);
    part.values = kept.values;
    cuda::clear(kept.count, sizeof *kept.count, stream);
    run(signals, type, part, workspace, stream);
  }
  void enqueue_at(const void* signals, ElementType type, Value* values, std::byte* workspace,
                  CUstream_st* stream) const override {
    const cuda::DeviceScope scope(problem_.device);
    run(signals, type, support_->part(values), workspace, stream);
  }

  void above(const void* signals, ElementType type, Real magnitude, std::vector<std::int64_t>& kept_indices,
             std::vector<Value>& kept_values) const override {
    const cuda::DeviceScope scope(problem_.device);
    const cuda::Queue stream;
    const cuda::DeviceBuffer input = to_device(signals, type, stream.get()),
                             workspace(device_workspace_bytes()), count(sizeof(std::uint64_t));
    const std::int64_t all = total_spectrum_points(problem_);
    // Usually few coefficients exceed the threshold; otherwise run again with room for all.
    std::int64_t capacity = std::min<std::int64_t>(all, std::max<std::int64_t>(4096, all / 64));
    for (;;) {
      const auto room = static_cast<std::size_t>(capacity);
      const cuda::DeviceBuffer indices(room * sizeof(std::int64_t)), values(room * sizeof(Value));
      enqueue_above(
          input.data(), type, magnitude,
          {indices.as<std::int64_t>(), values.template as<Value>(), count.as<std::uint64_t>(), capacity},
          workspace.data(), stream.get());
      std::uint64_t found = 0;
      cuda::copy_to_host(&found, count.data(), sizeof found, stream.get());
      cuda::synchronize(stream.get());
      if (found <= room) {
        append_sorted(indices, values, static_cast<std::size_t>(found), kept_indices, kept_values,
                      stream.get());
        return;
      }
      capacity = static_cast<std::int64_t>(found);
    }
  }

  void at(const void* signals, ElementType type, std::span<Value> values) const override {
    const cuda::DeviceScope scope(problem_.device);
    const cuda::Queue stream;
    const cuda::DeviceBuffer input = to_device(signals, type, stream.get()),
                             workspace(device_workspace_bytes()), kept(values.size_bytes());
    enqueue_at(input.data(), type, kept.as<Value>(), workspace.data(), stream.get());
    cuda::copy_to_host(values.data(), kept.data(), kept.bytes(), stream.get());
    cuda::synchronize(stream.get());
  }

  bool stores_spectrum() const noexcept override { return hooked_ == nullptr; }
  dense::Engine engine() const noexcept override { return choice_.engine; }
  std::string name() const override { return name_; }

 private:
  std::size_t spectra_bytes() const noexcept {
    return static_cast<std::size_t>(total_spectrum_points(problem_)) * sizeof(Value);
  }

  void run(const void* signals, ElementType type, const KeptPart& part, std::byte* workspace,
           cuda::Stream stream) const {
    if (hooked_ != nullptr) return hooked_->forward(signals, type, part, scale_, workspace, stream);
    auto* spectra =
        reinterpret_cast<Value*>(workspace + cuda::aligned(choice_.runner->device_workspace_bytes()));
    choice_.runner->enqueue_forward(signals, type, spectra, workspace, stream);
    cuda::launch_keep<Real>(keep_, spectra, total_spectrum_points(problem_), problem_.spectrum_points(), part,
                            stream);
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
  DenseChoice<Real> choice_;  ///< has a runner only if the hook is unused
  std::string name_;
  Keep keep_;
  std::optional<const cuda::DeviceSupport> support_;
  std::unique_ptr<const GpuKeepingEngine<Real>> hooked_;
};

}  // namespace

template <class Real>
std::unique_ptr<const SelectiveRunner<Real>> select_on_gpu(const DenseRequest& request,
                                                           std::span<const std::int64_t> support) {
  return std::make_unique<const GpuSelection<Real>>(request, support);
}

template std::unique_ptr<const SelectiveRunner<float>> select_on_gpu(const DenseRequest&,
                                                                     std::span<const std::int64_t>);
template std::unique_ptr<const SelectiveRunner<double>> select_on_gpu(const DenseRequest&,
                                                                      std::span<const std::int64_t>);

}  // namespace sfft::detail
