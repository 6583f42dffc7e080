// SPDX-License-Identifier: Apache-2.0
// Discovery against a population: signals drawn from about twenty-five families, each judged by a dense
// transform in double precision. Counts silent errors: answers that claim to be `verified` but are wrong.
//   bench_discover_population [--signals=20000] [--first=0] [--seed=1] [--family=NAME] [--seconds=S]
//                             [--threads=1] [--json=FILE] [--verbose] [RECORDING.y4m …]
// Signal i does not depend on the others: --first=I --signals=1 --verbose makes it again. A signal is
// silently wrong when its answer is verified and
//   missed  a coefficient outside the support is larger than twice missed_bound,
//   values  the values' error is more than five times the reported one,
//   tail    the energy outside the support is more than four times the reported one,
// each beyond the rounding of the element type. Errors due to a click or burst shorter than `shortest_burst`,
// either put in or left over by the answer, are counted separately as `exempt`.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/trust/population_question.hpp"
#include "bench/trust/population_tally.hpp"
#include "bench/trust/population_verdict.hpp"
#include "bench/trust/signal_families.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;

struct Arguments {
  std::int64_t signals = 20000, first = 0;
  int threads = 1;
  std::uint64_t seed = 1;
  double seconds = std::numeric_limits<double>::infinity();
  std::string family, json;
  bool verbose = false;
  std::vector<std::shared_ptr<Recording>> recordings;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = word.substr(std::min(word.size(), word.find('=') + 1));
    const auto is = [&](const char* name) { return word.rfind(std::string("--") + name + "=", 0) == 0; };
    if (is("signals")) {
      arguments.signals = std::atoll(value.c_str());
    } else if (is("first")) {
      arguments.first = std::atoll(value.c_str());
    } else if (is("seed")) {
      arguments.seed = static_cast<std::uint64_t>(std::atoll(value.c_str()));
    } else if (is("seconds")) {
      arguments.seconds = std::atof(value.c_str());
    } else if (is("threads")) {
      arguments.threads = std::max(1, std::atoi(value.c_str()));
    } else if (is("family")) {
      arguments.family = value;
    } else if (is("json")) {
      arguments.json = value;
    } else if (word == "--verbose") {
      arguments.verbose = true;
    } else if (word[0] == '-') {
      fmt::print(stderr, "unknown option {}: see the head of bench/trust/discover_population.cpp\n", word);
      std::exit(2);
    } else {
      arguments.recordings.push_back(read_recording(word));
    }
  }
  return arguments;
}

void run_one(const Population& population, std::int64_t number, const Arguments& arguments,
             Tallies& tallies) {
  const auto& families = Population::families();
  const std::string& family = arguments.family.empty()
                                  ? families[static_cast<std::size_t>(number) % families.size()]
                                  : arguments.family;
  Draw draw = population.draw(number);
  const PopulationSignal signal = population.make(family, draw);
  Question question = draw_question(signal, number, draw);
  Samples samples = convert(signal, question);
  Tally& tally = tallies[family];
  ++tally.signals;
  Discovery found;
  try {
    found = discover(SignalView(samples.bytes.data(), signal.x.size(), question.type, signal.shape),
                     question.options);
  } catch (const Error& error) {
    ++tally.refused;
    if (arguments.verbose) fmt::print("{} {}: {}\n", number, family, error.what());
    return;
  }
  const auto describe = [&](const Verdict& verdict) {
    fmt::print(
        "{} {} {} {} tones={} disturbed={} | {} | verified={} {} values={} missed_bound={:.3g} "
        "shortest={} energy_checked={} tail={:.3g} rounds={} samples={} | missed {:.3g} values {:.3g} "
        "tail {:.3g} | {}\n",
        number, family, signal.shape.to_string(), signal.real ? "real" : "complex", signal.tones,
        signal.disturbed, question.text(), found.verified, to_string(found.path), found.values.size(),
        found.missed_bound, found.shortest_burst, found.energy_checked, found.tail_energy, found.rounds,
        found.samples, verdict.missed, verdict.values, verdict.tail, found.reason);
  };
  if (!found.verified) {
    ++tally.unverified;
    if (arguments.verbose) describe({});
    return;
  }
  ++(found.support_learned_densely ? tally.dense : tally.found);
  std::vector<std::complex<double>> truth = std::move(samples.exact);
  transform_in_place(signal.shape, truth, false);
  const Verdict verdict = judge(found, truth, signal, question);
  const bool silent = !(verdict.worst() <= 1);
  const auto few_samples = [&] {
    if (signal.disturbed > 0 && signal.disturbed < found.shortest_burst) return true;
    if (differing_samples(found, truth, signal, question.scale) < found.shortest_burst) return true;
    if (question.options.k == 0) return false;
    // Frequencies cut off by k would hide them, so discovery runs again for everything that there is to find.
    DiscoverOptions options = question.options;
    options.k = 0;
    const Discovery all =
        discover(SignalView(samples.bytes.data(), signal.x.size(), question.type, signal.shape), options);
    return all.verified && differing_samples(all, truth, signal, question.scale) < all.shortest_burst;
  };
  const bool exempt = silent && few_samples();
  if (exempt) ++tally.exempt;
  if (exempt && found.energy_checked) ++tally.exempt_of_read;
  if (silent && !exempt) {
    ++tally.silent;
    tally.missed += !(verdict.missed <= 1);
    tally.values += !(verdict.values <= 1);
    tally.tail += !(verdict.tail <= 1);
    tally.dense_silent += found.support_learned_densely;
    if (tally.silent_signals.size() < 20) tally.silent_signals.push_back(number);
  }
  if (!exempt && (tally.worst_signal < 0 || !(verdict.worst() <= tally.worst))) {
    tally.worst = verdict.worst();
    tally.worst_signal = number;
  }
  if (arguments.verbose || (silent && !exempt)) describe(verdict);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const Population population(arguments.seed, arguments.recordings);
  Tallies tallies;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::atomic<std::int64_t> next{0};
  std::vector<Tallies> of_thread(static_cast<std::size_t>(arguments.threads));
  const auto work = [&](Tallies& own) {
    while (elapsed() < arguments.seconds) {
      const std::int64_t i = next++;
      if (i >= arguments.signals) break;
      run_one(population, arguments.first + i, arguments, own);
    }
  };
  std::vector<std::thread> threads;
  for (Tallies& own : of_thread) threads.emplace_back(work, std::ref(own));
  for (std::thread& thread : threads) thread.join();
  std::int64_t done = 0;
  for (const Tallies& own : of_thread) {
    for (const auto& [name, tally] : own) {
      tallies[name] += tally;
      done += tally.signals;
    }
  }
  const nlohmann::json rows = report(tallies);
  fmt::print("{} signals in {:.0f} s, {:.0f} a second\n", done, elapsed(),
             static_cast<double>(done) / elapsed());
  if (!arguments.json.empty()) {
    nlohmann::json out = {{"program", "bench_discover_population"},
                          {"commit", SFFT_COMMIT},
                          {"seed", arguments.seed},
                          {"first", arguments.first},
                          {"signals", done},
                          {"seconds", elapsed()},
                          {"families", rows}};
    std::ofstream(arguments.json) << out.dump(1) << '\n';
  }
  for (const auto& [name, tally] : tallies) {
    if (tally.silent > 0) return 1;
  }
  return 0;
}
