// SPDX-License-Identifier: Apache-2.0
// Lists folders, and derives names from paths and addresses.
#include "inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "video/sources/image_list.hpp"
#include "video/sources/masked_url.hpp"
#include "video/sources/source.hpp"

namespace sfft::apps {

namespace {

constexpr const char* kPlaceholder = "{}";

std::string short_name(const std::string& input) {
  if (input == "-") return "stdin";
  std::string path = video::masked_url(input);
  if (path.find("://") != std::string::npos) path = path.substr(0, path.find_first_of("?#"));
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::string name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::iscntrl(byte) != 0 || c == '/' || c == '%' || c == ':' || c == '*') c = '_';
  }
  return name.empty() ? "input" : name;
}

}  // namespace

std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::string> all;
  for (const std::string& input : inputs) {
    const std::vector<std::string> recordings = video::list_recordings(input);
    if (recordings.empty()) {
      all.push_back(input);
    } else {
      all.insert(all.end(), recordings.begin(), recordings.end());
    }
  }
  return all;
}

std::vector<std::vector<std::string>> sequences_of(const std::vector<std::string>& inputs,
                                                   const video::SourceOptions& source, bool separate,
                                                   const std::atomic<bool>& stop) {
  if (!separate && source.selection.whole()) return video::find_sequences(inputs, source.track, stop);
  std::vector<std::vector<std::string>> alone;
  for (const std::string& input : inputs) alone.push_back({input});
  return alone;
}

std::vector<std::string> short_names(const std::vector<std::string>& inputs) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const std::string& input : inputs) {
    const std::string base = short_name(input);
    std::string name = base;
    for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}-{}", base, number);
    names.push_back(name);
  }
  return names;
}

bool has_placeholder(const std::string& path) {
  return path.find(kPlaceholder) != std::string::npos;
}

std::string fill_placeholder(std::string path, const std::string& name) {
  const std::size_t at = path.find(kPlaceholder);
  return at == std::string::npos ? path : path.replace(at, 2, name);
}

}  // namespace sfft::apps
