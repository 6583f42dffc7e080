// SPDX-License-Identifier: Apache-2.0
// Times discover() by wall clock with known and unknown k, then cuFFT on the same samples, and checks both
// against the known spectrum.
#include <cuda_runtime.h>

#include <algorithm>

#include "bench/cuda/device_signals.hpp"
#include "bench/cuda/peers.hpp"
#include "bench/cuda/sparse/groups.hpp"
#include "bench/signals.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;

constexpr int kWarmUps = 5;
constexpr int kRepetitions = 51;

/// Times `work`, which must return only when its result is available.
template <class Work>
Timing wall_clock(const Work& work) {
  for (int i = 0; i < kWarmUps; ++i) work();
  std::vector<double> times;
  for (int i = 0; i < kRepetitions; ++i) times.push_back(1e6 * seconds_of(work));
  std::sort(times.begin(), times.end());
  const double middle = times[kRepetitions / 2];
  return {middle, (times[kRepetitions * 9 / 10] - times[kRepetitions / 10]) / middle};
}

/// Relative error over the true support. A frequency that was not found counts as 0.
double relative_error(const SparseSpectrum& truth, const Discovery& found) {
  std::vector<std::complex<double>> values;
  for (const std::int64_t f : truth.support) {
    const auto at = std::lower_bound(found.spectrum.support->begin(), found.spectrum.support->end(), f);
    const bool there = at != found.spectrum.support->end() && *at == f;
    values.push_back(
        there ? found.spectrum.values[static_cast<std::size_t>(at - found.spectrum.support->begin())] : 0);
  }
  return truth.relative_error(values);
}

}  // namespace

json time_discovery(std::int64_t points, std::int64_t k) {
  const SparseSpectrum truth(points, k, static_cast<std::uint64_t>(points + k));
  const DeviceBuffer samples(static_cast<std::size_t>(points) * 8);
  make_sparse_signal(points, truth.support, truth.values, samples.data());
  cudaStream_t stream = nullptr;
  gpu(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  const DeviceView signal{samples.data(), ElementType::c64, Shape{points}};
  Discovery found;
  const Timing timing = wall_clock([&] { found = discover(signal, {.k = k}, stream); });
  const Timing unknown = wall_clock([&] { static_cast<void>(discover(signal, {}, stream)); });
  json row{{"group", "discovery"}, {"n", points}, {"k", k}};
  row["wall_us"] = timing.us;
  row["noise"] = timing.noise;
  row["unknown_k_wall_us"] = unknown.us;
  row["path"] = to_string(found.spectrum.path);
  row["verified"] = found.verified;
  row["rounds"] = found.rounds;
  row["samples"] = found.samples;
  row["relative_l2"] = relative_error(truth, found);

  const auto cufft = make_cufft({{points}, false, 1});
  cufft->load(samples.data(), stream);
  const Timing dense = wall_clock([&] {
    cufft->enqueue(stream);
    gpu(cudaStreamSynchronize(stream));
  });
  row["cufft_wall_us"] = dense.us;
  row["cufft_relative_l2"] = truth.relative_error(cufft->read(0, truth.support));
  row["ratio"] = dense.us / timing.us;
  gpu(cudaStreamDestroy(stream));
  return row;
}

}  // namespace sfft::bench
