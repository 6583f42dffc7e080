// SPDX-License-Identifier: Apache-2.0
// Checks that the files belong to one run, and lists the recordings that are missing.
#include "video/shards/merge.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>

#include "sfft/error.hpp"
#include "video/shards/shard_file.hpp"

namespace sfft::video {

namespace {

struct Read {
  std::string path;
  ShardContents contents;
};

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code code;
    if (!std::filesystem::is_directory(path, code)) {
      if (!std::filesystem::exists(path, code))
        throw Error(
            ErrorCode::file_unreadable,
            fmt::format("there is no '{}': give the folder that 'sfft-video run --results' was given, or "
                        "files of shards",
                        path));
      files.push_back(path);
      continue;
    }
    const std::vector<std::string> listed = list_shards(path);
    if (listed.empty())
      throw Error(ErrorCode::file_unreadable,
                  fmt::format("the folder '{}' holds no shards: give the folder that 'sfft-video run "
                              "--results' was given",
                              path));
    files.insert(files.end(), listed.begin(), listed.end());
  }
  return files;
}

/// The first five numbers, counted from 1: "3, 7, 11, 15, 19 and 5 more".
std::string some_of(const std::vector<std::size_t>& numbers) {
  constexpr std::size_t kMax = 5;
  std::string text;
  for (std::size_t i = 0; i < numbers.size() && i < kMax; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i] + 1);
  return numbers.size() > kMax ? text + fmt::format(" and {} more", numbers.size() - kMax) : text;
}

std::string missing_shards(const std::vector<int>& missing, int count) {
  std::vector<std::size_t> numbers;
  for (const int index : missing) numbers.push_back(static_cast<std::size_t>(index - 1));
  return missing.size() == 1
             ? fmt::format("shard {} of {} is missing: run it with --shard {}/{}", missing[0], count,
                           missing[0], count)
             : fmt::format("{} shards of {} are missing: {}", missing.size(), count, some_of(numbers));
}

}  // namespace

MergedRun merge_shards(const std::vector<std::string>& paths) {
  std::map<int, Read> shards;
  std::optional<ShardRun> first;
  std::string first_path;
  MergedRun merged;
  for (const std::string& path : files_of(paths)) {
    ShardContents contents = read_shard(path);
    if (!contents.headed) {
      merged.missing.push_back(fmt::format("'{}' was killed before it began: start that shard again", path));
      continue;
    }
    if (!first) {
      first = contents.run;
      first_path = path;
    }
    const std::string difference = first->difference(contents.run);
    if (!difference.empty())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' is of another run than '{}': {}", path, first_path, difference));
    const int index = contents.run.shard.index;
    const auto [at, fresh] = shards.try_emplace(index, Read{path, std::move(contents)});
    if (!fresh)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' and '{}' are both shard {} of {}: leave one out", at->second.path, path,
                              index, first->shard.count));
  }
  if (!first) throw Error(ErrorCode::file_unreadable, "no shard has begun: there is nothing to merge");
  merged.run = *first;

  std::map<std::size_t, ShardRecord> recordings;
  std::vector<int> absent;
  for (int index = 1; index <= first->shard.count; ++index) {
    const auto shard = shards.find(index);
    if (shard == shards.end()) {
      absent.push_back(index);
      continue;
    }
    ShardContents& contents = shard->second.contents;
    for (ShardRecord& record : contents.records) recordings[record.input] = std::move(record);
    std::vector<std::size_t> unread;
    const auto stride = static_cast<std::size_t>(first->shard.count);
    for (auto input = static_cast<std::size_t>(index - 1); input < first->inputs; input += stride)
      if (!recordings.contains(input)) unread.push_back(input);
    if (!unread.empty())
      merged.missing.push_back(fmt::format(
          "shard {} of {} has not finished{}: of its recordings, {} not read (in the order of the "
          "run: {}). Start it again",
          index, stride, contents.cut ? ", and was killed while it wrote its last line" : "",
          unread.size() == 1 ? "one is" : fmt::format("{} are", unread.size()), some_of(unread)));
  }
  if (!absent.empty()) merged.missing.push_back(missing_shards(absent, first->shard.count));

  for (auto& [input, record] : recordings) {
    if (record.status != RunStatus::complete && merged.status == RunStatus::complete) {
      merged.status = record.status;
      merged.message = record.message;
    }
    merged.recordings.push_back(std::move(record));
  }
  if (!merged.missing.empty()) {
    merged.status = RunStatus::interrupted;
    merged.message = merged.missing.front();
  }
  return merged;
}

}  // namespace sfft::video
