// SPDX-License-Identifier: Apache-2.0
// sfft::mpi::Plan: a volume spread over the processes of mpirun, forward and inverse.
//   mpirun -n 4 build/bin/example_mpi_plan [EDGE [REPEATS]]
#include <mpi.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sfft/mpi.hpp"

int transform(std::int64_t edge, int repeats) {
  const auto world = sfft::mpi::Communicator::world();
  const sfft::mpi::Plan<float> plan(world, {edge, edge, edge}, sfft::Domain::real,
                                    {.planning = repeats > 1 ? sfft::dense::Options::Planning::measure
                                                             : sfft::dense::Options::Planning::estimate});
  const auto count = static_cast<std::size_t>(plan.signal_box().points());
  std::vector<float> signal(count), again(count);
  for (std::size_t t = 0; t < count; ++t) signal[t] = std::sin(0.001F * static_cast<float>(t));
  std::vector<std::complex<float>> spectrum(static_cast<std::size_t>(plan.spectrum_box().points()));

  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    plan.forward(std::span<const float>(signal), spectrum);
    MPI_Barrier(MPI_COMM_WORLD);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  plan.inverse(spectrum, std::span<float>(again));

  float worst = 0;
  for (std::size_t t = 0; t < count; ++t) worst = std::max(worst, std::abs(again[t] - signal[t]));
  if (world.rank() == 0)
    std::printf("%sforward %.2f ms, largest difference after the inverse %.2g\n", plan.explain().c_str(),
                1e3 * best, static_cast<double>(worst));
  return worst < 1e-4F ? 0 : 1;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int code = 1;
  try {
    code = transform(count > 1 ? std::atoll(arguments[1]) : 32, count > 2 ? std::atoi(arguments[2]) : 1);
  } catch (const sfft::Error& error) {
    // The same in every process, unless one has died: MPI_Finalize() might then wait for it.
    std::fprintf(stderr, "%s\n", error.what());
    if (error.code() == sfft::ErrorCode::communication) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
