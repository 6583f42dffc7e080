// From what a planner knows of its rows to the table that executions make their accounts with.
#pragma once

#include <vector>

#include "kernels/common/error_table.hpp"
#include "template/support_set.hpp"

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

/// Tells the table's model of a witness over `points` samples, compared in arithmetic of `epsilon`.
void add_witness(ErrorModel& model, const SupportSet& support, double epsilon);

}  // namespace sfft::detail
