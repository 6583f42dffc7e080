// SPDX-License-Identifier: Apache-2.0
// The whole transform in one launch: gather → small FFT → recover, in shared memory.
//
// One block processes a frame, or a cluster of blocks does (compute capability 9.0). The blocks of a cluster
// share the frame's lanes and add up their parts through distributed shared memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Bytes of shared memory per block that a policy needs.
template <class Real>
std::size_t fused_shared_bytes(const Binning<Real>& plan, const FusedPolicy& policy);

/// How many clusters can run at the same time on the current device, for a policy that uses clusters.
template <class Real>
int fused_clusters_at_once(const Binning<Real>& plan, const FusedPolicy& policy);

template <class Real>
FusedArguments<Real> fused_arguments(const Binning<Real>& plan, const FusedPolicy& policy,
                                     const Batch<Real>& batch);

/// Launches the kernel. Stream-ordered; allocates nothing; can be captured. fused_shared_bytes() must be
/// within the device's limit.
template <class Real>
void launch_fused(const FusedArguments<Real>& arguments, Stream stream);

class Module;

/// CUDA C++ with an extern "C" kernel sfft_kernel(FusedArguments<float>) for frames of
/// `type` and the plan, policy and layout of `arguments`, which must be spread
/// (is_spread()). Double plans seldom are.
std::string generated_source(const FusedArguments<float>& arguments, Element type);

/// Compiles such a source to a cubin for `architecture`, "sm_90" or later. Needs no GPU; takes about a
/// second. Throws Error(backend_unavailable) if NVRTC is missing or rejects the source.
std::vector<char> compile_generated(const std::string& source, const std::string& architecture);

/// The fused kernel compiled at run time for one plan. A single frame takes as long as its longest chain of
/// instructions, most of which compute addresses. A compiler that knows the plan evaluates those in advance:
/// 2,200 of 7,800 instructions remain.
class GeneratedKernel {
 public:
  /// Compiles the kernel and loads it into the current context of `device`. Throws as compile_generated()
  /// does, and if the kernel would be slower than the library's.
  GeneratedKernel(const FusedArguments<float>& arguments, Element type, const DeviceInfo& device);
  ~GeneratedKernel();

  Element type() const noexcept { return type_; }
  /// Launches like launch_fused(); `arguments` may differ from the constructor's only in their batch.
  void launch(const FusedArguments<float>& arguments, Stream stream) const;

 private:
  Element type_;
  std::unique_ptr<const Module> module_;
  void* function_ = nullptr;  ///< CUfunction
};

}  // namespace sfft::detail::cuda
