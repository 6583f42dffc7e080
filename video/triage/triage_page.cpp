// SPDX-License-Identifier: Apache-2.0
// Draws the timeline of all files, one after another on a common axis, and lists the events with their
// pictures. A small script zooms the timeline around the pointer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfft/sfft.hpp"
#include "video/report/page_parts.hpp"
#include "video/report/text.hpp"
#include "video/triage/triage_report.hpp"

namespace sfft::video {

namespace {

constexpr double kWidth = 960, kHeight = 260, kLeft = 46, kRight = 12, kTop = 22, kBottom = 40;
constexpr double kLowest = 0.3;           ///< lower end of the logarithmic axis of scores
constexpr std::size_t kMaxDrawn = 24000;  ///< max. points of the line, about
constexpr std::size_t kMaxShown = 500;    ///< events that are listed
constexpr std::size_t kMaxPictured = 200;

std::string hours_minutes_seconds(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string tenths(double seconds) {
  const auto count = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds) * 10));
  return fmt::format("{}.{}", hours_minutes_seconds(static_cast<double>(count / 10)), count % 10);
}

/// A round step of time; `length` has at most ten of them.
double time_step(double length) {
  for (const double step :
       {0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21600.0})
    if (length / step <= 10) return step;
  return 86400 * std::ceil(length / 86400 / 10);
}

class Chart {
 public:
  Chart(std::span<const TriageFile> files, double threshold) : files_(files), threshold_(threshold) {
    for (const TriageFile& file : files) {
      length_ += file.seconds;
      points_ += file.timeline.size();
      for (const TimelinePoint& point : file.timeline) max_ = std::max(max_, point.value);
    }
    length_ = std::max(length_, 1e-3);
    max_ = std::max(max_, 10 * threshold) * 1.2;
  }

  /// Everything that zooming stretches: bands of events, line of scores, limits of files.
  std::string content() const {
    std::string text;
    std::string line;
    const std::size_t thin = points_ / kMaxDrawn + 1;
    double from = 0;
    for (const TriageFile& file : files_) {
      for (const TriageEvent& event : file.events) {
        const double x = at(from + event.start_s);
        text += fmt::format(
            "<rect x='{:.3f}' y='{}' width='{:.3f}' height='{}' fill='#ea580c' fill-opacity='.25'><title>{}: "
            "{} to {}, "
            "peak {:.1f}</title></rect>",
            x, kTop, std::max(0.3, at(from + event.end_s) - x), kHeight - kTop - kBottom, escape(file.path),
            tenths(event.start_s), tenths(event.end_s), event.peak);
      }
      for (std::size_t i = 0; i < file.timeline.size(); i += thin) {
        double score = 0;
        for (std::size_t n = i; n < std::min(i + thin, file.timeline.size()); ++n)
          score = std::max(score, file.timeline[n].value);
        line += fmt::format("{:.3f},{:.1f} ", at(from + file.timeline[i].seconds), level(score));
      }
      from += file.seconds;
      if (files_.size() > 1 && from < length_)
        text += fmt::format(
            "<line x1='{0:.3f}' x2='{0:.3f}' y1='{1}' y2='{2}' stroke='#94a3b8' stroke-dasharray='3 3' "
            "vector-effect='non-scaling-stroke'/>",
            at(from), kTop, kHeight - kBottom);
    }
    return text + fmt::format(
                      "<polyline points='{}' fill='none' stroke='#0b6bcb' stroke-width='1.3' "
                      "vector-effect='non-scaling-stroke'/>",
                      line);
  }

  /// The levels of the score, which do not move.
  std::string levels() const {
    std::string text;
    for (double score = 1; score <= max_; score *= 10)
      text += fmt::format(
          "<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' stroke='#94a3b8' stroke-opacity='.5'/>"
          "<text x='{3}' y='{4:.1f}' text-anchor='end' font-size='12' fill='#64748b'>{5:g}</text>",
          kLeft, kWidth - kRight, level(score), kLeft - 6, level(score) + 4, score);
    text += fmt::format(
        "<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' stroke='#dc2626' stroke-dasharray='5 4'/>"
        "<text x='{3}' y='{4:.1f}' font-size='11' fill='#dc2626'>threshold</text>",
        kLeft, kWidth - kRight, level(threshold_), kLeft + 4, level(threshold_) - 4);
    return text +
           fmt::format(
               "<text x='4' y='14' font-size='12' fill='#64748b'>change, in units of what is usual</text>");
  }

  std::string times() const {
    std::string text;
    const double step = time_step(length_);
    for (double seconds = 0; seconds <= length_; seconds += step)
      text += fmt::format(
          "<text x='{:.1f}' y='{}' text-anchor='middle' font-size='12' fill='#64748b'>{}</text>", at(seconds),
          kHeight - kBottom + 16, step < 1 ? tenths(seconds) : hours_minutes_seconds(seconds));
    return text;
  }

  double length() const { return length_; }

 private:
  double at(double seconds) const { return kLeft + seconds / length_ * (kWidth - kLeft - kRight); }
  double level(double score) const {
    const double share = std::log(std::clamp(score, kLowest, max_) / kLowest) / std::log(max_ / kLowest);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }

  std::span<const TriageFile> files_;
  double threshold_;
  double length_ = 0, max_ = 0;
  std::size_t points_ = 0;
};

/// The wheel zooms around the pointer, dragging moves, and a double click shows everything again.
constexpr const char* kScript = R"js(
(function(){
const inner=document.getElementById('inner'),marks=document.getElementById('times'),left=46,wide=902;
const length=+inner.dataset.length,outer=inner.parentNode;let from=0,span=wide;
function label(s){const p=n=>String(n).padStart(2,'0'),h=Math.floor(s/3600),m=Math.floor(s/60)%60,r=s%60;
return (h?h+':'+p(m):m)+':'+p(Math.floor(r))+(span/wide*length<20?'.'+Math.floor(r*10)%10:'');}
function show(){from=Math.max(0,Math.min(wide-span,from));inner.setAttribute('viewBox',(left+from)+' 0 '+span+' 260');
while(marks.firstChild)marks.removeChild(marks.firstChild);
for(let i=0;i<=8;i++){const t=document.createElementNS('http://www.w3.org/2000/svg','text');
t.setAttribute('x',left+wide*i/8);t.setAttribute('y',236);t.setAttribute('text-anchor',i==0?'start':i==8?'end':'middle');t.setAttribute('font-size',12);t.setAttribute('fill','#64748b');
t.textContent=label((from+span*i/8)/wide*length);marks.appendChild(t);}}
function place(e){const r=outer.getBoundingClientRect();return Math.max(0,Math.min(1,((e.clientX-r.left)/r.width*960-left)/wide));}
outer.addEventListener('wheel',e=>{e.preventDefault();const p=place(e),s=Math.max(wide/20000,Math.min(wide,span*(e.deltaY>0?1.25:.8)));from+=p*(span-s);span=s;show();},{passive:false});
let held=null;outer.addEventListener('pointerdown',e=>{held=place(e);outer.setPointerCapture(e.pointerId);});
outer.addEventListener('pointermove',e=>{if(held===null)return;const p=place(e);from-=(p-held)*span;held=p;show();});
outer.addEventListener('pointerup',()=>{held=null;});outer.addEventListener('dblclick',()=>{from=0;span=wide;show();});
})();
)js";

constexpr const char* kStyle =
    "<style>.events{display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:12px}"
    ".events figure{margin:0}.zoom{cursor:grab;touch-action:none}</style>";

std::string clip_links(const TriageEvent& event, const std::string& page) {
  std::string text;
  for (const std::string& clip : event.clips)
    if (!clip.empty()) text += fmt::format(" <a href={}>clip</a>", link_to(clip, page));
  return text;
}

std::string event_card(const TriageFile& file, const TriageEvent& event, const std::string& page) {
  std::string text = "<figure>";
  if (!event.thumbnail.empty())
    text += fmt::format("<img alt='the picture at {}' src='{}'>", tenths(event.peak_s), event.thumbnail);
  return text + fmt::format(
                    "<figcaption>{} – {}</figcaption><p class='note'>{}peak {:.1f} at {}, near ({:.0f}, "
                    "{:.0f}){}{}</p></figure>",
                    tenths(event.start_s), tenths(event.end_s),
                    file.begin.known() ? iso_8601(file.begin, event.start_s) + "<br>" : "", event.peak,
                    tenths(event.peak_s), event.peak_x, event.peak_y,
                    event.zones.empty() ? "" : ", in " + escape(zone_list(event.zones)),
                    clip_links(event, page));
}

}  // namespace

std::string triage_svg(std::span<const TriageFile> files, double threshold) {
  const Chart chart(files, threshold);
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} {}' font-family='sans-serif'>"
      "<rect width='100%' height='100%' fill='white'/>{}{}{}</svg>\n",
      kWidth, kHeight - 16, chart.content(), chart.levels(), chart.times());
}

std::string triage_page(std::span<const TriageFile> files, double sensitivity, double threshold,
                        const std::string& path) {
  const Chart chart(files, threshold);
  std::size_t events = 0;
  double happening = 0;
  for (const TriageFile& file : files) {
    events += file.events.size();
    for (const TriageEvent& event : file.events) happening += event.end_s - event.start_s;
  }
  std::string body = fmt::format(
      "{}<h1>sfft-video triage</h1><p class='sub'>{} file{}, sensitivity {:.3g} · sfft {}</p><div "
      "class='tiles'>{}{}{}</div>",
      kStyle, files.size(), files.size() == 1 ? "" : "s", sensitivity, version(),
      tile(fmt::format("{}", events), "events"),
      tile(hours_minutes_seconds(happening), "in which something happens"),
      tile(hours_minutes_seconds(chart.length()), "in all"));
  body += fmt::format(
      "<figure class='chart'><figcaption>When something changed</figcaption><svg class='zoom' viewBox='0 0 "
      "{0} {1}' role='img' "
      "aria-label='change over time'>{2}<svg id='inner' data-length='{3:.6f}' x='{4}' y='0' width='{5}' "
      "height='260' viewBox='{4} 0 "
      "{5} 260' preserveAspectRatio='none'>{6}</svg><g id='times'>{7}</g></svg><p class='note'>The wheel "
      "zooms, dragging moves, a double "
      "click shows everything.</p></figure>",
      kWidth, kHeight - 16, chart.levels(), chart.length(), kLeft, kWidth - kLeft - kRight, chart.content(),
      chart.times());
  std::size_t shown = 0;
  for (const TriageFile& file : files) {
    body += fmt::format("<h2>{}</h2><p class='sub'>{} frames of {}×{}, {}, {} event{}</p>", escape(file.path),
                        file.frames, file.width, file.height, hours_minutes_seconds(file.seconds),
                        file.events.size(), file.events.size() == 1 ? "" : "s");
    if (file.status != RunStatus::complete)
      body += fmt::format("<p class='status'>{}</p>",
                          escape(file.message.empty() ? to_string(file.status) : file.message));
    for (const std::string& warning : file.warnings)
      body += fmt::format("<p class='status'>{}</p>", escape(warning));
    body += "<div class='events'>";
    std::size_t left_out = 0;
    for (const TriageEvent& event : file.events) {
      if (shown >= kMaxShown) {
        ++left_out;
        continue;
      }
      TriageEvent card = event;
      if (shown >= kMaxPictured) card.thumbnail.clear();
      body += event_card(file, card, path);
      ++shown;
    }
    body += "</div>";
    if (left_out > 0)
      body += fmt::format("<p class='note'>{} more events are in the timeline and in the other reports.</p>",
                          left_out);
  }
  return whole_page("sfft-video triage", body + fmt::format("<script>{}</script>", kScript));
}

}  // namespace sfft::video
