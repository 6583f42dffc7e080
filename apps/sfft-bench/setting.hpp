// SPDX-License-Identifier: Apache-2.0
// The settings at which contenders run: numbers of threads, and how hard FFTW plans.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::apps {

/// FFTW's own names for how much time planning may take: none, some measurements, many.
enum class FftwPlanner { estimate, measure, patient };

struct FftwSetting {
  FftwPlanner planner = FftwPlanner::measure;
  int threads = 1;

  std::string name() const;  ///< "FFTW", "FFTW estimate, 4 threads": MEASURE on one thread is the default
  std::string planner_name() const;  ///< "FFTW_MEASURE"
};

/// The settings of a run. Every number of threads is a contender of its own, for FFTW and for this library.
struct Lineup {
  std::vector<int> threads{1, 4};
  std::vector<FftwPlanner> planners{FftwPlanner::measure, FftwPlanner::estimate};
  std::vector<PlanEffort> efforts{PlanEffort::normal};  ///< of this library's sparse plans

  std::vector<FftwSetting> fftw() const;
};

/// Throws invalid_argument for anything but "estimate", "measure" and "patient", in any case.
FftwPlanner fftw_planner(const std::string& name);

/// Throws invalid_argument for anything but "quick", "normal" and "thorough", in any case.
PlanEffort plan_effort(const std::string& name);
const char* word(PlanEffort effort);
/// "sfft plan" or "sfft plan quick".
std::string with_effort(const std::string& name, PlanEffort effort);

std::string lower_case(std::string text);
/// "sfft dense" or "sfft dense, 4 threads".
std::string with_threads(const std::string& name, int threads);
/// What a reader has to know about a row: "4 threads on 2 cores". Empty where there are enough cores.
std::string thread_note(int threads);

/// Indices of the names that `only` asks for, ascending: the name itself where there is one, otherwise every
/// name that contains it, ignoring case. All for an empty `only`. Throws invalid_argument for what names
/// nothing, unless others may have that name.
std::vector<std::size_t> selected(const std::vector<std::string>& names, const std::vector<std::string>& only,
                                  bool others = false);

}  // namespace sfft::apps
