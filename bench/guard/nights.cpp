// SPDX-License-Identifier: Apache-2.0
// Guard and triage see the same frames, at their default options.
#include "bench/guard/nights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "bench/guard/drawn_night.hpp"
#include "bench/guard/tamper.hpp"
#include "video/guard/guard.hpp"
#include "video/triage/change_meter.hpp"
#include "video/triage/event_list.hpp"

namespace sfft::bench {

namespace {

/// An event may reach kNear_s seconds beyond the presence of the person who causes it. It counts as false if
/// more than kFalse_s seconds lie beyond that.
constexpr double kNear_s = 1;
constexpr double kFalse_s = 0.15;
/// A person who can be seen for less than this may be missed.
constexpr double kVisible_s = 1;

struct Seen {
  std::vector<video::Event> alarms;
  std::vector<video::TriageEvent> events;
};

Seen watch(DrawnNight& night) {
  Seen seen;
  video::Guard guard({.source = "drawn"});
  video::ChangeMeter meter({}, night.fps());
  video::EventList list({}, night.fps());
  std::vector<video::Change> changes;
  DrawnCodec codec(night.codec_step(), static_cast<int>(2 * night.fps()));
  const auto take = [&] {
    for (const video::Change& change : changes)
      if (auto over = list.add(change)) seen.events.push_back(*over);
    changes.clear();
  };
  for (std::int64_t i = 0; static_cast<double>(i) / night.fps() < night.length_s(); ++i) {
    const double t = static_cast<double>(i) / night.fps();
    const cv::Mat frame = codec.code(night.frame(t));
    for (const auto& [phase, event] : guard.push(view(frame), t).events)
      if (phase == video::EventPhase::start && event.kind != video::EventKind::light)
        seen.alarms.push_back(event);
    meter.push(view(frame), t, changes);
    take();
  }
  meter.finish(changes);
  take();
  if (auto last = list.finish()) seen.events.push_back(*last);
  return seen;
}

/// The seconds of an event during which nobody is near.
double false_seconds(const video::TriageEvent& event, const std::vector<Walker>& people) {
  constexpr double kStep = 0.02;
  double sum = 0;
  for (double t = event.change_start_s; t < event.change_end_s; t += kStep)
    if (std::ranges::none_of(
            people, [t](const Walker& one) { return t > one.from_s - kNear_s && t < one.until_s + kNear_s; }))
      sum += kStep;
  return sum;
}

struct Row {
  int nights = 0, alarms = 0, people = 0, missed = 0, hidden = 0, events = 0;
  double false_s = 0;
};

}  // namespace

nlohmann::ordered_json nights(const PopulationOptions& options) {
  std::map<std::string, Row> rows;
  Row all;
  std::mutex mutex;
  each_of(options.count, options.threads, [&](int index) {
    DrawnNight night(index, options.seed * 1000003 + static_cast<std::uint64_t>(index));
    if (!options.kinds.empty() && std::ranges::count(options.kinds, night.kind()) == 0) return;
    const Seen seen = watch(night);
    Row row;
    row.nights = 1;
    row.alarms = static_cast<int>(seen.alarms.size());
    for (const Walker& one : night.people()) {
      const bool visible = night.visible_s(one) >= kVisible_s;
      (visible ? row.people : row.hidden) += 1;
      row.missed += visible && std::ranges::none_of(seen.events, [&](const video::TriageEvent& event) {
                      return event.change_start_s < one.until_s && event.change_end_s > one.from_s;
                    });
    }
    for (const video::TriageEvent& event : seen.events) {
      const double without = false_seconds(event, night.people());
      row.false_s += without;
      row.events += without > kFalse_s ? 1 : 0;
    }
    const std::lock_guard lock(mutex);
    if (options.verbose && row.alarms + row.missed + row.events > 0) {
      fmt::print("  night {}: {}\n", index, night.text());
      for (const video::Event& alarm : seen.alarms)
        fmt::print("    {} at {:.2f} ({})\n", video::to_string(alarm.kind), alarm.start_s, alarm.detail);
      for (const video::TriageEvent& event : seen.events)
        fmt::print("    change {:.2f}-{:.2f}, peak {:.1f} at {:.2f} in ({:.0f}, {:.0f})\n",
                   event.change_start_s, event.change_end_s, event.peak, event.peak_s, event.peak_x,
                   event.peak_y);
      if (row.missed > 0) fmt::print("    {} missed\n", row.missed);
    }
    for (Row* sum : {&rows[night.kind()], &all}) {
      sum->nights += row.nights;
      sum->alarms += row.alarms;
      sum->people += row.people;
      sum->missed += row.missed;
      sum->hidden += row.hidden;
      sum->events += row.events;
      sum->false_s += row.false_s;
    }
  });
  nlohmann::ordered_json out;
  const auto put = [&](const std::string& name, const Row& row) {
    fmt::print(
        "{:<20} {:>4} nights, {:>3} alarms, {:>3} of {:>3} people missed ({} hidden), {:>3} false events, "
        "{:>6.1f} s\n",
        name, row.nights, row.alarms, row.missed, row.people, row.hidden, row.events, row.false_s);
    out[name] = {{"nights", row.nights},  {"alarms", row.alarms}, {"people", row.people},
                 {"missed", row.missed},  {"hidden", row.hidden}, {"false_events", row.events},
                 {"false_s", row.false_s}};
  };
  for (const auto& [kind, row] : rows) put(kind, row);
  put("all", all);
  return out;
}

}  // namespace sfft::bench
