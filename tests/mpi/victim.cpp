// SPDX-License-Identifier: Apache-2.0
// victim kill|stop|leave [ENGINE]: transforms again and again, until the last process dies, stops or leaves
// in the middle. The others have to end with an error: 42, after a message of the library, or what mpirun
// makes of the death.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "sfft/mpi.hpp"

namespace {

void end_here(const std::string& how) {
  if (how == "kill") raise(SIGKILL);
  if (how == "stop") raise(SIGSTOP);
  if (how == "leave") _exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const std::string how = count > 1 ? arguments[1] : "";
  const auto world = sfft::mpi::Communicator::world();
  try {
    sfft::mpi::Options options;
    options.timeout_seconds = 2;
    if (count > 2) options.engine = sfft::mpi::Engine::fftw;
    const sfft::mpi::Plan<float> plan(world, {64, 48, 40}, sfft::Domain::complex, options);
    std::vector<std::complex<float>> signal(static_cast<std::size_t>(plan.signal_box().points()));
    std::vector<std::complex<float>> spectrum(static_cast<std::size_t>(plan.spectrum_box().points()));
    for (int i = 0; i < 100000; ++i) {
      if (i == 5 && world.rank() == world.size() - 1) end_here(how);
      plan.forward(std::span<const std::complex<float>>(signal), spectrum);
    }
  } catch (const sfft::Error& error) {
    std::fprintf(stderr, "rank %d: %s: %s\n", world.rank(), sfft::to_string(error.code()), error.what());
    MPI_Abort(MPI_COMM_WORLD, 42);
  }
  MPI_Finalize();
  return 0;
}
