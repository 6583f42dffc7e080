// SPDX-License-Identifier: Apache-2.0
// Draws element types, scales and options, and converts samples to the type that was drawn.
#include "bench/trust/population_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sfft::bench {

std::string Question::text() const {
  return fmt::format("{} scale {:g} k={} {} fallback={} check={} seed={}", to_string(type), scale,
                     options.k.value_or(0), to_string(options.path),
                     options.dense_fallback ? "dense" : "none", static_cast<int>(options.check),
                     options.seed);
}

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
  const std::int64_t k = std::min(kinds[draw.below(5)], signal.shape.points() / 64);
  if (k > 0) options.k = k;
  options.dense_fallback = draw.one_in(4);
  // A dense transform cannot choose the number of frequencies: it would refuse signals without peaks.
  if (!options.k) options.dense_fallback = false;
  if (draw.one_in(5)) options.path = draw.one_in(2) ? Path::comb : Path::flat_window;
  options.check = draw.one_in(2) ? DiscoverOptions::Check::automatic : DiscoverOptions::Check::scattered;
  options.seed = static_cast<std::uint64_t>(number);
  return question;
}

namespace {

using Complex = std::complex<double>;

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

}  // namespace

Samples convert(const PopulationSignal& signal, Question& question) {
  Samples samples;
  const bool integer = question.type == ElementType::u8 || question.type == ElementType::u16;
  double scale = question.scale, offset = 0;
  if (integer) {
    double min = 0, max = 0;
    for (const Complex& x : signal.x) {
      min = std::min(min, x.real());
      max = std::max(max, x.real());
    }
    const double room = question.type == ElementType::u8 ? 255 : 65535;
    scale = room / std::max(max - min, 1e-300);
    offset = -scale * min;
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
    default:
      convert<std::complex<double>>(signal, scale, 0, samples);
      break;
  }
  return samples;
}

}  // namespace sfft::bench
