// SPDX-License-Identifier: Apache-2.0
// What the current device can do that only a kernel can tell.
#pragma once

namespace sfft::detail::cuda {

/// The compute capability that this build's kernels were compiled for where the device runs them, times ten:
/// 75 for code of 7.5 that the driver compiled further. 0: they do not run on it.
int code_version() noexcept;
/// Compiled for this capability, the kernels know clusters and overlapping launches.
constexpr int kClusterCode = 90;
/// Blocks of a cluster that kernels are written for.
constexpr int kMaxCluster = 16;
/// Every GPU with clusters takes this many blocks in one; more are asked for by name.
constexpr int kPortableCluster = 8;
/// The most blocks of a cluster, up to kMaxCluster, of which one fits the device whole; the device has
/// clusters.
int largest_cluster() noexcept;

}  // namespace sfft::detail::cuda
