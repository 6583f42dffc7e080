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
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/known_signals.hpp"
#include "bench/trust/signal_families.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using Complex = std::complex<double>;

struct Question {
  ElementType type = ElementType::c64;
  double scale = 1;  ///< scale of the samples: in some signals a power of ten far from 1
  DiscoverOptions options;
  std::string text() const {
    return fmt::format("{} scale {:g} k={} {} fallback={} check={} seed={}", to_string(type), scale,
                       options.k, to_string(options.path),
                       options.fallback == Fallback::dense ? "dense" : "none",
                       static_cast<int>(options.check), options.seed);
  }
};

Question draw_question(const PopulationSignal& signal, std::int64_t number, Draw& draw) {
  Question question;
  const bool twice = draw.one_in(3);
  question.type = signal.real ? (twice ? ElementType::f64 : ElementType::f32)
                              : (twice ? ElementType::c128 : ElementType::c64);
  if (signal.real && draw.one_in(4)) question.type = draw.one_in(2) ? ElementType::u8 : ElementType::u16;
  if (draw.one_in(20))
    question.scale = std::pow(10.0, twice ? draw.between(-295.0, 295.0) : draw.between(-30.0, 30.0));
  DiscoverOptions& options = question.options;
  const std::int64_t known =
      signal.tones > 0 ? signal.tones : draw.between(std::int64_t{1}, std::int64_t{60});
  const std::int64_t kinds[] = {known, known, std::max<std::int64_t>(1, known / 2), 2 * known + 3, 0};
  options.k = std::min(kinds[draw.below(5)], signal.shape.points() / 64);
  options.fallback = draw.one_in(4) ? Fallback::dense : Fallback::none;
  // A dense transform cannot choose the number of frequencies: it would refuse signals without peaks.
  if (options.k == 0) options.fallback = Fallback::none;
  if (draw.one_in(5)) options.path = draw.one_in(2) ? Path::comb : Path::flat_window;
  options.check = draw.one_in(2) ? Check::automatic : Check::scattered;
  options.seed = static_cast<std::uint64_t>(number);
  return question;
}

/// The samples as the library sees them, and the same in double.
struct Samples {
  std::vector<std::uint8_t> bytes;
  std::vector<Complex> exact;
};

template <class T>
void convert(const PopulationSignal& signal, double scale, double offset, Samples& samples) {
  const std::size_t count = signal.x.size();
  samples.bytes.resize(count * sizeof(T));
  samples.exact.resize(count);
  auto* to = reinterpret_cast<T*>(samples.bytes.data());
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      to[i] = static_cast<T>(std::lround(scale * signal.x[i].real() + offset));
      samples.exact[i] = static_cast<double>(to[i]);
    } else if constexpr (std::is_floating_point_v<T>) {
      to[i] = static_cast<T>(scale * signal.x[i].real());
      samples.exact[i] = static_cast<double>(to[i]) / scale;
    } else {
      to[i] = T(scale * signal.x[i]);
      samples.exact[i] = Complex(to[i]) / scale;
    }
  }
}

Samples convert(const PopulationSignal& signal, Question& question) {
  Samples samples;
  const bool integer = question.type == ElementType::u8 || question.type == ElementType::u16;
  double scale = question.scale, offset = 0;
  if (integer) {
    double least = 0, most = 0;
    for (const Complex& x : signal.x) {
      least = std::min(least, x.real());
      most = std::max(most, x.real());
    }
    const double room = question.type == ElementType::u8 ? 255 : 65535;
    scale = room / std::max(most - least, 1e-300);
    offset = -scale * least;
    question.scale = 1;
  }
  switch (question.type) {
    case ElementType::u8:
      convert<std::uint8_t>(signal, scale, offset, samples);
      break;
    case ElementType::u16:
      convert<std::uint16_t>(signal, scale, offset, samples);
      break;
    case ElementType::f32:
      convert<float>(signal, scale, 0, samples);
      break;
    case ElementType::f64:
      convert<double>(signal, scale, 0, samples);
      break;
    case ElementType::c64:
      convert<std::complex<float>>(signal, scale, 0, samples);
      break;
    case ElementType::c128:
      convert<std::complex<double>>(signal, scale, 0, samples);
      break;
  }
  return samples;
}

struct Verdict {
  double missed = 0, values = 0, tail = 0;  ///< errors over their limits: above 1 is silently wrong
  double worst() const { return std::max({missed, values, tail}); }
};

/// Judges an answer in units of the unscaled signal.
Verdict judge(const Discovery& found, const std::vector<Complex>& truth, const PopulationSignal& signal,
              const Question& question) {
  const bool twice = question.type == ElementType::f64 || question.type == ElementType::c128;
  const double epsilon =
      twice ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  double energy = std::numeric_limits<double>::min();  // a signal may be zero
  for (const Complex& value : truth) energy += std::norm(value);
  // The reference is a transform in double precision, and errs by up to 3.5 epsilon itself.
  const double rounding = (twice ? 8 : 4) * epsilon * std::sqrt(energy);
  std::vector<char> held(truth.size(), 0);
  double error = 0, reported = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const std::int64_t f = (*found.support)[i];
    const Complex value = found.values[i] / question.scale;
    const double own = found.standard_error[i] / question.scale;
    error += std::norm(value - truth[static_cast<std::size_t>(f)]);
    reported += own * own;
    held[static_cast<std::size_t>(f)] = 1;
    if (signal.real) held[static_cast<std::size_t>(test::negated(signal.shape, f))] = 1;
  }
  double largest = 0, tail = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (held[i]) continue;
    largest = std::max(largest, std::norm(truth[i]));
    tail += std::norm(truth[i]);
  }
  Verdict verdict;
  verdict.missed = std::sqrt(largest) / (2 * found.missed_bound / question.scale + rounding);
  verdict.values = std::sqrt(error) / (5 * std::sqrt(reported) + rounding);
  // The square itself may leave the range of double precision.
  const double told = std::sqrt(found.tail_energy) / question.scale;
  const bool in_range = found.tail_energy > 1e-290 && found.tail_energy < 1e290;
  const double spread = rounding * std::sqrt(static_cast<double>(truth.size())) / 8;
  verdict.tail = in_range ? std::sqrt(tail) / (2 * told + rounding + spread) : 0;
  return verdict;
}

/// Number of samples at which the signal differs from the answer, if nothing else is wrong with it: for
/// example a click that quantisation makes of a step of one in 255.
std::int64_t differing_samples(const Discovery& found, std::vector<Complex> rest,
                               const PopulationSignal& signal, double scale) {
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const std::int64_t f = (*found.support)[i];
    const Complex value = found.values[i] / scale;
    rest[static_cast<std::size_t>(f)] -= value;
    const std::int64_t mirrored = test::negated(signal.shape, f);
    if (signal.real && mirrored != f) rest[static_cast<std::size_t>(mirrored)] -= std::conj(value);
  }
  transform_in_place(signal.shape, rest, true);
  double largest = 0;
  for (const Complex& r : rest) largest = std::max(largest, std::abs(r));
  return std::count_if(rest.begin(), rest.end(),
                       [&](const Complex& r) { return std::abs(r) > 1e-2 * largest; });
}

struct Tally {
  std::int64_t signals = 0, found = 0, dense = 0, unverified = 0, refused = 0;
  std::int64_t silent = 0, missed = 0, values = 0, tail = 0, exempt = 0, exempt_of_read = 0, dense_silent = 0;
  double worst = 0;  ///< largest error of a signal that was not exempt
  std::int64_t worst_signal = -1;
  std::vector<std::int64_t> silent_signals;

  void operator+=(const Tally& other) {
    signals += other.signals;
    found += other.found;
    dense += other.dense;
    unverified += other.unverified;
    refused += other.refused;
    silent += other.silent;
    missed += other.missed;
    values += other.values;
    tail += other.tail;
    exempt += other.exempt;
    exempt_of_read += other.exempt_of_read;
    dense_silent += other.dense_silent;
    if (other.worst_signal >= 0 && !(other.worst <= worst)) {
      worst = other.worst;
      worst_signal = other.worst_signal;
    }
    silent_signals.insert(silent_signals.end(), other.silent_signals.begin(), other.silent_signals.end());
  }
};
using Tallies = std::map<std::string, Tally>;

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
  std::vector<Complex> truth = std::move(samples.exact);
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

nlohmann::json report(const Tallies& tallies) {
  nlohmann::json rows = nlohmann::json::array();
  Tally all;
  fmt::print("{:26} {:>8} {:>8} {:>8} {:>10} {:>7} | {:>6} {:>6} {:>6} {:>6} | {:>6} | {:>8} {}\n", "family",
             "signals", "found", "dense", "unverified", "refused", "silent", "missed", "values", "tail",
             "exempt", "worst", "of signal");
  const auto row = [&](const std::string& name, const Tally& t) {
    fmt::print("{:26} {:8} {:8} {:8} {:10} {:7} | {:6} {:6} {:6} {:6} | {:6} | {:8.3g} {}\n", name, t.signals,
               t.found, t.dense, t.unverified, t.refused, t.silent, t.missed, t.values, t.tail, t.exempt,
               t.worst, t.worst_signal);
    rows.push_back({{"family", name},
                    {"signals", t.signals},
                    {"verified_by_discovery", t.found},
                    {"dense", t.dense},
                    {"unverified", t.unverified},
                    {"refused", t.refused},
                    {"silent", t.silent},
                    {"silent_missed", t.missed},
                    {"silent_values", t.values},
                    {"silent_tail", t.tail},
                    {"exempt", t.exempt},
                    {"exempt_though_energy_checked", t.exempt_of_read},
                    {"worst_over_allowed", t.worst},
                    {"worst_signal", t.worst_signal},
                    {"silent_signals", t.silent_signals}});
  };
  for (const auto& [name, t] : tallies) {
    row(name, t);
    all += t;
  }
  row("all", all);
  return rows;
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
