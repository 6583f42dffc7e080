// SPDX-License-Identifier: Apache-2.0
// Rejects a support with an index out of range, a duplicate, or both frequencies of a conjugate pair, and
// names the offending index.
#include "template/data/template_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

constexpr std::size_t kLongestName = 200;

/// Names are shown to users, so they must not contain control characters.
bool name(const std::string& text) {
  return text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

bool positive(double value) {
  return value >= 0 && std::isfinite(value);
}

bool within(const std::array<std::int64_t, 3>& at, const std::array<std::int64_t, 3>& limits) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (at[d] < 0 || at[d] >= limits[d]) return false;
  }
  return true;
}

std::array<std::int64_t, 3> extents(const Shape& shape) {
  std::array<std::int64_t, 3> all{1, 1, 1};
  std::copy(shape.extents().begin(), shape.extents().end(), all.begin());
  return all;
}

std::string impossible_key(const PlanKey& key) {
  if (!name(key.library) || key.library.empty() || !name(key.device)) return "a name is none";
  if (key.backend != Backend::cpu && key.backend != Backend::cuda) return "its backend is none";
  if (key.device.empty() != (key.backend == Backend::cpu)) return "its device is not one of its backend";
  if (key.page_locked_frames && key.backend == Backend::cpu) return "its frames are for a GPU";
  if (key.path > Path::dense || key.effort > PlanEffort::thorough) return "the requested path does not exist";
  if (!positive(key.accuracy) || !(key.max_samples >= 0 && key.max_samples <= 1) || key.batch < 1)
    return "an option is out of range";
  if (!(key.burst >= 0 && key.burst < 1) || !(key.burst_miss >= 0 && key.burst_miss < 1) ||
      (key.burst > 0) != (key.burst_miss > 0))
    return "its burst is none";
  return "";
}

std::string impossible_comb(const KeptPlan& plan, const Shape& shape) {
  std::array<std::int64_t, 3> strides = extents(shape);
  for (std::size_t d = 0; d < 3; ++d) {
    if (plan.buckets[d] < 1 || strides[d] % plan.buckets[d] != 0)
      return fmt::format("{} buckets do not divide {} points", plan.buckets[d], strides[d]);
    strides[d] /= plan.buckets[d];
  }
  constexpr std::size_t kMax = 24;
  if (plan.delays.empty() || plan.delays.size() > kMax) return "its number of delays";
  for (const auto& delay : plan.delays) {
    if (!within(delay, strides)) return "a delay is outside its stride";
  }
  // The planner sorts delays.
  for (std::size_t j = 1; j < plan.delays.size(); ++j) {
    if (!(plan.delays[j - 1] < plan.delays[j])) return "its delays are not in order";
  }
  return "";
}

std::string impossible_flat(const KeptPlan& plan, const Shape& shape) {
  constexpr std::size_t kMax = 64;
  if (plan.delays.empty() || plan.delays.size() > kMax) return "its number of lines";
  if (plan.buckets[0] != 1 || plan.buckets[1] != 1 || plan.buckets[2] < 1 || plan.buckets[2] > shape.points())
    return "its number of buckets";
  const std::array<std::int64_t, 3> all = extents(shape);
  if (!within(plan.sigma, all)) return "its step is outside the grid";
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.rank()); ++d) {
    if (std::gcd(plan.sigma[d], all[d]) != 1) return "its step does not visit every sample";
  }
  for (const auto& delay : plan.delays) {
    if (!within(delay, all)) return "a line begins outside the grid";
  }
  return "";
}

}  // namespace

std::string impossible(const KeptPlan& plan, const Shape& shape) {
  std::string why = impossible_key(plan.key);
  if (!why.empty()) return why;
  if (plan.key.path != Path::automatic && plan.key.path != plan.path)
    return "its path is not the requested one";
  if (!positive(plan.predicted_us)) return "its predicted time is none";
  switch (plan.path) {
    case Path::comb:
      return impossible_comb(plan, shape);
    case Path::flat_window:
      return impossible_flat(plan, shape);
    case Path::direct:
    case Path::dense:
      return plan.delays.empty() ? "" : "it has delays and no use for them";
    case Path::automatic:
      break;
  }
  return "its path is none";
}

std::string describe(const KeptPlan& plan, const Shape& shape) {
  std::string text =
      fmt::format("{} on the {}", plan.key.single ? "float" : "double", to_string(plan.key.backend));
  if (!plan.key.device.empty()) text += fmt::format(" ({})", plan.key.device);
  text += fmt::format(": {}", to_string(plan.path));
  if (plan.path == Path::comb) {
    for (int d = 0; d < shape.rank(); ++d)
      text += fmt::format("{}{}", d == 0 ? " " : "x", plan.buckets[static_cast<std::size_t>(d)]);
    text += fmt::format(", {} delays", plan.delays.size());
  }
  if (plan.path == Path::flat_window)
    text += fmt::format(" {}, {} lines", plan.buckets[2], plan.delays.size());
  return text;
}

void check_support(const Shape& shape, bool real, const std::vector<std::int64_t>& support) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorCode::invalid_support, message); };
  if (support.empty()) refuse("the support is empty: k must be at least 1");
  if (support.front() < 0 || support.back() >= shape.points()) {
    refuse(fmt::format("frequency index {} is outside [0, {}) of shape {}",
                       support.front() < 0 ? support.front() : support.back(), shape.points(),
                       shape.to_string()));
  }
  const auto twin = std::adjacent_find(support.begin(), support.end());
  if (twin != support.end()) refuse(fmt::format("frequency index {} is in the support twice", *twin));
  if (!real) return;
  for (const std::int64_t f : support) {
    const std::int64_t mirrored = conjugate_index(shape, f);
    if (mirrored > f && std::binary_search(support.begin(), support.end(), mirrored)) {
      refuse(fmt::format("frequencies {} and {} are a conjugate pair of a real signal: keep one of them", f,
                         mirrored));
    }
  }
}

}  // namespace sfft::detail
