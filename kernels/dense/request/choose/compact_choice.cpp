// SPDX-License-Identifier: Apache-2.0
// Compact transforms on a GPU. Either kernels read and write stored values, or a float plan runs between two
// conversions. For block16, only lines have such kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/cpu/stored_values.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/request/choose/selection.hpp"
#include "kernels/dense/request/compact_runner.hpp"
#include "kernels/dense/tuned/search/timing.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

namespace {

using dense::Engine;
using Planning = dense::Options::Planning;
using dense::Storage;

/// The name in wisdom for a float plan between two conversions.
constexpr const char* kConverted = "converted";

/// If the caller wants exponents, writes those of the results; first finds those of the inputs if the formats
/// say so.
class CompactGpuRunner : public CompactRunner {
 public:
  explicit CompactGpuRunner(const CompactRequest& request)
      : request_(request), problem_(request.dense.problem) {
    const CompactFormats& formats = request.formats;
    if (formats.signal_found || formats.spectrum_found)
      found_bytes_ = cuda::aligned(static_cast<std::size_t>(problem_.batch) * sizeof(int));
  }

  std::size_t workspace_bytes() const noexcept override { return 0; }
  void run(Direction, const void*, const dense::CompactScale*, void*, dense::CompactScale*,
           std::byte*) const override {
    throw Error(ErrorCode::backend_unavailable,
                "compact plans on a GPU take arrays in its memory: call enqueue_forward() or "
                "enqueue_inverse()");
  }
  std::size_t device_workspace_bytes() const noexcept override { return found_bytes_ + own_bytes(); }
  void enqueue(Direction direction, const void* from, void* to, const CompactExponents& exponents,
               std::byte* workspace, CUstream_st* stream) const override {
    const cuda::DeviceScope scope(problem_.device);
    const bool finds = request_.formats.source_found(direction) && exponents.output != nullptr;
    int* const found = finds ? reinterpret_cast<int*>(workspace) : nullptr;
    transform(direction, from, to, found, workspace + found_bytes_, stream);
    if (exponents.output == nullptr) return;
    cuda::launch_add_exponents(exponents.input, found, exponent_of(request_, direction), problem_.batch,
                               exponents.output, stream);
  }
  bool on_gpu() const noexcept override { return true; }
  virtual std::string kernel() const = 0;  ///< for wisdom

 protected:
  virtual std::size_t own_bytes() const noexcept = 0;  ///< workspace bytes of the derived runner
  /// `found`: null, or receives the exponents by which the input was divided.
  virtual void transform(Direction direction, const void* from, void* to, int* found, std::byte* workspace,
                         CUstream_st* stream) const = 0;
  /// Finds the exponents of values that are not f16, and stores the scaled values. May be in place.
  void normalize(Direction direction, Storage storage, const void* from, int* found, void* to,
                 CUstream_st* stream) const {
    const std::int64_t parts = source_parts(problem_, direction);
    cuda::launch_find_exponents(from, storage, problem_.batch, parts,
                                request_.formats.needs_exponents(direction), found, stream);
    cuda::launch_normalize(from, storage, problem_.batch, parts, found, to, stream);
  }

  CompactRequest request_;
  DenseProblem problem_;

 private:
  std::size_t found_bytes_ = 0;
};

/// Runs kernels of the tuned engine.
class DirectRunner final : public CompactGpuRunner {
 public:
  DirectRunner(const CompactRequest& request, const std::string& kernel, bool measure)
      : CompactGpuRunner(request),
        engine_(make_compact_engine(request.dense.problem, request.formats, kernel, measure)) {
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      if (!request.formats.source_found(direction)) continue;
      const std::size_t own =
          storage_bytes(request.formats.source(direction), source_parts(problem_, direction));
      copy_bytes_ = std::max(copy_bytes_, cuda::aligned(static_cast<std::size_t>(problem_.batch) * own));
    }
  }

  int handovers(Direction direction) const noexcept override { return engine_->handovers(direction); }
  double kernel_error() const noexcept override { return engine_->kernel_error(); }
  std::string name() const override { return engine_->name(); }
  std::string kernel() const override { return engine_->kernel(); }
  std::string note() const { return engine_->note(); }

 private:
  std::size_t own_bytes() const noexcept override { return copy_bytes_ + engine_->workspace_bytes(); }
  void transform(Direction direction, const void* from, void* to, int* found, std::byte* workspace,
                 CUstream_st* stream) const override {
    const DenseScales& scales = request_.dense.scales;
    const double factor = direction == Direction::forward ? scales.forward : scales.inverse;
    if (found != nullptr)
      normalize(direction, request_.formats.source(direction), from, found, workspace, stream);
    engine_->run(direction, found == nullptr ? from : workspace, to,
                 std::ldexp(factor, -exponent_of(request_, direction)), workspace + copy_bytes_, stream);
  }

  std::unique_ptr<const GpuCompactEngine> engine_;
  std::size_t copy_bytes_ = 0;  ///< for an input with its exponents removed
};

CompactFormats with_float_spectra(CompactFormats formats) {
  formats.spectrum = Storage::f32;
  return formats;
}

/// Runs tuned kernels between stored signals and floats, which are then converted to block16. It serves half
/// spectra of real signals, whose rows begin within blocks.
class HalfConvertingRunner final : public CompactGpuRunner {
 public:
  HalfConvertingRunner(const CompactRequest& request, const std::string& kernel)
      : CompactGpuRunner(request),
        engine_(
            make_compact_engine(request.dense.problem, with_float_spectra(request.formats), kernel, false)),
        parts_(target_parts(problem_, Direction::forward)),
        spectrum_bytes_(cuda::aligned(static_cast<std::size_t>(problem_.batch * parts_) * sizeof(float))) {}

  int handovers(Direction direction) const noexcept override { return engine_->handovers(direction); }
  std::string name() const override { return engine_->name() + ", spectra converted"; }
  std::string kernel() const override { return engine_->kernel(); }

 private:
  std::size_t own_bytes() const noexcept override {
    const std::size_t signals =
        request_.formats.signal_found
            ? static_cast<std::size_t>(problem_.batch) *
                  storage_bytes(request_.formats.signal, source_parts(problem_, Direction::forward))
            : 0;
    return spectrum_bytes_ + cuda::aligned(signals) + engine_->workspace_bytes();
  }
  void transform(Direction direction, const void* from, void* to, int* found, std::byte* workspace,
                 CUstream_st* stream) const override {
    const DenseScales& scales = request_.dense.scales;
    const double scale = std::ldexp(direction == Direction::forward ? scales.forward : scales.inverse,
                                    -exponent_of(request_, direction));
    auto* const spectra = reinterpret_cast<float*>(workspace);
    std::byte *const signals = workspace + spectrum_bytes_, *const rest = workspace + own_bytes() -
                                                                          engine_->workspace_bytes();
    if (direction == Direction::forward) {
      if (found != nullptr) normalize(direction, request_.formats.signal, from, found, signals, stream);
      engine_->run(direction, found == nullptr ? from : signals, spectra, scale, rest, stream);
      return cuda::launch_narrow_blocks(spectra, problem_.batch, parts_, 1, to, stream);
    }
    cuda::launch_widen_blocks(from, problem_.batch, parts_, spectra, stream);
    if (found != nullptr) normalize(direction, Storage::f32, spectra, found, spectra, stream);
    engine_->run(direction, spectra, to, scale, rest, stream);
  }

  std::unique_ptr<const GpuCompactEngine> engine_;
  std::int64_t parts_;
  std::size_t spectrum_bytes_;
};

/// Runs any float engine.
class ConvertingRunner final : public CompactGpuRunner {
 public:
  ConvertingRunner(const CompactRequest& request, std::unique_ptr<const DenseRunner<float>> floats)
      : CompactGpuRunner(request), floats_(std::move(floats)) {
    signal_bytes_ = problem_.real ? bytes_of(source_parts(problem_, Direction::forward)) : 0;
    spectrum_bytes_ = bytes_of(target_parts(problem_, Direction::forward));
  }

  int handovers(Direction) const noexcept override { return 0; }
  std::string name() const override { return floats_->name() + ", between conversions"; }
  std::string kernel() const override { return kConverted; }

 private:
  std::size_t own_bytes() const noexcept override {
    return signal_bytes_ + spectrum_bytes_ + floats_->device_workspace_bytes();
  }
  void transform(Direction direction, const void* from, void* to, int* found, std::byte* workspace,
                 CUstream_st* stream) const override {
    const bool forward = direction == Direction::forward;
    auto* const spectra = reinterpret_cast<std::complex<float>*>(workspace + signal_bytes_);
    // Complex transforms work in place.
    auto* const signals = reinterpret_cast<float*>(workspace + (problem_.real ? 0 : signal_bytes_));
    std::byte* const rest = workspace + signal_bytes_ + spectrum_bytes_;
    auto* const read = forward ? signals : reinterpret_cast<float*>(spectra);
    auto* const written = forward ? reinterpret_cast<float*>(spectra) : signals;
    widen(from, request_.formats.source(direction), source_parts(problem_, direction), read, stream);
    if (found != nullptr) normalize(direction, Storage::f32, read, found, read, stream);
    forward ? floats_->enqueue_forward(signals, own_type<float>(problem_), spectra, rest, stream)
            : floats_->enqueue_inverse(spectra, signals, rest, stream);
    const float factor = std::ldexp(1.0f, -exponent_of(request_, direction));
    narrow(written, target_parts(problem_, direction), factor, request_.formats.target(direction), to,
           stream);
  }
  /// Converts `parts` values of each transform.
  void widen(const void* from, Storage storage, std::int64_t parts, float* to, CUstream_st* stream) const {
    if (storage == Storage::block16)
      return cuda::launch_widen_blocks(from, problem_.batch, parts, to, stream);
    cuda::launch_widen(from, storage, problem_.batch * parts, to, stream);
  }
  void narrow(const float* from, std::int64_t parts, float factor, Storage storage, void* to,
              CUstream_st* stream) const {
    if (storage == Storage::block16)
      return cuda::launch_narrow_blocks(from, problem_.batch, parts, factor, to, stream);
    cuda::launch_narrow(from, problem_.batch * parts, factor, storage, to, stream);
  }

  std::size_t bytes_of(std::int64_t parts) const {
    return cuda::aligned(static_cast<std::size_t>(problem_.batch * parts) * sizeof(float));
  }

  std::unique_ptr<const DenseRunner<float>> floats_;
  std::size_t signal_bytes_ = 0, spectrum_bytes_ = 0;
};

WisdomProblem key_of(const CompactRequest& request, const CompactFormats& formats) {
  WisdomProblem key = wisdom_problem<float>(request.dense.problem);
  key.transform += fmt::format(" stored {} {} {}", to_string(formats.signal), to_string(formats.spectrum),
                               to_string(formats.between));
  return key;
}

/// The kernels that wisdom names for the same transform of f16 or bf16 values; empty if there are none. They
/// also serve other formats, unless they multiply f16 numbers.
std::string kernel_for_other_formats(const WisdomPlatform& platform, const CompactRequest& request) {
  const bool narrow = is_16_bit(request.formats.between);
  for (const Storage stored : {Storage::f16, Storage::bf16}) {
    for (const Storage between : {narrow ? stored : Storage::f32, narrow ? Storage::f32 : stored}) {
      const auto known = Wisdom::global().find(platform, key_of(request, {stored, stored, between}));
      if (known && known->engine == dense::to_string(Engine::tuned) && known->kernel != kConverted &&
          !multiplies_f16(known->kernel))
        return known->kernel;
    }
  }
  return "";
}

CompactChoice converting(const CompactRequest& request, const std::string& why) {
  DenseChoice<float> choice = choose_on_gpu<float>(request.dense);
  return {std::make_unique<const ConvertingRunner>(request, std::move(choice.runner)), choice.engine,
          why + choice.reason};
}

/// Microseconds of a forward transform of the batch in device memory.
double measured_us(const CompactRunner& runner, const CompactRequest& request) {
  const DenseProblem& problem = request.dense.problem;
  const std::int64_t source = problem.batch * source_parts(problem, Direction::forward),
                     target = problem.batch * target_parts(problem, Direction::forward);
  const cuda::DeviceBuffer signals(static_cast<std::size_t>(source) * sizeof(float)),
      spectra(static_cast<std::size_t>(target) * sizeof(float)), workspace(runner.device_workspace_bytes());
  const cuda::Queue stream;
  fill_for_timing<float>(spectra, stream.get());
  const std::int64_t count = std::min(source, target) / problem.batch;
  if (request.formats.signal == Storage::block16) {
    cuda::launch_narrow_blocks(spectra.as<float>(), problem.batch, count, 1, signals.data(), stream.get());
  } else {
    cuda::launch_narrow(spectra.as<float>(), problem.batch * count, 1, request.formats.signal, signals.data(),
                        stream.get());
  }
  return device_us(
      [&](cuda::Stream s) {
        runner.enqueue(Direction::forward, signals.data(), spectra.data(), {}, workspace.data(), s);
      },
      stream.get());
}

CompactChoice fastest(const CompactRequest& request, const WisdomPlatform& platform, const WisdomProblem& key,
                      const std::string& kernel) {
  Selection<CompactChoice> selection;
  CompactChoice floats = converting(request, "");
  const Engine engine = floats.engine;
  const auto measure = [&](const CompactRunner& runner) { return measured_us(runner, request); };
  selection.enter(
      engine, "conversions", [&] { return std::move(floats.runner); }, measure);
  selection.enter(
      Engine::tuned, "tuned",
      [&]() -> std::unique_ptr<const CompactRunner> {
        return std::make_unique<const DirectRunner>(request, kernel, true);
      },
      measure);
  return selection.winner(
      [](const CompactRunner& runner) { return static_cast<const CompactGpuRunner&>(runner).kernel(); },
      [&](const WisdomEntry& entry) { Wisdom::global().add(platform, key, entry); });
}

}  // namespace

CompactChoice choose_compact_on_gpu(const CompactRequest& request) {
  const int device = request.dense.problem.device;
  static_cast<void>(cuda::device_info(device));  // throws if there is none
  const cuda::DeviceScope scope(device);
  const WisdomPlatform platform = gpu_platform(device);
  const WisdomProblem key = key_of(request, request.formats);
  const Engine engine = request.dense.options.engine;
  const bool measure = request.dense.options.planning == Planning::measure;
  const std::optional<WisdomEntry> known =
      Wisdom::global().find(platform, key, measure ? Wisdom::Batch::exact : Wisdom::Batch::nearest);
  const bool converted = known && known->kernel == kConverted;
  std::string kernel = known && !converted ? known->kernel : "";
  if (kernel.empty() && !measure) kernel = kernel_for_other_formats(platform, request);
  if (engine == Engine::tuned)
    return {std::make_unique<const DirectRunner>(request, kernel, measure), engine,
            "the engine was requested"};
  if (engine == Engine::automatic && measure) return fastest(request, platform, key, kernel);
  if (engine == Engine::automatic && !converted) {
    try {
      auto runner = std::make_unique<const DirectRunner>(request, kernel, false);
      std::string reason = known ? fmt::format("wisdom: fastest when measured, {:.4g} us", known->us)
                                 : "kernels that read and write what is stored move fewest bytes";
      if (const std::string note = runner->note(); !note.empty()) reason += "; " + note;
      return {std::move(runner), Engine::tuned, std::move(reason)};
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
    try {
      if (request.dense.problem.real && request.formats.spectrum == Storage::block16)
        return {std::make_unique<const HalfConvertingRunner>(request, kernel), Engine::tuned,
                "kernels that read and write what is stored, and half spectra as floats"};
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
  }
  return converting(request, "float engine between conversions: ");
}

}  // namespace sfft::detail
