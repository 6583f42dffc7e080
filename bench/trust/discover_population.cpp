// SPDX-License-Identifier: Apache-2.0
// Tests discovery on a population of signals from about twenty-five families, and judges each answer by a
// dense transform in double precision. Counts silent errors: answers that claim to be `verified` but are
// wrong.
//   bench_discover_population [--signals=20000] [--first=0] [--seed=1] [--family=NAME] [--seconds=S]
//                             [--threads=1] [--json=FILE] [--verbose] [RECORDING.y4m …]
//   bench_discover_population --changed [--max-points=4194304] [--signals=20000] …
// Signal i does not depend on the others: --first=I --signals=1 --verbose makes it again. A signal is
// silently wrong when its answer is verified and
//   missed  a coefficient outside the support is larger than twice missed_bound,
//   values  the values' error is more than five times the reported one,
//   tail    the energy outside the support is more than four times the reported one,
// each beyond the rounding of the element type. Errors due to a click or burst shorter than `shortest_burst`,
// either put in or left over by the answer, are counted separately as `exempt`.
//
// --changed draws tones instead of the families, and flips, holds, zeroes or clicks a few of their samples
// (changed_signals.hpp). In these signals a single value that is off by more than five times its standard
// error is also wrong, and only `shortest_burst` exempts. Rows are kinds of change, levels of noise, checks
// and paths; the JSON also has every combination of them. Rows of the kind `none` are undisturbed signals.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/threads.hpp"
#include "bench/timing.hpp"
#include "bench/trust/changed_signals.hpp"
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
  bool verbose = false, changed = false;
  std::int64_t max_points = std::int64_t{1} << 22;
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
    } else if (is("max-points")) {
      arguments.max_points = std::max<std::int64_t>(2048, std::atoll(value.c_str()));
    } else if (word == "--changed") {
      arguments.changed = true;
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

/// An answer about one signal, and its spectrum by a dense transform.
struct Judged {
  std::optional<Discovery> found;  ///< nothing if discovery refused
  std::vector<std::complex<double>> truth;
  Verdict verdict;
};

Judged ask(const std::string& name, std::int64_t number, const PopulationSignal& signal,
           const Question& question, Samples& samples, bool verbose) {
  Judged judged;
  try {
    judged.found = discover(SignalView(samples.bytes.data(), signal.x.size(), question.type, signal.shape),
                            question.options);
  } catch (const Error& error) {
    if (verbose) fmt::print("{} {}: {}\n", number, name, error.what());
    return judged;
  }
  if (!judged.found->verified) return judged;
  judged.truth = std::move(samples.exact);
  transform_in_place(signal.shape, judged.truth, false);
  judged.verdict = judge(*judged.found, judged.truth, signal, question);
  return judged;
}

void describe(const std::string& name, std::int64_t number, const PopulationSignal& signal,
              const Question& question, const Discovery& found, const Verdict& verdict) {
  fmt::print(
      "{} {} {} {} tones={} disturbed={} | {} | verified={} {} values={} missed_bound={:.3g} "
      "shortest={} energy_checked={} tail={:.3g} rounds={} samples={} | missed {:.3g} values {:.3g} "
      "single {:.3g} tail {:.3g} | {}\n",
      number, name, signal.shape.to_string(), signal.real ? "real" : "complex", signal.tones,
      signal.disturbed, question.text(), found.verified, to_string(found.spectrum.path),
      found.spectrum.values.size(), found.missed_bound, found.shortest_burst, found.energy_checked,
      found.spectrum.quality.tail_energy, found.rounds, found.samples, verdict.missed, verdict.values,
      verdict.single, verdict.tail, found.reason);
}

/// Counts an answer that was judged. It is wrong if `worst` exceeds 1.
void count(Tally& tally, std::int64_t number, const Judged& judged, double worst, bool exempt) {
  ++tally.signals;
  if (!judged.found) {
    ++tally.refused;
    return;
  }
  const Discovery& found = *judged.found;
  if (!found.verified) {
    ++tally.unverified;
    return;
  }
  ++(found.support_learned_densely ? tally.dense : tally.found);
  if (exempt) {
    ++tally.exempt;
    tally.exempt_of_read += found.energy_checked;
    return;
  }
  if (!(worst <= 1)) {
    ++tally.silent;
    tally.missed += !(judged.verdict.missed <= 1);
    tally.values += !(judged.verdict.values <= 1);
    tally.tail += !(judged.verdict.tail <= 1);
    tally.dense_silent += found.support_learned_densely;
    if (tally.silent_signals.size() < 20) tally.silent_signals.push_back(number);
  }
  if (tally.worst_signal < 0 || !(worst <= tally.worst)) {
    tally.worst = worst;
    tally.worst_signal = number;
  }
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
  const Judged judged = ask(family, number, signal, question, samples, arguments.verbose);
  const double worst = judged.verdict.worst();
  const bool silent = !(worst <= 1);
  const auto few_samples = [&] {
    const Discovery& found = *judged.found;
    if (signal.disturbed > 0 && signal.disturbed < found.shortest_burst) return true;
    if (differing_samples(found, judged.truth, signal, question.scale) < found.shortest_burst) return true;
    if (!question.options.k) return false;
    // Frequencies cut off by k would hide them, so discovery runs again without a limit.
    DiscoverOptions options = question.options;
    options.k.reset();
    const Discovery all =
        discover(SignalView(samples.bytes.data(), signal.x.size(), question.type, signal.shape), options);
    return all.verified && differing_samples(all, judged.truth, signal, question.scale) < all.shortest_burst;
  };
  const bool exempt = silent && few_samples();
  count(tallies[family], number, judged, worst, exempt);
  if (judged.found && (arguments.verbose || (silent && !exempt)))
    describe(family, number, signal, question, *judged.found, judged.verdict);
}

void run_changed(const Population& population, std::int64_t number, const Arguments& arguments,
                 Tallies& tallies, Tallies& combinations) {
  Draw draw = population.draw(number);
  ChangedSignal drawn = draw_changed(draw, number, arguments.max_points);
  const PopulationSignal& signal = drawn.signal;
  Samples samples = convert(signal, drawn.question);
  const std::string name =
      fmt::format("{}, noise {}, {}, {}", drawn.kind, drawn.noise, drawn.check(), drawn.path());
  const Judged judged = ask(name, number, signal, drawn.question, samples, arguments.verbose);
  const double worst = std::max(judged.verdict.worst(), judged.verdict.single);
  const bool silent = !(worst <= 1);
  const bool exempt = silent && signal.disturbed > 0 && signal.disturbed < judged.found->shortest_burst;
  const std::string rows[] = {drawn.kind, "noise " + drawn.noise, "check " + drawn.check(),
                              "path " + drawn.path()};
  for (const std::string& row : rows) count(tallies[row], number, judged, worst, exempt);
  count(combinations[name], number, judged, worst, exempt);
  if (judged.found && (arguments.verbose || (silent && !exempt)))
    describe(name, number, signal, drawn.question, *judged.found, judged.verdict);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const Population population(arguments.seed, arguments.recordings);
  Tallies tallies;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return bench::seconds_since(start); };
  std::atomic<std::int64_t> next{0};
  struct Own {
    Tallies rows, combinations;
  };
  std::vector<Own> of_thread(static_cast<std::size_t>(arguments.threads));
  const auto work = [&](Own& own) {
    while (elapsed() < arguments.seconds) {
      const std::int64_t i = next++;
      if (i >= arguments.signals) break;
      if (arguments.changed) {
        run_changed(population, arguments.first + i, arguments, own.rows, own.combinations);
      } else {
        run_one(population, arguments.first + i, arguments, own.rows);
      }
    }
  };
  bench::on_threads(arguments.threads, [&](int t) { work(of_thread[static_cast<std::size_t>(t)]); });
  Tallies combinations;
  for (const Own& own : of_thread) {
    for (const auto& [name, tally] : own.rows) tallies[name] += tally;
    for (const auto& [name, tally] : own.combinations) combinations[name] += tally;
  }
  const nlohmann::json rows = report(tallies, arguments.changed ? "" : "all");
  const nlohmann::json all_combinations = arguments.changed ? report(combinations, "all", false) : nullptr;
  std::int64_t done = 0, silent = 0;
  for (const auto& [name, tally] : arguments.changed ? combinations : tallies) {
    done += tally.signals;
    silent += tally.silent;
  }
  fmt::print("{} signals in {:.0f} s, {:.0f} a second\n", done, elapsed(),
             static_cast<double>(done) / elapsed());
  if (!arguments.json.empty()) {
    nlohmann::json out = {{"program", "bench_discover_population"},
                          {"commit", SFFT_COMMIT},
                          {"seed", arguments.seed},
                          {"first", arguments.first},
                          {"signals", done},
                          {"seconds", elapsed()},
                          {arguments.changed ? "rows" : "families", rows}};
    if (arguments.changed) out["combinations"] = all_combinations;
    std::ofstream(arguments.json) << out.dump(1) << '\n';
  }
  return silent > 0 ? 1 : 0;
}
