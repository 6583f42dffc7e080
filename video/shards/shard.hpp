// SPDX-License-Identifier: Apache-2.0
// The part of a list of recordings that one process reads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace sfft::video {

/// Part `index` of `count`, counted from 1. Recordings are assigned round robin: the first one to part 1, the
/// second one to part 2, …
struct Shard {
  int index = 1;
  int count = 1;

  bool holds(std::size_t input) const noexcept {
    return input % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
  friend bool operator==(const Shard&, const Shard&) = default;
};

inline constexpr int kMaxShards = 100000;

/// Parses a text like "2/8". Throws Error(invalid_argument) for anything else.
Shard parse_shard(const std::string& text);

/// Looks up an environment variable; null if unset.
using EnvironmentLookup = std::function<const char*(const char* name)>;

/// Returns part rank + 1 of as many parts as processes, from the variables of Open MPI, MPICH (PMI) or Slurm.
/// They are tried in this order, so mpirun within a Slurm job overrides the job. Throws
/// Error(invalid_argument) if none applies or the values are impossible.
Shard shard_from_environment(const EnvironmentLookup& lookup);

/// A name like "shard-02-of-16.jsonl".
std::string shard_file_name(Shard shard);
/// Whether a name, without its folder, has the form of shard_file_name().
bool is_shard_file_name(const std::string& name);

}  // namespace sfft::video
