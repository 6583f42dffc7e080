// SPDX-License-Identifier: Apache-2.0
// The machine on which a result was measured.
#pragma once

#include <fstream>
#include <string>

namespace sfft::bench {

inline std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace sfft::bench
