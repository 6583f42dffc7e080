// SPDX-License-Identifier: Apache-2.0
// Checks the type and bounds of every field; a bad entry is skipped, a bad file gives no entries.
#include "kernels/dense/wisdom/wisdom_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kernels/dense/wisdom/json_value.hpp"

namespace sfft::detail {

namespace {

using Json = JsonValue;

constexpr const char* kFormat = "sfft-wisdom";
constexpr int kVersion = 3;
constexpr std::size_t kDepth = 8;  // a file of this version needs 3
constexpr std::size_t kNameLength = 200, kKernelLength = 4000;
constexpr double kLongestUs = 1e15;  // thirty years

/// The reason why an entry, or the whole text, cannot be used.
using Refusal = JsonError;

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> why, Values&&... values) {
  throw Refusal(fmt::format(why, std::forward<Values>(values)...));
}

Json parse_json(const std::string& text) {
  if (text.size() > kWisdomBytes) {
    refuse("it has {} bytes, no wisdom has more than {}", text.size(), kWisdomBytes);
  }
  return parse_json_text(text, kDepth);
}

const Json& field(const Json& object, const char* name) {
  const Json* const found = object.find(name);
  if (found == nullptr) refuse("it has no '{}'", name);
  return *found;
}

std::string text_field(const Json& object, const char* name, std::size_t shortest, std::size_t longest) {
  const Json& value = field(object, name);
  if (value.kind() != Json::Kind::text) refuse("its '{}' is not a string", name);
  std::string text = value.text();
  if (text.size() < shortest || text.size() > longest) {
    refuse("its '{}' has {} bytes, it may have {} to {}", name, text.size(), shortest, longest);
  }
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    refuse("its '{}' has a control character", name);
  return text;
}

/// The name of an engine of this library that could have run on the device.
std::string engine_field(const Json& object, const std::string& device) {
  using dense::Engine;
  const std::string name = text_field(object, "engine", 1, kNameLength);
  const bool cpu = device.starts_with("CPU ");
  for (const Engine engine :
       {Engine::built_in, Engine::fftw, Engine::cufft, Engine::vkfft, Engine::tuned, Engine::tensor}) {
    if (name != dense::to_string(engine)) continue;
    if (cpu != (engine == Engine::built_in || engine == Engine::fftw))
      refuse("its engine '{}' does not run on '{}'", name, device);
    return name;
  }
  refuse("its engine '{}' is unknown", name);
}

WisdomRecord record_of(const Json& object) {
  if (object.kind() != Json::Kind::object) refuse("it is not an object");
  WisdomRecord record;
  record.platform = {text_field(object, "device", 1, kNameLength),
                     text_field(object, "driver", 0, kNameLength),
                     text_field(object, "library", 1, kNameLength)};
  record.problem.transform = text_field(object, "transform", 1, kNameLength);
  const Json& batch = field(object, "batch");
  if (!batch.is_integer()) refuse("its 'batch' is not a whole number");
  // Numbers beyond the signed type are unsigned and become negative here.
  record.problem.batch = batch.integer();
  if (record.problem.batch < 1) refuse("its 'batch' is {}, not positive", batch.digits());
  record.entry.engine = engine_field(object, record.platform.device);
  record.entry.kernel = text_field(object, "kernel", 0, kKernelLength);
  const Json& us = field(object, "us");
  if (!us.is_number()) refuse("its 'us' is not a number");
  record.entry.us = us.real();
  if (!(record.entry.us > 0 && record.entry.us <= kLongestUs))
    refuse("its 'us' is {}, not a time", record.entry.us);
  if (object.fields().size() != 8)
    refuse("it has {} fields, version {} knows 8", object.fields().size(), kVersion);
  return record;
}

const std::vector<Json>& entries_of(const Json& file) {
  if (file.kind() != Json::Kind::object) refuse("it is not sfft wisdom: it is not an object");
  const Json* const format = file.find("format");
  if (format == nullptr || format->kind() != Json::Kind::text || format->text() != kFormat)
    refuse("it is not sfft wisdom: its 'format' is not '{}'", kFormat);
  const Json& version = field(file, "version");
  if (!version.is_integer()) refuse("it is damaged: its 'version' is not a whole number");
  if (version.integer() != kVersion)
    refuse("it has format version {}, this library reads {}: measure again", version.digits(), kVersion);
  const Json& entries = field(file, "entries");
  if (entries.kind() != Json::Kind::list) refuse("it is damaged: its 'entries' are not a list");
  return entries.items();
}

/// A JSON string; invalid UTF-8 is replaced.
std::string quoted(const std::string& text) {
  using Writer = nlohmann::json;
  return Writer(text).dump(-1, ' ', false, Writer::error_handler_t::replace);
}

}  // namespace

WisdomRecords read_wisdom(const std::string& json, const WisdomFilter& judge) {
  WisdomRecords read;
  try {
    const Json file = parse_json(json);
    const std::vector<Json>& entries = entries_of(file);
    std::set<std::pair<WisdomPlatform, WisdomProblem>> seen;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      try {
        WisdomRecord record = record_of(entries[i]);
        if (!seen.emplace(record.platform, record.problem).second)
          refuse("the same problem was given before");
        if (const std::string why = judge(record); !why.empty()) throw Refusal(why);
        read.records.push_back(std::move(record));
      } catch (const Refusal& refusal) {
        if (++read.report.ignored == 1)
          read.report.reason = fmt::format("entry {}: {}", i + 1, refusal.what());
      }
    }
    if (read.report.ignored > 1) {
      read.report.reason = fmt::format("{} of {} entries are ignored, the first is {}", read.report.ignored,
                                       entries.size(), read.report.reason);
    }
  } catch (const Refusal& refusal) {
    read.report.reason = refusal.what();
  }
  return read;
}

std::string write_wisdom(const std::vector<WisdomRecord>& records) {
  std::string text = fmt::format("{{\"format\": \"{}\", \"version\": {}, \"entries\": [", kFormat, kVersion);
  const char* separator = "\n";
  for (const auto& [platform, problem, entry] : records) {
    text += fmt::format(
        "{}{{\"device\":{},\"driver\":{},\"library\":{},\"transform\":{},\"batch\":{},\"engine\":{},"
        "\"kernel\":{},"
        "\"us\":{}}}",
        separator, quoted(platform.device), quoted(platform.driver), quoted(platform.library),
        quoted(problem.transform), problem.batch, quoted(entry.engine), quoted(entry.kernel),
        nlohmann::json(entry.us).dump());
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace sfft::detail
