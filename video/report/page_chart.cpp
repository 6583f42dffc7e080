// SPDX-License-Identifier: Apache-2.0
// Lays out axes and ticks in a fixed view box and writes SVG text. Long series are thinned to the maximum of
// each interval.
#include "video/report/page_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sfft::video {

namespace {

constexpr double kWidth = 960, kHeight = 280;
constexpr double kLeft = 58, kRight = 14, kTop = 16, kBottom = 40;

/// Returns 1, 2 or 5 times a power of ten, for three to eight ticks from 0 to `max`.
double tick_step(double max) {
  const double power = std::pow(10, std::floor(std::log10(max / 4)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (max / (factor * power) <= 7) return factor * power;
  }
  return 10 * power;
}

/// Returns at most `count` points: the maximum of each interval, so that peaks remain.
std::vector<ChartPoint> thin(const std::vector<ChartPoint>& points, std::size_t count) {
  if (points.size() <= count) return points;
  std::vector<ChartPoint> kept;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / count);
    const auto last = points.begin() + static_cast<std::ptrdiff_t>((i + 1) * points.size() / count);
    kept.push_back(
        *std::max_element(first, last, [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; }));
  }
  return kept;
}

class Axes {
 public:
  explicit Axes(const Chart& chart) {
    std::vector<const std::vector<ChartPoint>*> all{&chart.line, &chart.dots};
    for (const ChartLine& other : chart.more_lines) all.push_back(&other.points);
    for (const auto* points : all) {
      for (const ChartPoint& p : *points) {
        x_max_ = std::max(x_max_, p.x);
        if (std::isfinite(p.y))
          y_max_ = std::max(y_max_, p.y * (chart.band && points == &chart.line ? 1.25 : 1.08));
      }
    }
    if (y_max_ <= 0) y_max_ = 1;
  }
  double x(double frame) const { return kLeft + frame / x_max_ * (kWidth - kLeft - kRight); }
  double y(double value) const {
    return kHeight - kBottom - std::clamp(value / y_max_, 0.0, 1.0) * (kHeight - kTop - kBottom);
  }
  std::string grid() const {
    std::string text;
    const double step = tick_step(y_max_);
    for (double value = 0; value <= y_max_; value += step) {
      text += fmt::format("<line class='grid' x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}'/>", kLeft,
                          kWidth - kRight, y(value), y(value));
      text += fmt::format("<text class='tick' text-anchor='end' x='{}' y='{:.1f}'>{:.3g} %</text>", kLeft - 7,
                          y(value) + 4, value);
    }
    const double frame_step = std::max(1.0, tick_step(x_max_));
    for (double frame = 0; frame <= x_max_; frame += frame_step) {
      text += fmt::format("<text class='tick' text-anchor='middle' x='{:.1f}' y='{}'>{:.0f}</text>", x(frame),
                          kHeight - kBottom + 18, frame);
    }
    text += fmt::format("<text class='tick' text-anchor='middle' x='{}' y='{}'>frame</text>",
                        (kLeft + kWidth - kRight) / 2, kHeight - 5);
    return text;
  }

 private:
  double x_max_ = 1, y_max_ = 0;
};

/// The points of a polyline.
std::string polyline(const Axes& axes, const std::vector<ChartPoint>& line) {
  std::string path;
  for (const ChartPoint& p : line) {
    if (std::isfinite(p.y))
      path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", axes.x(p.x), axes.y(p.y));
  }
  return path;
}

}  // namespace

std::string svg(const Chart& chart) {
  const Axes axes(chart);
  const std::vector<ChartPoint> line = thin(chart.line, 1200);
  std::string text = fmt::format(
      "<figure class='chart'><figcaption>{}</figcaption><svg viewBox='0 0 {} {}' role='img' aria-label='{}'>",
      chart.title, kWidth, kHeight, chart.title);
  text += axes.grid();
  if (chart.band && !line.empty()) {
    std::string upper;
    for (const ChartPoint& p : line) upper += fmt::format("{:.1f},{:.1f} ", axes.x(p.x), axes.y(2 * p.y));
    text += fmt::format("<polygon class='band' points='{:.1f},{:.1f} {}{:.1f},{:.1f}'/>",
                        axes.x(line.front().x), axes.y(0), upper, axes.x(line.back().x), axes.y(0));
  }
  for (const ChartMark& mark : chart.marks) {
    text +=
        fmt::format("<line class='mark {}' x1='{:.1f}' x2='{:.1f}' y1='{}' y2='{}'><title>{}</title></line>",
                    mark.css_class, axes.x(mark.x), axes.x(mark.x), kTop, kHeight - kBottom, mark.label);
  }
  text += fmt::format("<polyline class='line' points='{}'/>", polyline(axes, line));
  for (const ChartLine& other : chart.more_lines)
    text += fmt::format("<polyline class='line {}' points='{}'/>", other.css_class,
                        polyline(axes, thin(other.points, 1200)));
  for (const ChartPoint& p : thin(chart.dots, 600)) {
    text += fmt::format(
        "<circle class='dot' cx='{:.1f}' cy='{:.1f}' r='3'><title>frame {:.0f}: {:.2f} %</title></circle>",
        axes.x(p.x), axes.y(p.y), p.x, p.y);
  }
  text += "</svg><p class='legend'>";
  text += fmt::format("<span class='key line-key'></span>{} ", chart.line_label);
  for (const ChartLine& other : chart.more_lines)
    text += fmt::format("<span class='key line-key {}-key'></span>{} ", other.css_class, other.label);
  if (chart.band) text += "<span class='key band-key'></span>up to twice that ";
  if (!chart.dots.empty()) text += fmt::format("<span class='key dot-key'></span>{} ", chart.dots_label);
  if (!chart.marks.empty()) {
    text +=
        "<span class='key refreshed-key'></span>reference refreshed <span class='key "
        "relearned-key'></span>template relearned ";
  }
  return text + "</p></figure>";
}

}  // namespace sfft::video
