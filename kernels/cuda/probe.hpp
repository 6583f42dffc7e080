// What the current device can do that only a kernel can tell.
#pragma once

namespace sfft::detail::cuda {

/// Whether the kernels of this build run on it.
bool has_code() noexcept;
/// Blocks of a cluster, at most kMaxCluster, of which one fits the device whole; 1 where there are no
/// clusters.
int largest_cluster(int major) noexcept;

}  // namespace sfft::detail::cuda
