// SPDX-License-Identifier: Apache-2.0
// Properties of the current device that only a compiled kernel reveals.
#pragma once

namespace sfft::detail::cuda {

/// Ten times the compute capability that this build's kernels were compiled for, if the device runs them: 75
/// for PTX of 7.5 that the driver compiles for the device. 0: they do not run.
int code_version() noexcept;
/// Kernels compiled for this capability or a later one can use clusters and overlapping launches.
constexpr int kClusterCode = 90;
/// The maximum number of blocks per cluster that the kernels support.
constexpr int kMaxCluster = 16;
/// Every GPU with clusters supports this many blocks per cluster; larger ones must be allowed explicitly.
constexpr int kPortableCluster = 8;
/// Blocks of the largest cluster, up to kMaxCluster, that fits the device. The device must have clusters.
int largest_cluster() noexcept;

}  // namespace sfft::detail::cuda
