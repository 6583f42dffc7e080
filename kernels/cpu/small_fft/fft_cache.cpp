// SPDX-License-Identifier: Apache-2.0
// Searches a short list under a mutex; makes plans outside the lock and drops the oldest when the list is
// full.
#include "kernels/cpu/small_fft/fft_cache.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace sfft::detail::cpu {

namespace {

constexpr std::size_t kMaxPlans = 48;
constexpr std::int64_t kMaxReals = std::int64_t{1} << 20;

template <class Real>
struct Entry {
  std::array<std::int64_t, 3> grid;
  std::int64_t lanes;
  std::shared_ptr<const SmallFft<Real>> plan;
};

}  // namespace

template <class Real>
std::shared_ptr<const SmallFft<Real>> shared_small_fft(const std::array<std::int64_t, 3>& grid,
                                                       std::int64_t lanes) {
  static std::mutex mutex;
  static std::vector<Entry<Real>> entries;  // in order of creation
  const auto same = [&](const Entry<Real>& entry) { return entry.lanes == lanes && entry.grid == grid; };
  {
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(entries.begin(), entries.end(), same);
    if (found != entries.end()) return found->plan;
  }
  // Drop extents of 1: the slowest extent decides how the grid is cut into slabs.
  std::vector<std::int64_t> extents;
  for (const std::int64_t extent : grid) {
    if (extent > 1) extents.push_back(extent);
  }
  if (extents.empty()) extents.push_back(1);
  auto plan = std::make_shared<const SmallFft<Real>>(std::span<const std::int64_t>(extents), lanes);
  if (grid[0] * grid[1] * grid[2] * lanes > kMaxReals) return plan;
  const std::lock_guard lock(mutex);
  if (std::find_if(entries.begin(), entries.end(), same) != entries.end()) return plan;
  if (entries.size() == kMaxPlans) entries.erase(entries.begin());
  entries.push_back({grid, lanes, plan});
  return plan;
}

template std::shared_ptr<const SmallFft<float>> shared_small_fft<float>(const std::array<std::int64_t, 3>&,
                                                                        std::int64_t);
template std::shared_ptr<const SmallFft<double>> shared_small_fft<double>(const std::array<std::int64_t, 3>&,
                                                                          std::int64_t);

}  // namespace sfft::detail::cpu
