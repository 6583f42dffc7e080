// SPDX-License-Identifier: Apache-2.0
// The recipes of the signal families.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "bench/known_signals.hpp"
#include "bench/trust/signal_families.hpp"

namespace sfft::bench {

/// The coordinate of every sample along one axis.
class Axes {
 public:
  explicit Axes(const Shape& shape) : shape_(shape) {}
  std::array<std::int64_t, 3> at(std::int64_t i) const {
    std::array<std::int64_t, 3> t{};
    for (int d = shape_.rank() - 1; d >= 0; --d) {
      t[static_cast<std::size_t>(d)] = i % shape_[d];
      i /= shape_[d];
    }
    return t;
  }

 private:
  Shape shape_;
};

/// Adds components to one signal. PopulationSignal describes `tones` and `disturbed`.
struct Maker {
  using Complex = std::complex<double>;
  static constexpr double kTurn = 2 * std::numbers::pi;

  PopulationSignal& signal;
  Draw& draw;
  const std::vector<std::shared_ptr<Recording>>& recordings;

  std::int64_t points() const { return signal.shape.points(); }

  /// Adds one tone at `f` with |X| = size · N.
  static void put(std::vector<Complex>& spectrum, const PopulationSignal& own, std::int64_t f,
                  Complex value) {
    if (!own.real) {
      spectrum[static_cast<std::size_t>(f)] += value;
      return;
    }
    const std::int64_t mirrored = test::negated(own.shape, f);
    if (mirrored == f) value = std::abs(value);
    spectrum[static_cast<std::size_t>(f)] += value;
    if (mirrored != f) spectrum[static_cast<std::size_t>(mirrored)] += std::conj(value);
  }

  void add_spectrum(std::vector<Complex>& spectrum) {
    transform_in_place(signal.shape, spectrum, true);
    for (std::size_t i = 0; i < spectrum.size(); ++i) signal.x[i] += spectrum[i];
  }

  std::int64_t few() { return draw.between(std::int64_t{1}, std::min<std::int64_t>(60, points() / 100)); }

  void add_tones(const std::vector<std::int64_t>& where, const std::function<double()>& size) {
    std::vector<Complex> spectrum(signal.x.size());
    std::vector<std::int64_t> taken;
    for (const std::int64_t f : where) {
      const std::int64_t own = signal.real ? std::min(f, test::negated(signal.shape, f)) : f;
      if (std::find(taken.begin(), taken.end(), own) != taken.end()) continue;
      taken.push_back(own);
      put(spectrum, signal, f, size() * static_cast<double>(points()) * draw.phase());
    }
    signal.tones = static_cast<std::int64_t>(taken.size());
    add_spectrum(spectrum);
  }
  std::vector<std::int64_t> anywhere(std::int64_t k) {
    std::vector<std::int64_t> where;
    for (std::int64_t i = 0; i < k; ++i) where.push_back(draw.below(points()));
    return where;
  }
  void add_sparse() {
    add_tones(anywhere(few()), [&] { return draw.between(0.5, 2.0); });
  }
  void add_noise(double sigma) {
    for (Complex& x : signal.x) x += sigma * draw.normal();
  }
  double rms() const {
    double sum = 0;
    for (const Complex& x : signal.x) sum += std::norm(x);
    return std::sqrt(sum / static_cast<double>(points()));
  }
  /// Noise whose power is proportional to frequency to the power `slope`.
  void add_coloured(double slope, double sigma) {
    std::vector<Complex> spectrum(signal.x.size());
    const Axes axes(signal.shape);
    double power = 0;
    for (std::int64_t i = 0; i < points(); ++i) {
      const auto f = axes.at(i);
      double radius = 0;
      for (int d = 0; d < signal.shape.rank(); ++d) {
        const std::int64_t n = signal.shape[d];
        const std::int64_t own = std::min(f[static_cast<std::size_t>(d)], n - f[static_cast<std::size_t>(d)]);
        radius += std::pow(static_cast<double>(own) / static_cast<double>(n), 2);
      }
      radius = std::max(std::sqrt(radius), 1 / static_cast<double>(points()));
      spectrum[static_cast<std::size_t>(i)] = std::pow(radius, slope / 2) * draw.normal();
      power += std::norm(spectrum[static_cast<std::size_t>(i)]);
    }
    const double scale = sigma * static_cast<double>(points()) / std::sqrt(power);
    for (Complex& value : spectrum) value *= scale;
    add_spectrum(spectrum);
  }
  /// Adds a function of the position along one axis.
  void along(const std::function<Complex(std::int64_t, std::int64_t)>& value) {
    const auto axis = static_cast<int>(draw.below(signal.shape.rank()));
    const Axes axes(signal.shape);
    const std::int64_t n = signal.shape[axis];
    for (std::int64_t i = 0; i < points(); ++i)
      signal.x[static_cast<std::size_t>(i)] += value(axes.at(i)[static_cast<std::size_t>(axis)], n);
  }
  /// A period in samples, often one that divides the size.
  std::int64_t period(std::int64_t n) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t p = 2; p <= n / 2 && p <= 4096; ++p) {
      if (n % p == 0) divisors.push_back(p);
    }
    if (divisors.empty() || draw.one_in(4))
      return draw.between(std::int64_t{2}, std::max<std::int64_t>(3, n / 3));
    return divisors[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(divisors.size())))];
  }

  void square() {
    const std::int64_t flat = points();
    const std::int64_t p = period(flat), offset = draw.below(p);
    const std::int64_t on = draw.one_in(2) ? p / 2 : draw.between(std::int64_t{1}, p - 1);
    const double low = draw.one_in(2) ? -1 : 0;
    for (std::int64_t i = 0; i < flat; ++i)
      signal.x[static_cast<std::size_t>(i)] += (i + offset) % p < on ? 1.0 : low;
    if (draw.one_in(3)) add_sparse();
    signal.tones = 0;
  }
  void pulses() {
    add_sparse();
    const std::int64_t p = std::max<std::int64_t>(4, period(points())), offset = draw.below(p);
    const std::int64_t on = draw.between(std::int64_t{1}, std::max<std::int64_t>(1, p / 16));
    const double size = draw.log_between(1e-3, 100) * rms();
    for (std::int64_t i = 0; i < points(); ++i) {
      if ((i + offset) % p >= on) continue;
      signal.x[static_cast<std::size_t>(i)] += size;
      ++signal.disturbed;
    }
    if (draw.one_in(3)) add_noise(draw.log_between(1e-4, 0.1) * size);
    signal.tones = 0;
  }
  void bursts() {
    add_sparse();
    const double scale = rms();
    const std::int64_t count = draw.between(std::int64_t{1}, std::int64_t{4});
    for (std::int64_t b = 0; b < count; ++b) {
      const auto length =
          static_cast<std::int64_t>(draw.log_between(1e-3, 0.5) * static_cast<double>(points()));
      const std::int64_t start = draw.below(points());
      const double turns = draw.unit(), size = scale * draw.log_between(1e-3, 10);
      signal.disturbed += length;
      for (std::int64_t i = 0; i < length; ++i)
        signal.x[static_cast<std::size_t>((start + i) % points())] +=
            std::polar(size, kTurn * turns * static_cast<double>(i));
    }
  }
  void noise_burst() {
    add_sparse();
    const double size = rms() * draw.log_between(1e-3, 10);
    const auto length = static_cast<std::int64_t>(draw.log_between(1e-3, 1) * static_cast<double>(points()));
    const std::int64_t start = draw.below(points());
    signal.disturbed = length;
    for (std::int64_t i = 0; i < length; ++i)
      signal.x[static_cast<std::size_t>((start + i) % points())] += size * draw.normal();
  }
  void blocks() {
    // The signal consists of boxes of constant value in every dimension.
    const std::int64_t count = draw.between(std::int64_t{1}, std::int64_t{8});
    const Axes axes(signal.shape);
    for (std::int64_t b = 0; b < count; ++b) {
      std::array<std::int64_t, 3> from{}, to{};
      for (int d = 0; d < signal.shape.rank(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        from[at] = draw.below(signal.shape[d]);
        to[at] = from[at] + draw.between(std::int64_t{1}, signal.shape[d]);
      }
      const Complex value = draw.normal();
      for (std::int64_t i = 0; i < points(); ++i) {
        const auto t = axes.at(i);
        bool inside = true;
        for (std::size_t d = 0; d < 3; ++d)
          inside = inside && (to[d] == 0 || (t[d] >= from[d] && t[d] < to[d]));
        if (inside) signal.x[static_cast<std::size_t>(i)] += value;
      }
    }
    if (draw.one_in(3)) add_sparse();
    signal.tones = 0;
  }
  void texture() {
    // A random tile is repeated.
    std::array<std::int64_t, 3> tile{1, 1, 1};
    const Axes axes(signal.shape);
    for (int d = 0; d < signal.shape.rank(); ++d)
      tile[static_cast<std::size_t>(d)] = std::min<std::int64_t>(period(signal.shape[d]), 256);
    std::vector<Complex> values(static_cast<std::size_t>(tile[0] * tile[1] * tile[2]));
    for (Complex& value : values) value = draw.normal();
    if (draw.one_in(2)) add_sparse();
    const double size = signal.tones > 0 ? draw.log_between(1e-3, 3) : 1;
    for (std::int64_t i = 0; i < points(); ++i) {
      const auto t = axes.at(i);
      const std::int64_t own = (t[0] % tile[0] * tile[1] + t[1] % tile[1]) * tile[2] + t[2] % tile[2];
      signal.x[static_cast<std::size_t>(i)] += size * values[static_cast<std::size_t>(own)];
    }
    signal.tones = 0;
  }
  void chirp() {
    const double start = draw.unit(), sweep = draw.log_between(1e-3, 1);
    if (draw.one_in(2)) add_sparse();
    const double size = signal.tones > 0 ? draw.log_between(1e-3, 3) : 1;
    along([&](std::int64_t t, std::int64_t n) {
      const auto u = static_cast<double>(t);
      return std::polar(size, kTurn * (start * u + 0.5 * sweep * u * u / static_cast<double>(n)));
    });
    signal.tones = 0;
  }
  void steps() {
    const std::int64_t count = draw.between(std::int64_t{1}, std::int64_t{6});
    for (std::int64_t s = 0; s < count; ++s) {
      const double place = draw.unit();
      const Complex height = draw.normal();
      along([&](std::int64_t t, std::int64_t n) {
        return static_cast<double>(t) < place * static_cast<double>(n) ? Complex(0) : height;
      });
    }
    if (draw.one_in(2)) add_sparse();
    signal.tones = 0;
  }
  void ramps() {
    const double slope = draw.log_between(1e-4, 10);
    const std::int64_t p = draw.one_in(2) ? points() : period(points());
    along([&](std::int64_t t, std::int64_t n) {
      return Complex(slope * static_cast<double>(t % std::min(p, n)) / static_cast<double>(n));
    });
    if (draw.one_in(2)) add_sparse();
    signal.tones = 0;
  }
  void off_grid() {
    const std::int64_t k = draw.between(std::int64_t{1}, std::int64_t{8});
    const Axes axes(signal.shape);
    for (std::int64_t j = 0; j < k; ++j) {
      double f[3];
      for (double& own : f) own = draw.unit();
      // Some tones are so near a grid point that they seem to lie on it.
      if (draw.one_in(2)) {
        const double off = draw.log_between(1e-6, 0.5);
        for (int d = 0; d < signal.shape.rank(); ++d) {
          const auto n = static_cast<double>(signal.shape[d]);
          f[d] = (std::floor(f[d] * n) + off) / n;
        }
      }
      const Complex size = draw.between(0.5, 2.0) * draw.phase();
      for (std::int64_t i = 0; i < points(); ++i) {
        const auto t = axes.at(i);
        double turns = 0;
        for (int d = 0; d < signal.shape.rank(); ++d)
          turns += f[d] * static_cast<double>(t[static_cast<std::size_t>(d)]);
        signal.x[static_cast<std::size_t>(i)] += size * std::polar(1.0, kTurn * turns);
      }
    }
  }
  void modulated() {
    add_sparse();
    const double depth = draw.log_between(1e-4, 1), cycles = draw.between(0.1, 20.0);
    const double size = static_cast<double>(points());
    for (std::int64_t i = 0; i < points(); ++i)
      signal.x[static_cast<std::size_t>(i)] *=
          1 + depth * std::sin(kTurn * cycles * static_cast<double>(i) / size);
    signal.tones = 0;
  }
  void envelope() {
    // A wave packet, alone or in addition to tones.
    const double centre = draw.unit(), width = draw.log_between(3e-3, 0.3), turns = draw.unit();
    if (draw.one_in(2)) add_sparse();
    const double size = draw.log_between(1e-2, 10);
    const auto n = static_cast<double>(points());
    for (std::int64_t i = 0; i < points(); ++i) {
      const double u = (static_cast<double>(i) / n - centre) / width;
      signal.x[static_cast<std::size_t>(i)] +=
          std::polar(size * std::exp(-u * u), kTurn * turns * static_cast<double>(i));
    }
    signal.tones = 0;
  }
  void click() {
    add_sparse();
    if (draw.one_in(3)) add_noise(rms() * draw.log_between(1e-3, 1));
    const double scale = rms();
    signal.disturbed = draw.between(std::int64_t{1}, std::int64_t{3});
    for (std::int64_t i = 0; i < signal.disturbed; ++i)
      signal.x[static_cast<std::size_t>(draw.below(points()))] +=
          scale * draw.log_between(0.1, 1e4) * draw.phase();
  }
  void residue_class() {
    const std::int64_t stride = std::int64_t{1} << draw.between(std::int64_t{1}, std::int64_t{10});
    const std::int64_t start = draw.below(points()), k = few();
    std::vector<std::int64_t> where;
    for (std::int64_t i = 0; i < k; ++i) where.push_back((start + stride * draw.below(points())) % points());
    add_tones(where, [&] { return draw.between(0.5, 2.0); });
  }
  void cluster() {
    const std::int64_t start = draw.below(points()), k = few();
    std::vector<std::int64_t> where;
    for (std::int64_t i = 0; i < k; ++i) where.push_back((start + draw.below(2 * k)) % points());
    add_tones(where, [&] { return draw.between(0.5, 2.0); });
  }
  void recording() {
    if (recordings.empty()) {
      const int rows = 96, columns = 128;
      const auto frame = test::film_frame(rows, columns, static_cast<int>(draw.below(40)));
      signal.shape = draw.one_in(2) ? Shape{rows, columns} : Shape{rows * columns};
      signal.x.assign(frame.begin(), frame.end());
      return;
    }
    const Recording& own =
        *recordings[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(recordings.size())))];
    const std::int64_t frame = draw.below(own.frames());
    const std::uint8_t* pixels = own.samples.data() + frame * own.shape.points();
    const std::int64_t rows = own.shape[0], columns = own.shape[1];
    const bool strip = draw.one_in(2);
    // The signal is a few whole rows, or a region.
    const std::int64_t high =
        std::min(rows, strip ? std::max<std::int64_t>(1, 12288 / columns) : std::int64_t{96});
    const std::int64_t wide = strip ? columns : std::min<std::int64_t>(columns, 128);
    const std::int64_t top = draw.below(rows - high + 1), left = draw.below(columns - wide + 1);
    signal.x.clear();
    for (std::int64_t r = 0; r < high; ++r) {
      for (std::int64_t c = 0; c < wide; ++c) signal.x.emplace_back(pixels[(top + r) * columns + left + c]);
    }
    signal.shape = strip ? Shape{high * wide} : Shape{high, wide};
  }
};

}  // namespace sfft::bench
