// SPDX-License-Identifier: Apache-2.0
// Turns what a planner knows about its rows into the table from which executions make their accounts.
#pragma once

#include <vector>

#include "kernels/base/error_table.hpp"
#include "template/data/support_set.hpp"

namespace sfft::detail {

/// What a planner's rows do, per coefficient. `gain`: error from a tail of unit scale. `bias`: error that
/// shrinking leaves for a prior of unit scale; `response`: E|X̂|² for the same. The last two are empty for
/// unbiased rows.
struct RowErrors {
  std::vector<double> gain, bias, response;
  double tail_per_scale = 1;  ///< Σ|X|² outside the support of a tail of unit scale
};

/// For exact paths: no errors but rounding; their tail is measured.
ErrorTable exact_errors(const SupportSet& support);

ErrorTable make_error_table(const SupportSet& support, RowErrors rows);

/// What is known about the energy outside the support, against which a witness is measured.
enum class TailKnowledge {
  white,     ///< nothing, but least squares fits its level to each frame
  measured,  ///< the learning frames' envelope
  guessed,   ///< the shape of a change between frames: its energy is wrong by some factor on most streams
};

/// Tells the model about a witness that is compared in arithmetic of `epsilon`.
void add_witness(ErrorModel& model, const SupportSet& support, double epsilon, TailKnowledge tail);

}  // namespace sfft::detail
