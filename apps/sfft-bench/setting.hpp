// SPDX-License-Identifier: Apache-2.0
// Defines the settings of contenders: numbers of threads, and FFTW's planning effort.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::apps {

/// FFTW's planning effort: no, some or many measurements.
enum class FftwPlanner { estimate, measure, patient };

struct FftwSetting {
  FftwPlanner planner = FftwPlanner::measure;
  int threads = 1;

  std::string name() const;  ///< "FFTW", "FFTW estimate, 4 threads": MEASURE on one thread is the default
  std::string planner_name() const;  ///< "FFTW_MEASURE"
};

/// The settings of a run. Every number of threads is a separate contender, for FFTW and for this library.
struct Lineup {
  std::vector<int> threads{1, 4};
  std::vector<FftwPlanner> planners{FftwPlanner::measure, FftwPlanner::estimate};
  std::vector<PlanEffort> efforts{PlanEffort::normal};  ///< for this library's sparse plans

  std::vector<FftwSetting> fftw() const;
};

/// Parses "estimate", "measure" or "patient" in any case. Throws invalid_argument for anything else.
FftwPlanner fftw_planner(const std::string& name);

/// Parses "quick", "normal" or "thorough" in any case. Throws invalid_argument for anything else.
PlanEffort plan_effort(const std::string& name);
const char* word(PlanEffort effort);
/// "sfft plan" or "sfft plan quick".
std::string with_effort(const std::string& name, PlanEffort effort);

std::string lower_case(std::string text);
/// "sfft dense" or "sfft dense, 4 threads".
std::string with_threads(const std::string& name, int threads);
/// A remark about a row, such as "4 threads on 2 cores". Empty if there are enough cores.
std::string thread_note(int threads);

/// Returns the indices of the names that `only` selects, ascending. An entry selects the name that equals it,
/// else every name that contains it; case does not matter. An empty `only` selects all names. Throws
/// invalid_argument if an entry matches nothing, unless `others`: names elsewhere may match.
std::vector<std::size_t> selected(const std::vector<std::string>& names, const std::vector<std::string>& only,
                                  bool others = false);

}  // namespace sfft::apps
