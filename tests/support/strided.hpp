// SPDX-License-Identifier: Apache-2.0
// Places a batch of signals by strides, in memory whose gaps can be recognised.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sfft/dense.hpp"

namespace sfft::test {

/// A layout to test with, and its name.
struct StridedCase {
  const char* name;
  dense::Options::Strides strides;
};

/// Returns layouts of `batch` signals of a shape: padded rows, channels of one image, axes in reverse order,
/// gaps between all neighbours.
inline std::vector<StridedCase> strided_cases(const Shape& shape, std::int64_t batch) {
  const int rank = shape.rank();
  const auto row_major = [&](std::int64_t step, std::int64_t padding) {
    dense::Options::Strides strides;
    std::int64_t stride = step;
    for (int d = rank - 1; d >= 0; --d) {
      strides.dims[static_cast<std::size_t>(d)] = stride;
      stride *= shape[d] + padding;
    }
    strides.batch = stride;
    return strides;
  };
  dense::Options::Strides channels = row_major(batch, 0), reversed;
  channels.batch = 1;
  std::int64_t stride = 1;
  for (int d = 0; d < rank; ++d) {
    reversed.dims[static_cast<std::size_t>(d)] = stride;
    stride *= shape[d];
  }
  reversed.batch = stride + 3;
  dense::Options::Strides pitched = row_major(1, 0);
  pitched.batch += 5;
  return {{"padded rows", row_major(1, 3)},
          {"channels", channels},
          {"reversed axes", reversed},
          {"gaps", row_major(2, 1)},
          {"gaps between signals", pitched}};
}

/// The offset of the element with linear index `flat` (row-major) of signal b.
inline std::size_t place_of(const Shape& shape, const dense::Options::Strides& strides, std::int64_t b,
                            std::int64_t flat) {
  std::int64_t at = b * strides.batch;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at += flat % shape[d] * strides.dims[static_cast<std::size_t>(d)];
    flat /= shape[d];
  }
  return static_cast<std::size_t>(at);
}

/// The number of elements from the first to the last, both included.
inline std::size_t span_of(const Shape& shape, const dense::Options::Strides& strides, std::int64_t batch) {
  return place_of(shape, strides, batch - 1, shape.points() - 1) + 1;
}

template <class T>
std::vector<T> spread(const std::vector<T>& packed, const Shape& shape,
                      const dense::Options::Strides& strides, std::int64_t batch, T gap) {
  std::vector<T> out(span_of(shape, strides, batch), gap);
  for (std::int64_t i = 0; i < batch * shape.points(); ++i)
    out[place_of(shape, strides, i / shape.points(), i % shape.points())] =
        packed[static_cast<std::size_t>(i)];
  return out;
}

template <class T>
std::vector<T> collect(const std::vector<T>& placed, const Shape& shape,
                       const dense::Options::Strides& strides, std::int64_t batch) {
  std::vector<T> packed;
  for (std::int64_t i = 0; i < batch * shape.points(); ++i)
    packed.push_back(placed[place_of(shape, strides, i / shape.points(), i % shape.points())]);
  return packed;
}

}  // namespace sfft::test
