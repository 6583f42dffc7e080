// SPDX-License-Identifier: Apache-2.0
// Where learning on the GPU and a quick plan spend their time: medians of every step on the calling thread,
// and the time of learning's kernels alone.
#include <cuda_runtime.h>

#include <optional>

#include "bench/cuda/sparse/groups.hpp"
#include "kernels/cuda/spectrum/frame_fft.hpp"
#include "kernels/cuda/spectrum/largest.hpp"
#include "kernels/cuda/spectrum/shape_extents.hpp"
#include "kernels/runtime/step_trace.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;

constexpr std::int64_t kCoefficients = 1000;
constexpr int kBatch = 128, kTimes = 41;

/// Microseconds of the kernels and copies of learning, replayed as a graph.
json kernels_us(Timer& timer, const Recording& recording, const void* frame) {
  namespace cuda = detail::cuda;
  const cuda::SpectrumExtents extents = cuda::extents_of(recording.shape, true);
  if (!cuda::FrameFft::supports(extents, 0)) return nullptr;
  const cuda::FrameFft fft(extents, 0);
  const cuda::SelectLargest select(extents, kCoefficients);
  const auto points = static_cast<std::size_t>(extents.points());
  const DeviceBuffer spectrum(points * sizeof(std::complex<double>)), power(points * sizeof(double)),
      fft_workspace(fft.workspace_bytes()), workspace(select.workspace_bytes());
  const PinnedBuffer host(select.host_bytes());
  const Work transform = [&](cudaStream_t stream) {
    fft.enqueue(frame, cuda::Element::u8, spectrum.as<std::complex<double>>(), power.as<double>(), 1,
                fft_workspace.data(), stream);
  };
  const Work both = [&](cudaStream_t stream) {
    select.prepare(workspace.data(), host.data(), stream);
    transform(stream);
    select.enqueue(spectrum.as<std::complex<double>>(), power.as<double>(), workspace.data(), host.data(),
                   cuda::SelectLargest::Digits::few, stream);
  };
  return {{"fft", timer.warm(transform, 16).us}, {"fft_and_selection", timer.warm(both, 16).us}};
}

}  // namespace

json time_preparation(Timer& timer, const Recording& recording, double max_samples, int threads) {
  const Shape& shape = recording.shape;
  const DeviceBuffer frames(static_cast<std::size_t>(2 * shape.points()));
  gpu(cudaMemcpy(frames.data(), recording.samples.data(), frames.bytes(), cudaMemcpyHostToDevice));
  const DeviceBuffer values(kCoefficients * 8), errors(kCoefficients * 4), estimates(sizeof(Quality));
  const Plan<float>::DeviceSpectra out{values.as<std::complex<float>>(), errors.as<float>(),
                                       estimates.as<Quality>()};
  detail::StepTrace trace;
  std::optional<Plan<float>> plan;
  std::optional<Workspace> workspace;
  std::vector<std::vector<double>> times;  // one list of times per step
  std::vector<double> totals;
  for (int i = 0; i < kTimes + 3; ++i) {
    workspace.reset();  // the previous stream has returned its memory
    plan.reset();
    trace.start();
    const Template tmpl =
        learn(DeviceView{frames.data(), ElementType::u8, shape}, {.keep = Largest{kCoefficients}});
    trace.add("learn: return");
    plan.emplace(tmpl, PlanOptions{.device = Device::gpu(),
                                   .batch = kBatch,
                                   .max_samples = max_samples > 0 ? std::optional(max_samples) : std::nullopt,
                                   .effort = PlanEffort::quick,
                                   .threads = threads});
    trace.add("plan: return");
    workspace.emplace(plan->make_workspace());
    trace.add("workspace");
    plan->enqueue({frames.data() + shape.points(), ElementType::u8, shape}, out, *workspace, nullptr);
    trace.add("queue the first frame");
    gpu(cudaDeviceSynchronize());
    trace.add("wait for the first frame");
    if (i < 3) continue;
    times.resize(trace.steps().size());
    double total = 0;
    for (std::size_t s = 0; s < times.size(); ++s) {
      times[s].push_back(trace.steps()[s].us);
      total += trace.steps()[s].us;
    }
    totals.push_back(total);
  }
  json row{{"group", "preparation"}, {"name", recording.name}, {"shape", shape.to_string()},
           {"k", kCoefficients},     {"threads", threads},     {"total_us", median(totals)}};
  fmt::print("{} {}, {} threads: {:.0f} us\n", recording.name, shape.to_string(), threads, median(totals));
  for (std::size_t s = 0; s < times.size(); ++s) {
    const char* const name = trace.steps()[s].name;
    row["steps"].push_back({{"name", name}, {"us", median(times[s])}});
    fmt::print("  {:32} {:8.1f} us\n", name, median(times[s]));
  }
  row["learning_kernels_us"] = kernels_us(timer, recording, frames.data());
  fmt::print("  learning's kernels by themselves: {}\n", row["learning_kernels_us"].dump());
  row["plan"] = plan->explain();
  return row;
}

}  // namespace sfft::bench
