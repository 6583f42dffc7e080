// SPDX-License-Identifier: Apache-2.0
// A program that uses an installed sfft-mpi: transforms one wave on all processes, and looks for its
// coefficient.
#include <mpi.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/mpi.hpp"

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int wrong = 0;
  {
    const sfft::mpi::Communicator world(MPI_Comm_c2f(MPI_COMM_WORLD));
    const sfft::mpi::Plan<double> plan(world, {16, 12, 10}, sfft::Domain::complex);
    const sfft::mpi::Box box = plan.signal_box();
    std::vector<std::complex<double>> signal;
    for (std::int64_t i = 0; i < box.extent[0]; ++i)
      for (std::int64_t j = 0; j < box.extent[1]; ++j)
        for (std::int64_t k = 0; k < box.extent[2]; ++k) {
          const double turns = 3.0 * static_cast<double>(box.begin[0] + i) / 16 +
                               4.0 * static_cast<double>(box.begin[1] + j) / 12 +
                               5.0 * static_cast<double>(box.begin[2] + k) / 10;
          signal.push_back(std::polar(1.0, 2 * std::numbers::pi * turns));
        }
    std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(plan.spectrum_box().points()));
    plan.forward(std::span<const std::complex<double>>(signal), spectrum);
    std::vector<std::complex<double>> whole(world.rank() == 0 ? 16 * 12 * 10 : 0);
    plan.gather_spectrum(spectrum, whole);
    for (std::size_t at = 0; at < whole.size(); ++at)
      wrong += std::abs(whole[at] - (at == (3 * 12 + 4) * 10 + 5 ? 1920.0 : 0.0)) > 1e-9 ? 1 : 0;
    if (world.rank() == 0) std::printf("%s%d wrong\n", plan.explain().c_str(), wrong);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
