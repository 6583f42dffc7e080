// SPDX-License-Identifier: Apache-2.0
// Draws the progress bar.
#include "progress.hpp"

#include <fmt/format.h>

namespace sfft::apps {

void ProgressBar::show(const std::string& what) {
  if (!line_.due(std::chrono::milliseconds(0))) return;
  constexpr int kWidth = 30;
  const int full = std::min(kWidth, kWidth * done_ / steps_);
  line_.show(fmt::format("[{}{}] {:3d} %  {}", std::string(static_cast<std::size_t>(full), '#'),
                         std::string(static_cast<std::size_t>(kWidth - full), '.'),
                         std::min(100, 100 * done_ / steps_), what));
}

}  // namespace sfft::apps
