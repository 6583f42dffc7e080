// SPDX-License-Identifier: Apache-2.0
// Signals that every process can make whole, and their parts.
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "sfft/mpi.hpp"

namespace sfft::test {

/// The same in every process.
template <class T>
std::vector<T> random_signal(const Shape& shape, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> signal(static_cast<std::size_t>(shape.points()));
  for (T& value : signal) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(uniform(random));
    } else {
      const double re = uniform(random);
      value =
          T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(uniform(random)));
    }
  }
  return signal;
}

template <class T>
std::vector<std::complex<double>> in_double(const std::vector<T>& values) {
  std::vector<std::complex<double>> all;
  for (const T& value : values) all.emplace_back(std::real(value), std::imag(value));
  return all;
}

/// All of the signal, or of the half spectrum of a real one.
inline mpi::Box whole_box(const Shape& shape, bool half) {
  mpi::Box box;
  for (int d = 0; d < shape.rank(); ++d) box.extent[static_cast<std::size_t>(d)] = shape[d];
  std::int64_t& last = box.extent[static_cast<std::size_t>(shape.rank() - 1)];
  if (half) last = last / 2 + 1;
  return box;
}

/// What a box holds of an array that begins at 0.
template <class T>
std::vector<T> part_of(const std::vector<T>& whole, const mpi::Box& all, const mpi::Box& part) {
  std::vector<T> values;
  for (std::int64_t i = part.begin[0]; i < part.begin[0] + part.extent[0]; ++i)
    for (std::int64_t j = part.begin[1]; j < part.begin[1] + part.extent[1]; ++j)
      for (std::int64_t k = part.begin[2]; k < part.begin[2] + part.extent[2]; ++k)
        values.push_back(whole[static_cast<std::size_t>((i * all.extent[1] + j) * all.extent[2] + k)]);
  return values;
}

}  // namespace sfft::test
