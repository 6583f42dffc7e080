// SPDX-License-Identifier: Apache-2.0
// Runs the same tests in every process. A process whose tests fail ends the others, which would wait for it.
#include <gtest/gtest.h>
#include <mpi.h>

#include <unistd.h>

int main(int count, char** arguments) {
  int level = 0;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &level);
  testing::InitGoogleTest(&count, arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = RUN_ALL_TESTS();
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
