// SPDX-License-Identifier: Apache-2.0
// The HTML report: one page, no network, no script.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "video/pipeline/statistics.hpp"
#include "video/report/page_chart.hpp"
#include "video/report/page_similarity.hpp"
#include "video/report/png.hpp"
#include "video/report/report.hpp"
#include "video/report/text.hpp"

namespace sfft::video {

namespace {

constexpr const char* kStyle = R"css(
:root{--ink:#1b2330;--soft:#5b6675;--page:#f6f7f9;--card:#fff;--rule:#dfe4ea;--accent:#0b6bcb;--band:#0b6bcb22;--dot:#c2410c;--ok:#15803d;--warn:#b45309}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#97a3b3;--page:#11161d;--card:#19212b;--rule:#2c3744;--accent:#5aa9ff;--band:#5aa9ff2b;--dot:#fb923c;--ok:#4ade80;--warn:#fbbf24}}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1060px;margin:0 auto;padding:28px 18px 60px}h1{font-size:1.55rem;margin:0 0 2px;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:34px 0 10px}
.sub{color:var(--soft);margin:0 0 18px}.status{border-left:4px solid var(--warn);padding:8px 12px;background:var(--card);margin:0 0 18px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px}.tile{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 14px}
.tile b{display:block;font-size:1.65rem;line-height:1.2;font-variant-numeric:tabular-nums}.tile span{color:var(--soft);font-size:.86rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:16px}figure{margin:0 0 16px;background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px}
figcaption{font-weight:600;margin:0 0 8px;font-size:.95rem}figure img,figure svg{width:100%;height:auto;display:block}.chart{overflow-x:auto}.chart svg{min-width:600px}.note,.legend{color:var(--soft);font-size:.84rem;margin:8px 0 0}
.grid{stroke:var(--rule)}.tick{fill:var(--soft);font-size:12px}.line{fill:none;stroke:var(--accent);stroke-width:1.6;stroke-linejoin:round}.band{fill:var(--band)}.dot{fill:var(--dot)}
.mark{stroke-width:1.4;stroke-dasharray:5 3}.refreshed{stroke:var(--ok)}.relearned{stroke:var(--warn)}.key{display:inline-block;width:18px;height:10px;margin:0 6px 0 14px;vertical-align:middle}
.key:first-child{margin-left:0}.line-key{height:2px;background:var(--accent)}.band-key{background:var(--band)}.dot-key{width:8px;height:8px;border-radius:50%;background:var(--dot)}
.second{stroke:var(--ok)}.third{stroke:var(--dot)}.second-key{background:var(--ok)}.third-key{background:var(--dot)}
.refreshed-key{height:0;border-top:2px dashed var(--ok)}.relearned-key{height:0;border-top:2px dashed var(--warn)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;background:var(--card);border:1px solid var(--rule);border-radius:10px;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:8px 12px;border-bottom:1px solid var(--rule)}th:first-child,td:first-child{text-align:left}tr:last-child td{border-bottom:0}th{color:var(--soft);font-weight:600;font-size:.86rem}
pre{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 14px;overflow-x:auto;font-size:.82rem;line-height:1.45}.spectrum image{image-rendering:pixelated}
.hit{fill:none;stroke:#fff;stroke-width:.9;opacity:.85}
)css";

std::string escape_lines(const std::string& raw) {
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    out += escape(raw.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

/// Step between the rows and columns that a picture shows, so that it stays below about 3 MB.
std::int64_t thinning(std::int64_t width, std::int64_t height) {
  return std::max<std::int64_t>(1, (std::max(width, height) + 959) / 960);
}

Image grey_image(const Frame& frame) {
  // Large frames are thinned: the page is for looking at, not for measuring.
  const std::int64_t step = thinning(frame.width, frame.height);
  Image image;
  image.width = static_cast<int>((frame.width + step - 1) / step);
  image.height = static_cast<int>((frame.height + step - 1) / step);
  int white = 255;
  const auto* wide = reinterpret_cast<const std::uint16_t*>(frame.samples.data());
  const auto count = static_cast<std::size_t>(frame.width * frame.height);
  if (frame.bit_depth16) white = std::max<int>(1, *std::max_element(wide, wide + count));
  for (std::int64_t y = 0; y < frame.height; y += step) {
    for (std::int64_t x = 0; x < frame.width; x += step) {
      const auto at = static_cast<std::size_t>(y * frame.width + x);
      const int value = frame.bit_depth16 ? wide[at] : static_cast<int>(frame.samples[at]);
      image.samples.push_back(static_cast<std::uint8_t>(value * 255 / white));
    }
  }
  return image;
}

/// A perceptually even ramp from near black over violet and orange to pale yellow, t in [0, 1].
std::array<std::uint8_t, 3> ramp(double t) {
  static constexpr double stops[6][3] = {{3, 5, 18},     {59, 15, 112},   {140, 41, 129},
                                         {222, 73, 104}, {254, 159, 109}, {252, 253, 191}};
  const double at = std::clamp(t, 0.0, 1.0) * 5;
  const int i = std::min(4, static_cast<int>(at));
  std::array<std::uint8_t, 3> colour{};
  for (int c = 0; c < 3; ++c)
    colour[static_cast<std::size_t>(c)] =
        static_cast<std::uint8_t>(stops[i][c] + (at - i) * (stops[i + 1][c] - stops[i][c]));
  return colour;
}

/// The part of the spectrum around f = 0 that holds the template, in signed frequencies.
struct Window {
  std::int64_t rows, columns;  ///< largest |f| shown
};

std::string spectrum_figure(const RunReport& report) {
  const Template& tmpl = *report.first_template;
  const std::int64_t height = tmpl.shape()[0];
  const std::int64_t width = tmpl.shape()[1];
  const dense::Plan<float> plan(tmpl.shape(), true);
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

  // Each block of a large spectrum is shown by its largest value.
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
      double most = 0;
      for (std::int64_t i = r; i < std::min(r + step, window.rows + 1); ++i) {
        for (std::int64_t j = c; j < std::min(c + step, window.columns + 1); ++j)
          most = std::max(most, level(i, j));
      }
      levels.push_back(most);
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
  const double scale = 460 / w;  // drawn 460 units wide, 40 left for labels
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

std::string tile(const std::string& value, const std::string& label) {
  return fmt::format("<div class='tile'><b>{}</b><span>{}</span></div>", value, label);
}

std::string charts(const RunReport& report) {
  Chart error{"Relative error of the template's coefficients",
              "reported",
              "true, against a dense transform",
              {},
              {},
              {},
              true};
  Chart residual{"Residual: amplitude outside the template, relative",
                 "estimated from empty buckets",
                 "",
                 {},
                 {},
                 {},
                 false};
  for (const FrameRecord& frame : report.frames.frames()) {
    const auto x = static_cast<double>(frame.index);
    error.line.push_back({x, 100 * frame.relative_error});
    residual.line.push_back({x, 100 * frame.residual});
  }
  for (const FrameRecord& frame : report.frames.verified())
    error.dots.push_back({static_cast<double>(frame.index), 100 * *frame.true_error});
  for (const FrameRecord& frame : report.frames.renewals()) {
    error.marks.push_back({static_cast<double>(frame.index), to_string(frame.action),
                           escape(fmt::format("frame {}: {}", frame.index, frame.reason))});
  }
  residual.marks = error.marks;
  return svg(error) + svg(residual);
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
  text += fmt::format("<p class='note'>Decoding runs beside the transform: here {}.</p>", numbers.pace());
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
  return fmt::format(
      "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width,initial-scale=1'>"
      "<title>{} – sfft-video</title><style>{}</style></head><body><main>{}</main></body></html>\n",
      escape(report.input.path), kStyle, body);
}

}  // namespace sfft::video
