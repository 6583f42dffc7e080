// SPDX-License-Identifier: Apache-2.0
// Text files that the build embeds in the library (cmake/embed.cmake).
#pragma once

namespace sfft::detail {

struct EmbeddedFile {
  const char* name;  ///< path from the root of the source tree, such as "kernels/base/phase.hpp"
  const char* text;
};

}  // namespace sfft::detail
