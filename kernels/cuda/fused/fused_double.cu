// SPDX-License-Identifier: Apache-2.0
// Instantiates the fused kernel for double, in a file of its own so that the precisions compile in parallel.
#include "kernels/cuda/fused/fused.cuh"

namespace sfft::detail::cuda {

template std::size_t fused_shared_bytes<double>(const Binning<double>&, const FusedPolicy&);
template int fused_clusters_at_once<double>(const Binning<double>&, const FusedPolicy&);
template FusedArguments<double> fused_arguments<double>(const Binning<double>&, const FusedPolicy&,
                                                        const Batch<double>&);
template void launch_fused<double>(const FusedArguments<double>&, Stream);

}  // namespace sfft::detail::cuda
