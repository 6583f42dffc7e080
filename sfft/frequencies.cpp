// SPDX-License-Identifier: Apache-2.0
// Frequencies and amplitudes of a spectrum, and its signal by a direct sum with tables of roots of unity.
#include "sfft/frequencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfft/error.hpp"
#include "template/data/template_data.hpp"

namespace sfft {

namespace {

template <class Real>
std::int64_t index_at(const Spectrum<Real>& spectrum, std::size_t i) {
  if (spectrum.support == nullptr || i >= spectrum.support->size() || i >= spectrum.values.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no coefficient {}: the spectrum has {}", i, spectrum.values.size()));
  }
  return (*spectrum.support)[i];
}

/// exp(2πi f t / n) for t = begin, begin + 1, …
std::vector<std::complex<double>> roots(std::int64_t f, std::int64_t n, std::int64_t begin,
                                        std::int64_t count) {
  std::vector<std::complex<double>> table(static_cast<std::size_t>(count));
  std::int64_t cycles = 0;  // f t modulo n
  for (std::int64_t t = begin, bit = f; t > 0; t >>= 1, bit = (bit + bit) % n)
    if ((t & 1) != 0) cycles = (cycles + bit) % n;
  for (std::complex<double>& root : table) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(cycles) / static_cast<double>(n);
    root = {std::cos(angle), std::sin(angle)};
    cycles = (cycles + f) % n;
  }
  return table;
}

void check_box(const Shape& shape, std::span<const std::int64_t> begin, const Shape& extent) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  bool inside = begin.size() == rank && extent.rank() == shape.rank();
  for (int d = 0; inside && d < shape.rank(); ++d) {
    const std::int64_t first = begin[static_cast<std::size_t>(d)];
    inside = first >= 0 && extent[d] <= shape[d] && first <= shape[d] - extent[d];
  }
  if (begin.size() != rank || extent.rank() != shape.rank()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("a box of {} from {} coordinates on, in a signal of {}", extent.to_string(),
                            begin.size(), shape.to_string()));
  }
  if (!inside) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the box of {} is not within the signal of {}",
                                                         extent.to_string(), shape.to_string()));
  }
}

template <class Real>
std::vector<std::complex<double>> values_in_box(const Spectrum<Real>& spectrum,
                                                std::span<const std::int64_t> begin, const Shape& extent) {
  const Shape& shape = spectrum.shape;
  check_box(shape, begin, extent);
  std::vector<std::complex<double>> box(static_cast<std::size_t>(extent.points()));
  std::array<std::int64_t, 3> first{0, 0, 0}, count{1, 1, 1}, n{1, 1, 1};
  for (int d = 0; d < shape.rank(); ++d) {
    const auto at = static_cast<std::size_t>(3 - shape.rank() + d);
    first[at] = begin[static_cast<std::size_t>(d)];
    count[at] = extent[d];
    n[at] = shape[d];
  }
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    const std::int64_t index = index_at(spectrum, i);
    const auto f = detail::coordinates(shape, index);
    std::array<std::int64_t, 3> aligned{0, 0, 0};
    for (int d = 0; d < shape.rank(); ++d)
      aligned[static_cast<std::size_t>(3 - shape.rank() + d)] = f[static_cast<std::size_t>(d)];
    const bool pair = spectrum.domain == Domain::real && detail::conjugate_index(shape, index) != index;
    const std::complex<double> value(spectrum.values[i]);
    const auto plane = roots(aligned[0], n[0], first[0], count[0]);
    const auto row = roots(aligned[1], n[1], first[1], count[1]);
    const auto column = roots(aligned[2], n[2], first[2], count[2]);
    std::size_t at = 0;
    for (const std::complex<double>& p : plane) {
      for (const std::complex<double>& r : row) {
        const std::complex<double> factor = value * p * r;
        for (const std::complex<double>& c : column) {
          const std::complex<double> term = factor * c;
          box[at++] += pair ? std::complex<double>(2 * term.real()) : term;
        }
      }
    }
  }
  for (std::complex<double>& value : box) value /= static_cast<double>(shape.points());
  return box;
}

}  // namespace

std::array<std::int64_t, 3> signed_frequencies(const Shape& shape, std::int64_t index) {
  if (index < 0 || index >= shape.points()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("index {} is not in [0, {})", index, shape.points()));
  }
  auto f = detail::coordinates(shape, index);
  for (int d = 0; d < shape.rank(); ++d) {
    std::int64_t& at = f[static_cast<std::size_t>(d)];
    if (2 * at >= shape[d] && shape[d] > 1) at -= shape[d];
  }
  return f;
}

std::int64_t linear_index(const Shape& shape, std::span<const std::int64_t> frequencies) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (frequencies.size() < rank ||
      std::ranges::any_of(frequencies.subspan(rank), [](std::int64_t f) { return f != 0; })) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("{} frequencies for a signal of {} dimensions",
                                                       frequencies.size(), shape.rank()));
  }
  std::int64_t index = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t f = frequencies[static_cast<std::size_t>(d)] % shape[d];
    index = index * shape[d] + (f < 0 ? f + shape[d] : f);
  }
  return index;
}

template <class Real>
double Spectrum<Real>::frequency(std::size_t i, double sample_rate) const {
  if (shape.rank() != 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a signal of {} has {} frequencies per coefficient: give that many sample rates",
                            shape.to_string(), shape.rank()));
  }
  return frequency(i, std::span<const double>(&sample_rate, 1))[0];
}

template <class Real>
std::array<double, 3> Spectrum<Real>::frequency(std::size_t i, std::span<const double> sample_rates) const {
  const std::int64_t index = index_at(*this, i);
  if (sample_rates.size() != static_cast<std::size_t>(shape.rank())) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("{} sample rates for a signal of {} dimensions",
                                                       sample_rates.size(), shape.rank()));
  }
  const auto f = signed_frequencies(shape, index);
  std::array<double, 3> result{0, 0, 0};
  for (std::size_t d = 0; d < sample_rates.size(); ++d)
    result[d] = static_cast<double>(f[d]) * sample_rates[d] / static_cast<double>(shape[static_cast<int>(d)]);
  return result;
}

template <class Real>
double Spectrum<Real>::amplitude(std::size_t i) const {
  const std::int64_t index = index_at(*this, i);
  const bool pair = domain == Domain::real && detail::conjugate_index(shape, index) != index;
  return (pair ? 2 : 1) * std::abs(std::complex<double>(values[i])) / static_cast<double>(shape.points());
}

template <class Real>
std::vector<Real> reconstruct(const Spectrum<Real>& spectrum, std::span<const std::int64_t> begin,
                              const Shape& extent) {
  if (spectrum.domain == Domain::complex)
    throw Error(ErrorCode::type_mismatch, "the signal is complex: use reconstruct_complex()");
  const auto box = values_in_box(spectrum, begin, extent);
  std::vector<Real> result;
  result.reserve(box.size());
  for (const std::complex<double>& value : box) result.push_back(static_cast<Real>(value.real()));
  return result;
}

template <class Real>
std::vector<std::complex<Real>> reconstruct_complex(const Spectrum<Real>& spectrum,
                                                    std::span<const std::int64_t> begin,
                                                    const Shape& extent) {
  const auto box = values_in_box(spectrum, begin, extent);
  std::vector<std::complex<Real>> result;
  result.reserve(box.size());
  for (const std::complex<double>& value : box) result.emplace_back(value);
  return result;
}

template struct Spectrum<float>;
template struct Spectrum<double>;
template std::vector<float> reconstruct(const Spectrum<float>&, std::span<const std::int64_t>, const Shape&);
template std::vector<double> reconstruct(const Spectrum<double>&, std::span<const std::int64_t>,
                                         const Shape&);
template std::vector<std::complex<float>> reconstruct_complex(const Spectrum<float>&,
                                                              std::span<const std::int64_t>, const Shape&);
template std::vector<std::complex<double>> reconstruct_complex(const Spectrum<double>&,
                                                               std::span<const std::int64_t>, const Shape&);

}  // namespace sfft
