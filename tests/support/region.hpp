// SPDX-License-Identifier: Apache-2.0
// Places frames in larger arrays, whose other elements must not matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::test {

/// A value that would spoil every result: a NaN, or the largest integer.
template <class T>
T garbage() {
  if constexpr (is_complex(element_type_of<T>::value)) {
    const auto part = garbage<typename T::value_type>();
    return {part, part};
  } else if constexpr (std::numeric_limits<T>::is_integer) {
    return std::numeric_limits<T>::max();
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

/// A few tones, noise and an offset, within 0…255, or 0…127 for s8 and cs8.
template <class T>
std::vector<T> scene(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> noise(0, 2);
  std::vector<T> x;
  for (std::int64_t t = 0; t < shape.points(); ++t) {
    const auto at = static_cast<double>(t);
    constexpr ElementType kType = element_type_of<T>::value;
    constexpr double kUnit = kType == ElementType::s8 || kType == ElementType::cs8 ? 0.5 : 1;
    const double re = kUnit * (120 + 50 * std::cos(0.37 * at) + 30 * std::sin(0.011 * at) + noise(generator));
    const double im = kUnit * (40 * std::cos(0.2 * at + 1) + noise(generator));
    if constexpr (is_complex(element_type_of<T>::value)) {
      x.emplace_back(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
    } else {
      x.push_back(static_cast<T>(re));
    }
  }
  return x;
}

/// A copy of a contiguous frame inside a larger array full of garbage.
template <class T>
class Region {
 public:
  Region(const std::vector<T>& frame, const Shape& shape) : shape_(shape) {
    const int last = shape.rank() - 1;
    const std::int64_t columns = shape[last];
    const std::int64_t rows = shape.rank() == 3 ? shape[1] : shape.points() / columns;
    row_pitch_ = columns + 7;
    plane_pitch_ = shape.rank() == 3 ? (rows + 2) * row_pitch_ + 3 : 0;
    const std::int64_t planes = shape.rank() == 3 ? shape[0] : 1;
    constexpr std::int64_t kFirst = 5;
    memory_.assign(static_cast<std::size_t>(kFirst + planes * std::max(plane_pitch_, rows * row_pitch_)),
                   garbage<T>());
    auto from = frame.begin();
    for (std::int64_t p = 0; p < planes; ++p) {
      for (std::int64_t r = 0; r < rows; ++r, from += columns)
        std::copy_n(from, columns, memory_.begin() + kFirst + p * plane_pitch_ + r * row_pitch_);
    }
    first_ = memory_.data() + kFirst;
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  SignalView view() const { return SignalView::rows(first_, shape_, row_pitch_, plane_pitch_); }

 private:
  Shape shape_;
  std::int64_t row_pitch_, plane_pitch_;
  std::vector<T> memory_;
  const T* first_;
};

}  // namespace sfft::test
