// SPDX-License-Identifier: Apache-2.0
// Draws a sum of tones, changes some of its samples, and draws the question to discovery.
#include "bench/trust/changed_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/trust/signal_makers.hpp"

namespace sfft::bench {

namespace {

using Complex = std::complex<double>;

/// A size near `points`: a power of two, a product of small primes, or any number.
std::int64_t size_near(Draw& draw, double points) {
  const std::int64_t kind = draw.below(4);
  if (kind == 0) return std::int64_t{1} << std::lround(std::log2(points));
  const auto near = static_cast<std::int64_t>(points);
  if (kind == 1) return std::max<std::int64_t>(2, near);
  std::int64_t smooth = 1;
  const std::int64_t factors[] = {2, 2, 2, 3, 3, 5, 7};
  while (2 * smooth <= near) smooth *= factors[draw.below(near >= 8 * smooth ? 7 : 1)];
  return smooth;
}

Shape draw_shape(Draw& draw, std::int64_t max_points) {
  const bool large = draw.one_in(10);
  const double max = static_cast<double>(max_points);
  const double points =
      large ? draw.log_between(std::min(0x1p16, max), max) : draw.log_between(0x1p10, std::min(0x1p16, max));
  const std::int64_t rank = draw.one_in(3) ? draw.between(std::int64_t{2}, std::int64_t{3}) : 1;
  if (rank == 1) return Shape{size_near(draw, points)};
  if (rank == 2) {
    const double rows = std::pow(points, draw.between(0.3, 0.7));
    return Shape{size_near(draw, rows), size_near(draw, points / rows)};
  }
  const double planes = std::pow(points, draw.between(0.2, 0.4)),
               rows = std::pow(points, draw.between(0.25, 0.4));
  return Shape{size_near(draw, planes), size_near(draw, rows), size_near(draw, points / planes / rows)};
}

void change(Maker& maker, const std::string& kind) {
  std::vector<Complex>& x = maker.signal.x;
  Draw& draw = maker.draw;
  const double size = maker.rms() * draw.log_between(1e-3, 100);
  const std::int64_t points = maker.points();
  const auto count = std::min<std::int64_t>(points / 2, std::llround(draw.log_between(1, 64)));
  std::vector<std::int64_t> where;
  const bool together = draw.one_in(2);
  const std::int64_t start = draw.below(points);
  for (std::int64_t i = 0; i < count; ++i)
    where.push_back(together ? (start + i) % points : draw.below(points));
  std::sort(where.begin(), where.end());
  where.erase(std::unique(where.begin(), where.end()), where.end());
  for (const std::int64_t t : where) {
    Complex& own = x[static_cast<std::size_t>(t)];
    if (kind == "flipped") own = -own;
    if (kind == "held") own = x[static_cast<std::size_t>(t > 0 ? t - 1 : 0)];
    if (kind == "zeroed") own = 0;
    if (kind == "clicked")
      own += size * (maker.signal.real ? Complex(draw.one_in(2) ? 1 : -1) : draw.phase());
  }
  maker.signal.disturbed = static_cast<std::int64_t>(where.size());
}

}  // namespace

std::string ChangedSignal::check() const {
  const char* names[] = {"automatic", "scattered", "everything"};
  return names[static_cast<int>(question.options.check)];
}

std::string ChangedSignal::path() const {
  return to_string(question.options.path);
}

ChangedSignal draw_changed(Draw& draw, std::int64_t number, std::int64_t max_points) {
  ChangedSignal drawn;
  PopulationSignal& signal = drawn.signal;
  signal.shape = draw_shape(draw, max_points);
  signal.real = draw.one_in(2);
  signal.x.assign(static_cast<std::size_t>(signal.shape.points()), 0.0);
  const std::vector<std::shared_ptr<Recording>> none;
  Maker maker{signal, draw, none};
  const bool equal = draw.one_in(4);
  maker.add_tones(maker.anywhere(maker.few()), [&] { return equal ? 1.0 : draw.log_between(0.1, 2); });
  drawn.noise = "none";
  if (!draw.one_in(5)) {
    const double level = draw.between(-80.0, -20.0);
    maker.add_noise(maker.rms() * std::pow(10, level / 20));
    drawn.noise = fmt::format("{} dB", 20 * static_cast<int>(std::lround(level / 20)));
  }
  if (signal.real) {
    for (Complex& x : signal.x) x = x.real();
  }
  const char* kinds[] = {"none", "flipped", "held", "zeroed", "clicked", "flipped"};
  drawn.kind = kinds[draw.below(6)];
  if (drawn.kind != "none") change(maker, drawn.kind);
  drawn.question = draw_question(signal, number, draw);
  DiscoverOptions& options = drawn.question.options;
  options.dense_fallback = draw.one_in(8) && options.k.has_value();
  const Path paths[] = {Path::automatic, Path::automatic, Path::comb, Path::flat_window};
  options.path = paths[draw.below(4)];
  const DiscoverOptions::Check checks[] = {
      DiscoverOptions::Check::automatic, DiscoverOptions::Check::automatic,
      DiscoverOptions::Check::everything, DiscoverOptions::Check::scattered};
  options.check = checks[draw.below(4)];
  const double accuracies[] = {1e-6, 1e-6, 1e-4, 1e-3, 1e-2};
  options.accuracy = accuracies[draw.below(5)];
  const double gains[] = {2.6, 2.6, 1.5, 5};
  options.noise_gain = gains[draw.below(4)];
  return drawn;
}

}  // namespace sfft::bench
