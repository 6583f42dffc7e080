// SPDX-License-Identifier: Apache-2.0
// Binds an executor of kernels/cuda to a plan: uploads the reference, launches on frames in device memory,
// and sends frames in host memory through the ring.
#include "sfft/plan/plan_executor.hpp"

#include <algorithm>
#include <type_traits>

#include "kernels/base/tables/direct_table.hpp"
#include "kernels/base/tables/halved_comb.hpp"
#include "kernels/cuda/executors/exact.hpp"
#include "kernels/cuda/executors/sparse_executor.hpp"
#include "kernels/cuda/stages/pack.hpp"
#include "kernels/cuda/stages/samples.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/request/choose/gpu_choice.hpp"
#include "kernels/runtime/step_trace.hpp"
#include "sfft/error.hpp"
#include "sfft/plan/dense_path.hpp"
#include "sfft/plan/device_dense_path.hpp"
#include "sfft/plan/host_frames.hpp"
#include "sfft/plan/host_ring.hpp"

namespace sfft::detail {

static_assert(static_cast<int>(cuda::Element::c128) == static_cast<int>(ElementType::c128));
static_assert(sizeof(Quality) == sizeof(cuda::DeviceErrors));
static_assert(sizeof(std::complex<float>) == sizeof(cuda::Complex<float>));

namespace {

template <class Real>
struct GpuWorkspace final : PlanWorkspace {
  std::unique_ptr<cuda::State> state;
  std::unique_ptr<HostRing<Real>> ring;  ///< made by the first execute() on host memory
  int frames = 1;
  int device = 0;

  std::size_t device_bytes() const noexcept override {
    return state->scratch.bytes() + (ring ? ring->bytes() : 0);
  }
};

template <class Real>
class GpuExecutor final : public PlanExecutor<Real> {
 public:
  GpuExecutor(std::unique_ptr<const cuda::Executor<Real>> executor, const TemplateData& data,
              const PlanOptions& options)
      : executor_(std::move(executor)),
        shape_(data.shape),
        k_(data.k()),
        device_(options.device.gpu_number()),
        transfer_(options.transfer),
        batch_(static_cast<std::size_t>(std::max(1, options.batch))) {}

  Backend backend() const noexcept override { return Backend::cuda; }
  std::string describe() const override {
    return cuda::device_info(device_).name + ", " + executor_->describe();
  }
  bool takes_reference() const noexcept override { return executor_->taps() > 0; }

  std::shared_ptr<const PlanReference> make_reference(const SignalView& frame,
                                                      std::span<const std::complex<double>> coefficients,
                                                      double error) const override {
    const cuda::DeviceScope scope(device_);
    const cuda::Stream stream = nullptr;
    const std::int64_t parts = is_complex(frame.type()) ? 2 : 1, last = executor_->witness_samples();
    auto reference = std::make_shared<ReferenceMemory<Real>>(
        executor_->reference_points(), std::max<std::int64_t>(kWitnessReals, parts * last), k_, error);
    const auto type = static_cast<cuda::Element>(frame.type());
    const void* const managed = cuda::managed_address(frame.data());
    const void* there = managed != nullptr ? managed : cuda::mapped_address(frame.data());
    if (reinterpret_cast<std::uintptr_t>(frame.data()) % element_bytes(frame.type()) != 0) there = nullptr;
    std::vector<cuda::Complex<Real>> samples;
    std::vector<Real> witness;
    // The kernels read only the first block of a witness.
    if (there != nullptr && parts * last <= kWitnessReals) {
      executor_->read_reference(there, type, reference->samples(), reference->witness(), stream);
    } else {
      const auto& indices = executor_->sample_indices();
      samples = cuda::reference_samples<Real>(frame.data(), type, indices, executor_->taps(), last);
      witness = cuda::reference_witness<Real>(frame.data(), type, indices, last);
      copy(samples, reference->samples(), stream);
      copy(witness, reference->witness(), stream);
    }
    const std::vector<std::complex<Real>> values(coefficients.begin(), coefficients.end());
    copy(values, reference->values(), stream);
    cuda::synchronize(stream);
    return reference;
  }

  std::unique_ptr<PlanWorkspace> make_workspace(int frames, int /*threads*/) const override {
    const cuda::DeviceScope scope(device_);
    auto workspace = std::make_unique<GpuWorkspace<Real>>();
    workspace->frames = frames;
    workspace->device = device_;
    workspace->state = executor_->make_state(frames);
    return workspace;
  }

  std::unique_ptr<PlanWorkspace> refit(std::unique_ptr<PlanWorkspace> old, int frames,
                                       int threads) const override {
    auto* const own = dynamic_cast<GpuWorkspace<Real>*>(old.get());
    if (own == nullptr || own->device != device_) {
      old.reset();
      return make_workspace(frames, threads);
    }
    const cuda::DeviceScope scope(device_);
    if (own->ring && own->ring->coefficients() != k_) own->ring.reset();
    if (own->frames != frames || !executor_->takes(*own->state, frames)) {
      own->state.reset();
      own->state = executor_->make_state(frames);
      own->frames = frames;
    }
    return old;
  }

  void enqueue(const DeviceFrames& frames, const typename Plan<Real>::DeviceSpectra& spectra,
               const PlanReference* reference, PlanWorkspace& workspace, CUstream_st* stream) const override {
    const cuda::DeviceScope scope(device_);
    executor_->enqueue(make_batch<Real>(frames, spectra, reference, shape_.points()),
                       *static_cast<GpuWorkspace<Real>&>(workspace).state, stream);
  }

  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
               const PlanReference* reference, PlanWorkspace& workspace,
               cpu::ThreadPool* pool) const override {
    with_host_frames(reference, workspace, pool,
                     [&](HostFrames<Real> host) { host.execute(frames, spectra); });
  }

  std::size_t part_ahead() const noexcept override {
    return executor_->sample_indices().empty() ? 0 : part_of_stream(batch_);
  }
  std::size_t submit(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                     const PlanReference* reference, PlanWorkspace& workspace,
                     cpu::ThreadPool* pool) const override {
    std::size_t begun = 0;
    with_host_frames(reference, workspace, pool, [&](HostFrames<Real> host) {
      begun = host.submit(frames, spectra, std::max<std::size_t>(1, part_ahead()));
    });
    return begun;
  }
  std::size_t resubmit(const Spectrum<Real>& first, const PlanReference* reference,
                       PlanWorkspace& workspace) const override {
    std::size_t count = 0;
    with_host_frames(reference, workspace, nullptr,
                     [&](HostFrames<Real> host) { count = host.resubmit(first); });
    return count;
  }
  bool ready(PlanWorkspace& workspace) const override {
    const auto& own = static_cast<const GpuWorkspace<Real>&>(workspace);
    return own.ring && own.ring->ready();
  }
  std::size_t wait(PlanWorkspace& workspace) const override {
    const cuda::DeviceScope scope(device_);
    auto& own = static_cast<GpuWorkspace<Real>&>(workspace);
    return own.ring ? own.ring->await_some() : 0;
  }
  void cancel(PlanWorkspace& workspace) const noexcept override {
    auto& own = static_cast<GpuWorkspace<Real>&>(workspace);
    if (own.ring) own.ring->abandon();
  }

 private:
  template <class T>
  static void copy(const std::vector<T>& values, void* device, cuda::Stream stream) {
    if (!values.empty()) cuda::copy_to_device(device, values.data(), values.size() * sizeof(T), stream);
  }

  template <class Action>
  void with_host_frames(const PlanReference* reference, PlanWorkspace& workspace, cpu::ThreadPool* pool,
                        const Action& action) const {
    const cuda::DeviceScope scope(device_);
    auto& own = static_cast<GpuWorkspace<Real>&>(workspace);
    if (!own.ring) own.ring = std::make_unique<HostRing<Real>>(k_);
    action(HostFrames<Real>(*executor_, shape_, transfer_, *own.ring,
                            {*own.state, own.frames, reference, pool}));
  }

  std::unique_ptr<const cuda::Executor<Real>> executor_;
  Shape shape_;
  std::int64_t k_;
  int device_;
  PlanOptions::Transfer transfer_;
  std::size_t batch_;  ///< frames per call
};

struct DenseKey {
  DenseProblem problem;
  Wisdom::Batch match;
};

/// The key that looks up the engine of a dense plan. Kernels that have to be compiled first pay off only for
/// batches, or where they were measured with single frames.
DenseKey dense_key(const TemplateData& data, const PlanOptions& options) {
  DenseProblem problem =
      make_problem(data.shape, data.real, {.device = Device::gpu(options.device.gpu_number())});
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

/// Frames per launch: a call with frames in page-locked memory is cut into parts.
int frames_of_launch(const PlanOptions& options) {
  if (!options.page_locked_frames) return options.batch;
  return static_cast<int>(part_of_call(static_cast<std::size_t>(options.batch)));
}

template <class Real>
std::unique_ptr<const PlanExecutor<Real>> sparse_plan(cuda::BinningTables<Real> tables,
                                                      const TemplateData& data, const PlanOptions& options) {
  auto executor = std::make_unique<cuda::SparseExecutor<Real>>(
      std::move(tables), cuda::device_info(options.device.gpu_number()), frames_of_launch(options));
  step_done("tables: executor");
  if (options.compiled_for)
    executor->compile_for(static_cast<cuda::Element>(*options.compiled_for),
                          cuda::device_info(options.device.gpu_number()));
  return std::make_unique<GpuExecutor<Real>>(std::move(executor), data, options);
}

/// Transforms a frame in double and rounds its spectrum.
class RoundedEngine final : public GpuDenseEngine<float> {
 public:
  RoundedEngine(std::unique_ptr<const GpuDenseEngine<double>> engine, std::int64_t points)
      : engine_(std::move(engine)), points_(points), spectrum_(cuda::aligned(engine_->workspace_bytes())) {}

  std::size_t workspace_bytes() const noexcept override {
    return spectrum_ + static_cast<std::size_t>(points_) * sizeof(std::complex<double>);
  }
  bool reads(ElementType type) const noexcept override { return engine_->reads(type); }
  bool writes_strides() const noexcept override { return engine_->writes_strides(); }
  void forward(const void* signals, ElementType type, std::complex<float>* spectra, float scale,
               std::byte* workspace, CUstream_st* stream) const override {
    auto* const spectrum = reinterpret_cast<std::complex<double>*>(workspace + spectrum_);
    engine_->forward(signals, type, spectrum, scale, workspace, stream);
    cuda::launch_copy(cuda::copy_rows(1, points_, points_, points_), spectrum, cuda::Element::c128, spectra,
                      cuda::Element::c64, 1, stream);
  }
  void inverse(const std::complex<float>*, void*, float, std::byte*, CUstream_st*) const override {
    throw Error(ErrorCode::backend_unavailable, "this engine transforms forward only: use another one");
  }
  std::string name() const override { return engine_->name(); }

 private:
  std::unique_ptr<const GpuDenseEngine<double>> engine_;
  std::int64_t points_;
  std::size_t spectrum_;  ///< offset in the workspace
};

/// Makes an engine that takes no time to create if one supports the frames, else one of `others`.
template <class Real>
cuda::DenseEngines<Real> quick_engines(cuda::DenseEngines<Real> others) {
  others.make = [make = others.make](DenseProblem frame) -> std::unique_ptr<const GpuDenseEngine<Real>> {
    frame.forward_only = true;
    auto engine = make_frame_engine(frame, 1);
    if (engine == nullptr) return make(frame);
    if constexpr (std::is_same_v<Real, double>) {
      return engine;
    } else {
      return std::make_unique<const RoundedEngine>(std::move(engine), frame.spectrum_points());
    }
  };
  others.name += ", or one without preparation";
  return others;
}

template <class Real>
class GpuExecutors final : public ExecutorMaker<Real> {
 public:
  using typename ExecutorMaker<Real>::Made;

  Made comb(const CombData& comb, const PlanTables& tables) const override {
    const auto& [errors, witness, support, data, options] = tables;
    const cuda::DeviceScope scope(options.device.gpu_number());
    // A witness of several blocks uses staged kernels, which gain nothing from halving.
    const int side = witness.blocks() > 1
                         ? -1
                         : cuda::dimension_to_halve(comb, cuda::device_info(options.device.gpu_number()),
                                                    frames_of_launch(options));
    if (side < 0)
      return sparse_plan<Real>({comb, *data.support, flags_of(support), errors, witness}, data, options);
    const HalvedComb half = halved(comb, side);
    step_done("tables: halve");
    return sparse_plan<Real>({half.data, *data.support, flags_of(support), errors, witness, half.tail}, data,
                             options);
  }

  Made flat(const FlatPlanData& flat, const PlanTables& tables) const override {
    const auto& [errors, witness, support, data, options] = tables;
    const cuda::DeviceScope scope(options.device.gpu_number());
    return sparse_plan<Real>({flat, *data.support, flags_of(support), errors, witness}, data, options);
  }

  Made direct(const PlanTables& tables) const override {
    const TemplateData& data = tables.data;
    const cuda::DeviceScope scope(tables.options.device.gpu_number());
    return std::make_unique<GpuExecutor<Real>>(
        std::make_unique<cuda::DirectExecutor<Real>>(data.shape.points(), static_cast<int>(data.k()),
                                                     data.real, direct_table(data.shape, *data.support),
                                                     flags_of(tables.support)),
        data, tables.options);
  }

  Made dense(const PlanTables& tables) const override {
    const TemplateData& data = tables.data;
    const PlanOptions& options = tables.options;
    const cuda::DeviceScope scope(options.device.gpu_number());
    const DenseProblem frame =
        make_problem(data.shape, data.real, {.device = Device::gpu(options.device.gpu_number())});
    const DenseKey key = dense_key(data, options);
    std::vector<cuda::DensePick> picks;
    for (const DensePick& pick : dense_picks(data)) picks.push_back({pick.at, pick.conjugate});
    cuda::DenseEngines<Real> engines = remembered_engines<Real>(key.problem, key.match);
    if (options.path == Path::dense && options.effort == PlanEffort::quick && options.batch == 1)
      engines = quick_engines<Real>(std::move(engines));
    return std::make_unique<GpuExecutor<Real>>(
        std::make_unique<cuda::DenseExecutor<Real>>(frame, std::move(engines), picks,
                                                    flags_of(tables.support)),
        data, options);
  }
};

}  // namespace

template <class Real>
const ExecutorMaker<Real>& gpu_executors() {
  static const GpuExecutors<Real> makers;
  return makers;
}

template <class Real>
bool dense_kernels_are_tuned(const TemplateData& data, const PlanOptions& options) {
  const DenseKey key = dense_key(data, options);
  return remembered_engines<Real>(key.problem, key.match).keep != nullptr;
}

template const ExecutorMaker<float>& gpu_executors();
template const ExecutorMaker<double>& gpu_executors();
template bool dense_kernels_are_tuned<float>(const TemplateData&, const PlanOptions&);
template bool dense_kernels_are_tuned<double>(const TemplateData&, const PlanOptions&);

}  // namespace sfft::detail
