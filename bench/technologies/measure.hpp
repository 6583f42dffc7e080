// SPDX-License-Identifier: Apache-2.0
// Validates one technology on all problems, sweeps its settings, and times it.
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
  std::vector<int> threads;   ///< threads per group to sweep for the problems in `swept`
  std::vector<int> tiles;     ///< tiles to sweep for 2D problems
  std::vector<bool> swept;    ///< whether each problem is swept
  double row_seconds = 0.05;  ///< approximate duration of a row's repeats
  bool all_devices = false;   ///< otherwise only the first device of each technology
  std::int64_t inverse_points = std::int64_t{1} << 22;  ///< inverse transforms are validated up to here
  std::int64_t sincos_points = 0;  ///< size of the problem that is also run with the languages' sines
};

/// The course of a command line: quick or not.
Course make_course(const std::vector<Problem>& problems, bool quick);

/// The position of a session, from which another can continue.
struct Position {
  int device = 0;
  std::size_t problem = 0;
};

/// Receives a session's reports: `facts` once per device, `begins` before every problem, and the rows.
struct Listener {
  std::function<void(Position, const std::string& what)> begins;
  std::function<void(const nlohmann::ordered_json&)> facts, row;
};

/// Opens the devices of a technology one after the other and measures all problems from `start` on. Never
/// throws for what a technology cannot do; the rows say so.
void run_session(const Entry& entry, const Material& material, const Course& course, Position start,
                 const Listener& listener);

}  // namespace sfft::technologies
