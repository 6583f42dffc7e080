// SPDX-License-Identifier: Apache-2.0
// Copies the samples to the GPU once and times cuFFT with replayed graphs, using the tools of bench/cuda.
#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/peers.hpp"
#include "bench/cuda/timing.hpp"
#include "dense_run.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

struct CuFftRun {
  bench::Timer timer;
  bench::DeviceBuffer samples;
  std::unique_ptr<bench::Peer> peer;
  int repetitions = 1;
};

}  // namespace

DenseRun cuda_dense_run(const SignalView& signal) {
  constexpr int kReplays = 9;
  const auto run = std::make_shared<CuFftRun>();
  const auto extents = signal.shape().extents();
  const bench::PeerProblem problem{{extents.begin(), extents.end()}, !is_complex(signal.type()), 1};
  run->samples = bench::DeviceBuffer(signal.bytes());
  bench::gpu(cudaMemcpy(run->samples.data(), signal.data(), signal.bytes(), cudaMemcpyHostToDevice));
  run->repetitions = problem.points() > (1 << 22) ? 2 : 20;
  DenseRun dense;
  dense.name = "cuFFT";
  dense.device = "cuda";
  dense.detail = "float";
  dense.plan_seconds = seconds_of([&] { run->peer = bench::make_cufft(problem); });
  run->peer->load(run->samples.data(), run->timer.stream());
  const bench::Work work = [run](cudaStream_t stream) { run->peer->enqueue(stream); };
  dense.cold = [run, work] { return 1e-6 * run->timer.cold(work, run->repetitions, kReplays).us; };
  dense.warm = [run, work] { return 1e-6 * run->timer.warm(work, run->repetitions, kReplays).us; };
  dense.output = [run, problem] {
    return bench::download(run->peer->spectra(), static_cast<std::size_t>(problem.spectrum_points()));
  };
  return dense;
}

}  // namespace sfft::apps
