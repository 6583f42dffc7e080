// SPDX-License-Identifier: Apache-2.0
// Parses I/N and the environment variables of process launchers.
#include "video/shards/shard.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Variables {
  const char* rank;
  const char* size;
  const char* who;
};
constexpr Variables kKnown[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI"},
                                {"PMI_RANK", "PMI_SIZE", "MPICH"},
                                {"SLURM_PROCID", "SLURM_NTASKS", "Slurm"}};

constexpr std::string_view kPrefix = "shard-";
constexpr std::string_view kMiddle = "-of-";
constexpr std::string_view kSuffix = ".jsonl";

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string_view view = text;
  const auto index = number_in(view.substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : number_in(view.substr(slash + 1));
  if (!index || !count || *count < 1 || *count > kMaxShards || *index < 1 || *index > *count) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is not a part such as 2/8, the second of eight: parts are counted from 1", text));
  }
  return {*index, *count};
}

Shard shard_from_environment(const EnvironmentLookup& lookup) {
  for (const Variables& names : kKnown) {
    const char* const rank = lookup(names.rank);
    const char* const size = lookup(names.size);
    if (rank == nullptr && size == nullptr) continue;
    const auto index = number_in(rank == nullptr ? "" : rank);
    const auto count = number_in(size == nullptr ? "" : size);
    if (index && count && *count >= 1 && *count <= kMaxShards && *index >= 0 && *index < *count)
      return {*index + 1, *count};
    // sbatch alone sets only one of Slurm's two variables; another launcher may have set both of its
    // variables.
    if (rank != nullptr && size != nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} says {}={} and {}={}, which is no rank and size: give --shard I/N",
                              names.who, names.rank, rank, names.size, size));
    }
  }
  throw Error(ErrorCode::invalid_argument,
              "nothing here says which rank this process has: start it with mpirun or srun, or give --shard "
              "I/N instead of auto");
}

std::string shard_file_name(Shard shard) {
  const std::string count = fmt::format("{}", shard.count);
  return fmt::format("{}{:0{}}{}{}{}", kPrefix, shard.index, count.size(), kMiddle, count, kSuffix);
}

bool is_shard_file_name(const std::string& name) {
  const std::string_view view = name;
  if (!view.starts_with(kPrefix) || !view.ends_with(kSuffix)) return false;
  const std::string_view numbers = view.substr(kPrefix.size(), view.size() - kPrefix.size() - kSuffix.size());
  const std::size_t middle = numbers.find(kMiddle);
  return middle != std::string_view::npos && number_in(numbers.substr(0, middle)) &&
         number_in(numbers.substr(middle + kMiddle.size()));
}

}  // namespace sfft::video
