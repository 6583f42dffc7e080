// SPDX-License-Identifier: Apache-2.0
// One transform over several GPUs, compared with cuFFT on one and cuFFT Xt on all.
//   bench_cuda_multi [--devices 0,1,2,3] [--edges 512,1024] [--real] [--measure] [--packed] [--frames 256]
//   [--out FILE.json]
// Transforms cubes of floats in GPU memory. Signals are plane waves, and every coefficient is checked. Times
// are wall clock from the first enqueued call until all GPUs are done, over several consecutive calls, median
// of 7, in microseconds. They are measured again with these calls in one graph. --frames: also batches of
// frames, on all GPUs and on the first. Naming a GPU several times checks the result, not the speed. Exit
// status 1: a result was wrong.
#include <cufftXt.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "bench/command_line.hpp"
#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/multi/batches.hpp"
#include "bench/cuda/multi/waves.hpp"
#include "bench/cuda/peers.hpp"
#include "bench/cuda/timing.hpp"
#include "bench/result_file.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/dense_slabs.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using nlohmann::json;
using Value = std::complex<float>;

constexpr int kCalls = 5;

struct Settings {
  std::vector<int> devices;         ///< empty: the first
  std::vector<std::int64_t> edges;  ///< empty: 512
  bool real = false, measure = false;
  bool packed = false;  ///< values are exchanged in block16
  std::int64_t frames = 0;
  std::string out;
};

void finish(const std::set<int>& devices) {
  for (const int device : devices) {
    gpu(cudaSetDevice(device));
    gpu(cudaDeviceSynchronize());
  }
  gpu(cudaSetDevice(*devices.begin()));
}

/// Microseconds per call, over several consecutive calls.
template <class Call>
double call_us(const std::set<int>& devices, const Call& call) {
  return wall_us([&] {
           for (int i = 0; i < kCalls; ++i) call();
           finish(devices);
         }) /
         kCalls;
}

/// Draws waves at random frequencies from a seed.
Waves draw_waves(const Shape& shape, bool real, unsigned seed) {
  std::mt19937 generator(seed);
  Waves waves;
  waves.real = real;
  for (int d = 0; d < shape.rank(); ++d) {
    waves.extents[d] = shape[d];
    const bool half = real && d + 1 == shape.rank();
    std::uniform_int_distribution<std::int64_t> draw(half ? 1 : 0, half ? shape[d] / 2 - 1 : shape[d] - 1);
    for (auto& frequency : waves.frequency) frequency[d] = draw(generator);
  }
  return waves;
}

WavePart part_of(const dense::Slab& slab) {
  WavePart part{};
  for (std::size_t d = 0; d < 3; ++d) {
    part.begin[d] = slab.begin[d];
    part.extent[d] = slab.extent[d];
  }
  part.points = slab.points();
  return part;
}

/// The slabs, and the workspace of their transforms.
class Arrays {
 public:
  explicit Arrays(const dense::SlabPlan<float>& plan) : plan_(plan) {
    for (std::size_t s = 0; s < plan.signal_slabs().size(); ++s) {
      const detail::cuda::DeviceScope scope(plan.signal_slabs()[s].gpu);
      const std::size_t sample = plan.domain() == Domain::real ? sizeof(float) : sizeof(Value);
      memory_.emplace_back(static_cast<std::size_t>(plan.signal_slabs()[s].points()) * sample);
      signals.push_back(memory_.back().data());
      memory_.emplace_back(static_cast<std::size_t>(plan.spectrum_slabs()[s].points()) * sizeof(Value));
      spectra.push_back(memory_.back().as<Value>());
      memory_.emplace_back(plan.device_workspace_bytes(s));
      workspaces.emplace_back(memory_.back().data(), memory_.back().bytes());
      streams_.emplace_back();
      streams.push_back(streams_.back().get());
    }
  }
  void forward() const {
    const std::vector<const void*> from(signals.begin(), signals.end());
    plan_.enqueue_forward(from, plan_.domain() == Domain::real ? ElementType::f32 : ElementType::c64, spectra,
                          workspaces, streams);
  }
  void inverse() const {
    const std::vector<const Value*> from(spectra.begin(), spectra.end());
    if (plan_.domain() == Domain::real) {
      std::vector<float*> to;
      for (void* signal : signals) to.push_back(static_cast<float*>(signal));
      plan_.enqueue_inverse(from, to, workspaces, streams);
    } else {
      std::vector<Value*> to;
      for (void* signal : signals) to.push_back(static_cast<Value*>(signal));
      plan_.enqueue_inverse(from, to, workspaces, streams);
    }
  }

  std::vector<void*> signals;
  std::vector<Value*> spectra;
  std::vector<std::span<std::byte>> workspaces;
  std::vector<CUstream_st*> streams;

 private:
  const dense::SlabPlan<float>& plan_;
  std::vector<DeviceBuffer> memory_;
  std::vector<detail::cuda::Queue> streams_;
};

/// Calls captured into a graph in which all streams take part.
class Graph {
 public:
  template <class Call>
  Graph(const Arrays& arrays, const dense::SlabPlan<float>& plan, const Call& call)
      : first_(arrays.streams[0]) {
    const detail::cuda::DeviceScope on_first(plan.signal_slabs()[0].gpu);
    gpu(cudaStreamBeginCapture(first_, cudaStreamCaptureModeThreadLocal));
    detail::cuda::Event fork;
    fork.record(first_);
    std::vector<detail::cuda::Event> joins;
    for (std::size_t s = 1; s < arrays.streams.size(); ++s) fork.block(arrays.streams[s]);
    for (int i = 0; i < kCalls; ++i) call();
    for (std::size_t s = 1; s < arrays.streams.size(); ++s) {
      const detail::cuda::DeviceScope scope(plan.signal_slabs()[s].gpu);
      joins.emplace_back();
      joins.back().record(arrays.streams[s]);
      joins.back().block(first_);
    }
    cudaGraph_t graph = nullptr;
    gpu(cudaStreamEndCapture(first_, &graph));
    gpu(cudaGraphInstantiate(&executable_, graph, 0));
    gpu(cudaGraphDestroy(graph));
  }
  ~Graph() { cudaGraphExecDestroy(executable_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch() const { gpu(cudaGraphLaunch(executable_, first_)); }

 private:
  cudaStream_t first_;
  cudaGraphExec_t executable_ = nullptr;
};

json time_library(const Shape& shape, const Settings& settings, const std::set<int>& different) {
  const dense::SlabPlan<float> plan(
      shape, settings.real ? Domain::real : Domain::complex,
      {.planning = settings.measure ? dense::Options::Planning::measure : dense::Options::Planning::estimate,
       .normalization = dense::Options::Normalization::none,
       .device = Device::gpus(settings.devices),
       .exchange = settings.packed ? dense::Storage::block16 : dense::Storage::f32});
  const Arrays arrays(plan);
  const Waves waves = draw_waves(shape, settings.real, 5);
  const auto fill = [&] {
    for (std::size_t s = 0; s < arrays.signals.size(); ++s) {
      const detail::cuda::DeviceScope scope(plan.signal_slabs()[s].gpu);
      fill_part(waves, part_of(plan.signal_slabs()[s]), arrays.signals[s], arrays.streams[s]);
    }
  };
  const auto worst = [&] {
    arrays.forward();
    finish(different);
    double max = 0;
    for (std::size_t s = 0; s < arrays.spectra.size(); ++s) {
      const detail::cuda::DeviceScope scope(plan.spectrum_slabs()[s].gpu);
      max = std::max(max, worst_of_part(waves, part_of(plan.spectrum_slabs()[s]), arrays.spectra[s]));
    }
    return max;
  };
  json row{{"places", arrays.signals.size()}, {"explain", plan.explain()}};
  fill();
  row["error"] = worst();
  row["forward_us"] = call_us(different, [&] { arrays.forward(); });
  row["inverse_us"] = call_us(different, [&] { arrays.inverse(); });
  const Graph graph(arrays, plan, [&] { arrays.forward(); });
  row["forward_in_graph_us"] = wall_us([&] {
                                 graph.launch();
                                 finish(different);
                               }) /
                               kCalls;
  // The inverse of the correct spectrum must be the signal times N.
  fill();
  arrays.forward();
  arrays.inverse();
  arrays.forward();
  finish(different);
  Waves scaled = waves;
  for (float& amplitude : scaled.amplitude) amplitude *= static_cast<float>(shape.points());
  double max = 0;
  for (std::size_t s = 0; s < arrays.spectra.size(); ++s) {
    const detail::cuda::DeviceScope scope(plan.spectrum_slabs()[s].gpu);
    max = std::max(max, worst_of_part(scaled, part_of(plan.spectrum_slabs()[s]), arrays.spectra[s]));
  }
  row["error_there_and_back"] = max / static_cast<double>(shape.points());
  return row;
}

void require(cufftResult status, const char* what) {
  if (status != CUFFT_SUCCESS)
    throw std::runtime_error(fmt::format("{}: cuFFT status {}", what, static_cast<int>(status)));
}

/// Times cuFFT on the first GPU.
json time_one(const Shape& shape, const Settings& settings) {
  gpu(cudaSetDevice(settings.devices[0]));
  PeerProblem problem;
  problem.extents.assign(shape.extents().begin(), shape.extents().end());
  problem.real = settings.real;
  const auto peer = make_cufft(problem);
  const DeviceBuffer input(problem.input_bytes());
  gpu(cudaMemset(input.data(), 0, input.bytes()));
  peer->load(input.data(), nullptr);
  return {{"forward_us", call_us({settings.devices[0]}, [&] { peer->enqueue(nullptr); })}};
}

/// Times cuFFT Xt on all GPUs, in place. Its results are in its native order.
json time_xt(const Shape& shape, const Settings& settings, const std::set<int>& different) {
  std::vector<int> gpus(different.begin(), different.end());
  cufftHandle handle = 0;
  require(cufftCreate(&handle), "creating a plan");
  require(cufftXtSetGPUs(handle, static_cast<int>(gpus.size()), gpus.data()), "naming GPUs");
  std::vector<std::size_t> work(gpus.size());
  require(cufftMakePlan3d(handle, static_cast<int>(shape[0]), static_cast<int>(shape[1]),
                          static_cast<int>(shape[2]), settings.real ? CUFFT_R2C : CUFFT_C2C, work.data()),
          "planning");
  cudaLibXtDesc* memory = nullptr;
  require(cufftXtMalloc(handle, &memory, CUFFT_XT_FORMAT_INPLACE), "allocating");
  for (int g = 0; g < memory->descriptor->nGPUs; ++g) {
    gpu(cudaSetDevice(memory->descriptor->GPUs[g]));
    gpu(cudaMemset(memory->descriptor->data[g], 0, memory->descriptor->size[g]));
  }
  const double us = call_us(different, [&] {
    memory->subFormat = settings.real ? CUFFT_XT_FORMAT_INPLACE : memory->subFormat;
    require(cufftXtExecDescriptor(handle, memory, memory, CUFFT_FORWARD), "executing");
    memory->subFormat = CUFFT_XT_FORMAT_INPLACE;  // only the order of the values matters
  });
  require(cufftXtFree(memory), "freeing");
  require(cufftDestroy(handle), "destroying a plan");
  return {{"forward_us", us}};
}

/// Returns a candidate's row, or the reason why it has none.
template <class Measure>
json attempt(const Measure& measure) {
  try {
    return measure();
  } catch (const std::exception& error) {
    static_cast<void>(cudaGetLastError());
    return {{"failed", error.what()}};
  }
}

Settings parse(int argc, char** argv) {
  Settings settings;
  parse_options(argc, argv,
                {{"--devices", settings.devices},
                 {"--edges", settings.edges},
                 {"--real", settings.real},
                 {"--measure", settings.measure},
                 {"--packed", settings.packed},
                 {"--frames", settings.frames},
                 {"--out", settings.out}});
  if (settings.devices.empty()) settings.devices = {0};
  if (settings.edges.empty()) settings.edges = {512};
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  try {
    settings = parse(argc, argv);
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "bench_cuda_multi: {}\n", error.what());
    return 2;
  }
  const std::set<int> different(settings.devices.begin(), settings.devices.end());
  json report{{"commit", SFFT_COMMIT},
              {"device", detail::cuda::device_name(settings.devices.at(0))},
              {"driver", detail::cuda::driver_version()},
              {"devices", settings.devices},
              {"rows", json::array()}};
  if (settings.frames > 0) {
    report["batches"] = attempt([&] { return time_batches(settings.devices, settings.frames); });
    fmt::print("{}\n", report["batches"].dump(1));
  }
  bool right = true;
  for (const std::int64_t edge : settings.edges) {
    const Shape shape{edge, edge, edge};
    json row{{"shape", shape.to_string()}, {"real", settings.real}};
    row["sfft"] = attempt([&] { return time_library(shape, settings, different); });
    row["cufft"] = attempt([&] { return time_one(shape, settings); });
    row["cufft_xt"] = different.size() > 1 ? attempt([&] { return time_xt(shape, settings, different); })
                                           : json{{"failed", "needs two GPUs"}};
    right = right && row["sfft"].value("error", 1.0) < 1e-5 &&
            row["sfft"].value("error_there_and_back", 1.0) < 1e-5;
    fmt::print("{}\n", row.dump(1));
    std::fflush(stdout);
    report["rows"].push_back(row);
    write_json(settings.out, report);
  }
  return right ? 0 : 1;
}
