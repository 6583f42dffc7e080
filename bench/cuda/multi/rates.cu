// SPDX-License-Identifier: Apache-2.0
// Rates of the components of a transform in slabs, on two GPUs: stores into the other GPU's memory by kernels
// of few blocks and by copy engines, and planes and lines by cuFFT, alone and concurrently.
#include <cufft.h>
#include <cstdio>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/timing.hpp"

using namespace sfft::bench;

namespace {

/// Replaces each {} with the next number.
template <class... Numbers>
std::string text(std::string pattern, Numbers... numbers) {
  const auto put = [&](long long number) { pattern.replace(pattern.find("{}"), 2, std::to_string(number)); };
  (put(numbers), ...);
  return pattern;
}

template <int kAtOnce>
__global__ void copy_kernel(const float4* from, float4* to, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x * kAtOnce;
  for (long long first = static_cast<long long>(blockIdx.x) * blockDim.x * kAtOnce + threadIdx.x;
       first < count; first += step) {
    float4 v[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (first + i * blockDim.x < count) v[i] = __ldcs(from + first + i * blockDim.x);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (first + i * blockDim.x < count) to[first + i * blockDim.x] = v[i];
  }
}

/// One thread keeps a ring of bulk copies, 16 KiB each, in flight through shared memory.
__global__ void bulk_kernel(const char* from, char* to, long long pieces) {
#if __CUDA_ARCH__ >= 900
  constexpr int kStages = 8, kBytes = 16384;
  extern __shared__ __align__(128) char ring[];
  __shared__ __align__(8) unsigned long long full[kStages];
  if (threadIdx.x != 0) return;
  const auto address = [](const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); };
  for (auto& bar : full) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&bar)));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const auto load = [&](long long piece, int stage) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&full[stage])), "r"(kBytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            address(ring + stage * kBytes)),
        "l"(from + piece * kBytes), "r"(kBytes), "r"(address(&full[stage]))
        : "memory");
  };
  long long loaded = blockIdx.x;
  for (int s = 0; s < kStages / 2 && loaded < pieces; ++s, loaded += gridDim.x) load(loaded, s);
  int at = 0;
  for (long long piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++at) {
    const int stage = at % kStages;
    const unsigned parity = (at / kStages) & 1;
    unsigned done = 0;
    while (done == 0)
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                   : "=r"(done)
                   : "r"(address(&full[stage])), "r"(parity)
                   : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + piece * kBytes),
                 "r"(address(ring + stage * kBytes)), "r"(kBytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (loaded < pieces) {
      asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
      load(loaded, (at + kStages / 2) % kStages);
      loaded += gridDim.x;
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

struct Place {
  int device = 0;
  cudaStream_t high = nullptr, low = nullptr;
  float4 *a = nullptr, *b = nullptr, *peer = nullptr;
};

std::vector<Place> places;
constexpr long long kEdge = 1024, kPlanes = 128, kBytes = kEdge * kEdge * kPlanes * 8;  // 1 GiB

void each(const std::function<void(Place&)>& job) {
  for (Place& p : places) {
    gpu(cudaSetDevice(p.device));
    job(p);
  }
}
void report(const std::string& name, double bytes, const std::function<void()>& enqueue) {
  const double us = wall_us([&] {
    enqueue();
    each([](Place&) { gpu(cudaDeviceSynchronize()); });
  });
  std::printf("%-64s %9.1f us %8.1f GB/s\n", name.c_str(), us, bytes / us / 1e3);
  std::fflush(stdout);
}

cufftHandle plan(int rank, std::vector<long long> n, long long stride, long long distance, long long batch) {
  cufftHandle handle = 0;
  std::size_t work = 0;
  cufftCreate(&handle);
  if (cufftMakePlanMany64(handle, rank, n.data(), n.data(), stride, distance, n.data(), stride, distance,
                          CUFFT_C2C, batch, &work) != CUFFT_SUCCESS)
    std::puts("a plan failed");
  return handle;
}
void run(cufftHandle handle, cudaStream_t stream, void* from, void* to) {
  cufftSetStream(handle, stream);
  if (cufftExecC2C(handle, static_cast<cufftComplex*>(from), static_cast<cufftComplex*>(to), CUFFT_FORWARD) !=
      CUFFT_SUCCESS)
    std::puts("an FFT failed");
}

}  // namespace

int main() {
  int count = 0;
  gpu(cudaGetDeviceCount(&count));
  for (int d = 0; d < 2; ++d) {
    Place p;
    p.device = d % count;
    gpu(cudaSetDevice(p.device));
    int min = 0, greatest = 0;
    gpu(cudaDeviceGetStreamPriorityRange(&min, &greatest));
    gpu(cudaStreamCreateWithPriority(&p.high, cudaStreamNonBlocking, greatest));
    gpu(cudaStreamCreateWithPriority(&p.low, cudaStreamNonBlocking, min));
    gpu(cudaMalloc(&p.a, 2 * kBytes));
    gpu(cudaMalloc(&p.b, 2 * kBytes));
    gpu(cudaMemset(p.a, 0, 2 * kBytes));
    gpu(cudaMemset(p.b, 0, 2 * kBytes));
    gpu(cudaFuncSetAttribute(bulk_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072));
    if (count > 1) gpu(cudaDeviceEnablePeerAccess(1 - d, 0));
    places.push_back(p);
  }
  places[0].peer = places[1].b;
  places[1].peer = places[0].b;
  constexpr double kMoved = kBytes;
  for (const int blocks : {4, 8, 12, 16, 24, 32, 48, 66, 132, 264})
    report(text("remote copy, {} blocks of 512, 4 at once", blocks), kMoved, [&] {
      each([&](Place& p) { copy_kernel<4><<<blocks, 512, 0, p.low>>>(p.a, p.peer, kBytes / 16); });
    });
  for (const int blocks : {8, 16, 32, 66})
    report(text("remote copy, {} blocks of 1024, 8 at once", blocks), kMoved, [&] {
      each([&](Place& p) { copy_kernel<8><<<blocks, 1024, 0, p.low>>>(p.a, p.peer, kBytes / 16); });
    });
  for (const int blocks : {2, 4, 8, 16, 32, 66, 132})
    report(text("remote bulk copy, {} blocks of a thread", blocks), kMoved, [&] {
      each([&](Place& p) {
        bulk_kernel<<<blocks, 32, 131072, p.low>>>(reinterpret_cast<char*>(p.a),
                                                   reinterpret_cast<char*>(p.peer), kBytes / 16384);
      });
    });
  report("local copy, 264 blocks of 512", 2 * kMoved,
         [&] { each([&](Place& p) { copy_kernel<4><<<264, 512, 0, p.low>>>(p.a, p.b, kBytes / 16); }); });
  report("remote copy engine, contiguous", kMoved, [&] {
    each([&](Place& p) { gpu(cudaMemcpyAsync(p.peer, p.a, kBytes, cudaMemcpyDefault, p.low)); });
  });
  report("remote copy engine, 128 rows of 4 MB", kMoved / 2, [&] {
    each([&](Place& p) {
      gpu(cudaMemcpy2DAsync(p.peer, kEdge * kEdge * 4, p.a, kEdge * kEdge * 8, kEdge * kEdge * 4, kPlanes,
                            cudaMemcpyDefault, p.low));
    });
  });
  for (const long long edge : {512, 1024, 1536, 2048}) {
    const long long planes = kBytes / 8 / edge / edge;
    const double bytes = static_cast<double>(edge * edge * planes * 8);
    std::vector<cufftHandle> two(2), rows(2), lines(2), few(2), once(2);
    each([&](Place& p) {
      const auto d = static_cast<std::size_t>(p.device);
      two[d] = plan(2, {edge, edge}, 1, edge * edge, planes);
      rows[d] = plan(1, {edge}, 1, edge, edge * planes);
      lines[d] = plan(1, {edge}, edge * planes, 1, edge * planes);
      few[d] = plan(1, {edge}, edge * planes, 1, edge * planes / 8);
      once[d] = plan(1, {edge}, edge, 1, edge);
    });
    const auto at = [](const std::vector<cufftHandle>& all, Place& p) {
      return all[static_cast<std::size_t>(p.device)];
    };
    report(text("{}: {} planes by cuFFT (bytes of 2 passes)", edge, planes), 4 * bytes,
           [&] { each([&](Place& p) { run(at(two, p), p.high, p.a, p.b); }); });
    report(text("{}: rows by cuFFT", edge), 2 * bytes,
           [&] { each([&](Place& p) { run(at(rows, p), p.high, p.a, p.b); }); });
    report(text("{}: columns of 8 planes by cuFFT, one by one", edge),
           2.0 * 8 * 8 * static_cast<double>(edge * edge), [&] {
             each([&](Place& p) {
               for (int i = 0; i < 8; ++i)
                 run(at(once, p), p.high, p.a + i * edge * edge / 2, p.b + i * edge * edge / 2);
             });
           });
    report(text("{}: rows by cuFFT into the other GPU", edge), bytes,
           [&] { each([&](Place& p) { run(at(rows, p), p.high, p.a, p.peer); }); });
    report(text("{}: lines across planes by cuFFT, in place", edge), 2 * bytes,
           [&] { each([&](Place& p) { run(at(lines, p), p.high, p.b, p.b); }); });
    report(text("{}: an eighth of these lines", edge), bytes / 4,
           [&] { each([&](Place& p) { run(at(few, p), p.high, p.b, p.b); }); });
    if (edge != 1024) continue;
    const auto planes_and = [&](const std::string& name, bool planes_high,
                                const std::function<void(Place&, cudaStream_t)>& other) {
      report("two plane passes concurrent with " + name, 0, [&] {
        each([&](Place& p) {
          other(p, planes_high ? p.low : p.high);
          for (int i = 0; i < 2; ++i) run(at(two, p), planes_high ? p.high : p.low, p.a, p.a);
        });
      });
    };
    planes_and("nothing", true, [](Place&, cudaStream_t) {});
    for (const bool high : {true, false}) {
      const std::string way = high ? ", planes first" : ", exchange first";
      for (const int blocks : {8, 16, 24, 32, 66, 132})
        planes_and(text("remote copy of {} blocks", blocks) + way, high, [&](Place& p, cudaStream_t stream) {
          copy_kernel<4><<<blocks, 512, 0, stream>>>(p.a + kBytes / 16, p.peer, kBytes / 16);
        });
      for (const int blocks : {4, 8, 16, 32})
        planes_and(text("bulk copy of {} blocks", blocks) + way, high, [&](Place& p, cudaStream_t stream) {
          bulk_kernel<<<blocks, 32, 131072, stream>>>(reinterpret_cast<char*>(p.a) + kBytes,
                                                      reinterpret_cast<char*>(p.peer), kBytes / 16384);
        });
      planes_and("rows into the other GPU" + way, high,
                 [&](Place& p, cudaStream_t stream) { run(at(rows, p), stream, p.a + kBytes / 16, p.peer); });
      planes_and("copy engine" + way, high, [&](Place& p, cudaStream_t stream) {
        gpu(cudaMemcpyAsync(p.peer, p.a + kBytes / 16, kBytes, cudaMemcpyDefault, stream));
      });
    }
  }
  return 0;
}
