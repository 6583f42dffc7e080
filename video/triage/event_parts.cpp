// SPDX-License-Identifier: Apache-2.0
// Follows each event through the recordings that continue the one in which it begins.
#include "video/triage/event_parts.hpp"

#include <algorithm>

namespace sfft::video {

std::vector<std::vector<EventPart>> event_parts(std::span<const TriageFile> files) {
  std::vector<std::vector<EventPart>> parts(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t e = 0; e < files[i].events.size(); ++e) {
      const TriageEvent& event = files[i].events[e];
      double from = event.start_s;
      double to = event.end_s;
      std::size_t number = 0;
      for (std::size_t at = i;; ++at) {
        const bool last = event.end_file.empty() || files[at].path == event.end_file ||
                          at + 1 == files.size() || files[at + 1].follows != files[at].path;
        const double end = last ? to : files[at].seconds;
        if (end > from) parts[at].push_back({from, end, i, e, number++});
        if (last) break;
        from = 0;
        to -= files[at].seconds;
      }
    }
  }
  return parts;
}

}  // namespace sfft::video
