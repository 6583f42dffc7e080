// SPDX-License-Identifier: Apache-2.0
// Makes wisdom for machines that do not exist, and its text with any field replaced.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::test {

using detail::Wisdom;
using detail::WisdomEntry;
using detail::WisdomPlatform;

inline const WisdomPlatform kGpu{"Test GPU", "13.0", "0.1.0"};
inline const WisdomPlatform kCpu{"CPU Test", "", "0.1.0"};

inline std::optional<WisdomPlatform> here(const std::string& device) {
  for (const WisdomPlatform& platform : {kGpu, kCpu}) {
    if (platform.device == device) return platform;
  }
  return std::nullopt;
}

/// One entry of a file, with every field as JSON text.
struct Fields {
  std::string device = R"("Test GPU")", driver = R"("13.0")", library = R"("0.1.0")",
              transform = R"("f32 c2c 64")", batch = "1", engine = R"("tuned")", kernel = R"("radix 8 8")",
              us = "2.5", more = "";
  std::string text() const {
    return fmt::format(
        R"({{"device":{},"driver":{},"library":{},"transform":{},"batch":{},"engine":{},"kernel":{},"us":{}{}}})",
        device, driver, library, transform, batch, engine, kernel, us, more);
  }
};

inline std::string file_of(const std::string& entries, const std::string& version = "3") {
  return fmt::format(R"({{"format":"sfft-wisdom","version":{},"entries":[{}]}})", version, entries);
}

inline Wisdom& filled(Wisdom& wisdom) {
  wisdom.add(kGpu, {"f32 c2c 64", 1}, {"tuned", "radix 8 8, \"quoted\" \\ é", 2.5});
  wisdom.add(kGpu, {"f32 c2c 64", 8}, {"vkfft", "", 0.1 + 0.2});
  wisdom.add(kGpu, {"f64 r2c 12x35", 1}, {"cufft", "", 1e-3});
  wisdom.add(kCpu, {"f32 c2c 64", 1}, {"fftw", "", 1e6 / 3});
  return wisdom;
}

}  // namespace sfft::test
