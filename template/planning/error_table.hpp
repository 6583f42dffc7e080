// SPDX-License-Identifier: Apache-2.0
// Turns a planner's knowledge of its rows into the table for error estimates at execution.
#pragma once

#include <vector>

#include "kernels/base/tables/error_table.hpp"
#include "template/data/support_set.hpp"

namespace sfft::detail {

/// A sparse plan with a larger relative error is useless, whatever accuracy was requested.
inline constexpr double kMaxUsefulError = 0.5;

/// Properties of a planner's rows, per coefficient. `gain`: error from a tail of unit scale. `bias`: error
/// from shrinking for a prior of unit scale; `response`: E|X̂|² for the same. The last two are empty for
/// unbiased rows.
struct RowErrors {
  std::vector<double> gain, bias, response;
  double tail_per_scale = 1;  ///< Σ|X|² outside the support of a tail of unit scale
  double tail_values = 0;     ///< number of values whose mean gives the tail's scale; 0: it is known exactly
};

/// The table of an exact path, which has only rounding errors and measures the tail.
ErrorTable exact_errors(const SupportSet& support);

ErrorTable make_error_table(const SupportSet& support, RowErrors rows);

/// What is known of the energy outside the support, against which a witness is compared.
enum class TailKnowledge {
  white,     ///< unknown, but least squares fits its level to each frame
  measured,  ///< the learning frames' envelope
  guessed,   ///< the shape of a change between frames: its energy is wrong by some factor for most streams
};

/// Adds to the model a witness that is compared in arithmetic of `epsilon`.
void add_witness(ErrorModel& model, const SupportSet& support, double epsilon, TailKnowledge tail);

}  // namespace sfft::detail
