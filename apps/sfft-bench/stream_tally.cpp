// SPDX-License-Identifier: Apache-2.0
// The preparation of both sides is everything between the first frame and its spectrum, minus the time of one
// frame.
#include "stream_tally.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sfft::apps {

namespace {

double ms(double seconds) {
  return 1e3 * seconds;
}
double us(double seconds) {
  return 1e6 * seconds;
}

double as_number(const std::optional<std::int64_t>& count) {
  return count ? static_cast<double>(*count) : kUnknown;
}

void append(std::string& text, const std::string& more) {
  if (more.empty()) return;
  if (!text.empty()) text += "; ";
  text += more;
}

}  // namespace

double StreamTally::learned_and_planned() const {
  return (std::isfinite(prepared.learn) ? prepared.learn : 0) + prepared.plan;
}

double StreamTally::frame() const {
  if (pushed.size() < 2) return pushed.front();
  if (routine.empty())
    return std::accumulate(pushed.begin() + 1, pushed.end(), 0.0) / static_cast<double>(pushed.size() - 1);
  const double others = std::accumulate(pushed.begin() + 1, pushed.end(), 0.0) -
                        std::accumulate(routine.begin(), routine.end(), 0.0);
  return (median(routine) * static_cast<double>(routine.size()) + std::max(0.0, others)) /
         static_cast<double>(pushed.size() - 1);
}

std::vector<double> StreamTally::running_totals() const {
  std::vector<double> totals{learned_and_planned()};
  for (const double seconds : pushed) totals.push_back(totals.back() + seconds);
  return totals;
}

void measure_frame(FrameTransform& transform, const FrameBuffer& frame, StreamTally& tally) {
  tally.pushed.push_back(seconds_of([&] { transform.push(frame); }));
  if (transform.routine()) tally.routine.push_back(tally.pushed.back());
}

void measure_preparation(FrameTransform& transform, const FrameBuffer& first, StreamTally& tally) {
  constexpr int kTimes = 6;        // the first one is an outlier
  constexpr double kEnough = 1.5;  // seconds
  std::vector<double> learn, plan, spectrum;
  double spent = 0;
  for (int i = 0; i < kTimes && (i < 3 || spent < kEnough) && (i < 1 || spent < 2 * kEnough); ++i) {
    Preparation prepared;
    double pushed = 0;
    const double total = seconds_of([&] {
      prepared = transform.prepare(first);
      pushed = seconds_of([&] { transform.push(first); });
    });
    spent += total;
    if (i == 0) tally.first_use = total;
    if (i == 1) {  // the first one counts only if there is no other
      learn.clear();
      plan.clear();
      spectrum.clear();
    }
    learn.push_back(prepared.learn);
    plan.push_back(prepared.plan);
    spectrum.push_back(total);
    tally.pushed.assign(1, pushed);
  }
  tally.prepared = {std::isfinite(learn.front()) ? median(learn) : kUnknown, median(plan)};
  tally.first_spectrum = median(spectrum);
}

Row stream_row(const StreamContext& context, const FrameTransform& transform, const StreamTally& tally) {
  Row row;
  row.figure = "video";
  row.recording.name = context.recording;
  row.contender = transform.name();
  row.device = transform.device();
  row.recording.frames_in = transform.frames_in();
  row.threads = transform.threads();
  row.planner = transform.planner();
  row.note = thread_note(transform.threads());
  row.shape = context.shape.to_string() + " real";
  row.points = row.nominal_points = context.shape.points();
  row.k = transform.k();
  row.recording.frames = context.frames;
  row.recording.batch = 1;
  row.skipped = tally.skipped;
  if (!tally.skipped.empty()) return row;
  const bench::StreamCost cost = tally.cost();
  row.signals = static_cast<std::int64_t>(tally.errors.size());
  row.errors.relative_l2 = median(tally.errors);
  row.errors.worst_l2 = *std::max_element(tally.errors.begin(), tally.errors.end());
  row.samples_read = transform.samples_read();
  row.times.learn_ms = ms(tally.prepared.learn);
  row.times.plan_ms = ms(tally.learned_and_planned());
  row.recording.costs.prepare_ms = ms(cost.preparation);
  row.recording.costs.first_use_ms = ms(tally.first_use_cost().preparation);
  row.recording.costs.frame_us = us(cost.frame);
  row.times.warm_us = us(median(tally.pushed));
  row.times.cold_us = us(median(tally.cold));
  row.times.distinct_us = us(median(tally.distinct));
  row.times.total_ms = ms(tally.running_totals().back());
  row.detail = transform.detail();
  return row;
}

Row break_even_row(Row ours, const Row& peer) {
  ours.figure = "break_even";
  ours.break_even.peer = peer.contender;
  ours.break_even.costs = peer.recording.costs;
  append(ours.note, peer.note == ours.note ? std::string() : peer.note);
  const StreamCosts& here = ours.recording.costs;
  const StreamCosts& there = peer.recording.costs;
  const auto after = [&](double our_preparation_ms, double their_preparation_ms) {
    return bench::break_even({1e3 * our_preparation_ms, here.frame_us},
                             {1e3 * their_preparation_ms, there.frame_us});
  };
  const bench::BreakEven even = after(here.prepare_ms, there.prepare_ms);
  ours.break_even.frames = as_number(even.frames);
  ours.break_even.ahead_until = as_number(even.until);
  append(ours.note, even.reason);
  ours.break_even.kept_frames = as_number(after(here.prepare_ms, 0).frames);
  ours.break_even.first_use_frames = as_number(after(here.first_use_ms, there.first_use_ms).frames);
  return ours;
}

std::vector<Row> break_even_rows(const std::vector<Row>& rows, const FrameTransforms& transforms,
                                 const std::vector<StreamTally>& tallies) {
  std::vector<Row> even;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (transforms[i]->k() == 0 || !rows[i].skipped.empty()) continue;
    for (std::size_t peer = 0; peer < rows.size(); ++peer) {
      if (transforms[peer]->k() != 0 || !rows[peer].skipped.empty()) continue;
      if (rows[peer].device != rows[i].device) continue;
      even.push_back(break_even_row(rows[i], rows[peer]));
      even.back().break_even.crossed =
          as_number(bench::crossing(tallies[i].running_totals(), tallies[peer].running_totals()));
    }
  }
  return even;
}

}  // namespace sfft::apps
