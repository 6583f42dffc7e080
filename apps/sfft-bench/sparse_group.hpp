// SPDX-License-Identifier: Apache-2.0
// Measures all contenders on the same signals of one length, sparsity and noise.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contender.hpp"
#include "progress.hpp"
#include "row.hpp"

namespace sfft::apps {

struct SparseGroup {
  std::string figure;
  std::int64_t points = 0, k = 0;
  double snr_db = kUnknown;  ///< NaN: exactly sparse
  int signals = 0;
};

/// Throws invalid_argument for an impossible group, out_of_memory for one that is too large.
void check(const SparseGroup& group, std::size_t contenders);

/// Returns one row per contender. Each signal is one round: every contender is planned if necessary, timed
/// once with cold caches, checked, and timed warm. Medians are over the signals. After a Ctrl-C the rows
/// cover the signals done so far.
std::vector<Row> measure(const SparseGroup& group, std::vector<std::unique_ptr<Contender>>& contenders,
                         ProgressBar& progress);

/// Row::noise_floor: √(π/4 · k/(SNR·N)), where k/(SNR·N) is the noise power of one coefficient of a full FFT
/// in units of |X|² = N².
double full_fft_floor(std::int64_t points, std::int64_t k, double snr_db);

}  // namespace sfft::apps
