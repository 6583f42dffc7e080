// SPDX-License-Identifier: Apache-2.0
// Sparse transforms on the GPU against cuFFT and VkFFT: the published tables of the GPU backend.
//   bench_cuda_sparse [--quick | --adaptive [--trace] [--threads N] | --costs SEED COUNT | --choice]
//   [--out FILE.json] [LABEL=FILE.y4m …]
// --adaptive: learns once, plans on N threads (0: one per core) and transforms the recordings. With --trace,
// it times every step of learning and planning instead. --costs: COUNT combs drawn at random, with the cost
// model's predictions. --choice: what `automatic` chooses, and both alternatives. Otherwise only transforms.
// Times are medians of graph replays, warm and with a flushed L2 cache, except for groups that also work on
// the host. Every row states its accuracy.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/cuda/device_signals.hpp"
#include "bench/cuda/library_on_gpu.hpp"
#include "bench/cuda/peers.hpp"
#include "bench/cuda/sparse/groups.hpp"
#include "bench/cuda/timing.hpp"
#include "bench/recording.hpp"
#include "bench/signals.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using nlohmann::json;

constexpr int kRepetitions = 20;

double relative_l2(const std::vector<std::complex<double>>& a, const std::vector<std::complex<double>>& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += std::norm(a[i] - b[i]);
    norm += std::norm(b[i]);
  }
  return std::sqrt(error / norm);
}

json describe(const Plan<float>& plan) {
  const PlanInfo& info = plan.info();
  return {{"path", to_string(info.path)},
          {"buckets", info.bucket_count},
          {"delays", info.delays},
          {"samples", info.samples},
          {"samples_fraction", info.samples_fraction},
          {"engine", info.engine},
          {"plan_ms", 1e3 * info.plan_seconds},
          {"predicted_us", info.predicted_us}};
}

class Bench {
 public:
  explicit Bench(bool quick) : quick_(quick) {}

  void copy_bandwidth() {
    constexpr std::size_t kBytes = std::size_t{2} << 30;
    const DeviceBuffer a(kBytes), b(kBytes);
    const Timing t = timer_.warm(
        [&](cudaStream_t s) {
          gpu(cudaMemcpyAsync(b.data(), a.data(), kBytes, cudaMemcpyDeviceToDevice, s));
        },
        2);
    result["copy_bandwidth_tb_s"] = 2.0 * kBytes / t.us * 1e-6;
    fmt::print("copy bandwidth {:.2f} TB/s\n", 2.0 * kBytes / t.us * 1e-6);
    const Timing empty = timer_.warm([](cudaStream_t) {}, 1);
    result["empty_graph_us"] = empty.us;
  }

  /// Times one frame of a 1D complex signal that is exactly sparse.
  void known(std::int64_t n, std::int64_t k, bool peers, const char* group = "known") {
    const SparseSpectrum truth(n, k, static_cast<std::uint64_t>(n + k));
    const DeviceBuffer signal(static_cast<std::size_t>(n) * 8);
    make_sparse_signal(n, truth.support, truth.values, signal.data());
    const Template tmpl = Template::from_support(Shape{n}, Domain::complex, truth.support);
    const Plan<float> plan(tmpl, {.device = Device::gpu()});
    auto workspace = plan.make_workspace();
    const SpectrumBuffers out(k, 1);
    const DeviceView frames{signal.data(), ElementType::c64, tmpl.shape()};
    const Work work = [&](cudaStream_t s) { plan.enqueue(frames, out.view(), workspace, s); };
    json row{{"group", group}, {"n", n}, {"k", k}, {"plan", describe(plan)}};
    row["warm_us"] = timer_.warm(work, kRepetitions).us;
    row["cold_us"] = timer_.cold(work, kRepetitions).us;
    add_compiled(row, tmpl, {.device = Device::gpu()}, frames, out);
    row["relative_l2"] = truth.relative_error(out.values(0));
    row["reported_l2"] = out.estimate(0).relative_error;
    PeerProblem problem{{n}, false, 1};
    if (peers) {
      last_peers_ = time_peers(problem, signal.data(),
                               [&](Peer& peer) { return truth.relative_error(peer.read(0, truth.support)); });
      last_n_ = n;
    }
    if (last_n_ == n) add_peers(row, 1);
    print(row, fmt::format("{} N={} k={}", group, n, k));
    rows.push_back(row);
  }

  /// Times batches of camera frames, with a template learned from the first frame and its reference.
  void video(const Recording& recording, std::int64_t batch, double max_samples, const std::string& name,
             std::int64_t k = 1000, const char* group = "video") {
    const Shape& shape = recording.shape;
    const std::int64_t points = shape.points();
    const Template tmpl = learn(recording.frame(0), {.keep = Largest{k}, .reference = true});
    const PlanOptions options{.device = Device::gpu(),
                              .batch = static_cast<int>(batch),
                              .max_samples = max_samples > 0 ? std::optional(max_samples) : std::nullopt};
    const Plan<float> plan(tmpl, options);
    auto workspace = plan.make_workspace();
    // The batch consists of the frames after the first. It starts over if the recording is too short.
    const DeviceBuffer frames(static_cast<std::size_t>(batch * points));
    std::vector<std::int64_t> which;
    for (std::int64_t i = 0; i < batch; ++i) {
      which.push_back(1 + i % (recording.frames() - 1));
      gpu(cudaMemcpy(frames.data() + i * points, recording.frame(which.back()).data(),
                     static_cast<std::size_t>(points), cudaMemcpyHostToDevice));
    }
    const SpectrumBuffers out(k, batch);
    const DeviceView view{frames.data(), ElementType::u8, tmpl.shape(), batch};
    const Work work = [&](cudaStream_t s) { plan.enqueue(view, out.view(), workspace, s); };
    json row{{"group", group}, {"name", name}, {"batch", batch}, {"k", k}, {"plan", describe(plan)}};
    row["warm_us"] = timer_.warm(work, batch > 8 ? 4 : kRepetitions).us / static_cast<double>(batch);
    row["cold_us"] = timer_.cold(work, batch > 8 ? 4 : kRepetitions).us / static_cast<double>(batch);
    if (batch == 1) add_compiled(row, tmpl, options, view, out);
    std::vector<double> errors, reported;
    const Plan<double> exact(tmpl, {.path = Path::dense});
    for (std::int64_t i = 0; i < batch; i += std::max<std::int64_t>(1, batch / 16)) {
      const auto got = out.values(static_cast<std::size_t>(i));
      const auto truth = exact.execute(recording.frame(which[static_cast<std::size_t>(i)])).values;
      std::vector<std::complex<double>> a, b;
      for (std::size_t j = 0; j < got.size(); ++j) {
        if (tmpl.support()[j] == 0) continue;
        a.push_back(got[j]);
        b.push_back(truth[j]);
      }
      errors.push_back(relative_l2(a, b));
      reported.push_back(out.estimate(static_cast<std::size_t>(i)).relative_error);
    }
    row["relative_l2"] = median(errors);
    row["reported_l2"] = median(reported);
    PeerProblem problem{{shape[0], shape[1]}, true, std::min<std::int64_t>(batch, 32)};
    const std::string key = fmt::format("{} x {}", shape.to_string(), problem.batch);
    if (key != last_video_) {
      const DeviceBuffer floats(static_cast<std::size_t>(problem.batch * points) * 4);
      widen_samples(frames.data(), false, floats.as<float>(), problem.batch * points, timer_.stream());
      gpu(cudaStreamSynchronize(timer_.stream()));
      last_peers_ = time_peers(problem, floats.data(), [](Peer&) { return 0.0; });
      last_video_ = key;
    }
    last_n_ = 0;
    add_peers(row, problem.batch);
    print(row, fmt::format("{} {} batch {} k={}", group, name, batch, k));
    rows.push_back(row);
  }

  void add(const json& row) {
    fmt::print("{}\n", row.dump());
    std::fflush(stdout);
    rows.push_back(row);
  }

  json result, rows = json::array();
  Timer& timer() { return timer_; }

 private:
  struct PeerTime {
    std::string name;
    double warm = 0, cold = 0, error = 0;
  };

  /// Times the same frame with a kernel compiled for the plan, if the plan has one. `out` then holds its
  /// results.
  void add_compiled(json& row, const Template& tmpl, PlanOptions options, const DeviceView& frames,
                    const SpectrumBuffers& out) {
    options.compiled_for = frames.type;
    const Plan<float> plan(tmpl, options);
    if (plan.info().engine.find(", compiled") == std::string::npos) return;
    auto workspace = plan.make_workspace();
    const Work work = [&](cudaStream_t s) { plan.enqueue(frames, out.view(), workspace, s); };
    row["compiled"] = {{"plan", describe(plan)},
                       {"warm_us", timer_.warm(work, kRepetitions).us},
                       {"cold_us", timer_.cold(work, kRepetitions).us}};
  }

  template <class Error>
  std::vector<PeerTime> time_peers(const PeerProblem& problem, const void* input, const Error& error) {
    std::vector<PeerTime> times;
    std::vector<std::unique_ptr<Peer>> peers;
    peers.push_back(make_cufft(problem));
#if SFFT_BENCH_VKFFT
    PeerProblem in_place = problem;
    in_place.in_place = true;
    if (auto vkfft = quick_ ? nullptr : make_vkfft(in_place)) peers.push_back(std::move(vkfft));
#endif
    for (const auto& peer : peers) {
      const int repetitions = problem.points() * problem.batch > (1 << 22) ? 2 : kRepetitions;
      peer->load(input, timer_.stream());
      peer->enqueue(timer_.stream());
      gpu(cudaStreamSynchronize(timer_.stream()));
      PeerTime time{peer->name()};
      time.error = error(*peer);
      peer->load(input, timer_.stream());
      const Work work = [&](cudaStream_t s) { peer->enqueue(s); };
      time.warm = timer_.warm(work, repetitions).us;
      time.cold = timer_.cold(work, repetitions).us;
      times.push_back(time);
    }
    return times;
  }

  void add_peers(json& row, std::int64_t batch) {
    double best_warm = 0, best_cold = 0;
    for (const PeerTime& time : last_peers_) {
      const double warm = time.warm / static_cast<double>(batch),
                   cold = time.cold / static_cast<double>(batch);
      row["peers"][time.name] = {{"warm_us", warm}, {"cold_us", cold}, {"relative_l2", time.error}};
      best_warm = best_warm == 0 ? warm : std::min(best_warm, warm);
      best_cold = best_cold == 0 ? cold : std::min(best_cold, cold);
    }
    row["ratio_warm"] = best_warm / row["warm_us"].get<double>();
    row["ratio_cold"] = best_cold / row["cold_us"].get<double>();
    if (row.contains("compiled")) {
      json& compiled = row["compiled"];
      compiled["ratio_warm"] = best_warm / compiled["warm_us"].get<double>();
      compiled["ratio_cold"] = best_cold / compiled["cold_us"].get<double>();
    }
  }

  static void print(const json& row, const std::string& name) {
    fmt::print(
        "{:42} {:9.3f} us warm {:9.3f} cold, {:8.2f}x {:8.2f}x, error {:.1e} reported {:.1e}, {} B={} r={} "
        "{:.2f}% {}\n",
        name, row["warm_us"].get<double>(), row["cold_us"].get<double>(), row.value("ratio_warm", 0.0),
        row.value("ratio_cold", 0.0), row["relative_l2"].get<double>(), row["reported_l2"].get<double>(),
        row["plan"]["path"].get<std::string>(), row["plan"]["buckets"].get<int>(),
        row["plan"]["delays"].get<int>(), 100 * row["plan"]["samples_fraction"].get<double>(),
        row["plan"]["engine"].get<std::string>());
    if (row.contains("compiled")) {
      const json& compiled = row["compiled"];
      fmt::print("{:42} {:9.3f} us warm {:9.3f} cold, {:8.2f}x {:8.2f}x, planned in {:.0f} ms\n",
                 "  compiled for the plan", compiled["warm_us"].get<double>(),
                 compiled["cold_us"].get<double>(), compiled["ratio_warm"].get<double>(),
                 compiled["ratio_cold"].get<double>(), compiled["plan"]["plan_ms"].get<double>());
    }
    std::fflush(stdout);
  }

  Timer timer_;
  bool quick_;
  std::vector<PeerTime> last_peers_;
  std::int64_t last_n_ = 0;
  std::string last_video_;
};

/// The share of a recording's samples that its plans may read.
double max_samples(const Recording& recording) {
  return recording.shape.points() > 1000000 ? 0.01 : 0.084;
}

void time_transforms(Bench& bench, bool quick, const std::vector<std::shared_ptr<Recording>>& recordings) {
  bench.copy_bandwidth();
  const int top = quick ? 24 : 28;
  for (int bits = 18; bits <= top; bits += 2) {
    const std::int64_t n = std::int64_t{1} << bits;
    bench.known(n, 64, true);
    if (bits == 20 || bits == 24 || bits == 28) bench.known(n, 1000, false);
    if (bits == 24) bench.known(n, 16384, false);
    if (bits == 20 && !quick) {
      for (const std::int64_t k : {256, 2000, 4000, 8000, 16000, 32000, 64000})
        bench.known(n, k, false, "crossover");
    }
  }
  for (int bits = 20; bits <= top; bits += 2) bench.add(time_discovery(std::int64_t{1} << bits, 50));
  bench.known(16777213, 64, true);  // the largest prime below 2^24
  for (const auto& recording : recordings) {
    const bool large = recording->shape.points() > 1000000;
    if (large) {
      bench.video(*recording, 128, 0.01, recording->name);
      bench.video(*recording, 1, 0.01, recording->name);
      if (!quick) {
        for (const std::int64_t k : {4000, 16000, 64000, 128000})
          bench.video(*recording, 32, 1, recording->name, k, "crossover");
        bench.add(time_host_frames(*recording, 0.01));
        bench.add(time_stages_of_frames(bench.timer(), *recording, 128, 0.01));
      }
    } else {
      bench.video(*recording, 256, 0.084, recording->name);
      bench.video(*recording, 1, 0.084, recording->name);
    }
  }
  if (!quick) {
    bench.add(time_stages_of_signal(bench.timer(), std::int64_t{1} << 24, 1000));
    bench.add(time_stages_of_signal(bench.timer(), std::int64_t{1} << 24, 16384));
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false, adaptive = false, trace = false, choice = false;
  int threads = 0, costs = 0;
  std::uint64_t seed = 1;
  std::string out;
  std::vector<std::shared_ptr<Recording>> recordings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      quick = true;
    } else if (word == "--adaptive") {
      adaptive = true;
    } else if (word == "--trace") {
      trace = true;
    } else if (word == "--threads" && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else if (word == "--costs" && i + 2 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
      costs = std::atoi(argv[++i]);
    } else if (word == "--choice") {
      choice = true;
    } else if (word == "--out" && i + 1 < argc) {
      out = argv[++i];
    } else {
      recordings.push_back(read_recording(word));
    }
  }
  if (const std::string problem = availability(Device::gpu()).reason; !problem.empty()) {
    fmt::print(stderr, "bench_cuda_sparse: {}\n", problem);
    return 4;
  }
  Bench bench(quick);
  if (costs > 0) {
    for (const json& row : time_costs(bench.timer(), seed, costs)) bench.add(row);
  } else if (choice) {
    for (const auto& recording : recordings)
      time_choice(bench.timer(), *recording, [&](const json& row) { bench.add(row); });
  } else if (adaptive) {
    for (const auto& recording : recordings) {
      const double share = max_samples(*recording);
      bench.add(trace ? time_preparation(bench.timer(), *recording, share, threads)
                      : time_adaptive(*recording, share, threads));
    }
  } else {
    time_transforms(bench, quick, recordings);
  }
  if (!out.empty()) {
    int driver = 0, runtime = 0;
    gpu(cudaDriverGetVersion(&driver));
    gpu(cudaRuntimeGetVersion(&runtime));
    bench.result["device"] = gpu_name();
    bench.result["driver"] = driver;
    bench.result["runtime"] = runtime;
    bench.result["commit"] = SFFT_COMMIT;
    bench.result["rows"] = bench.rows;
    std::string command = "build/bin/bench_cuda_sparse";
    for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
    bench.result["command"] = command;
    std::ofstream(out) << bench.result.dump(1) << "\n";
  }
  return 0;
}
