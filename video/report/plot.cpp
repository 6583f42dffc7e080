// SPDX-License-Identifier: Apache-2.0
// Draws scales, ticks and polylines in a fixed view box.
#include "video/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sfft::video {

namespace {

constexpr double kWidth = 960, kHeight = 300;
constexpr double kLeft = 70, kRight = 14, kTop = 30, kBottom = 42;

/// Returns 1, 2 or 5 times a power of ten, so that `range` has three to eight steps.
double tick_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 4)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= 8) return factor * power;
  }
  return 10 * power;
}

class Scales {
 public:
  explicit Scales(const Plot& plot)
      : log_(plot.axes == Plot::Axes::log_y), from_zero_(plot.axes == Plot::Axes::from_zero) {
    constexpr double kUnbounded = std::numeric_limits<double>::infinity();
    x_low_ = y_low_ = kUnbounded;
    x_high_ = y_high_ = -kUnbounded;
    for (const PlotLine& line : plot.lines) include(line.points);
    include(plot.dots);
    if (from_zero_) {
      x_low_ = y_low_ = 0;
      x_high_ = std::max(x_high_, 1.0);
      y_high_ = y_high_ > 0 ? (plot.band ? 1.25 : 1.08) * y_high_ : 1;
      return;
    }
    if (!(x_high_ > x_low_)) {
      x_low_ = std::isfinite(x_low_) ? x_low_ : 0;
      x_high_ = x_low_ + 1;
    }
    if (!std::isfinite(y_low_)) y_low_ = y_high_ = 0;
    constexpr double kDecades = 5;  // smaller values are of no interest
    if (log_) y_low_ = std::max(y_low_, y_high_ - kDecades);
    const double margin = std::max(0.05 * (y_high_ - y_low_), log_ ? 0.1 : 1e-9);
    y_low_ -= margin;
    y_high_ += margin;
  }

  bool shown(const PlotPoint& p) const {
    return std::isfinite(p.x) && std::isfinite(p.y) && (!log_ || p.y > 0);
  }
  double x(double value) const {
    return kLeft + (value - x_low_) / (x_high_ - x_low_) * (kWidth - kLeft - kRight);
  }
  double y(double value) const { return height_of(level(value)); }
  bool inside(double value) const { return value >= x_low_ && value <= x_high_; }

  std::string grid(const Plot& plot) const {
    std::string text;
    const auto line = [&](double at, const std::string& label) {
      text += fmt::format("<line class='grid' x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}'/>", kLeft,
                          kWidth - kRight, height_of(at), height_of(at));
      text += fmt::format("<text class='tick' text-anchor='end' x='{}' y='{:.1f}'>{}</text>", kLeft - 7,
                          height_of(at) + 4, label);
    };
    if (log_) {
      for (double decade = std::ceil(y_low_); decade <= y_high_; ++decade)
        line(decade, fmt::format("{:g}", std::pow(10, decade)));
    } else {
      const double step = tick_step(y_high_ - y_low_);
      for (double at = std::ceil(y_low_ / step) * step; at <= y_high_; at += step)
        line(at, fmt::format("{:.3g}{}", std::abs(at) < 1e-9 * step ? 0.0 : at, from_zero_ ? " %" : ""));
    }
    const double step = tick_step(x_high_ - x_low_);
    for (double at = std::ceil(x_low_ / step) * step; at <= x_high_ * (1 + 1e-9); at += step)
      text += fmt::format("<text class='tick' text-anchor='middle' x='{:.1f}' y='{}'>{:g}</text>", x(at),
                          kHeight - kBottom + 18, std::abs(at) < 1e-9 * step ? 0.0 : at);
    text += fmt::format("<text class='tick' text-anchor='middle' x='{}' y='{}'>{}</text>",
                        (kLeft + kWidth - kRight) / 2, kHeight - 6, plot.x_label);
    text += fmt::format("<text class='tick' x='4' y='14'>{}</text>", plot.y_label);
    return text;
  }

 private:
  void include(const std::vector<PlotPoint>& points) {
    for (const PlotPoint& p : points) {
      if (!shown(p)) continue;
      x_low_ = std::min(x_low_, p.x);
      x_high_ = std::max(x_high_, p.x);
      y_low_ = std::min(y_low_, level(p.y));
      y_high_ = std::max(y_high_, level(p.y));
    }
  }
  double level(double value) const { return log_ ? std::log10(value) : value; }
  double height_of(double at) const {
    const double share = std::clamp((at - y_low_) / (y_high_ - y_low_), 0.0, 1.0);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }

  bool log_, from_zero_;
  double x_low_, x_high_, y_low_, y_high_;
};

/// Returns the minimum and the maximum of each of `count` intervals, in order.
std::vector<PlotPoint> thin(const std::vector<PlotPoint>& points, std::size_t count) {
  if (points.size() <= 2 * count) return points;
  std::vector<PlotPoint> kept;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / count);
    const auto last = points.begin() + static_cast<std::ptrdiff_t>((i + 1) * points.size() / count);
    const auto less = [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; };
    auto [low, high] = std::minmax_element(first, last, less);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    kept.push_back(*high);
  }
  return kept;
}

std::string drawing(const Plot& plot) {
  const Scales scales(plot);
  std::string text = scales.grid(plot);
  constexpr std::size_t kStretches = 900, kDots = 300;
  const auto path = [&](const std::vector<PlotPoint>& points, double factor) {
    std::string list;
    for (const PlotPoint& p : thin(points, kStretches)) {
      if (scales.shown(p))
        list +=
            fmt::format("{}{:.1f},{:.1f}", list.empty() ? "" : " ", scales.x(p.x), scales.y(factor * p.y));
    }
    return list;
  };
  if (plot.band && !plot.lines[0].points.empty()) {
    const std::vector<PlotPoint>& line = plot.lines[0].points;
    text += fmt::format("<polygon class='band' points='{:.1f},{:.1f} {} {:.1f},{:.1f}'/>",
                        scales.x(line.front().x), scales.y(0), path(line, 2), scales.x(line.back().x),
                        scales.y(0));
  }
  for (const PlotLine& line : plot.lines)
    text += fmt::format("<polyline class='line {}' points='{}'/>", line.css_class, path(line.points, 1));
  for (const PlotPoint& p : thin(plot.dots, kDots))
    text += fmt::format(
        "<circle class='dot' cx='{:.1f}' cy='{:.1f}' r='3'><title>{} {:.0f}: {:.2f} %</title></circle>",
        scales.x(p.x), scales.y(p.y), plot.x_label, p.x, p.y);
  int level = 0;
  for (const PlotMark& mark : plot.marks) {
    if (!scales.inside(mark.x)) continue;
    const double x = scales.x(mark.x);
    const bool right = x > kWidth - 160;
    text += fmt::format(
        "<line class='mark {}' x1='{:.1f}' x2='{:.1f}' y1='{}' y2='{}'><title>{}</title></line>",
        mark.css_class.empty() ? "refreshed" : mark.css_class, x, x, kTop, kHeight - kBottom, mark.label);
    if (!mark.css_class.empty()) continue;
    text += fmt::format("<text class='tick' text-anchor='{}' x='{:.1f}' y='{}'>{}</text>",
                        right ? "end" : "start", right ? x - 4 : x + 4, kTop + 10 + 14 * (level++ % 5),
                        mark.label);
  }
  return text;
}

}  // namespace

std::string figure(const Plot& plot) {
  std::string text = fmt::format(
      "<figure class='chart'><figcaption>{}</figcaption><svg viewBox='0 0 {} {}' role='img' "
      "aria-label='{}'>{}"
      "</svg><p class='legend'>",
      plot.title, kWidth, kHeight, plot.title, drawing(plot));
  for (const PlotLine& line : plot.lines)
    text += fmt::format("<span class='key line-key {}-key'></span>{} ", line.css_class, line.label);
  if (plot.band) text += "<span class='key band-key'></span>up to twice that ";
  if (!plot.dots.empty()) text += fmt::format("<span class='key dot-key'></span>{} ", plot.dots_label);
  return text + plot.more_legend + "</p></figure>";
}

std::string svg_file(const Plot& plot) {
  constexpr const char* kColours =
      ".paper{fill:#fff}.grid{stroke:#dfe4ea}text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#5b6675}"
      ".title{font-size:15px;fill:#1b2330}.line{fill:none;stroke:#0b6bcb;stroke-width:1.4;stroke-linejoin:"
      "round}"
      ".second{stroke:#15803d}.third{stroke:#c2410c}.faint{stroke:#97a3b3}"
      ".mark{stroke:#15803d;stroke-width:1.2;stroke-dasharray:5 3}";
  std::string legend;
  double x = kLeft;
  for (const PlotLine& line : plot.lines) {
    legend += fmt::format(
        "<polyline class='line {}' points='{:.0f},341 {:.0f},341'/><text x='{:.0f}' y='345'>{}</text>",
        line.css_class, x, x + 24, x + 30, line.label);
    x += 60 + 7 * static_cast<double>(line.label.size());
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} {}' role='img' "
      "aria-label='{}'><style>{}</style>"
      "<rect class='paper' width='{}' height='{}'/><text class='title' x='{}' y='20'>{}</text>"
      "<g transform='translate(0 26)'>{}</g>{}</svg>\n",
      kWidth, kHeight + 56, plot.title, kColours, kWidth, kHeight + 56, kLeft, plot.title, drawing(plot),
      legend);
}

}  // namespace sfft::video
