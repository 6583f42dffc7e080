// SPDX-License-Identifier: Apache-2.0
// Rebuilds a comb plan from known buckets and delays.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "template/comb/comb_model.hpp"
#include "template/comb/comb_planner.hpp"

namespace sfft::detail {

/// Builds the tables for these buckets, which divide the shape, and these delays, which lie within the
/// strides. All weights and errors are computed from the template, so a file need not be trusted for them.
/// Returns nothing and sets `why` if the delays do not separate the template's frequencies, leave too few
/// buckets empty or read more than the request allows.
std::optional<CombPlan> rebuild_comb(const SupportSet& support, const SpectralPrior& prior,
                                     const std::array<std::int64_t, 3>& buckets,
                                     std::span<const Delay> delays, const CombRequest& request,
                                     std::string& why);

}  // namespace sfft::detail
