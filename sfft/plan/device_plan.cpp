// SPDX-License-Identifier: Apache-2.0
// Binds an executor of kernels/cuda to a plan: uploads the reference, launches on frames in device memory,
// and has frames in host memory sent through the ring.
#include "sfft/plan/device_plan.hpp"

#include "kernels/base/direct_table.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/halved_comb.hpp"
#include "kernels/base/step_trace.hpp"
#include "kernels/cuda/executors/direct.hpp"
#include "kernels/cuda/executors/sparse_executor.hpp"
#include "kernels/cuda/runtime/peers.hpp"
#include "kernels/cuda/stages/luma.hpp"
#include "kernels/cuda/stages/samples.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/request/gpu_runner.hpp"
#include "sfft/plan/dense_path.hpp"
#include "sfft/plan/device_dense_path.hpp"
#include "sfft/plan/host_frames.hpp"
#include "sfft/plan/host_ring.hpp"

namespace sfft::detail {

static_assert(static_cast<int>(cuda::Element::c128) == static_cast<int>(ElementType::c128));
static_assert(sizeof(FrameAccount) == sizeof(cuda::DeviceAccount));
static_assert(sizeof(std::complex<float>) == sizeof(cuda::Complex<float>));

std::string device_problem(int device) {
  return cuda::unavailable(device);
}

DeviceTraits device_traits(int device) {
  const cuda::DeviceInfo& info = cuda::device_info(device);
  return {info.name, info.multiprocessors};
}

void check_devices(const std::vector<int>& devices) {
  cuda::check_several(devices);
}

std::shared_ptr<std::byte> allocate_page_locked(std::size_t bytes, int device) {
  static_cast<void>(cuda::device_info(device));  // says what is wrong where there is no GPU
  const cuda::DeviceScope scope(device);
  const auto buffer = std::make_shared<cuda::PinnedBuffer>(bytes);
  return {buffer, buffer->data()};
}

std::shared_ptr<std::byte> allocate_managed(std::size_t bytes, int device) {
  static_cast<void>(cuda::device_info(device));
  const cuda::DeviceScope scope(device);
  const auto buffer = std::make_shared<cuda::ManagedBuffer>(bytes);
  return {buffer, buffer->data()};
}

void store_plane(const DevicePlane& plane, std::byte* to, int device) {
  const cuda::DeviceScope scope(device);
  cuda::launch_luma({plane.data, plane.width, plane.height, plane.pitch_bytes, plane.bits, plane.shift,
                     plane.limited_range},
                    to, nullptr);
  cuda::synchronize(nullptr);
}

namespace {

template <class Real>
struct Reference final : DeviceReference {
  cuda::DeviceBuffer samples, witness, values;
};

template <class Real>
struct OwnWorkspace final : DeviceWorkspace {
  std::unique_ptr<cuda::State> state;
  std::unique_ptr<HostRing<Real>> ring;  ///< made by the first execute() on host memory
  int frames = 1;

  std::size_t bytes() const noexcept override { return state->scratch.bytes() + (ring ? ring->bytes() : 0); }
  int capacity() const noexcept override { return frames; }
};

template <class Real>
class OwnPlan final : public DevicePlan<Real> {
 public:
  OwnPlan(std::unique_ptr<const cuda::Executor<Real>> executor, const TemplateData& data,
          const PlanOptions& options)
      : executor_(std::move(executor)),
        shape_(data.shape),
        k_(data.k()),
        device_(options.device),
        transfer_(options.transfer) {}

  std::string describe() const override {
    return cuda::device_info(device_).name + ", " + executor_->describe();
  }
  bool takes_reference() const noexcept override { return executor_->taps() > 0; }

  std::shared_ptr<const DeviceReference> make_reference(
      const SignalView& frame, std::span<const std::complex<double>> coefficients) const override {
    const cuda::DeviceScope scope(device_);
    auto reference = std::make_shared<Reference<Real>>();
    const auto& indices = executor_->sample_indices();
    const auto type = static_cast<cuda::Element>(frame.type());
    const std::int64_t last = executor_->witness_samples();
    reference->samples =
        cuda::upload(cuda::reference_samples<Real>(frame.data(), type, indices, executor_->taps(), last));
    reference->witness = cuda::upload(cuda::reference_witness<Real>(frame.data(), type, indices, last));
    const std::vector<std::complex<Real>> values(coefficients.begin(), coefficients.end());
    reference->values = cuda::upload(values);
    return reference;
  }

  std::unique_ptr<DeviceWorkspace> make_workspace(int frames) const override {
    const cuda::DeviceScope scope(device_);
    auto workspace = std::make_unique<OwnWorkspace<Real>>();
    workspace->frames = frames;
    workspace->state = executor_->make_state(frames);
    return workspace;
  }

  void enqueue(const DeviceFrames& frames, const DeviceSpectra<Real>& spectra,
               const DeviceReference* reference, DeviceWorkspace& workspace,
               CUstream_st* stream) const override {
    const cuda::DeviceScope scope(device_);
    executor_->enqueue(batch(frames, spectra, reference), *static_cast<OwnWorkspace<Real>&>(workspace).state,
                       stream);
  }

  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
               const DeviceReference* reference, DeviceWorkspace& workspace,
               cpu::ThreadPool* pool) const override {
    const cuda::DeviceScope scope(device_);
    auto& own = static_cast<OwnWorkspace<Real>&>(workspace);
    if (!own.ring) own.ring = std::make_unique<HostRing<Real>>(k_);
    const typename HostFrames<Real>::MakeBatch make_batch = [&](const DeviceFrames& device,
                                                                const DeviceSpectra<Real>& results) {
      return batch(device, results, reference);
    };
    HostFrames<Real>(*executor_, shape_, transfer_, *own.ring, *own.state, own.frames, make_batch, pool)
        .execute(frames, spectra);
  }

 private:
  cuda::Batch<Real> batch(const DeviceFrames& frames, const DeviceSpectra<Real>& spectra,
                          const DeviceReference* reference) const {
    cuda::Batch<Real> out;
    out.frames = frames.data;
    out.type = static_cast<cuda::Element>(frames.type);
    out.frame_pitch = frames.pitch == 0 ? shape_.points() : frames.pitch;
    out.count = static_cast<int>(frames.count);
    out.values = reinterpret_cast<cuda::Complex<Real>*>(spectra.values);
    out.standard_error = spectra.standard_error;
    out.accounts = reinterpret_cast<cuda::DeviceAccount*>(spectra.accounts);
    if (reference != nullptr) {
      const auto& own = static_cast<const Reference<Real>&>(*reference);
      out.reference_samples = own.samples.template as<cuda::Complex<Real>>();
      out.reference_witness = own.witness.template as<Real>();
      out.reference_values = own.values.template as<cuda::Complex<Real>>();
    }
    return out;
  }

  std::unique_ptr<const cuda::Executor<Real>> executor_;
  Shape shape_;
  std::int64_t k_;
  int device_;
  Transfer transfer_;
};

struct DenseKey {
  DenseProblem problem;
  Wisdom::Batch match;
};

/// What to look up for a dense plan. Kernels that have to be compiled first pay for batches, or where they
/// were measured with single frames.
DenseKey dense_key(const TemplateData& data, const PlanOptions& options) {
  DenseProblem problem = make_problem(data.shape, data.real, {.device = options.device});
  problem.batch = options.batch;
  return {problem, options.batch == 1 ? Wisdom::Batch::exact : Wisdom::Batch::nearest};
}

std::vector<std::uint8_t> flags_of(const SupportSet& support) {
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(support.k), 0);
  for (const SupportMember& member : support.members) {
    if (member.conjugate) flags[static_cast<std::size_t>(member.coefficient)] |= cuda::kDistinctConjugate;
  }
  if (support.mean_coefficient >= 0) flags[static_cast<std::size_t>(support.mean_coefficient)] |= cuda::kMean;
  return flags;
}

template <class Real>
std::unique_ptr<const DevicePlan<Real>> sparse_plan(cuda::BinningTables<Real> tables,
                                                    const TemplateData& data, const PlanOptions& options) {
  auto executor = std::make_unique<cuda::SparseExecutor<Real>>(
      std::move(tables), cuda::device_info(options.device), options.batch);
  step_done("tables: executor");
  if (options.compiled_for)
    executor->compile_for(static_cast<cuda::Element>(*options.compiled_for),
                          cuda::device_info(options.device));
  return std::make_unique<OwnPlan<Real>>(std::move(executor), data, options);
}

}  // namespace

template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_device_plan(const CombData& comb, const ErrorTable& errors,
                                                         const WitnessData& witness,
                                                         const SupportSet& support, const TemplateData& data,
                                                         const PlanOptions& options) {
  const cuda::DeviceScope scope(options.device);
  const int side = cuda::dimension_to_halve(comb, cuda::device_info(options.device), options.batch);
  if (side < 0)
    return sparse_plan<Real>({comb, *data.support, flags_of(support), errors, witness}, data, options);
  const HalvedComb half = halved(comb, side);
  step_done("tables: halve");
  return sparse_plan<Real>({half.data, *data.support, flags_of(support), errors, witness, half.tail}, data,
                           options);
}

template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_device_plan(const FlatPlanData& flat, const ErrorTable& errors,
                                                         const WitnessData& witness,
                                                         const SupportSet& support, const TemplateData& data,
                                                         const PlanOptions& options) {
  const cuda::DeviceScope scope(options.device);
  return sparse_plan<Real>({flat, *data.support, flags_of(support), errors, witness}, data, options);
}

template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_direct_device_plan(const SupportSet& support,
                                                                const TemplateData& data,
                                                                const PlanOptions& options) {
  const cuda::DeviceScope scope(options.device);
  return std::make_unique<OwnPlan<Real>>(std::make_unique<cuda::DirectExecutor<Real>>(
                                             data.shape.points(), static_cast<int>(data.k()), data.real,
                                             direct_table(data.shape, *data.support), flags_of(support)),
                                         data, options);
}

template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_dense_device_plan(const SupportSet& support,
                                                               const TemplateData& data,
                                                               const PlanOptions& options) {
  const cuda::DeviceScope scope(options.device);
  const DenseProblem frame = make_problem(data.shape, data.real, {.device = options.device});
  const DenseKey key = dense_key(data, options);
  std::vector<cuda::DensePick> picks;
  for (const DensePick& pick : dense_picks(data)) picks.push_back({pick.at, pick.conjugate});
  return std::make_unique<OwnPlan<Real>>(
      std::make_unique<cuda::DenseExecutor<Real>>(frame, remembered_engines<Real>(key.problem, key.match),
                                                  picks, flags_of(support)),
      data, options);
}

template <class Real>
bool dense_kernels_are_tuned(const TemplateData& data, const PlanOptions& options) {
  const DenseKey key = dense_key(data, options);
  return remembered_engines<Real>(key.problem, key.match).keep != nullptr;
}

SFFT_INSTANTIATE_DEVICE_PLANS(float)
SFFT_INSTANTIATE_DEVICE_PLANS(double)

}  // namespace sfft::detail
