// SPDX-License-Identifier: Apache-2.0
// Writes the HTML report: one page without network access or scripts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "video/pipeline/statistics.hpp"
#include "video/report/encoding.hpp"
#include "video/report/input_log.hpp"
#include "video/report/page_parts.hpp"
#include "video/report/plot.hpp"
#include "video/report/report.hpp"
#include "video/report/text.hpp"

namespace sfft::video {

namespace {

std::string escape_lines(const std::string& raw) {
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    out += escape(raw.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

/// The part of the spectrum around f = 0 that contains the template, in signed frequencies.
struct Window {
  std::int64_t rows, columns;  ///< max. |f| shown
};

std::string spectrum_figure(const RunReport& report) {
  const Template& tmpl = *report.first_template;
  const std::int64_t height = tmpl.shape()[0];
  const std::int64_t width = tmpl.shape()[1];
  const dense::Plan<float> plan(tmpl.shape(), Domain::real);
  std::vector<std::complex<float>> half(plan.spectrum_points());
  plan.forward(report.first_frame.view(), half);
  const auto fold = [](std::int64_t f, std::int64_t n) { return 2 * f > n ? f - n : f; };
  std::vector<double> rows, columns;
  for (const std::int64_t f : tmpl.support()) {
    rows.push_back(static_cast<double>(std::abs(fold(f / width, height))));
    columns.push_back(static_cast<double>(std::abs(fold(f % width, width))));
  }
  const auto reach = [](std::vector<double> v, std::int64_t n) {
    return std::min<std::int64_t>((n - 1) / 2,
                                  static_cast<std::int64_t>(1.15 * quantile(std::move(v), 0.99)) + 4);
  };
  const Window window{reach(rows, height), reach(columns, width)};

  // A large spectrum is thinned; each block shows its largest value.
  const std::int64_t step = thinning(2 * window.columns + 1, 2 * window.rows + 1);
  Image image;
  image.channels = 3;
  image.width = static_cast<int>((2 * window.columns + step) / step);
  image.height = static_cast<int>((2 * window.rows + step) / step);
  const auto level = [&](std::int64_t row, std::int64_t column) {
    if (column < 0) {
      row = -row;
      column = -column;
    }
    if (row < 0) row += height;
    return std::log10(1.0 + std::abs(half[static_cast<std::size_t>(row * (width / 2 + 1) + column)]));
  };
  std::vector<double> levels;
  for (std::int64_t r = -window.rows; r <= window.rows; r += step) {
    for (std::int64_t c = -window.columns; c <= window.columns; c += step) {
      double max = 0;
      for (std::int64_t i = r; i < std::min(r + step, window.rows + 1); ++i) {
        for (std::int64_t j = c; j < std::min(c + step, window.columns + 1); ++j)
          max = std::max(max, level(i, j));
      }
      levels.push_back(max);
    }
  }
  const double low = quantile(levels, 0.02);
  const double high = quantile(levels, 0.998);
  for (const double value : levels) {
    const auto colour = ramp((value - low) / std::max(1e-9, high - low));
    image.samples.insert(image.samples.end(), colour.begin(), colour.end());
  }

  const double w = static_cast<double>(image.width * step);
  const double h = static_cast<double>(image.height * step);
  const double scale = 460 / w;  // 460 units wide; the rest is for labels
  std::string text = fmt::format(
      "<figure class='spectrum'><figcaption>The template over the spectrum</figcaption>"
      "<svg viewBox='0 0 520 {:.0f}' role='img' aria-label='log spectrum with template frequencies'>",
      h * scale + 46);
  text +=
      fmt::format("<image x='46' y='4' width='460' height='{:.1f}' preserveAspectRatio='none' href='{}'/>",
                  h * scale, data_uri(image));
  const auto px = [&](double column) {
    return 46 + (column + static_cast<double>(window.columns) + 0.5) * scale;
  };
  const auto py = [&](double row) { return 4 + (row + static_cast<double>(window.rows) + 0.5) * scale; };
  std::int64_t drawn = 0;
  const double radius = std::clamp(0.5 * scale, 1.1, 3.0);
  for (const std::int64_t f : tmpl.support()) {
    const std::int64_t row = fold(f / width, height);
    const std::int64_t column = fold(f % width, width);
    if (std::abs(row) > window.rows || std::abs(column) > window.columns || ++drawn > 4000) continue;
    text += fmt::format("<circle class='hit' cx='{:.1f}' cy='{:.1f}' r='{:.1f}'/>",
                        px(static_cast<double>(column)), py(static_cast<double>(row)), radius);
  }
  const double bottom = h * scale + 4;
  for (const double at : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    const double column = std::round(at * static_cast<double>(window.columns));
    const double row = std::round(at * static_cast<double>(window.rows));
    text += fmt::format("<text class='tick' text-anchor='middle' x='{:.1f}' y='{:.1f}'>{:.0f}</text>",
                        px(column), bottom + 15, column);
    text +=
        fmt::format("<text class='tick' text-anchor='end' x='41' y='{:.1f}'>{:.0f}</text>", py(row) + 4, row);
  }
  text += fmt::format(
      "<text class='tick' text-anchor='middle' x='276' y='{:.1f}'>horizontal cycles a frame; vertical ones "
      "on the left</text>",
      bottom + 34);
  return text +
         "</svg><p class='note'>Colour: log magnitude. Circles: the frequencies kept (one of each conjugate "
         "pair).</p></figure>";
}

std::string charts(const RunReport& report) {
  Plot error{"Relative error of the template's coefficients", "frame", "", Plot::Axes::from_zero};
  Plot residual{"Residual: amplitude outside the template, relative", "frame", "", Plot::Axes::from_zero};
  error.band = true;
  error.dots_label = "true, against a dense transform";
  error.lines = {{"", "reported", {}}};
  residual.lines = {{"", "estimated from empty buckets", {}}};
  for (const FrameRecord& frame : report.frames.frames()) {
    const auto x = static_cast<double>(frame.index);
    error.lines[0].points.push_back({x, 100 * frame.relative_error});
    residual.lines[0].points.push_back({x, 100 * frame.residual});
  }
  for (const FrameRecord& frame : report.frames.verified())
    error.dots.push_back({static_cast<double>(frame.index), 100 * *frame.true_error});
  for (const FrameRecord& frame : report.frames.renewals())
    error.marks.push_back({static_cast<double>(frame.index),
                           escape(fmt::format("frame {}: {}", frame.index, frame.reason)),
                           to_string(frame.action)});
  if (!error.marks.empty())
    error.more_legend =
        "<span class='key refreshed-key'></span>reference refreshed <span class='key "
        "relearned-key'></span>template relearned ";
  residual.marks = error.marks;
  residual.more_legend = error.more_legend;
  return figure(error) + figure(residual);
}

/// Similarity in per cent, for frames whose similarity is known.
std::vector<PlotPoint> similarity_line(const RunReport& report, double TrackedFrame::Similarity::*share) {
  std::vector<PlotPoint> line;
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

/// The section about the similarity of frames to the template: a chart of every frame's, if requested, and a
/// table of the renewals. Empty if there is no such data.
std::string similarity_section(const RunReport& report) {
  if (report.frames.similarity_us.empty()) return "";
  std::string text = "<h2>How similar to the template</h2>";
  if (report.request.similarity) {
    Plot plot{"Similarity of each frame to the template before it", "frame", "", Plot::Axes::from_zero};
    using Similarity = TrackedFrame::Similarity;
    plot.lines = {{"", "overlap of supports", similarity_line(report, &Similarity::overlap)},
                  {"second", "spectral correlation", similarity_line(report, &Similarity::correlation)},
                  {"third", "energy that the support holds", similarity_line(report, &Similarity::energy)}};
    text += figure(plot);
    text += fmt::format(
        "<p class='note'>Each frame was also transformed densely for this: {:.1f} µs more per frame, which "
        "the other times leave out.</p>",
        quantile(report.frames.similarity_us, 0.5));
  }
  return report.frames.renewals().empty() ? text : text + renewal_table(report);
}

std::string timing_table(const RunReport& report, const RunStatistics& numbers) {
  std::string text =
      "<div class='scroll'><table><tr><th></th><th>median</th><th>mean</th><th>p95</th><th>frames</th></tr>";
  text += fmt::format(
      "<tr><td>sparse, with renewals</td><td>{:.1f} µs</td><td>{:.1f} µs</td><td>{:.1f} "
      "µs</td><td>{}</td></tr>",
      numbers.median_us, numbers.mean_us, numbers.p95_us, report.frames.size());
  text += fmt::format(
      "<tr><td>decoding, on its own thread</td><td>{:.1f} µs</td><td>{:.1f} µs</td><td>{:.1f} "
      "µs</td><td>{}</td></tr>",
      numbers.decode_us, mean(report.decode_us), quantile(report.decode_us, 0.95), report.decode_us.size());
  if (numbers.bytes_per_frame > 0)
    text += fmt::format(
        "<tr><td>copying {:.0f} bytes to the GPU</td><td>{:.1f} µs</td><td></td><td></td><td>{}</td></tr>",
        numbers.bytes_per_frame, numbers.copy_us, report.frames.size());
  for (const auto& times : report.dense) {
    text += fmt::format(
        "<tr><td>dense: {}</td><td>{:.1f} µs</td><td>{:.1f} µs</td><td>{:.1f} µs</td><td>{}</td></tr>",
        escape(times.engine), quantile(times.us, 0.5), mean(times.us), quantile(times.us, 0.95),
        times.us.size());
  }
  if (report.learn_ms > 0)
    text += fmt::format("<tr><td>learning, once</td><td>{:.1f} ms</td><td></td><td></td><td>1</td></tr>",
                        report.learn_ms);
  text += fmt::format(
      "<tr><td>planning, once</td><td>{:.1f} ms</td><td></td><td></td><td>1</td></tr></table></div>",
      1e3 * report.plan.plan_seconds);
  text += fmt::format("<p class='note'>Decoding runs concurrently with the transform: here {}.</p>",
                      numbers.pace());
  return text;
}

}  // namespace

std::string html_report(const RunReport& report) {
  const RunStatistics numbers(report);
  std::string body =
      fmt::format("<h1>{}</h1><p class='sub'>{} frames of {}×{}{} · sfft {}</p>", escape(report.input.path),
                  report.frames_read, report.input.width, report.input.height,
                  report.input.fps > 0 ? fmt::format(", {:.4g} a second", report.input.fps) : "", version());
  if (report.status != RunStatus::complete)
    body += fmt::format("<p class='status'>{}</p>", escape(report.message));
  if (!report.input_log.gaps.empty())
    body += fmt::format("<p class='status'>Gaps: {}.</p>", escape(gaps_text(report.input_log)));
  for (const std::string& warning : numbers.warnings)
    body += fmt::format("<p class='status'>{}</p>", escape(warning));
  if (report.first_template && !report.frames.empty()) {
    body += "<div class='tiles'>";
    body += tile(fmt::format("{:.1f} ×", numbers.speedup),
                 "faster than " + escape(report.dense.empty() ? "dense" : report.dense[0].engine));
    body += tile(fmt::format("{:.1f} µs", numbers.median_us), "a frame, median");
    body += tile(percent(report.plan.samples_fraction), "of the pixels read");
    body += tile(percent(numbers.verified > 0 ? numbers.error_median : numbers.reported_median),
                 numbers.verified > 0 ? "true relative error, median" : "reported relative error, median");
    if (numbers.verified > 0)
      body += tile(fmt::format("{:.0f} %", 100 * numbers.coverage),
                   "of checked frames within twice the reported error");
    body += tile(fmt::format("{}", report.first_template->k()), "frequencies kept");
    body += "</div>";
  }
  if (report.first_template) {
    body += "<h2>What was learned</h2><div class='pair'>";
    body += fmt::format("<figure><figcaption>First frame</figcaption><img alt='first frame' src='{}'>",
                        data_uri(grey_image(report.first_frame)));
    body += fmt::format("<p class='note'>{} frequencies hold {} of its energy without the mean.</p></figure>",
                        report.first_template->k(), percent(report.first_template->energy_captured()));
    body += spectrum_figure(report) + "</div>";
  }
  if (!report.frames.empty()) {
    body += "<h2>How wrong, frame by frame</h2>" + charts(report) + similarity_section(report) +
            "<h2>Time</h2>" + timing_table(report, numbers);
  }
  if (!report.explanation.empty())
    body += "<h2>The plan explains itself</h2><pre>" + escape_lines(report.explanation) + "</pre>";
  return whole_page(report.input.path, body);
}

}  // namespace sfft::video
