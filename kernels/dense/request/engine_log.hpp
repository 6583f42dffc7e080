// SPDX-License-Identifier: Apache-2.0
// Logs which engine planning chose.
#pragma once

#include <fmt/format.h>

#include <string>

#include "kernels/base/log.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

/// `runner`: what has a name(), which says engine and device.
template <class Real, class Runner>
void log_engine(const DenseProblem& problem, const Runner& runner, const std::string& reason) {
  log_decision("dense", [&] {
    const WisdomProblem named = wisdom_problem<Real>(problem);
    return fmt::format("{}, batch {}: {}: {}", named.transform, named.batch, runner.name(), reason);
  });
}

}  // namespace sfft::detail
