// SPDX-License-Identifier: Apache-2.0
// Draws signals with tones between the frequencies of the grid or on it, and judges whether discovery is
// right about them or reports suspected leakage.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "bench/known_signals.hpp"
#include "bench/trust/random.hpp"
#include "sfft/sfft.hpp"

namespace sfft::trust {

struct DrawnTone {
  std::array<double, 3> frequency{0, 0, 0};
  double size = 1;
};

struct OffGridSignal {
  Shape shape{1};
  bool real = false;
  bool off_grid = true;
  std::string kind;     ///< the window, or the family on the grid
  double noise_db = 0;  ///< below the signal; 0 means no noise
  std::vector<std::complex<double>> x;
  std::vector<DrawnTone> tones;  ///< strongest first
  DiscoverOptions options;
};

/// Draws signal `number` of a population and the question about it.
class OffGridPopulation {
 public:
  OffGridPopulation(std::uint64_t seed, bool large) : seed_(seed), large_(large) {}

  OffGridSignal draw(std::int64_t number, bool off_grid) const {
    Random random(seed_ + (off_grid ? 0 : 0x517cc1b727220a95U), static_cast<std::uint64_t>(number));
    OffGridSignal signal;
    signal.off_grid = off_grid;
    signal.shape = shape(random);
    signal.real = random.chance(0.5);
    signal.x.assign(static_cast<std::size_t>(signal.shape.points()), 0);
    off_grid ? draw_off_grid(random, signal) : draw_on_grid(random, signal);
    std::stable_sort(signal.tones.begin(), signal.tones.end(),
                     [](const DrawnTone& a, const DrawnTone& b) { return a.size > b.size; });
    if (random.chance(0.6)) {
      signal.noise_db = random.uniform(20, 80);
      add_noise(random, signal);
    }
    const auto count = static_cast<std::int64_t>(signal.tones.size());
    const std::int64_t counts[] = {count, std::max<std::int64_t>(1, count / 2), 2 * count + 1, 0};
    const std::int64_t k = std::min(counts[random.below(4)], signal.shape.points() / 4);
    if (k > 0) signal.options.k = k;
    signal.options.dense_fallback = random.chance(0.5);
    signal.options.seed = random.bits();
    return signal;
  }

 private:
  static constexpr double kTurn = 2 * std::numbers::pi;

  Shape shape(Random& random) const {
    static const Shape kShapes[] = {Shape{8192},       Shape{10007},     Shape{16384},    Shape{15000},
                                    Shape{32768},      Shape{65536},     Shape{64, 96},   Shape{128, 128},
                                    Shape{100, 250},   Shape{101, 127},  Shape{256, 256}, Shape{16, 32, 24},
                                    Shape{32, 32, 32}, Shape{20, 30, 25}};
    static const Shape kLarge[] = {Shape{262144},   Shape{200000},    Shape{1 << 20},
                                   Shape{512, 768}, Shape{1021, 509}, Shape{64, 96, 64}};
    if (large_ && random.chance(0.25)) return kLarge[random.below(std::size(kLarge))];
    return kShapes[random.below(std::size(kShapes))];
  }

  static void add_tone(Random& random, OffGridSignal& signal, const DrawnTone& tone) {
    const Shape& shape = signal.shape;
    std::array<std::vector<std::complex<double>>, 3> wave;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t n = static_cast<int>(d) < shape.rank() ? shape[static_cast<int>(d)] : 1;
      const double turns = tone.frequency[d] / static_cast<double>(n);
      for (std::int64_t t = 0; t < n; ++t) {
        const double own = turns * static_cast<double>(t);
        wave[d].push_back(std::polar(1.0, kTurn * (own - std::floor(own))));
      }
    }
    const std::complex<double> amplitude = std::polar(tone.size, random.phase());
    std::size_t at = 0;
    for (const auto& a : wave[0]) {
      for (const auto& b : wave[1]) {
        const std::complex<double> row = amplitude * a * b;
        for (const auto& c : wave[2]) {
          const std::complex<double> value = row * c;
          signal.x[at++] += signal.real ? 2 * value.real() : value;
        }
      }
    }
    signal.tones.push_back(tone);
  }

  static void draw_off_grid(Random& random, OffGridSignal& signal) {
    const std::int64_t count = random.integer(1, 20);
    for (std::int64_t i = 0; i < count; ++i) {
      DrawnTone tone;
      for (int d = 0; d < signal.shape.rank(); ++d)
        tone.frequency[static_cast<std::size_t>(d)] = random.uniform(0, static_cast<double>(signal.shape[d]));
      tone.size = i == 0 ? 1 : std::pow(10, random.uniform(-80, 0) / 20);
      add_tone(random, signal, tone);
    }
    static const char* const kWindows[] = {"no window", "Hann", "Hamming", "Blackman-Harris"};
    const std::int64_t window = random.below(4);
    signal.kind = kWindows[window];
    if (window > 0) apply_window(signal, window, random.chance(0.5));
  }

  static void apply_window(OffGridSignal& signal, std::int64_t which, bool symmetric) {
    static const double kTerms[4][4] = {
        {1, 0, 0, 0}, {0.5, 0.5, 0, 0}, {0.54, 0.46, 0, 0}, {0.35875, 0.48829, 0.14128, 0.01168}};
    std::size_t stride = 1;
    for (int d = signal.shape.rank() - 1; d >= 0; --d) {
      const auto n = static_cast<std::size_t>(signal.shape[d]);
      std::vector<double> window;
      for (std::size_t t = 0; t < n; ++t) {
        const double turn = kTurn * static_cast<double>(t) / static_cast<double>(symmetric ? n - 1 : n);
        const double* a = kTerms[which];
        window.push_back(a[0] - a[1] * std::cos(turn) + a[2] * std::cos(2 * turn) -
                         a[3] * std::cos(3 * turn));
      }
      for (std::size_t i = 0; i < signal.x.size(); ++i) signal.x[i] *= window[i / stride % n];
      stride *= n;
    }
  }

  static void draw_on_grid(Random& random, OffGridSignal& signal) {
    static const char* const kKinds[] = {"scattered",     "equal",     "clusters", "runs of eight",
                                         "residue class", "modulated", "square",   "chirp"};
    const std::int64_t kind = random.below(8);
    signal.kind = kKinds[kind];
    if (kind == 6) return add_square(random, signal);
    if (kind == 7) return add_chirp(random, signal);
    const std::int64_t count = random.integer(1, 20);
    const Shape& shape = signal.shape;
    std::array<std::int64_t, 3> start{0, 0, 0};
    const std::int64_t apart = std::int64_t{1} << random.integer(1, 4);
    const double range = random.chance(0.5) ? 80 : 6;
    std::vector<std::array<double, 3>> taken;
    for (std::int64_t i = 0; i < count; ++i) {
      DrawnTone tone;
      for (int d = 0; d < shape.rank(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        const bool last = d == shape.rank() - 1;
        if (i == 0 || kind < 2 || kind == 5 || (kind == 3 && i % 8 == 0)) start[at] = random.below(shape[d]);
        std::int64_t f = start[at];
        if (kind == 2) f += random.below(last ? 2 * count : 2);
        if (kind == 3 && last) f += i % 8;
        if (kind == 4) f += apart * random.below(shape[d]);
        tone.frequency[at] = static_cast<double>(f % shape[d]);
      }
      tone.size = kind == 1 ? 1 : std::pow(10, -random.uniform(0, range) / 20);
      if (std::find(taken.begin(), taken.end(), tone.frequency) != taken.end()) continue;
      taken.push_back(tone.frequency);
      add_tone(random, signal, tone);
    }
    if (kind != 5) return;
    // The number of cycles is whole, so that the side bands lie on the grid as well.
    const auto last = static_cast<std::size_t>(shape[shape.rank() - 1]);
    const double depth = random.log_uniform(1e-3, 1), phase = random.phase();
    const auto cycles = static_cast<double>(random.integer(1, 8));
    for (std::size_t i = 0; i < signal.x.size(); ++i)
      signal.x[i] *=
          1 + depth * std::cos(kTurn * cycles * static_cast<double>(i % last) / static_cast<double>(last) +
                               phase);
  }

  static void add_square(Random& random, OffGridSignal& signal) {
    // The signal varies along the last axis, whose length the period divides.
    const std::int64_t points = signal.shape.points(), last = signal.shape[signal.shape.rank() - 1];
    std::vector<std::int64_t> periods;
    for (std::int64_t p = 4; p <= std::min<std::int64_t>(last / 2, 4096); ++p) {
      if (last % p == 0) periods.push_back(p);
    }
    if (periods.empty()) periods.push_back(last);
    const std::int64_t period =
        periods[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(periods.size())))];
    const std::int64_t offset = random.below(period), on = random.integer(1, period - 1);
    for (std::int64_t i = 0; i < points; ++i)
      signal.x[static_cast<std::size_t>(i)] = (i + offset) % period < on ? 1 : -1;
    for (int i = 0; i < 8; ++i) signal.tones.push_back({});
  }

  static void add_chirp(Random& random, OffGridSignal& signal) {
    // The sweep goes from one frequency of the grid to another.
    const auto last = static_cast<std::size_t>(signal.shape[signal.shape.rank() - 1]);
    const auto n = static_cast<double>(last);
    const auto start = static_cast<double>(random.below(static_cast<std::int64_t>(last)));
    const auto sweep = static_cast<double>(random.integer(2, static_cast<std::int64_t>(last / 4)));
    for (std::size_t i = 0; i < signal.x.size(); ++i) {
      const double t = static_cast<double>(i % last) / n;
      const std::complex<double> value = std::polar(1.0, kTurn * (start + sweep * t / 2) * t);
      signal.x[i] = signal.real ? 2 * value.real() : value;
    }
    for (int i = 0; i < 8; ++i) signal.tones.push_back({});
  }

  static void add_noise(Random& random, OffGridSignal& signal) {
    double power = 0;
    for (const auto& x : signal.x) power += std::norm(x);
    const double sigma = std::sqrt(power / static_cast<double>(signal.x.size())) *
                         std::pow(10, -signal.noise_db / 20) * std::numbers::sqrt2 / 2;
    for (auto& x : signal.x) {
      const std::complex<double> noise = sigma * random.normal_pair();
      x += signal.real ? std::numbers::sqrt2 * noise.real() : noise;
    }
  }

  std::uint64_t seed_;
  bool large_;
};

/// How discovery's answer about a signal was judged.
struct OffGridVerdict {
  bool flagged = false;
  int listed = 0, near = 0;  ///< tones in the list, and how many are within three errors of a true one
  bool true_values = false;  ///< values, missed_bound and tail are true, by a dense transform in double
  bool all_tones = false;  ///< every one of the k strongest tones has its nearest coefficient in the support
  bool verified = false;
  bool dense = false;

  bool right() const { return verified && true_values && all_tones; }
  bool told() const { return flagged && near > 0; }
};

/// Distance along the axes, in standard errors, between two frequencies or between one and the other's
/// conjugate.
inline double standard_errors_apart(const Shape& shape, bool real, const OffGridTone& found,
                                    const DrawnTone& tone) {
  double best = std::numeric_limits<double>::infinity();
  for (const double side : {1.0, -1.0}) {
    if (side < 0 && !real) continue;
    double worst = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      const auto n = static_cast<double>(shape[d]);
      double apart = found.frequency[at] - side * tone.frequency[at];
      apart -= n * std::floor(apart / n + 0.5);
      worst = std::max(worst, std::fabs(apart) / std::max(found.standard_error[at], 1e-9));
    }
    best = std::min(best, worst);
  }
  return best;
}

inline OffGridVerdict judge(const OffGridSignal& signal, const Discovery& found, double epsilon) {
  OffGridVerdict verdict;
  const Shape& shape = signal.shape;
  verdict.flagged = found.leakage_suspected;
  verdict.verified = found.verified;
  verdict.dense = found.support_learned_densely;
  verdict.listed = static_cast<int>(found.off_grid_tones.size());
  for (const OffGridTone& tone : found.off_grid_tones) {
    verdict.near += std::any_of(signal.tones.begin(), signal.tones.end(), [&](const DrawnTone& drawn) {
      return standard_errors_apart(shape, signal.real, tone, drawn) <= 3;
    });
  }
  std::vector<std::complex<double>> truth(signal.x.size());
  dense::Plan<double>(shape, Domain::complex).forward(SignalView(signal.x, shape), truth);
  double energy = 0;
  for (const auto& value : truth) energy += std::norm(value);
  const double rounding = 8 * epsilon * std::sqrt(energy);
  std::vector<char> held(truth.size(), 0);
  double error = 0, reported = 0;
  for (std::size_t i = 0; i < found.spectrum.values.size(); ++i) {
    const std::int64_t f = (*found.spectrum.support)[i];
    held[static_cast<std::size_t>(f)] = 1;
    if (signal.real) held[static_cast<std::size_t>(test::negated(shape, f))] = 1;
    error += std::norm(found.spectrum.values[i] - truth[static_cast<std::size_t>(f)]);
    reported += found.spectrum.standard_error[i] * found.spectrum.standard_error[i];
  }
  double largest = 0, tail = 0;
  for (std::size_t f = 0; f < truth.size(); ++f) {
    if (held[f]) continue;
    largest = std::max(largest, std::abs(truth[f]));
    tail += std::norm(truth[f]);
  }
  verdict.true_values = std::sqrt(error) <= 5 * std::sqrt(reported) + rounding &&
                        largest <= 2 * found.missed_bound + rounding &&
                        tail <= 4 * found.spectrum.quality.tail_energy +
                                    rounding * rounding * static_cast<double>(truth.size()) / 16;
  verdict.all_tones = true;
  const auto wanted = static_cast<std::size_t>(signal.options.k.value_or(0));
  for (std::size_t i = 0; i < signal.tones.size() && (wanted == 0 || i < wanted); ++i) {
    std::int64_t flat = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      const auto f =
          static_cast<std::int64_t>(std::llround(signal.tones[i].frequency[static_cast<std::size_t>(d)]));
      flat = flat * shape[d] + f % shape[d];
    }
    // Without k, a tone that the reported bound covers may be left out.
    const bool covered =
        wanted == 0 && std::abs(truth[static_cast<std::size_t>(flat)]) <= 2 * found.missed_bound;
    verdict.all_tones = verdict.all_tones && (covered || held[static_cast<std::size_t>(flat)] != 0);
  }
  return verdict;
}

/// Calls discovery in single precision, as a user would.
inline Discovery discover_drawn(const OffGridSignal& signal, const DiscoverOptions& options) {
  if (!signal.real) {
    const std::vector<std::complex<float>> x(signal.x.begin(), signal.x.end());
    return discover(SignalView(x, signal.shape), options);
  }
  std::vector<float> x;
  for (const auto& value : signal.x) x.push_back(static_cast<float>(value.real()));
  return discover(SignalView(x, signal.shape), options);
}

}  // namespace sfft::trust
