// SPDX-License-Identifier: Apache-2.0
// The JSON files in which stand-alone benchmark programs write their results.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/command_line.hpp"
#include "bench/environment.hpp"

namespace sfft::bench {

/// What every file starts with: where the results come from, and no rows.
inline nlohmann::json result_file(const char* commit, const std::string& command) {
  return {{"commit", commit},
          {"command", command},
          {"processor", processor()},
          {"rows", nlohmann::json::array()}};
}

/// Does nothing if there is no name.
template <class Json>
void write_json(const std::string& name, const Json& content) {
  if (!name.empty()) std::ofstream(name) << content.dump(1) << "\n";
}

}  // namespace sfft::bench
