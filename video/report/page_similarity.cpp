// SPDX-License-Identifier: Apache-2.0
// Shows a chart of every frame's similarity if requested, and a table of the renewals.
#include "video/report/page_similarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "video/pipeline/statistics.hpp"
#include "video/report/page_chart.hpp"
#include "video/report/text.hpp"

namespace sfft::video {

namespace {

/// Similarity in per cent, for frames whose similarity is known.
std::vector<ChartPoint> similarity_line(const RunReport& report, double TrackedFrame::Similarity::*share) {
  std::vector<ChartPoint> line;
  for (const FrameRecord& frame : report.frames.frames()) {
    if (!frame.similarity || !std::isfinite(*frame.similarity.*share)) continue;
    line.push_back({static_cast<double>(frame.index), 100 * (*frame.similarity.*share)});
  }
  return line;
}

/// A table of renewals and their similarity to the previous template: the first 40.
std::string renewal_table(const RunReport& report) {
  constexpr std::size_t kMax = 40;
  const std::vector<FrameRecord>& renewals = report.frames.renewals();
  std::string text =
      "<div class='scroll'><table><tr><th>frame</th><th>renewal</th><th>overlap of supports</th>"
      "<th>correlation</th><th>energy of the old support</th></tr>";
  for (std::size_t i = 0; i < std::min(kMax, renewals.size()); ++i) {
    const TrackedFrame::Similarity known = renewals[i].similarity.value_or(TrackedFrame::Similarity{});
    text += fmt::format("<tr title='{}'><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                        escape(renewals[i].reason), renewals[i].index, to_string(renewals[i].action),
                        percent(known.overlap), percent(known.correlation), percent(known.energy));
  }
  text += "</table></div>";
  if (renewals.size() > kMax)
    text += fmt::format("<p class='note'>The first {} of {}; the JSON report has more.</p>", kMax,
                        renewals.size());
  return text;
}

}  // namespace

std::string similarity_section(const RunReport& report) {
  if (report.frames.similarity_us.empty()) return "";
  std::string text = "<h2>How similar to the template</h2>";
  if (report.similarity) {
    Chart chart{
        "Similarity of each frame to the template before it",
        "overlap of supports",
        "",
        similarity_line(report, &TrackedFrame::Similarity::overlap),
        {},
        {},
        false,
        {{"second", "spectral correlation", similarity_line(report, &TrackedFrame::Similarity::correlation)},
         {"third", "energy that the support holds",
          similarity_line(report, &TrackedFrame::Similarity::energy)}}};
    text += svg(chart);
    text += fmt::format(
        "<p class='note'>Each frame was also transformed densely for this: {:.1f} µs more per frame, which "
        "the other times leave out.</p>",
        quantile(report.frames.similarity_us, 0.5));
  }
  return report.frames.renewals().empty() ? text : text + renewal_table(report);
}

}  // namespace sfft::video
