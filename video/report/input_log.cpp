// SPDX-License-Identifier: Apache-2.0
// Formats gaps and changes of format for all reports.
#include "video/report/input_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "video/report/json_number.hpp"
#include "video/report/text.hpp"

namespace sfft::video {

namespace {

using Json = nlohmann::ordered_json;

Json object_of(const PictureFormat& format) {
  return {{"width", format.width},
          {"height", format.height},
          {"bits", format.bits},
          {"pixels", format.pixels},
          {"fps", format.fps > 0 ? Json(format.fps) : Json(nullptr)}};
}

}  // namespace

std::string gaps_json(const SourceLog& log) {
  Json list = Json::array();
  for (const Gap& gap : log.gaps) {
    list.push_back({{"frame", gap.frame},
                    {"start_s", number_or_null(gap.start_seconds)},
                    {"seconds", gap.seconds},
                    {"attempts", gap.attempts},
                    {"reason", printable(gap.reason)}});
  }
  return list.dump();
}

std::string changes_json(const SourceLog& log) {
  Json list = Json::array();
  for (const FormatChange& change : log.changes) {
    list.push_back({{"frame", change.frame},
                    {"start_s", number_or_null(change.seconds)},
                    {"from", object_of(change.before)},
                    {"to", object_of(change.after)}});
  }
  return list.dump();
}

std::string timing_json(const SourceLog& log) {
  const auto rate = [](double fps) { return fps > 0 ? Json(fps) : Json(nullptr); };
  const FrameTiming& timing = log.timing;
  return Json{{"source", to_string(timing.source)},
              {"rate_claimed", rate(timing.claimed_fps)},
              {"rate_measured", rate(timing.measured_fps)}}
      .dump();
}

std::string wall_clock_json(const WallClock& begin) {
  if (!begin.known()) return R"("wall_clock":null,"wall_clock_source":null)";
  return fmt::format(R"("wall_clock":"{}","wall_clock_source":"{}")", iso_8601(begin, 0),
                     to_string(begin.source));
}

std::string timing_text(const SourceLog& log) {
  if (log.timing.source != TimeSource::claimed_rate) return "";
  if (!(log.timing.claimed_fps > 0))
    return "there are no time stamps and no rate: 25 frames per second are assumed";
  return fmt::format("there are no time stamps: the claimed rate of {:.6g} frames per second is used",
                     log.timing.claimed_fps);
}

std::string gaps_text(const SourceLog& log) {
  if (log.gaps.empty()) return "";
  double sum = 0;
  double longest = 0;
  for (const Gap& gap : log.gaps) {
    sum += gap.seconds;
    longest = std::max(longest, gap.seconds);
  }
  return fmt::format("no frames came {} time{}, for {:.1f} s in all, at most {:.1f} s", log.gaps.size(),
                     log.gaps.size() == 1 ? "" : "s", sum, longest);
}

}  // namespace sfft::video
