// SPDX-License-Identifier: Apache-2.0
// Line charts as SVG for the HTML report.
#pragma once

#include <string>
#include <vector>

namespace sfft::video {

struct ChartPoint {
  double x, y;
};

struct ChartMark {
  double x;
  std::string css_class, label;
};

struct ChartLine {
  std::string css_class, label;
  std::vector<ChartPoint> points;
};

/// One chart over the frame number, with y in per cent. It has a band from 0 to twice the line, the line
/// itself, further lines, dots, and vertical marks.
struct Chart {
  std::string title, line_label, dots_label;
  std::vector<ChartPoint> line, dots;
  std::vector<ChartMark> marks;
  bool band = false;
  std::vector<ChartLine> more_lines{};
};

std::string svg(const Chart& chart);

}  // namespace sfft::video
