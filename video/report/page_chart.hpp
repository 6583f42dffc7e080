// SPDX-License-Identifier: Apache-2.0
// Line charts as SVG, for the page.
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

/// One chart against frame number: a band from 0 to twice the line, the line itself, further lines, dots, and
/// vertical marks. y is in per cent.
struct Chart {
  std::string title, line_label, dots_label;
  std::vector<ChartPoint> line, dots;
  std::vector<ChartMark> marks;
  bool band = false;
  std::vector<ChartLine> more_lines{};
};

std::string svg(const Chart& chart);

}  // namespace sfft::video
