// SPDX-License-Identifier: Apache-2.0
// Instantiates the fused kernel for float, in a file of its own so that the precisions compile in parallel.
#include "kernels/cuda/fused/fused.cuh"

namespace sfft::detail::cuda {

template std::size_t fused_shared_bytes<float>(const Binning<float>&, const FusedPolicy&);
template int fused_clusters_at_once<float>(const Binning<float>&, const FusedPolicy&);
template FusedArguments<float> fused_arguments<float>(const Binning<float>&, const FusedPolicy&,
                                                      const Batch<float>&);
template void launch_fused<float>(const FusedArguments<float>&, Stream);

}  // namespace sfft::detail::cuda
