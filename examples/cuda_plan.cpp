// SPDX-License-Identifier: Apache-2.0
// Plan::enqueue(): frames and spectra in GPU memory. Exits with 77, "skipped", if there is no usable GPU.
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "sfft/sfft.hpp"

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
T* on_device(std::int64_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(count) * sizeof(T)));
  return static_cast<T*>(memory);
}

}  // namespace

int main() {
  const std::string reason = sfft::availability(sfft::Device::gpu()).reason;
  if (!reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }

  // 16 frames, each a line of 65,536 points. Frame b has a tone at frequency 1000 with amplitude b + 1.
  constexpr std::int64_t n = 65536, frames = 16;
  std::vector<std::complex<float>> signals;
  for (std::int64_t b = 0; b < frames; ++b) {
    for (std::int64_t t = 0; t < n; ++t) {
      const double turns = static_cast<double>(1000 * t % n) / static_cast<double>(n);
      signals.emplace_back(std::polar(static_cast<double>(b + 1), 2 * std::numbers::pi * turns));
    }
  }
  const std::vector<std::int64_t> support{500, 1000};
  const auto tmpl = sfft::Template::from_support(sfft::Shape{n}, sfft::Domain::complex, support);

  const sfft::Plan<float> plan(tmpl, {.device = sfft::Device::gpu(), .batch = frames});
  sfft::Workspace workspace = plan.make_workspace();
  std::printf("%s\n", plan.info().engine.c_str());

  auto* device_frames = on_device<std::complex<float>>(frames * n);
  auto* values = on_device<std::complex<float>>(frames * tmpl.k());
  auto* standard_errors = on_device<float>(frames * tmpl.k());
  auto* errors = on_device<sfft::Quality>(frames);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaMemcpyAsync(device_frames, signals.data(), signals.size() * sizeof(signals[0]),
                        cudaMemcpyHostToDevice, stream));

  // Returns at once: the work is ordered in the stream, and could be captured into a graph.
  plan.enqueue(
      {.data = device_frames, .type = sfft::ElementType::c64, .shape = tmpl.shape(), .count = frames},
      {.values = values, .standard_error = standard_errors, .errors = errors}, workspace, stream);

  std::vector<std::complex<float>> results(static_cast<std::size_t>(frames * tmpl.k()));
  check(cudaMemcpyAsync(results.data(), values, results.size() * sizeof(results[0]), cudaMemcpyDeviceToHost,
                        stream));
  check(cudaStreamSynchronize(stream));
  bool right = true;
  for (std::int64_t b = 0; b < frames; ++b) {
    const double amplitude = std::abs(results[static_cast<std::size_t>(2 * b + 1)]) / static_cast<double>(n);
    right = right && std::abs(amplitude - static_cast<double>(b + 1)) < 1e-3 * static_cast<double>(b + 1);
  }
  std::printf("amplitudes of %lld frames: %s\n", static_cast<long long>(frames), right ? "right" : "wrong");

  check(cudaFree(device_frames));
  check(cudaFree(values));
  check(cudaFree(standard_errors));
  check(cudaFree(errors));
  check(cudaStreamDestroy(stream));
  return right ? 0 : 1;
}
