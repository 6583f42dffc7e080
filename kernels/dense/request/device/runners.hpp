// SPDX-License-Identifier: Apache-2.0
// Makes runners on one GPU from engines that planning chose.
#pragma once

#include <functional>
#include <memory>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

/// `like`: an engine made for another batch of the same transforms; null at first.
template <class Real>
using MakeGpuEngine = std::function<std::unique_ptr<const GpuDenseEngine<Real>>(
    const DenseProblem&, const GpuDenseEngine<Real>* like)>;

/// Runs an engine, and converts the elements that it cannot read or write. Calls `make` again when the plan
/// is first used on host memory. The problem's device must be current.
template <class Real>
std::unique_ptr<const Runner<FullCall>> make_gpu_runner(const DenseRequest& request,
                                                        MakeGpuEngine<Real> make);

/// The name in wisdom for a float plan between two conversions.
inline constexpr const char* kConverted = "converted";

/// Compact transforms: runs the kernels of an engine that reads and writes `formats`, those of the request or
/// with float spectra, which are then converted.
std::unique_ptr<const Runner<CompactCall>> make_compact_runner(const CompactRequest& request,
                                                               std::unique_ptr<const GpuCompactEngine> engine,
                                                               const CompactFormats& formats);
/// Compact transforms: runs a float plan between two conversions.
std::unique_ptr<const Runner<CompactCall>> make_compact_runner(
    const CompactRequest& request, std::unique_ptr<const Runner<FullCall>> floats);

}  // namespace sfft::detail
