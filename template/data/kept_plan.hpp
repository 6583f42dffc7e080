// SPDX-License-Identifier: Apache-2.0
// A planner's decisions for a template, small enough to keep with it. They contain everything that takes a
// search and nothing that follows from the template; the tables of a plan are rebuilt from them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

/// The request that a plan was made for. A plan serves only the same request, or the same with less effort.
struct PlanKey {
  std::string library;             ///< version of sfft
  bool single = true;              ///< float arithmetic, else double
  Backend backend = Backend::cpu;  ///< cpu or cuda
  std::string device;              ///< name of the GPU; empty for the CPU
  bool reference = false;          ///< for differences to a reference frame
  Path path = Path::automatic;     ///< the requested path
  PlanEffort effort = PlanEffort::normal;
  double accuracy = 0, max_samples = 0;
  std::int64_t batch = 1;
  std::uint64_t seed = 1;
  bool page_locked_frames = false;   ///< GPU plans only
  double burst = 0, burst_miss = 0;  ///< plans that look for short bursts; else 0

  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

struct KeptPlan {
  PlanKey key;
  Path path = Path::dense;  ///< the chosen path
  double predicted_us = 0;
  /// Comb: B_d, and r delays in [0, n_d/B_d). Flat window: {1, 1, B} and the starts of the lines.
  std::array<std::int64_t, 3> buckets{1, 1, 1};
  std::vector<std::array<std::int64_t, 3>> delays;
  std::array<std::int64_t, 3> sigma{0, 0, 0};  ///< flat window: the step of the lines
  bool full_period = false;                    ///< flat window: the lines cover one whole period

  friend bool operator==(const KeptPlan&, const KeptPlan&) = default;
};

/// Why this cannot be a plan for signals of this shape with any support; empty if it can.
std::string impossible(const KeptPlan& plan, const Shape& shape);

/// For example "float on the cpu: comb 24x32, 6 delays".
std::string describe(const KeptPlan& plan, const Shape& shape);

}  // namespace sfft::detail
