// SPDX-License-Identifier: Apache-2.0
// Whether `automatic` takes the faster method. Times its plan, the best comb and the dense transform on the
// same frames, in calls of one frame and of many, and compares them with cuFFT and with the planner's
// predictions.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

#include "bench/cuda/library_on_gpu.hpp"
#include "bench/cuda/sparse/copy_and_cufft.hpp"
#include "bench/cuda/sparse/groups.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;

constexpr std::int64_t kFrames = 128;

/// The same frames in page-locked and in GPU memory.
class Frames {
 public:
  explicit Frames(const Recording& recording)
      : shape_(recording.shape),
        points_(static_cast<std::size_t>(recording.shape.points())),
        pinned_(points_ * kFrames),
        device_(points_ * kFrames) {
    for (std::int64_t i = 0; i < kFrames; ++i) {
      auto* const frame = pinned() + static_cast<std::size_t>(i) * points_;
      std::memcpy(frame, recording.frame(1 + i % (recording.frames() - 1)).data(), points_);
      views_.emplace_back(std::span<const std::uint8_t>(frame, points_), shape_);
    }
    gpu(cudaMemcpy(device_.data(), pinned_.data(), points_ * kFrames, cudaMemcpyHostToDevice));
  }
  const Shape& shape() const { return shape_; }
  std::uint8_t* pinned() const { return pinned_.as<std::uint8_t>(); }
  std::span<const SignalView> views() const { return views_; }
  DeviceView on_device(std::int64_t count) const { return {device_.data(), ElementType::u8, shape_, count}; }

 private:
  Shape shape_;
  std::size_t points_;
  PinnedBuffer pinned_;
  DeviceBuffer device_;
  std::vector<SignalView> views_;
};

/// Time per frame of a call with `batch` page-locked frames.
double host_us(const Plan<float>& plan, const Frames& frames, std::int64_t batch) {
  auto workspace = plan.make_workspace();
  std::vector<Spectrum<float>> spectra(static_cast<std::size_t>(batch), plan.make_spectrum());
  return wall_us([&] {
           for (std::int64_t at = 0; at + batch <= kFrames; at += batch)
             plan.execute(
                 frames.views().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(batch)),
                 spectra, workspace);
         }) /
         static_cast<double>(kFrames / batch * batch);
}

double device_us(Timer& timer, const Plan<float>& plan, const Frames& frames, std::int64_t batch) {
  auto workspace = plan.make_workspace();
  const SpectrumBuffers out(plan.source().k(), batch);
  const Work work = [&](cudaStream_t s) { plan.enqueue(frames.on_device(batch), out.view(), workspace, s); };
  return timer.warm(work, batch > 8 ? 4 : 16, 11).us / static_cast<double>(batch);
}

double cufft_on_device_us(Timer& timer, const Frames& frames, std::int64_t batch) {
  const std::int64_t points = frames.shape().points();
  const DeviceBuffer floats(static_cast<std::size_t>(batch * points) * 4);
  widen_samples(frames.on_device(batch).data, false, floats.as<float>(), batch * points, timer.stream());
  const auto peer = make_cufft({{frames.shape()[0], frames.shape()[1]}, true, batch});
  peer->load(floats.data(), timer.stream());
  return timer.warm([&](cudaStream_t s) { peer->enqueue(s); }, batch > 8 ? 2 : 16, 11).us /
         static_cast<double>(batch);
}

/// Time per frame of consecutive calls with `batch` frames each.
double cufft_from_host_us(const Frames& frames, std::int64_t batch) {
  CopyAndCufft peer(frames.pinned(), frames.shape(), std::max<std::int64_t>(1, batch / 2));
  return wall_us([&] {
           for (std::int64_t at = 0; at < kFrames; at += batch) peer.run(at, at + batch, true);
         }) /
         static_cast<double>(kFrames);
}

}  // namespace

void time_choice(Timer& timer, const Recording& recording, const std::function<void(const json&)>& add) {
  const Frames frames(recording);
  for (const bool from_host : {true, false}) {
    for (const std::int64_t batch : {1, 16, 64}) {
      const double cufft_us =
          from_host ? cufft_from_host_us(frames, batch) : cufft_on_device_us(timer, frames, batch);
      for (const std::int64_t k : {1000, 4000}) {
        const Template tmpl = learn(recording.frame(0), {.keep = Largest{k}, .reference = true});
        json row{{"group", "choice"},
                 {"name", recording.name},
                 {"shape", recording.shape.to_string()},
                 {"k", k},
                 {"batch", batch},
                 {"frames_in", from_host ? "page-locked" : "device"},
                 {"cufft_us", cufft_us}};
        for (const Path path : {Path::automatic, Path::comb, Path::dense}) {
          json& way = row[to_string(path)];
          try {
            const Plan<float> plan(tmpl, {.device = Device::gpu(),
                                          .batch = static_cast<int>(batch),
                                          .path = path,
                                          .page_locked_frames = from_host});
            way["us"] = from_host ? host_us(plan, frames, batch) : device_us(timer, plan, frames, batch);
            const PlanInfo& info = plan.info();
            way["path"] = to_string(info.path);
            way["predicted_us"] = info.predicted_us;
            way["predicted_dense_us"] = info.predicted_dense_us;
            way["grid"] = {info.buckets[0], info.buckets[1], info.buckets[2]};
            way["delays"] = info.delays;
            way["predicted_error"] = info.predicted_error;
            way["engine"] = info.engine;
          } catch (const Error& error) {  // there is no comb at all
            way["error"] = error.what();
          }
        }
        add(row);
      }
    }
  }
}

}  // namespace sfft::bench
