// SPDX-License-Identifier: Apache-2.0
// Maps family names to calls of a Maker, and draws shape, type and parameters of signal i from a generator
// that depends on the seed and i alone.
#include "bench/trust/signal_families.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "bench/trust/signal_makers.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

namespace {

using Complex = std::complex<double>;

/// Draws powers of two, smooth numbers, primes and near-primes in one to three dimensions.
Shape draw_shape(Draw& draw) {
  static const std::vector<Shape> small = {
      Shape{4096},       Shape{8192},      Shape{16384},      Shape{8192},       Shape{16384},
      Shape{5040},       Shape{6000},      Shape{12288},      Shape{19683},      Shape{15625},
      Shape{4099},       Shape{8191},      Shape{10007},      Shape{2 * 4099},   Shape{9 * 911},
      Shape{64, 64},     Shape{128, 96},   Shape{128, 128},   Shape{81, 125},    Shape{61, 67},
      Shape{90, 110},    Shape{37, 200},   Shape{16, 16, 32}, Shape{15, 21, 25}, Shape{17, 19, 23},
      Shape{24, 24, 24}, Shape{8, 40, 32}, Shape{2, 64, 64}};
  static const std::vector<Shape> large = {Shape{1 << 15},  Shape{1 << 16},   Shape{1 << 17},
                                           Shape{65521},    Shape{100000},    Shape{256, 256},
                                           Shape{211, 193}, Shape{32, 48, 40}};
  const auto& list = draw.one_in(24) ? large : small;
  return list[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(list.size())))];
}

using Make = void (*)(Maker&);
const std::vector<std::pair<std::string, Make>>& makers() {
  static const std::vector<std::pair<std::string, Make>> all = {
      {"sparse", [](Maker& m) { m.add_sparse(); }},
      {"equal tones", [](Maker& m) { m.add_tones(m.anywhere(m.few()), [] { return 1.0; }); }},
      {"dynamic range 1e8",
       [](Maker& m) { m.add_tones(m.anywhere(m.few()), [&] { return m.draw.log_between(1e-8, 1); }); }},
      {"clusters", [](Maker& m) { m.cluster(); }},
      {"residue classes", [](Maker& m) { m.residue_class(); }},
      {"off-grid tones", [](Maker& m) { m.off_grid(); }},
      {"square waves", [](Maker& m) { m.square(); }},
      {"tones and pulse trains", [](Maker& m) { m.pulses(); }},
      {"tones and bursts", [](Maker& m) { m.bursts(); }},
      {"tones and noise bursts", [](Maker& m) { m.noise_burst(); }},
      {"blocks", [](Maker& m) { m.blocks(); }},
      {"textures", [](Maker& m) { m.texture(); }},
      {"chirps", [](Maker& m) { m.chirp(); }},
      {"steps", [](Maker& m) { m.steps(); }},
      {"ramps", [](Maker& m) { m.ramps(); }},
      {"modulated tones", [](Maker& m) { m.modulated(); }},
      {"wave packets", [](Maker& m) { m.envelope(); }},
      {"white noise", [](Maker& m) { m.add_noise(1); }},
      {"pink noise", [](Maker& m) { m.add_coloured(-1, 1); }},
      {"brown noise", [](Maker& m) { m.add_coloured(-2, 1); }},
      {"blue noise", [](Maker& m) { m.add_coloured(1, 1); }},
      {"violet noise", [](Maker& m) { m.add_coloured(2, 1); }},
      {"sparse in white noise",
       [](Maker& m) {
         m.add_sparse();
         m.add_noise(m.rms() * std::pow(10, -m.draw.between(-10.0, 60.0) / 20));
       }},
      {"sparse in coloured noise",
       [](Maker& m) {
         m.add_sparse();
         const double slopes[] = {-2, -1, 1, 2};
         m.add_coloured(slopes[m.draw.below(4)], m.rms() * std::pow(10, -m.draw.between(-10.0, 60.0) / 20));
       }},
      {"clicks on tones", [](Maker& m) { m.click(); }},
      {"recordings", [](Maker& m) { m.recording(); }},
  };
  return all;
}

}  // namespace

std::uint64_t Draw::operator()() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::int64_t Draw::below(std::int64_t limit) {
  return static_cast<std::int64_t>((*this)() % static_cast<std::uint64_t>(std::max<std::int64_t>(1, limit)));
}

std::int64_t Draw::between(std::int64_t min, std::int64_t max) {
  return min + below(max - min + 1);
}

double Draw::unit() {
  return static_cast<double>((*this)() >> 11) * 0x1p-53;
}

double Draw::log_between(double min, double max) {
  return min * std::exp(unit() * std::log(max / min));
}

Complex Draw::phase() {
  return std::polar(1.0, 2 * std::numbers::pi * unit());
}

Complex Draw::normal() {
  return std::sqrt(-std::log(1 - unit())) * phase();
}

const std::vector<std::string>& Population::families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : makers()) all.push_back(name);
    return all;
  }();
  return names;
}

Draw Population::draw(std::int64_t number) const {
  Draw mix(seed_);
  return Draw(mix() ^ (0xd1342543de82ef95u * static_cast<std::uint64_t>(number + 1)));
}

PopulationSignal Population::make(const std::string& family, Draw& draw) const {
  PopulationSignal signal;
  signal.family = family;
  signal.shape = draw_shape(draw);
  signal.real = draw.one_in(2);
  signal.x.assign(static_cast<std::size_t>(signal.shape.points()), 0.0);
  Maker maker{signal, draw, recordings_};
  for (const auto& [name, make] : makers()) {
    if (name == family) make(maker);
  }
  if (signal.real) {
    for (Complex& x : signal.x) x = x.real();
  }
  return signal;
}

void transform_in_place(const Shape& shape, std::vector<Complex>& x, bool inverse) {
  thread_local std::map<std::string, std::unique_ptr<dense::Plan<double>>> plans;
  auto& plan = plans[shape.to_string()];
  if (!plan) plan = std::make_unique<dense::Plan<double>>(shape, Domain::complex);
  if (inverse) {
    plan->inverse(x, std::span<Complex>(x));
  } else {
    std::vector<Complex> spectrum(x.size());
    plan->forward(SignalView(x, shape), spectrum);
    x = std::move(spectrum);
  }
}

}  // namespace sfft::bench
