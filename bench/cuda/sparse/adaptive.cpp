// SPDX-License-Identifier: Apache-2.0
// Learns once on the GPU and transforms chunks of frames with one plan, and compares with batched cuFFT on
// the same frames. The break-even number of frames follows from the times per frame and the preparation of
// both.
#include <cuda_runtime.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "bench/break_even.hpp"
#include "bench/cuda/device_signals.hpp"
#include "bench/cuda/peers.hpp"
#include "bench/cuda/sparse/groups.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;

constexpr std::int64_t kChunk = 128;

/// Until the GPU has done the work.
double device_seconds(const std::function<void()>& work) {
  return seconds_of([&] {
    work();
    gpu(cudaDeviceSynchronize());
  });
}

/// Median of five runs.
double median_device_seconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) times.push_back(device_seconds(work));
  return median(times);
}

/// The preparation times for a stream, one entry per repetition.
struct Preparation {
  std::vector<double> learn_s, plan_s;
};

/// Calls `enqueue` for frames [first, last) in chunks.
template <class Enqueue>
void in_chunks(std::int64_t first, std::int64_t last, const Enqueue& enqueue) {
  for (; first < last; first += kChunk) enqueue(first, std::min(kChunk, last - first));
}

}  // namespace

json time_adaptive(const Recording& recording, double max_samples, int threads) {
  const Shape& shape = recording.shape;
  const std::int64_t points = shape.points(), total = recording.frames();
  const DeviceBuffer frames(recording.samples.size());
  gpu(cudaMemcpy(frames.data(), recording.samples.data(), recording.samples.size(), cudaMemcpyHostToDevice));
  const DeviceBuffer values(kChunk * 1000 * 8), errors(kChunk * 1000 * 4),
      estimates(kChunk * sizeof(Quality));
  const Plan<float>::DeviceSpectra out{values.as<std::complex<float>>(), errors.as<float>(),
                                       estimates.as<Quality>()};

  Preparation preparation;
  // Earlier plans are kept, so that no time includes a destructor.
  std::deque<Plan<float>> plans;
  std::deque<Workspace> workspaces;
  const auto transform = [&](std::int64_t last) {
    in_chunks(1, last, [&](std::int64_t at, std::int64_t count) {
      plans.back().enqueue({frames.data() + at * points, ElementType::u8, shape, count}, out,
                           workspaces.back(), nullptr);
    });
    gpu(cudaDeviceSynchronize());
  };
  const auto sparse = [&](std::int64_t last) {
    const Template tmpl =
        learn(DeviceView{frames.data(), recording.frame(0).type(), shape}, {.keep = Largest{1000}});
    const auto learned = std::chrono::steady_clock::now();
    plans.emplace_back(tmpl,
                       PlanOptions{.device = Device::gpu(),
                                   .batch = static_cast<int>(kChunk),
                                   .max_samples = max_samples > 0 ? std::optional(max_samples) : std::nullopt,
                                   .effort = PlanEffort::quick,
                                   .threads = threads});
    workspaces.push_back(plans.back().make_workspace());
    preparation.learn_s.push_back(tmpl.learn_seconds());
    preparation.plan_s.push_back(seconds_since(learned));
    transform(last);
  };
  const DeviceBuffer floats(static_cast<std::size_t>(kChunk * points) * 4);
  // The first run absorbs one-time costs of the process.
  const PeerProblem problem{{shape[0], shape[1]}, true, kChunk};
  std::unique_ptr<Peer> peer;
  const double first_use_s = device_seconds([&] { peer = make_cufft(problem); });
  std::vector<double> cufft_plan_times;
  for (int i = 0; i < 5; ++i) {
    peer.reset();
    cufft_plan_times.push_back(device_seconds([&] { peer = make_cufft(problem); }));
  }
  const double cufft_plan_s = median(cufft_plan_times);
  const auto single = make_cufft({{shape[0], shape[1]}, true, 1});
  peer->load(floats.data(), nullptr);
  single->load(floats.data(), nullptr);
  const auto dense = [&](std::int64_t last) {
    in_chunks(0, last, [&](std::int64_t at, std::int64_t count) {
      widen_samples(frames.data() + at * points, false, floats.as<float>(), count * points, nullptr);
      if (count == kChunk) return peer->enqueue(nullptr);
      for (std::int64_t i = 0; i < count; ++i)
        single->enqueue(nullptr);  // always the first frame, since the
                                   // time is the same
    });
    gpu(cudaDeviceSynchronize());
  };
  sparse(total);
  dense(total);
  preparation = {};

  json row{{"group", "adaptive"}, {"name", recording.name}, {"shape", shape.to_string()},
           {"k", 1000},           {"threads", threads},     {"frames", total}};
  for (std::int64_t count = 1;; count = std::min(count * 10, total)) {
    row["after"].push_back({{"frames", count},
                            {"sfft_ms", 1e3 * median_device_seconds([&] { sparse(count); })},
                            {"cufft_ms", 1e3 * median_device_seconds([&] { dense(count); })}});
    if (count == total) break;
  }
  row["learn_ms"] = 1e3 * median(preparation.learn_s);
  row["plan_ms"] = 1e3 * median(preparation.plan_s);
  // Times per frame come only from full chunks.
  const std::int64_t whole = (total - 1) / kChunk * kChunk;
  const double sfft_ms =
      1e3 * median_device_seconds([&] { transform(1 + whole); }) / static_cast<double>(whole);
  const double cufft_ms = 1e3 * median_device_seconds([&] { dense(whole); }) / static_cast<double>(whole);
  row["sfft_us_per_frame"] = 1e3 * sfft_ms;
  row["cufft_us_per_frame"] = 1e3 * cufft_ms;
  row["cufft_plan_ms"] = 1e3 * cufft_plan_s;
  row["cufft_first_use_ms"] = 1e3 * first_use_s;
  const BreakEven even = break_even({row["learn_ms"].get<double>() + row["plan_ms"].get<double>(), sfft_ms},
                                    {row["cufft_plan_ms"].get<double>(), cufft_ms});
  row["break_even_frames"] = even.frames ? json(*even.frames) : json(nullptr);
  row["break_even_note"] = even.reason;
  return row;
}

}  // namespace sfft::bench
