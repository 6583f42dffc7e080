// SPDX-License-Identifier: Apache-2.0
// The style sheet and building blocks of the pages.
#include "video/report/page_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

std::string whole_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width,initial-scale=1'>"
      "<title>{} – sfft-video</title><style>{}</style></head><body><main>{}</main></body></html>\n",
      escape(title), kStyle, body);
}

std::string tile(const std::string& value, const std::string& label) {
  return fmt::format("<div class='tile'><b>{}</b><span>{}</span></div>", value, label);
}

std::int64_t thinning(std::int64_t width, std::int64_t height) {
  return std::max<std::int64_t>(1, (std::max(width, height) + 959) / 960);
}

Image grey_image(const Frame& frame) {
  // Large frames are thinned: the page is for viewing, not for measuring.
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

Image thumbnail(const SignalView& frame, std::int64_t side) {
  const std::int64_t height = frame.shape()[0];
  const std::int64_t width = frame.shape()[1];
  const std::int64_t step = std::max<std::int64_t>(1, (std::max(width, height) + side - 1) / side);
  const std::int64_t within = std::max<std::int64_t>(1, step / 2);
  Image image;
  image.width = static_cast<int>(width / step);
  image.height = static_cast<int>(height / step);
  const bool wide = frame.type() == ElementType::u16;
  std::vector<int> levels;
  int max = wide ? 1 : 255;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      int sum = 0;
      for (const std::int64_t v : {y * step, y * step + within - (step == 1 ? 1 : 0)}) {
        for (const std::int64_t u : {x * step, x * step + within - (step == 1 ? 1 : 0)}) {
          const std::int64_t at = v * frame.stride(0) + u;
          sum += wide ? static_cast<const std::uint16_t*>(frame.data())[at]
                      : static_cast<const std::uint8_t*>(frame.data())[at];
        }
      }
      levels.push_back(sum / 4);
      max = std::max(max, sum / 4);
    }
  }
  for (const int level : levels) image.samples.push_back(static_cast<std::uint8_t>(level * 255 / max));
  return image;
}

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

}  // namespace sfft::video
