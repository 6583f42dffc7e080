// SPDX-License-Identifier: Apache-2.0
// The launches of a transform. They are the same for every technology; a port only executes them.
#pragma once

#include <cstdint>

#include <string>
#include <vector>

#include "bench/technologies/kernels/parameters.hpp"
#include "bench/technologies/problem.hpp"

namespace sfft::technologies {

enum class Kernel : std::uint8_t { stage, parts, transpose };
constexpr int kKernels = 3;

/// Three arrays: the input, which is not modified, the result, and a work array.
enum class Array : std::uint8_t { input, result, work };
constexpr int kArrays = 3;

struct Launch {
  Kernel kernel = Kernel::stage;
  Array source = Array::input, target = Array::result;
  Parameters parameters;
  std::uint32_t groups = 0;  ///< work-groups in all
  int group_threads = 0;

  std::uint32_t groups_y() const { return (groups + parameters.groups_x - 1) / parameters.groups_x; }
  std::int64_t shared_bytes(const Setting& setting) const;
};

using Schedule = std::vector<Launch>;

/// `max_groups_x` is the longest row of groups that the technology can dispatch.
Schedule make_schedule(const Problem& problem, const Setting& setting, std::uint32_t max_groups_x);

/// Total bytes that all launches read and write: every launch reads and writes each point once.
double traffic_bytes(const Schedule& schedule, const Problem& problem);

}  // namespace sfft::technologies
