// SPDX-License-Identifier: Apache-2.0
// Frames are waves at 1000 frequencies with a little noise. Their phases differ from frame to frame.
#include "bench/cuda/multi/batches.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/timing.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/dense_slabs.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;
using Value = std::complex<float>;

const Shape kFrame{1080, 1920};

void finish(const std::vector<int>& devices) {
  for (const int device : std::set<int>(devices.begin(), devices.end())) {
    const detail::cuda::DeviceScope scope(device);
    gpu(cudaDeviceSynchronize());
  }
}

/// Times calls in GPU memory. Each call waits for the previous one.
double dense_on_gpus(const std::vector<int>& devices, std::int64_t frames) {
  constexpr int kCalls = 5;
  const dense::SlabPlan<float> plan(kFrame, Domain::real, {.device = Device::gpus(devices), .batch = frames});
  std::vector<DeviceBuffer> memory;
  std::vector<detail::cuda::Queue> own;
  std::vector<const void*> signals;
  std::vector<Value*> spectra;
  std::vector<std::span<std::byte>> workspaces;
  std::vector<CUstream_st*> streams;
  for (std::size_t s = 0; s < plan.signal_slabs().size(); ++s) {
    const detail::cuda::DeviceScope scope(plan.signal_slabs()[s].gpu);
    memory.emplace_back(static_cast<std::size_t>(plan.signal_slabs()[s].points()));
    gpu(cudaMemset(memory.back().data(), 7, memory.back().bytes()));
    signals.push_back(memory.back().data());
    memory.emplace_back(static_cast<std::size_t>(plan.spectrum_slabs()[s].points()) * sizeof(Value));
    spectra.push_back(memory.back().as<Value>());
    memory.emplace_back(plan.device_workspace_bytes(s));
    workspaces.emplace_back(memory.back().data(), memory.back().bytes());
    own.emplace_back();
    streams.push_back(own.back().get());
  }
  return wall_us([&] {
           for (int call = 0; call < kCalls; ++call)
             plan.enqueue_forward(signals, ElementType::u8, spectra, workspaces, streams);
           finish(devices);
         }) /
         kCalls / static_cast<double>(frames);
}

/// Times calls from page-locked memory and back.
double dense_from_host(const std::vector<int>& devices, std::int64_t frames, const std::byte* samples) {
  const dense::Plan<float> plan(kFrame, Domain::real, {.device = Device::gpus(devices), .batch = frames});
  const PinnedBuffer spectra(static_cast<std::size_t>(plan.spectrum_points()) * sizeof(Value));
  return wall_us([&] {
           plan.forward(samples, ElementType::u8,
                        {spectra.as<Value>(), static_cast<std::size_t>(plan.spectrum_points())});
         }) /
         static_cast<double>(frames);
}

double sparse_from_host(const std::vector<int>& devices, std::int64_t frames, const std::byte* samples) {
  const auto points = static_cast<std::size_t>(kFrame.points());
  std::vector<SignalView> views;
  for (std::int64_t f = 0; f < frames; ++f) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(samples) + static_cast<std::size_t>(f) * points;
    views.emplace_back(std::span(first, points), kFrame);
  }
  const Template tmpl = learn(views[0], {.keep = Largest{1000}, .reference = true});
  const Plan<float> plan(
      tmpl, {.device = Device::gpus(devices), .batch = static_cast<int>(frames), .page_locked_frames = true});
  auto workspace = plan.make_workspace();
  std::vector<Spectrum<float>> spectra(views.size(), plan.make_spectrum());
  return wall_us([&] { plan.execute(views, spectra, workspace); }) / static_cast<double>(frames);
}

void draw(std::uint8_t* samples, std::int64_t frames) {
  std::mt19937 generator(9);
  std::uniform_int_distribution<int> noise(-3, 3);
  std::vector<double> rows(static_cast<std::size_t>(kFrame[0] + kFrame[1]));
  for (std::int64_t f = 0; f < frames; ++f) {
    for (double& value : rows) value = 30 * std::sin(static_cast<double>(generator() % 1000));
    const double* columns = rows.data() + kFrame[0];
    for (std::int64_t y = 0; y < kFrame[0]; ++y) {
      for (std::int64_t x = 0; x < kFrame[1]; ++x) {
        const double value = 128 + rows[static_cast<std::size_t>(y / 8 * 8)] + columns[x / 16 * 16];
        *samples++ = static_cast<std::uint8_t>(value + noise(generator));
      }
    }
  }
}

}  // namespace

json time_batches(const std::vector<int>& devices, std::int64_t frames) {
  const PinnedBuffer samples(static_cast<std::size_t>(kFrame.points() * frames));
  draw(samples.as<std::uint8_t>(), frames);
  json row{{"frames", frames}, {"devices", devices}};
  const auto both = [&](const char* name, const auto& measure) {
    const double one = measure(std::vector<int>{devices[0]}), all = measure(devices);
    row[name] = {{"one_us", one}, {"all_us", all}, {"ratio", one / all}};
  };
  both("dense_on_gpus", [&](const std::vector<int>& on) { return dense_on_gpus(on, frames); });
  both("dense_from_host",
       [&](const std::vector<int>& on) { return dense_from_host(on, frames, samples.as<std::byte>()); });
  both("sparse_from_host",
       [&](const std::vector<int>& on) { return sparse_from_host(on, frames, samples.as<std::byte>()); });
  return row;
}

}  // namespace sfft::bench
