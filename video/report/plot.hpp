// SPDX-License-Identifier: Apache-2.0
// Plots of lines over linear or logarithmic axes, as SVG.
#pragma once

#include <string>
#include <vector>

namespace sfft::video {

struct PlotPoint {
  double x, y;
};

struct PlotLine {
  std::string css_class;  ///< "": the accent colour; "second", "third", "faint"
  std::string label;
  std::vector<PlotPoint> points;
};

/// A label over a place on the x axis.
struct PlotMark {
  double x;
  std::string label;
};

/// Titles and labels are HTML. Long lines are thinned to the extremes of each stretch, so that peaks stay.
struct Plot {
  std::string title, x_label, y_label;
  bool log_y = false;
  std::vector<PlotLine> lines;
  std::vector<PlotMark> marks;
};

/// A figure of a page.
std::string figure(const Plot& plot);
/// An SVG file of its own, with its colours.
std::string svg_file(const Plot& plot);

}  // namespace sfft::video
