// SPDX-License-Identifier: Apache-2.0
// Where the library's own dense transforms on a GPU get their engines: wisdom is above this layer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail::cuda {

template <class Real>
struct DenseEngines {
  std::function<std::unique_ptr<const GpuDenseEngine<Real>>(const DenseProblem&)> make;
  /// Empty where that engine stores whole spectra only.
  std::function<std::unique_ptr<const GpuKeepingEngine<Real>>(const DenseProblem&, device::Keep)> keep;
  std::string name;  ///< of the engine that make() is expected to take
};

}  // namespace sfft::detail::cuda
