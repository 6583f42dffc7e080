// SPDX-License-Identifier: Apache-2.0
// Wraps the original sFFT code in C functions, so that it can be compiled as old C++ but called from this
// project.
#pragma once

extern "C" {
/* version 1, 2 or 3; null when it makes no plan. */
void* sfft_original_plan(int points, int k, int version);
void sfft_original_free(void* plan);
/* `samples`: pairs of doubles, 16-byte aligned. What was found stays in the plan's owner until the next call.
 */
void sfft_original_execute(void* plan, double* samples);
/* Number of terms found by the latest execution; up to `most` of them are copied, values as pairs. */
int sfft_original_terms(int max, int* frequencies, double* values);
}
