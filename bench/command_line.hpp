// SPDX-License-Identifier: Apache-2.0
// Parses command lines of stand-alone benchmark programs: words of the form --name or --name
// VALUE.
#pragma once

#include <stdexcept>
#include <string>

namespace sfft::bench {

inline std::string joined(int argc, char** argv) {
  std::string command = argv[0];
  for (int i = 1; i < argc; ++i) command.append(" ").append(argv[i]);
  return command;
}

/// Calls take(name, value) for every option in order; value() is the next word.
/// `take` returns whether it knows the name. Throws std::invalid_argument for an
/// unknown name or a missing value.
template <class Take>
void for_options(int argc, char** argv, const Take& take) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] {
      if (++i == argc) throw std::invalid_argument(name + " wants a value");
      return std::string(argv[i]);
    };
    if (!take(name, value)) throw std::invalid_argument("unknown option " + name);
  }
}

}  // namespace sfft::bench
