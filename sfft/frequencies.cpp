// SPDX-License-Identifier: Apache-2.0
// Frequencies and amplitudes of a spectrum, and its signal by a direct sum with tables of roots of unity.
#include "sfft/frequencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/math/roots_of_unity.hpp"
#include "sfft/error.hpp"
#include "template/data/template_data.hpp"

namespace sfft {

namespace {

std::int64_t index_at(const std::vector<std::int64_t>* support, std::size_t count, std::size_t i) {
  if (support == nullptr || i >= support->size() || i >= count)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no coefficient {}: the spectrum has {}", i, count));
  return (*support)[i];
}

void check_box(const Shape& shape, std::span<const std::int64_t> begin, const Shape& extent) {
  if (begin.size() != static_cast<std::size_t>(shape.rank()) || extent.rank() != shape.rank()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("a box of {} from {} coordinates on, in a signal of {}", extent.to_string(),
                            begin.size(), shape.to_string()));
  }
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t first = begin[static_cast<std::size_t>(d)];
    if (first < 0 || extent[d] > shape[d] || first > shape[d] - extent[d]) {
      throw Error(ErrorCode::invalid_argument, fmt::format("the box of {} is not within the signal of {}",
                                                           extent.to_string(), shape.to_string()));
    }
  }
}

/// Whether a coefficient stands for a conjugate pair.
bool is_pair(const Shape& shape, Domain domain, std::int64_t index) noexcept {
  return domain == Domain::real && detail::conjugate_index(shape, index) != index;
}

template <class Real>
std::vector<std::complex<double>> values_in_box(const Spectrum<Real>& spectrum,
                                                std::span<const std::int64_t> begin, const Shape& extent) {
  const Shape& shape = spectrum.shape;
  check_box(shape, begin, extent);
  std::vector<std::complex<double>> box(static_cast<std::size_t>(extent.points()));
  const detail::RootsOfUnity roots[] = {detail::RootsOfUnity(shape[0]), detail::RootsOfUnity(shape[1]),
                                        detail::RootsOfUnity(shape[2])};
  std::array<std::vector<std::complex<double>>, 3> phases;  // exp(2πi f_d t_d / n_d) along each dimension
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    const std::int64_t index = index_at(spectrum.support.get(), spectrum.values.size(), i);
    const auto f = detail::coordinates(shape, index);
    for (std::size_t d = 0; d < phases.size(); ++d) {
      const std::int64_t first = d < begin.size() ? begin[d] : 0;
      phases[d].clear();
      for (std::int64_t t = 0; t < extent[static_cast<int>(d)]; ++t)
        phases[d].push_back(roots[d](f[d], first + t));
    }
    const bool pair = is_pair(shape, spectrum.domain, index);
    const std::complex<double> value(spectrum.values[i]);
    std::size_t at = 0;
    for (const std::complex<double>& a : phases[0]) {
      for (const std::complex<double>& b : phases[1]) {
        const std::complex<double> factor = detail::times(value, detail::times(a, b));
        for (const std::complex<double>& c : phases[2]) {
          const std::complex<double> term = detail::times(factor, c);
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
  std::array<std::int64_t, 3> f{0, 0, 0};
  std::ranges::copy(frequencies.first(rank), f.begin());
  return detail::linear_index(shape, f);
}

namespace detail {

std::array<double, 3> Coefficient::frequency(std::span<const double> sample_rates, bool single) const {
  if (single && shape.rank() != 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a signal of {} has {} frequencies per coefficient: give that many sample rates",
                            shape.to_string(), shape.rank()));
  }
  const std::int64_t index = index_at(support, count, i);
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

double Coefficient::amplitude_per_magnitude() const {
  const std::int64_t index = index_at(support, count, i);
  return (is_pair(shape, domain, index) ? 2 : 1) / static_cast<double>(shape.points());
}

}  // namespace detail

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

template std::vector<float> reconstruct(const Spectrum<float>&, std::span<const std::int64_t>, const Shape&);
template std::vector<double> reconstruct(const Spectrum<double>&, std::span<const std::int64_t>,
                                         const Shape&);
template std::vector<std::complex<float>> reconstruct_complex(const Spectrum<float>&,
                                                              std::span<const std::int64_t>, const Shape&);
template std::vector<std::complex<double>> reconstruct_complex(const Spectrum<double>&,
                                                               std::span<const std::int64_t>, const Shape&);

}  // namespace sfft
