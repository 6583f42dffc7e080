// SPDX-License-Identifier: Apache-2.0
// The level of errors is the median of the first ones. The wait between renewals doubles up to a limit, and a
// long time without renewals resets it.
#include "sfft/tracking/staleness.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/quantiles.hpp"
#include "template/planning/error_table.hpp"

namespace sfft::detail {

namespace {

/// Frames after a renewal whose errors set the level that later ones are compared with.
constexpr std::size_t kBaselineFrames = 16;
constexpr int kLongestHold = 256;

}  // namespace

void Staleness::forget_level() {
  levels_.clear();
  levels_.reserve(kBaselineFrames);
  level_ = 0;
}

void Staleness::note_level(double error) {
  if (levels_.size() == kBaselineFrames) return;
  levels_.push_back(error);
  if (levels_.size() < kBaselineFrames) return;
  level_ = detail::median_in_place(levels_);
}

bool Staleness::unacceptable(double error) {
  const bool asked = options_.accuracy > 0;
  const double limit = asked ? options_.accuracy : kMaxUsefulError;
  if (error <= limit) return false;
  reason_ = fmt::format("reported error {:.3g} is above {} {:.3g}", error,
                        asked ? "the accuracy" : "what is of use to anyone,", limit);
  return true;
}

bool Staleness::drifted(double error) {
  if (!(level_ > 0 && error > options_.drift * level_)) return false;
  reason_ =
      fmt::format("error {:.3g} is above {:.3g} times its level of {:.3g}", error, options_.drift, level_);
  return true;
}

bool Staleness::suspect(double error) {
  const bool above = drifted(error);
  note_level(error);
  above_in_a_row_ = above ? above_in_a_row_ + 1 : 0;
  return above_in_a_row_ >= options_.patience && may_learn();
}

void Staleness::accepted() noexcept {
  ++since_renewal_;
  dense_in_a_row_ = 0;
  if (since_renewal_ > 4 * hold_) hold_ = options_.hold;
}

int Staleness::renewed(bool lately) noexcept {
  ++dense_in_a_row_;
  if (lately) hold_ = std::min(2 * hold_, kLongestHold);
  since_renewal_ = above_in_a_row_ = 0;
  return dense_in_a_row_ >= options_.patience ? hold_ : 0;
}

}  // namespace sfft::detail
