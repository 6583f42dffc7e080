// SPDX-License-Identifier: Apache-2.0
// Lists the launches with which executable.cpp runs a program.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/dense/tuned/plan/program.hpp"

namespace sfft::test {

/// The order in which unsynchronised streams progress.
enum class StreamOrder { as_issued, first_to_last, last_to_first };

struct TunedLaunch {
  std::size_t kernel;
  std::int64_t first, groups;
  int stream, phase;  ///< within a phase only streams order launches
};

/// The launches of one execution. Throws std::logic_error for anything that could not be launched.
inline std::vector<TunedLaunch> launches_of(const detail::tuned::Program& program,
                                            StreamOrder order = StreamOrder::as_issued) {
  std::vector<TunedLaunch> launches;
  int phase = 0;
  for (std::size_t k = 0; k < program.kernels.size(); ++phase) {
    const std::int64_t groups = program.kernels[k].groups, at_once = program.alternating_groups;
    if (!program.alternating || k != program.alternating_from) {
      launches.push_back({k++, 0, groups, 0, phase});
      continue;
    }
    if (at_once < 1 || program.streams < 1)
      throw std::logic_error("steps that alternate over no groups, or on no stream");
    const auto streams =
        static_cast<int>(std::min<std::int64_t>(program.streams, 1 + (groups - 1) / at_once));
    const auto begin = static_cast<std::ptrdiff_t>(launches.size());
    int stream = 0;
    for (std::int64_t group = 0; group < groups; group += at_once, stream = (stream + 1) % streams) {
      for (std::size_t i = 0; i < detail::tuned::Program::kAlternatingKernels; ++i)
        launches.push_back({k + i, group, std::min(at_once, groups - group), stream, phase});
    }
    std::stable_sort(launches.begin() + begin, launches.end(),
                     [&](const TunedLaunch& a, const TunedLaunch& b) {
                       if (order == StreamOrder::as_issued) return false;
                       return order == StreamOrder::first_to_last ? a.stream < b.stream : a.stream > b.stream;
                     });
    k += detail::tuned::Program::kAlternatingKernels;
  }
  return launches;
}

}  // namespace sfft::test
