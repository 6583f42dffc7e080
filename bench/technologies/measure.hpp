// SPDX-License-Identifier: Apache-2.0
// One technology on all problems: validated, swept over its settings, timed.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/technologies/reference.hpp"
#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

/// How a run measures.
struct Course {
  std::vector<int> threads;                             ///< per group, swept where a problem is in `swept`
  std::vector<int> tiles;                               ///< likewise, in 2D
  std::vector<bool> swept;                              ///< for every problem
  double row_seconds = 0.05;                            ///< repeats of a row last about so long
  bool all_devices = false;                             ///< or the first of each technology
  std::int64_t inverse_points = std::int64_t{1} << 22;  ///< inverse transforms are validated up to here
  std::int64_t sincos_points = 0;  ///< size of the problem that is also run with the languages' sines
};

/// The course of a command line: quick or not.
Course make_course(const std::vector<Problem>& problems, bool quick);

/// Where a session stands, so that another can go on behind it.
struct Position {
  int device = 0;
  std::size_t problem = 0;
};

/// What a session reports. `facts` once for a device; rows; `begins` ahead of every problem.
struct Listener {
  std::function<void(Position, const std::string& what)> begins;
  std::function<void(const nlohmann::ordered_json&)> facts, row;
};

/// Opens the devices of a technology one after the other and measures all problems from `start` on. Never
/// throws for what a technology cannot do: that is in the rows.
void run_session(const Entry& entry, const Material& material, const Course& course, Position start,
                 const Listener& listener);

}  // namespace sfft::technologies
