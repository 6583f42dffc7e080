// SPDX-License-Identifier: Apache-2.0
// Passes engines to the library's internal GPU transforms, which cannot use wisdom because it is above this
// layer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail::cuda {

template <class Real>
struct DenseEngines {
  std::function<std::unique_ptr<const GpuDenseEngine<Real>>(const DenseProblem&)> make;
  /// Empty if that engine can only store complete spectra.
  std::function<std::unique_ptr<const GpuKeepingEngine<Real>>(const DenseProblem&, device::Keep)> keep;
  std::string name;  ///< the engine that make() is expected to choose
};

}  // namespace sfft::detail::cuda
