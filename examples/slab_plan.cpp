// SPDX-License-Identifier: Apache-2.0
// dense::SlabPlan: a volume whose slabs lie in the memory of several GPUs, forward and inverse.
//   example_slab_plan [DEVICE…]     (without arguments: GPU 0 named twice, which also works on one GPU)
// Exits with 77, "skipped", if there is no usable GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sfft/sfft.hpp"

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

void* on_device(int device, std::size_t bytes) {
  void* memory = nullptr;
  check(cudaSetDevice(device));
  check(cudaMalloc(&memory, bytes));
  return memory;
}

using Value = std::complex<float>;

}  // namespace

int main(int count, char** arguments) {
  const std::string problem = sfft::availability(sfft::Device::gpu()).reason;
  if (!problem.empty()) {
    std::printf("skipped: %s\n", problem.c_str());
    return 77;
  }
  std::vector<int> devices;
  for (int i = 1; i < count; ++i) devices.push_back(std::atoi(arguments[i]));
  if (devices.empty()) devices = {0, 0};

  const sfft::Shape shape{48, 40, 36};
  const sfft::dense::SlabPlan<float> plan(shape, sfft::Domain::complex,
                                          {.device = sfft::Device::gpus(devices)});
  std::printf("%s\n", plan.explain().c_str());

  // Each GPU has a slab of the signal, one of the spectrum, scratch memory, and a stream.
  std::vector<void*> signals;
  std::vector<Value*> spectra;
  std::vector<std::span<std::byte>> workspaces;
  std::vector<cudaStream_t> streams;
  for (std::size_t s = 0; s < plan.signal_slabs().size(); ++s) {
    const sfft::dense::Slab &in = plan.signal_slabs()[s], &out = plan.spectrum_slabs()[s];
    const std::size_t bytes = plan.device_workspace_bytes(s);
    signals.push_back(on_device(in.gpu, static_cast<std::size_t>(in.points()) * sizeof(Value)));
    spectra.push_back(
        static_cast<Value*>(on_device(out.gpu, static_cast<std::size_t>(out.points()) * sizeof(Value))));
    workspaces.emplace_back(static_cast<std::byte*>(on_device(in.gpu, bytes)), bytes);
    streams.emplace_back();
    check(cudaStreamCreate(&streams.back()));
  }

  std::vector<Value> whole(static_cast<std::size_t>(shape.points())), again(whole.size());
  for (std::size_t t = 0; t < whole.size(); ++t) whole[t] = std::sin(0.001F * static_cast<float>(t));
  plan.scatter_signal(whole.data(), sfft::ElementType::c64, signals);

  const std::vector<const void*> from(signals.begin(), signals.end());
  const std::vector<const Value*> transformed(spectra.begin(), spectra.end());
  std::vector<Value*> to;
  for (void* signal : signals) to.push_back(static_cast<Value*>(signal));
  plan.enqueue_forward(from, sfft::ElementType::c64, spectra, workspaces, streams);
  plan.enqueue_inverse(transformed, to, workspaces, streams);
  for (const cudaStream_t stream : streams) check(cudaStreamSynchronize(stream));
  plan.gather_signal(from, sfft::ElementType::c64, again.data());

  float worst = 0;
  for (std::size_t t = 0; t < whole.size(); ++t) worst = std::max(worst, std::abs(again[t] - whole[t]));
  std::printf("largest difference after forward and inverse: %.2g\n", static_cast<double>(worst));
  for (std::size_t s = 0; s < signals.size(); ++s) {
    check(cudaStreamDestroy(streams[s]));
    check(cudaFree(signals[s]));
    check(cudaFree(spectra[s]));
    check(cudaFree(workspaces[s].data()));
  }
  return worst < 1e-4F ? 0 : 1;
}
