// SPDX-License-Identifier: Apache-2.0
// Rows take log2 N - log2 N_block + 1 launches. 2D transforms do rows, a transposition, rows, and a
// transposition.
#include "bench/technologies/schedule.hpp"

#include <algorithm>

namespace sfft::technologies {

namespace {

constexpr std::int64_t kPointBytes = 8;

int log2_of(int value) {
  int bits = 0;
  while ((1 << bits) < value) ++bits;
  return bits;
}

class Maker {
 public:
  Maker(const Problem& problem, const Setting& setting, std::uint32_t max_groups_x)
      : problem_(problem), setting_(setting), max_groups_x_(max_groups_x) {}

  /// Transforms all rows from `from` to `to` with `by` in between. `by` may be `from`, which is then
  /// overwritten.
  void rows(Array from, Array by, Array to) {
    const int block_bits = std::min(problem_.bits, log2_of(setting_.threads) + 1);
    Launch launch;
    launch.parameters.bits = static_cast<std::uint32_t>(problem_.bits);
    launch.parameters.block_bits = static_cast<std::uint32_t>(block_bits);
    launch.parameters.sign = problem_.inverse ? 1.0F : -1.0F;
    launch.kernel = Kernel::stage;
    launch.source = from;
    launch.target = by;
    for (int stage = 0; stage < problem_.bits - block_bits; ++stage) {
      launch.parameters.stage = static_cast<std::uint32_t>(stage);
      launch.parameters.dist = 1U << (problem_.bits - stage - 1);
      add_threads(launch, problem_.points() / 2);
      launch.source = by;
    }
    launch.kernel = Kernel::parts;
    launch.target = to;
    launch.parameters.scale = problem_.inverse ? 1.0F / static_cast<float>(problem_.length()) : 1.0F;
    add_threads(launch, problem_.points() / 2);
  }

  void transpose(Array from, Array to) {
    Launch launch;
    launch.kernel = Kernel::transpose;
    launch.source = from;
    launch.target = to;
    launch.parameters.columns = launch.parameters.rows = static_cast<std::uint32_t>(problem_.length());
    const std::int64_t tiles = (problem_.length() + setting_.tile - 1) / setting_.tile;
    add(launch, tiles * tiles);
  }

  Schedule made;

 private:
  void add_threads(Launch launch, std::int64_t threads) {
    launch.parameters.threads = static_cast<std::uint32_t>(threads);
    add(launch, (threads + setting_.threads - 1) / setting_.threads);
  }
  void add(Launch launch, std::int64_t groups) {
    launch.groups = static_cast<std::uint32_t>(groups);
    launch.group_threads = setting_.threads;
    // Rows are powers of two, so that the last one is seldom short.
    std::uint32_t row = launch.groups;
    if (row > max_groups_x_) {
      for (row = 1; row <= max_groups_x_ / 2;) row *= 2;
    }
    launch.parameters.groups_x = row;
    made.push_back(launch);
  }

  Problem problem_;
  Setting setting_;
  std::uint32_t max_groups_x_;
};

}  // namespace

std::string Problem::name() const {
  if (rank == 2) return std::to_string(length()) + "x" + std::to_string(length());
  const std::string one = "2^" + std::to_string(bits);
  return batch == 1 ? one : std::to_string(batch) + " times " + one;
}

std::int64_t Launch::shared_bytes(const Setting& setting) const {
  if (kernel == Kernel::stage) return 0;
  if (kernel == Kernel::parts) return 2 * kPointBytes * setting.threads;
  return kPointBytes * setting.tile * (setting.tile + 1);
}

Schedule make_schedule(const Problem& problem, const Setting& setting, std::uint32_t max_groups_x) {
  Maker maker(problem, setting, max_groups_x);
  if (problem.rank == 1) {
    maker.rows(Array::input, Array::work, Array::result);
    return maker.made;
  }
  maker.rows(Array::input, Array::result, Array::work);
  maker.transpose(Array::work, Array::result);
  maker.rows(Array::result, Array::result, Array::work);
  maker.transpose(Array::work, Array::result);
  return maker.made;
}

double traffic_bytes(const Schedule& schedule, const Problem& problem) {
  return 2.0 * kPointBytes * static_cast<double>(schedule.size()) * static_cast<double>(problem.points());
}

}  // namespace sfft::technologies
