// SPDX-License-Identifier: Apache-2.0
// Wraps the original sFFT code in C functions, so that it can be compiled as old C++ but called from this
// project.
#pragma once

extern "C" {
/* `version`: 1, 2 or 3. Returns null if the code makes no plan. */
void* sfft_original_plan(int points, int k, int version);
void sfft_original_free(void* plan);
/* `samples`: pairs of doubles, 16-byte aligned. The terms found replace those of the previous execution, even
 * if that was of another plan. */
void sfft_original_execute(void* plan, double* samples);
/* Returns the number of terms of the latest execution. Copies up to `max` of them, values as pairs. */
int sfft_original_terms(int max, int* frequencies, double* values);
}
