// SPDX-License-Identifier: Apache-2.0
// Builds without the engine fftw.
#include "sfft/mpi/problem.hpp"

namespace sfft::mpi::detail {

std::string fftw_missing() {
  return "this build has no FFTW with MPI: configure with -DSFFT_WITH_FFTW=ON (GPL), and install "
         "libfftw3-mpi-dev";
}

template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_fftw(std::shared_ptr<Comm>, const Problem&) {
  throw Error(ErrorCode::backend_unavailable, fftw_missing());
}
template std::unique_ptr<DistributedEngine<float>> make_fftw(std::shared_ptr<Comm>, const Problem&);
template std::unique_ptr<DistributedEngine<double>> make_fftw(std::shared_ptr<Comm>, const Problem&);

}  // namespace sfft::mpi::detail
