// SPDX-License-Identifier: Apache-2.0
// Converts the planner's tables from double to the precision and layout of device tables.
#pragma once

#include <complex>
#include <vector>

#include "kernels/cuda/runtime/device_types.hpp"

namespace sfft::detail::cuda {

template <class Real>
std::vector<Complex<Real>> as_device(const std::vector<std::complex<double>>& values) {
  std::vector<Complex<Real>> out;
  out.reserve(values.size());
  for (const std::complex<double>& value : values)
    out.push_back({static_cast<Real>(value.real()), static_cast<Real>(value.imag())});
  return out;
}

template <class Real>
std::vector<Real> as_device(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace sfft::detail::cuda
