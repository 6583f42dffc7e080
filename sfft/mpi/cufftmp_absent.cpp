// SPDX-License-Identifier: Apache-2.0
// Builds without the engine cufftmp.
#include "sfft/mpi/problem.hpp"

namespace sfft::mpi::detail {

std::string cufftmp_missing() {
  return "this build has no cuFFTMp: configure with a CUDA compiler (docs/cluster.md)";
}

template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_cufftmp(std::shared_ptr<Comm>, const Problem&) {
  throw Error(ErrorCode::backend_unavailable, cufftmp_missing());
}
template std::unique_ptr<DistributedEngine<float>> make_cufftmp(std::shared_ptr<Comm>, const Problem&);
template std::unique_ptr<DistributedEngine<double>> make_cufftmp(std::shared_ptr<Comm>, const Problem&);

}  // namespace sfft::mpi::detail
