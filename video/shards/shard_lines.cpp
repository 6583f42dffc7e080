// SPDX-License-Identifier: Apache-2.0
// Each line is a JSON object that ends with the CRC-32 of the text before it.
#include "video/shards/shard_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sfft/error.hpp"
#include "video/report/encoding.hpp"
#include "video/report/report.hpp"

namespace sfft::video {

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "sfft-video-shard/1";
constexpr std::string_view kSchemaFamily = "sfft-video-shard/";
constexpr std::string_view kTail = R"(,"crc32":"00000000"})";  // the tail's form; its digits vary

std::string closed_line(const Json& json) {
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  line.pop_back();  // the brace
  return line + fmt::format(R"(,"crc32":"{:08x}"}})", crc32_of(line)) + "\n";
}

/// The object of a line; nothing if its checksum is wrong.
std::optional<Json> open_line(std::string_view line) {
  if (line.size() <= kTail.size()) return std::nullopt;
  const std::string_view body = line.substr(0, line.size() - kTail.size());
  const std::string tail = fmt::format(R"(,"crc32":"{:08x}"}})", crc32_of(body));
  if (line.substr(body.size()) != tail) return std::nullopt;
  Json json = Json::parse(line, nullptr, false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

/// Reads an integer. Throws std::out_of_range if it does not fit its type, in which case a conversion would
/// be undefined.
template <class Whole>
void read_whole(const Json& value, Whole& to) {
  const bool fits = value.is_number_unsigned()  ? std::in_range<Whole>(value.get<std::uint64_t>())
                    : value.is_number_integer() ? std::in_range<Whole>(value.get<std::int64_t>())
                                                : false;
  if (!fits) throw std::out_of_range("number");
  to = value.get<Whole>();
}

ShardRun run_from(const Json& json) {
  ShardRun run;
  read_whole(json.at("shard"), run.shard.index);
  read_whole(json.at("shards"), run.shard.count);
  read_whole(json.at("inputs"), run.inputs);
  read_whole(json.at("inputs_crc32"), run.inputs_crc32);
  for (const auto& [name, value] : json.at("settings").items())
    run.settings.emplace_back(name, value.get<std::string>());
  if (run.shard.count < 1 || run.shard.count > kMaxShards || run.shard.index < 1 ||
      run.shard.index > run.shard.count)
    throw std::out_of_range("shard");
  return run;
}

ShardRecord record_from(const Json& json, const ShardRun& run) {
  ShardRecord record;
  read_whole(json.at("input"), record.input);
  json.at("path").get_to(record.path);
  json.at("stamp").get_to(record.stamp);
  read_whole(json.at("code"), record.code);
  json.at("message").get_to(record.message);
  const auto status = run_status_named(json.at("status").get<std::string>());
  if (!status || record.input >= run.inputs || !run.shard.holds(record.input) ||
      !json.at("report").is_object())
    throw std::out_of_range("record");
  record.status = *status;
  record.report = json.at("report").dump(-1, ' ', false, Json::error_handler_t::replace);
  return record;
}

[[noreturn]] void foreign(const std::string& path) {
  throw Error(ErrorCode::file_corrupt,
              fmt::format("'{}' is no file of a shard: give another folder, or move it away", path));
}

/// Whether `line` is a prefix of a head, as in a file whose first write was killed.
bool could_begin_a_head(std::string_view line) {
  const std::string_view begin = R"({"schema":"sfft-video-shard/)";
  const std::size_t count = std::min(line.size(), begin.size());
  return line.substr(0, count) == begin.substr(0, count);
}

}  // namespace

std::string ShardRun::difference(const ShardRun& other) const {
  if (shard.count != other.shard.count)
    return fmt::format("it is of {} shards, not of {}", other.shard.count, shard.count);
  for (const auto& [name, value] : settings) {
    const auto found = std::find_if(other.settings.begin(), other.settings.end(),
                                    [&name = name](const auto& setting) { return setting.first == name; });
    const std::string theirs = found == other.settings.end() ? "not known" : found->second;
    if (theirs != value) return fmt::format("its {} is {}, not {}", name, theirs, value);
  }
  if (settings.size() != other.settings.size()) return "it has settings that are not known here";
  if (inputs != other.inputs) return fmt::format("it is of {} inputs, not of {}", other.inputs, inputs);
  if (inputs_crc32 != other.inputs_crc32) return "its inputs have other names or another order";
  return {};
}

std::uint32_t crc32_of_inputs(const std::vector<std::string>& inputs) noexcept {
  std::uint32_t sum = 0;
  for (const std::string& input : inputs) sum = crc32_of({input.c_str(), input.size() + 1}, sum);
  return sum;
}

std::string shard_head_line(const ShardRun& run) {
  Json settings = Json::object();
  for (const auto& [name, value] : run.settings) settings[name] = value;
  return closed_line({{"schema", kSchema},
                      {"shard", run.shard.index},
                      {"shards", run.shard.count},
                      {"inputs", run.inputs},
                      {"inputs_crc32", run.inputs_crc32},
                      {"settings", std::move(settings)}});
}

std::string shard_record_line(const ShardRecord& record) {
  return closed_line({{"input", record.input},
                      {"path", record.path},
                      {"stamp", record.stamp},
                      {"code", record.code},
                      {"status", to_string(record.status)},
                      {"message", record.message},
                      {"report", Json::parse(record.report)}});
}

ShardContents parse_shard_lines(const std::string& text, const std::string& path) {
  ShardContents contents;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const bool last = end == std::string::npos || end + 1 == text.size();
    const std::string_view line =
        std::string_view(text).substr(at, end == std::string::npos ? text.size() - at : end - at);
    ++number;
    bool good = false;
    if (const auto json = end == std::string::npos ? std::nullopt : open_line(line)) {
      try {
        if (contents.headed) {
          contents.records.push_back(record_from(*json, contents.run));
        } else {
          const std::string schema = json->at("schema").get<std::string>();
          if (schema != kSchema && std::string_view(schema).starts_with(kSchemaFamily))
            throw Error(ErrorCode::file_version,
                        fmt::format("'{}' was written by a later version of sfft-video ({})", path, schema));
          if (schema != kSchema) foreign(path);
          contents.run = run_from(*json);
          contents.headed = true;
        }
        good = true;
      } catch (const Json::exception&) {  // the line is damaged
      } catch (const std::out_of_range&) {
      }
    }
    if (!good) {
      if (!contents.headed && !(last && could_begin_a_head(line))) foreign(path);
      if (!last) {
        throw Error(ErrorCode::file_corrupt,
                    fmt::format("line {} of '{}' is damaged: remove that line, and start the shard again, "
                                "which reads its recording again",
                                number, path));
      }
      contents.cut = true;
      return contents;
    }
    at = end + 1;
    contents.whole_bytes = at;
  }
  return contents;
}

ShardContents read_shard(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || file.bad())
    throw Error(ErrorCode::file_unreadable, fmt::format("the shard's file '{}' cannot be read", path));
  return parse_shard_lines(text, path);
}

}  // namespace sfft::video
