// SPDX-License-Identifier: Apache-2.0
// What a plan knows about each coefficient's error, as plain data for every backend.
#pragma once

#include <vector>

#include "kernels/base/tables/error_estimate.hpp"

namespace sfft::detail {

/// E|X̂_i − X_i|² = gain_scale·gain_i + bias_scale·bias_i, with the scales fitted to each frame
/// (error_estimate.hpp). All vectors have k elements.
struct ErrorTable {
  ErrorModel model;
  std::vector<double> gain;
  std::vector<double> bias;
  std::vector<double> fit;  ///< weight of |X̂_i|² in the fit of the prior's scale; 0 for f = 0

  bool unbiased() const noexcept { return !(model.bias_sum > 0); }
};

}  // namespace sfft::detail
