// SPDX-License-Identifier: Apache-2.0
// Runs one plan per transfer method and thread count on the same page-locked frames. The baseline is two
// alternating streams of copies and cuFFT.
#include <cuda_runtime.h>

#include <cstring>
#include <optional>
#include <thread>

#include "bench/cuda/sparse/copy_and_cufft.hpp"
#include "bench/cuda/sparse/groups.hpp"
#include "bench/cuda/timing.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;

constexpr std::int64_t kFrames = 256;
constexpr std::int64_t kChunk = 32;

/// Median microseconds per frame of `work`, which must process kFrames frames and return when they are done.
template <class F>
double us_a_frame(const F& work) {
  return wall_us(work) / kFrames;
}

}  // namespace

json time_host_frames(const Recording& recording, double max_samples) {
  const Shape& shape = recording.shape;
  const auto points = static_cast<std::size_t>(shape.points());
  const PinnedBuffer frames(points * kFrames);
  std::vector<SignalView> views;
  for (std::int64_t i = 0; i < kFrames; ++i) {
    auto* frame = frames.as<std::uint8_t>() + static_cast<std::size_t>(i) * points;
    std::memcpy(frame, recording.frame(1 + i % (recording.frames() - 1)).data(), points);
    views.emplace_back(std::span<const std::uint8_t>(frame, points), shape);
  }
  const Template tmpl = learn(recording.frame(0), {.keep = Largest{1000}, .reference = true});
  json row{{"group", "host"}, {"name", recording.name}, {"k", 1000}, {"frames", kFrames}};
  struct Way {
    const char* name;
    PlanOptions::Transfer transfer;
    int threads;
    bool page_locked_frames = false;
  };
  const int cores = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
  row["cores"] = cores;
  const Way ways[] = {{"automatic", PlanOptions::Transfer::automatic, 1},
                      {"gather, 1 thread", PlanOptions::Transfer::gather, 1},
                      {"gather, 4 threads", PlanOptions::Transfer::gather, 4},
                      {"gather, all cores", PlanOptions::Transfer::gather, cores},
                      {"mapped", PlanOptions::Transfer::mapped, 1},
                      {"rows", PlanOptions::Transfer::rows, 1},
                      {"whole", PlanOptions::Transfer::whole, 1},
                      {"rows of a plan for page-locked frames", PlanOptions::Transfer::automatic, 1, true}};
  std::vector<Spectrum<float>> reference;
  for (const auto& [name, transfer, threads, page_locked_frames] : ways) {
    const bool own = page_locked_frames;  // the plan then also sets its sample budget
    const Plan<float> plan(
        tmpl, {.device = Device::gpu(),
               .batch = static_cast<int>(kChunk),
               .max_samples = !own && max_samples > 0 ? std::optional(max_samples) : std::nullopt,
               .threads = threads,
               .transfer = transfer,
               .page_locked_frames = page_locked_frames});
    auto workspace = plan.make_workspace();
    std::vector<Spectrum<float>> spectra(views.size(), plan.make_spectrum());
    plan.execute(views, spectra, workspace);
    json& way = row["ways"][name];
    way["us"] = us_a_frame([&] { plan.execute(views, spectra, workspace); });
    way["threads"] = threads;
    way["bytes_per_frame"] = spectra[0].transferred_bytes;
    way["samples_fraction"] = plan.info().samples_fraction;
    way["reported_l2"] = spectra.back().quality.relative_error;
    if (own) continue;
    row["samples_fraction"] = plan.info().samples_fraction;
    if (reference.empty()) reference = spectra;
    double worst = 0;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      double error = 0, norm = 0;
      for (std::size_t j = 0; j < spectra[i].values.size(); ++j) {
        error += std::norm(std::complex<double>(spectra[i].values[j] - reference[i].values[j]));
        norm += std::norm(std::complex<double>(reference[i].values[j]));
      }
      worst = std::max(worst, std::sqrt(error / norm));
    }
    way["relative_l2_to_automatic"] = worst;
  }
  CopyAndCufft peer(frames.as<std::uint8_t>(), shape, kChunk);
  row["copy_us"] = us_a_frame([&] { peer.run(0, kFrames, false); });
  row["copy_and_cufft_us"] = us_a_frame([&] { peer.run(0, kFrames, true); });
  row["ratio"] = row["copy_and_cufft_us"].get<double>() / row["ways"]["automatic"]["us"].get<double>();
  return row;
}

}  // namespace sfft::bench
