#include "kernels/dense/wisdom_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

namespace sfft::detail {

namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "sfft-wisdom";
constexpr int kVersion = 2;
constexpr std::size_t kDepth = 8;  // a file of this version needs 3
constexpr std::size_t kNameLength = 200, kKernelLength = 4000;
constexpr double kLongestUs = 1e15;  // thirty years

/// Why an entry, or the whole text, cannot be used.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> why, Values&&... values) {
  throw Refusal(fmt::format(why, std::forward<Values>(values)...));
}

/// Stops at nesting that only an attack needs, and at fields given twice, of which JSON keeps one unsaid.
class Guard {
 public:
  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (fields_.size() == kDepth) refuse("it is nested deeper than {} levels", kDepth);
      fields_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      fields_.pop_back();
    } else if (event == Event::key && !fields_.back().insert(parsed.get<std::string>()).second) {
      refuse("a field is given twice: '{:.{}}'", parsed.get_ref<const std::string&>(), kNameLength);
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> fields_;
};

Json parse_json(const std::string& text) {
  if (text.size() > kWisdomBytes) {
    refuse("it has {} bytes, no wisdom has more than {}", text.size(), kWisdomBytes);
  }
  try {
    Guard guard;
    return Json::parse(text, std::ref(guard));
  } catch (const Json::parse_error& error) {
    refuse("it is damaged: no JSON from byte {} on", error.byte);
  } catch (const Json::exception&) {
    refuse("it is damaged: a number in it is too large");
  }
}

const Json& field(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) refuse("it has no '{}'", name);
  return *found;
}

std::string text_field(const Json& object, const char* name, std::size_t shortest, std::size_t longest) {
  const Json& value = field(object, name);
  if (!value.is_string()) refuse("its '{}' is not a string", name);
  auto text = value.get<std::string>();
  if (text.size() < shortest || text.size() > longest) {
    refuse("its '{}' has {} bytes, it may have {} to {}", name, text.size(), shortest, longest);
  }
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    refuse("its '{}' has a control character", name);
  return text;
}

/// An engine of this library that can have run on the device.
std::string engine_field(const Json& object, const std::string& device) {
  using dense::Engine;
  const std::string name = text_field(object, "engine", 1, kNameLength);
  const bool cpu = device.starts_with("CPU ");
  for (const Engine engine : {Engine::built_in, Engine::fftw, Engine::cufft, Engine::vkfft, Engine::tuned}) {
    if (name != dense::to_string(engine)) continue;
    if (cpu != (engine == Engine::built_in || engine == Engine::fftw))
      refuse("its engine '{}' does not run on '{}'", name, device);
    return name;
  }
  refuse("its engine '{}' is unknown", name);
}

WisdomRecord record_of(const Json& object) {
  if (!object.is_object()) refuse("it is not an object");
  WisdomRecord record;
  record.place = {text_field(object, "device", 1, kNameLength), text_field(object, "driver", 0, kNameLength),
                  text_field(object, "library", 1, kNameLength)};
  record.problem.transform = text_field(object, "transform", 1, kNameLength);
  const Json& batch = field(object, "batch");
  if (!batch.is_number_integer()) refuse("its 'batch' is not a whole number");
  // Larger than the signed type holds, a number is unsigned and turns negative here.
  record.problem.batch = batch.get<std::int64_t>();
  if (record.problem.batch < 1) refuse("its 'batch' is {}, not positive", batch.dump());
  record.entry.engine = engine_field(object, record.place.device);
  record.entry.kernel = text_field(object, "kernel", 0, kKernelLength);
  const Json& us = field(object, "us");
  if (!us.is_number()) refuse("its 'us' is not a number");
  record.entry.us = us.get<double>();
  if (!(record.entry.us > 0 && record.entry.us <= kLongestUs))
    refuse("its 'us' is {}, not a time", record.entry.us);
  if (object.size() != 8) refuse("it has {} fields, version {} knows 8", object.size(), kVersion);
  return record;
}

const Json& entries_of(const Json& file) {
  if (!file.is_object()) refuse("it is no sfft wisdom: it is not an object");
  if (file.value("format", Json()) != Json(kFormat)) {
    refuse("it is no sfft wisdom: its 'format' is not '{}'", kFormat);
  }
  const Json& version = field(file, "version");
  if (!version.is_number_integer()) refuse("it is damaged: its 'version' is not a whole number");
  if (version != Json(kVersion))
    refuse("it has format version {}, this library reads {}", version.dump(), kVersion);
  const Json& entries = field(file, "entries");
  if (!entries.is_array()) refuse("it is damaged: its 'entries' are not a list");
  return entries;
}

}  // namespace

WisdomRecords read_wisdom(const std::string& json, const WisdomJudge& judge) {
  WisdomRecords read;
  try {
    const Json file = parse_json(json);
    const Json& entries = entries_of(file);
    std::set<std::pair<WisdomPlace, WisdomProblem>> seen;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      try {
        WisdomRecord record = record_of(entries[i]);
        if (!seen.emplace(record.place, record.problem).second) refuse("the same problem was given before");
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
  for (const auto& [place, problem, entry] : records) {
    nlohmann::ordered_json object;
    object["device"] = place.device;
    object["driver"] = place.driver;
    object["library"] = place.library;
    object["transform"] = problem.transform;
    object["batch"] = problem.batch;
    object["engine"] = entry.engine;
    object["kernel"] = entry.kernel;
    object["us"] = entry.us;
    text += separator + object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace sfft::detail
