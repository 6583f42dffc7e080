// SPDX-License-Identifier: Apache-2.0
// Captures repetitions of the work in a CUDA graph and replays it, so that launch overhead does not count.
#include "kernels/dense/tuned/search/timing.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::detail {

namespace {

class Graph {
 public:
  Graph(const std::function<void(cuda::Stream)>& work, int repetitions, cuda::Stream stream) {
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing work to time");
    try {
      for (int i = 0; i < repetitions; ++i) work(stream);
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream, &graph_));
      release();
      throw;
    }
    cuda::check(cudaStreamEndCapture(stream, &graph_), "capturing work to time");
    cuda::check(cudaGraphInstantiate(&executable_, graph_, 0), "preparing work to time");
  }
  ~Graph() { release(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  double run_us(cuda::Event& start, cuda::Event& stop, cuda::Stream stream) const {
    start.record(stream);
    cuda::check(cudaGraphLaunch(executable_, stream), "timing work");
    stop.record(stream);
    stop.wait();
    return start.us_until(stop);
  }

 private:
  void release() {
    if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
    if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
  }
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

double device_us(const std::function<void(cuda::Stream)>& work, cuda::Stream stream) {
  constexpr double kLongEnoughUs = 300, kVeryLongUs = 20e3;
  cuda::Event start(cuda::Event::Kind::timed), stop(cuda::Event::Kind::timed);
  int repetitions = 1;
  {
    const Graph once(work, repetitions, stream);
    once.run_us(start, stop, stream);
    const double us = once.run_us(start, stop, stream);
    if (us > kVeryLongUs) return us;
    repetitions = static_cast<int>(std::clamp(kLongEnoughUs / std::max(us, 1.0), 1.0, 100.0));
  }
  const Graph many(work, repetitions, stream);
  many.run_us(start, stop, stream);
  std::array<double, 5> times{};
  for (double& us : times) us = many.run_us(start, stop, stream);
  return median_in_place(times) / repetitions;
}

template <class Real>
void fill_for_timing(const cuda::DeviceBuffer& buffer, cuda::Stream stream) {
  constexpr std::size_t kBlockReals = std::size_t{1} << 18;
  std::mt19937 random(1);
  std::vector<Real> block(std::min(kBlockReals, buffer.bytes() / sizeof(Real)));
  for (Real& x : block) x = static_cast<Real>(static_cast<double>(random()) / 2147483648.0 - 1.0);
  std::size_t done = block.size() * sizeof(Real);
  cuda::copy_to_device(buffer.data(), block.data(), done, stream);
  while (done > 0 && done < buffer.bytes()) {  // doubles what is there
    const std::size_t more = std::min(done, buffer.bytes() - done);
    cuda::copy_on_device(buffer.data() + done, buffer.data(), more, stream);
    done += more;
  }
  cuda::synchronize(stream);
}

template void fill_for_timing<float>(const cuda::DeviceBuffer&, cuda::Stream);
template void fill_for_timing<double>(const cuda::DeviceBuffer&, cuda::Stream);

}  // namespace sfft::detail
