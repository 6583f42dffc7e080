// SPDX-License-Identifier: Apache-2.0
// Plots lines over linear or logarithmic axes, as SVG.
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

/// A vertical line at a position on the x axis.
struct PlotMark {
  double x;
  std::string label;
  std::string css_class{};  ///< "refreshed", "relearned": shows the label only under the pointer; "": always
};

/// Titles and labels are HTML. Long lines keep only the extremes of each interval, so that peaks remain.
struct Plot {
  std::string title, x_label, y_label;
  enum class Axes {
    linear,
    log_y,
    from_zero,  ///< both begin at 0, and y is in per cent
  } axes = Axes::linear;
  std::vector<PlotLine> lines{};
  std::vector<PlotMark> marks{};
  bool band = false;  ///< shades the area from 0 to twice the first line
  std::vector<PlotPoint> dots{};
  std::string dots_label{};
  std::string more_legend{};
};

/// A figure element for a page.
std::string figure(const Plot& plot);
/// A stand-alone SVG file, colours included.
std::string svg_file(const Plot& plot);

}  // namespace sfft::video
