// SPDX-License-Identifier: Apache-2.0
// Reads the benchmarks' grey YUV4MPEG2 recordings completely into memory.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::bench {

struct Recording {
  std::string name;
  Shape shape{1};
  std::vector<std::uint8_t> samples;

  std::int64_t frames() const { return static_cast<std::int64_t>(samples.size()) / shape.points(); }
  SignalView frame(std::int64_t i) const {
    const auto points = static_cast<std::size_t>(shape.points());
    return {std::span<const std::uint8_t>(samples.data() + static_cast<std::size_t>(i) * points, points),
            shape};
  }
};

/// Reads "[LABEL=]FILE.y4m". Exits with status 3 on anything else.
inline std::shared_ptr<Recording> read_recording(const std::string& argument) {
  const std::size_t split = argument.find('=');
  const std::string path = split == std::string::npos ? argument : argument.substr(split + 1);
  auto recording = std::make_shared<Recording>();
  recording->name = split == std::string::npos ? path.substr(path.rfind('/') + 1) : argument.substr(0, split);
  std::ifstream file(path, std::ios::binary);
  std::string header;
  std::getline(file, header);
  long width = 0;
  long height = 0;
  if (header.rfind("YUV4MPEG2", 0) != 0 || header.find("Cmono") == std::string::npos ||
      std::sscanf(header.c_str() + header.find(" W"), " W%ld H%ld", &width, &height) != 2) {
    fmt::print(stderr, "bench: {} is not a grey YUV4MPEG2 file\n", path);
    std::exit(3);
  }
  recording->shape = Shape{height, width};
  std::vector<char> frame(static_cast<std::size_t>(recording->shape.points()));
  while (std::getline(file, header) && file.read(frame.data(), static_cast<std::streamsize>(frame.size()))) {
    recording->samples.insert(recording->samples.end(), frame.begin(), frame.end());
  }
  return recording;
}

}  // namespace sfft::bench
