// SPDX-License-Identifier: Apache-2.0
// Calls the original sFFT code. This file is compiled like that code (GNU C++98, for its C99 complex type),
// and only if SFFT_PEER_DIR names a checkout.
#include "original_bridge.hpp"

#include <omp.h>

#include "common.h"
#include "sfft.h"

static sfft_output found;

void* sfft_original_plan(int points, int k, int version) {
  omp_set_num_threads(1);
  const sfft_version versions[] = {SFFT_VERSION_1, SFFT_VERSION_2, SFFT_VERSION_3};
  return sfft_make_plan(points, k, versions[version - 1], FFTW_MEASURE);
}

void sfft_original_free(void* plan) {
  sfft_free_plan(static_cast<sfft_plan*>(plan));
}

void sfft_original_execute(void* plan, double* samples) {
  // Planning sets this global variable. With plans of several versions alive, executions must also set it.
  WITH_COMB = static_cast<sfft_plan*>(plan)->version != SFFT_VERSION_1;
  found.clear();
  sfft_exec(static_cast<sfft_plan*>(plan), reinterpret_cast<complex_t*>(samples), &found);
}

int sfft_original_terms(int max, int* frequencies, double* values) {
  int count = 0;
  for (sfft_output::const_iterator term = found.begin(); term != found.end(); ++term, ++count) {
    if (count >= max) continue;
    frequencies[count] = term->first;
    values[2 * count] = __real__ term->second;
    values[2 * count + 1] = __imag__ term->second;
  }
  return count;
}
