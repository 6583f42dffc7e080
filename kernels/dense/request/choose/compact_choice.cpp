// SPDX-License-Identifier: Apache-2.0
// Chooses the engine of a compact plan on a GPU: kernels that read and write stored values or, where there
// are none, conversions around a float engine. For block16, only lines have such kernels.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/cpu/stored_values.hpp"
#include "kernels/dense/request/choose/selection.hpp"
#include "kernels/dense/request/device/runners.hpp"
#include "kernels/dense/tuned/search/timing.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

namespace {

using dense::Engine;
using Planning = dense::Options::Planning;
using dense::Storage;

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

/// Kernels that read and write stored values.
std::unique_ptr<const Runner<CompactCall>> direct(const CompactRequest& request, const std::string& kernel,
                                                  bool measure) {
  return make_compact_runner(
      request, make_compact_engine(request.dense.problem, request.formats, kernel, measure), request.formats);
}

Choice<CompactCall> converting(const CompactRequest& request, const std::string& why) {
  Choice<FullCall> choice = choose_on_gpu<float>(request.dense);
  return {make_compact_runner(request, std::move(choice.runner)), choice.engine, why + choice.reason};
}

/// Microseconds of a forward transform of the batch in device memory.
double measured_us(const Runner<CompactCall>& runner, const CompactRequest& request) {
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
  CompactCall call;
  call.from = signals.data();
  call.to = spectra.data();
  call.workspace = workspace.data();
  return device_us(
      [&](cuda::Stream s) {
        call.stream = s;
        runner.enqueue(call);
      },
      stream.get());
}

Choice<CompactCall> fastest(const CompactRequest& request, const WisdomPlatform& platform,
                            const WisdomProblem& key, const std::string& kernel) {
  Selection<CompactCall> selection;
  Choice<CompactCall> floats = converting(request, "");
  const Engine engine = floats.engine;
  const auto measure = [&](const Runner<CompactCall>& runner) { return measured_us(runner, request); };
  selection.enter(
      engine, "conversions", [&] { return std::move(floats.runner); }, measure);
  selection.enter(
      Engine::tuned, "tuned", [&] { return direct(request, kernel, true); }, measure);
  return selection.winner([&](const WisdomEntry& entry) { Wisdom::global().add(platform, key, entry); });
}

}  // namespace

Choice<CompactCall> choose_compact_on_gpu(const CompactRequest& request) {
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
  if (engine == Engine::tuned) return {direct(request, kernel, measure), engine, "the engine was requested"};
  if (engine == Engine::automatic && measure) return fastest(request, platform, key, kernel);
  if (engine == Engine::automatic && !converted) {
    try {
      auto kernels = make_compact_engine(request.dense.problem, request.formats, kernel, false);
      std::string reason = known ? fmt::format("wisdom: fastest when measured, {:.4g} us", known->us)
                                 : "kernels that read and write what is stored move fewest bytes";
      if (const std::string note = kernels->note(); !note.empty()) reason += "; " + note;
      return {make_compact_runner(request, std::move(kernels), request.formats), Engine::tuned,
              std::move(reason)};
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
    try {
      if (request.dense.problem.real && request.formats.spectrum == Storage::block16) {
        // The rows of half spectra begin within blocks.
        CompactFormats formats = request.formats;
        formats.spectrum = Storage::f32;
        return {make_compact_runner(
                    request, make_compact_engine(request.dense.problem, formats, kernel, false), formats),
                Engine::tuned, "kernels that read and write what is stored, and half spectra as floats"};
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
  }
  return converting(request, "float engine between conversions: ");
}

}  // namespace sfft::detail
