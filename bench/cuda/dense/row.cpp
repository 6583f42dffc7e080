// SPDX-License-Identifier: Apache-2.0
// Collects every way to compute a row, and drops those that fail or are wrong. It times the others in turn
// and keeps each candidate's best.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "bench/cuda/dense/groups.hpp"
#include "bench/cuda/dense/library.hpp"
#include "bench/cuda/dense/reference.hpp"
#include "bench/cuda/device_memory.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;

/// One way to compute a row. Every candidate has one or a few.
struct Way {
  std::string contender;  ///< "tuned", "automatic", "cuFFT", "VkFFT"
  std::string mode;       ///< "out of place", "in place"
  std::unique_ptr<Peer> peer;
  double plan_s = 0;
  Accuracy accuracy;
  Timing timing;  ///< time of the whole batch
};

/// Collects the ways of a row, and the reasons why some are missing.
class Ways {
 public:
  explicit Ways(json& row) : row_(row) {}

  /// Adds the way that `make` returns. An exception from `make` becomes the reason.
  template <class Make>
  void attempt(const std::string& contender, const Make& make) {
    try {
      make();
    } catch (const std::exception& error) {
      cudaGetLastError();
      row_["missing"][contender].push_back(error.what());
    }
  }

  void library(const DenseCase& what, const std::string& contender, dense::Engine engine,
               dense::Options::Planning planning) {
    attempt(contender, [&] {
      LibraryPlan plan = make_library_plan(what, engine, planning);
      row_[contender] = {{"engine", plan.engine},
                         {"engine_name", plan.engine_name},
                         {"reason", plan.reason},
                         {"workspace_bytes", plan.workspace_bytes}};
      all.push_back({contender, "out of place", std::move(plan.apart), plan.plan_s, {}, {}});
      if (plan.in_place)
        all.push_back({contender, "in place", std::move(plan.in_place), plan.plan_s, {}, {}});
    });
  }

  template <class Make>
  void peer(const std::string& contender, const std::string& mode, const Make& make) {
    attempt(contender, [&] {
      const auto start = std::chrono::steady_clock::now();
      auto made = make();
      if (made == nullptr) throw std::runtime_error("cannot plan this " + mode);
      const double plan_s = seconds_since(start);
      all.push_back({contender, mode, std::move(made), plan_s, {}, {}});
    });
  }

  std::vector<Way> all;

 private:
  json& row_;
};

void add_peers(Ways& ways, const PeerProblem& problem) {
  PeerProblem in_place = problem, patient = problem;
  in_place.in_place = true;
  patient.patient = true;
  ways.peer("cuFFT", "out of place", [&] { return make_cufft(problem); });
  if (!problem.real) ways.peer("cuFFT", "in place", [&] { return make_cufft(in_place); });
  ways.peer("cuFFT", "out of place, patient", [&] { return make_cufft(patient); });
#if SFFT_BENCH_VKFFT
  ways.peer("VkFFT", "in place", [&] { return make_vkfft(in_place); });
  ways.peer("VkFFT", "out of place", [&] { return make_vkfft(problem); });
#endif
}

const void* input_of(const Way& way, const DenseInput& input) {
  return way.contender == "tuned" || way.contender == "automatic" ? input.of_library() : input.of_peers();
}

/// Executes each way once. Drops those that fail or are wrong, with the reason in the row.
void keep_correct(Ways& ways, json& row, const DenseInput& input, const Reference& reference,
                  cudaStream_t stream) {
  std::vector<Way> kept;
  for (Way& way : ways.all) {
    ways.attempt(way.contender, [&] {
      way.peer->load(input_of(way, input), stream);
      way.peer->enqueue(stream);
      gpu(cudaStreamSynchronize(stream));
      way.accuracy = reference.accuracy(*way.peer);
      if (!way.accuracy.within(Reference::tolerance(way.peer->problem()))) {
        throw std::runtime_error(fmt::format("wrong {}: relative error {:.1e}, against direct sums {:.1e}",
                                             way.mode, way.accuracy.relative_l2, way.accuracy.direct));
      }
      kept.push_back(std::move(way));
    });
  }
  ways.all = std::move(kept);
  row["reference_direct_l2"] = reference.direct_error();
}

/// The number of repetitions that makes the launch of a graph negligible.
int repetitions_of(const DenseCase& what) {
  const auto bytes = static_cast<double>(what.min_bytes());
  return static_cast<int>(std::clamp(2e9 / bytes, 2.0, 40.0));
}

constexpr int kReplays = 15;

/// Times all ways in turn, twice, and keeps each way's better median, because a disturbance affects a way
/// only once.
void time_all(Timer& timer, Ways& ways, const DenseCase& what, const DenseInput& input) {
  for (int round = 0; round < 2; ++round) {
    for (Way& way : ways.all) {
      Peer& peer = *way.peer;
      int repetitions = repetitions_of(what);
      Work reload;
      if (peer.consumes_input()) {
        // One more run is not timed, so that this way is as warm as the others.
        repetitions = std::clamp(repetitions_in_place(what.problem) - 1, 1, repetitions);
        reload = [&](cudaStream_t stream) {
          peer.load(input.tiny(), stream);
          peer.enqueue(stream);
        };
      }
      const Work work = [&](cudaStream_t stream) { peer.enqueue(stream); };
      const Timing timing = timer.warm(work, repetitions, kReplays, reload);
      if (round == 0 || timing.us < way.timing.us) way.timing = timing;
    }
  }
}

json describe(const Way& way, const DenseCase& what, const DenseSettings& settings) {
  const auto batch = static_cast<double>(what.problem.batch);
  const auto bytes = static_cast<double>(what.input_bytes() + what.problem.output_bytes());
  return {{"us", way.timing.us / batch},
          {"batch_us", way.timing.us},
          {"noise", way.timing.noise},
          {"mode", way.mode},
          {"gflops", what.operations() / way.timing.us * 1e-3},
          {"passes", way.timing.us * settings.copy_bandwidth_tb_s * 1e6 / bytes},
          {"relative_l2", way.accuracy.relative_l2},
          {"largest_error", way.accuracy.largest},
          {"direct_l2", way.accuracy.direct},
          {"plan_s", way.plan_s}};
}

/// Adds the fastest way of each candidate, and the times of its other ways.
void add_best(json& row, const Ways& ways, const DenseCase& what, const DenseSettings& settings) {
  for (const Way& way : ways.all) {
    json& entry = row[way.contender];
    const double us = way.timing.us / static_cast<double>(what.problem.batch);
    entry["ways"][way.mode] = us;
    if (!entry.contains("us") || us < entry["us"].get<double>()) entry.update(describe(way, what, settings));
  }
}

void add_ratios(json& row) {
  std::optional<double> best;
  for (const char* peer : {"cuFFT", "VkFFT"}) {
    if (!row.contains(peer)) continue;
    const double us = row[peer]["us"].get<double>();
    if (best && *best <= us) continue;
    best = us;
    row["faster_peer"] = peer;
  }
  for (const char* contender : {"tuned", "automatic"}) {
    const bool timed = row.contains(contender) && row[contender].contains("us");
    if (!timed) row[contender]["us"] = nullptr;
    row[contender]["ratio"] = timed && best ? json(*best / row[contender]["us"].get<double>()) : json();
  }
}

json head_of(const DenseCase& what, const DenseSettings& settings) {
  const PeerProblem& problem = what.problem;
  json row{{"group", what.group},
           {"name", what.name},
           {"shape", what.shape()},
           {"real", problem.real},
           {"inverse", problem.inverse},
           {"precision", problem.double_precision ? "double" : "float"},
           {"input", to_string(what.input)},
           {"batch", problem.batch},
           {"input_bytes", what.input_bytes()},
           {"output_bytes", problem.output_bytes()},
           {"min_passes", what.min_passes()}};
  row["target"] = what.target ? json(*what.target) : json();
  row["target_passes"] = what.target_passes ? json(*what.target_passes) : json();
  row["floor_us"] = static_cast<double>(what.min_bytes()) / settings.copy_bandwidth_tb_s * 1e-6 /
                    static_cast<double>(problem.batch);
  return row;
}

}  // namespace

json time_dense(Timer& timer, const DenseCase& what, const DenseSettings& settings) {
  json row = head_of(what, settings);
  const DenseInput input(what);
  Ways ways(row);
  if (!settings.automatic_only) ways.library(what, "tuned", dense::Engine::tuned, settings.planning);
  ways.library(what, "automatic", dense::Engine::automatic, settings.planning);
  add_peers(ways, what.problem);
  {
    const Reference reference(what.problem, input);
    keep_correct(ways, row, input, reference, timer.stream());
  }
  time_all(timer, ways, what, input);
  add_best(row, ways, what, settings);
  add_ratios(row);
  return row;
}

}  // namespace sfft::bench
