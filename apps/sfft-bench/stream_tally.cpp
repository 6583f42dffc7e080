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
  row.recording = context.recording;
  row.contender = transform.name();
  row.device = transform.device();
  row.frames_in = transform.frames_in();
  row.threads = transform.threads();
  row.planner = transform.planner();
  row.note = thread_note(transform.threads());
  row.shape = context.shape.to_string() + " real";
  row.points = row.nominal_points = context.shape.points();
  row.k = transform.k();
  row.frames = context.frames;
  row.batch = 1;
  row.skipped = tally.skipped;
  if (!tally.skipped.empty()) return row;
  const bench::StreamCost cost = tally.cost();
  row.signals = static_cast<std::int64_t>(tally.errors.size());
  row.relative_l2 = median(tally.errors);
  row.worst_l2 = *std::max_element(tally.errors.begin(), tally.errors.end());
  row.samples_read = transform.samples_read();
  row.learn_ms = ms(tally.prepared.learn);
  row.plan_ms = ms(tally.learned_and_planned());
  row.prepare_ms = ms(cost.preparation);
  row.first_use_ms = ms(tally.first_use_cost().preparation);
  row.frame_us = us(cost.frame);
  row.warm_us = us(median(tally.pushed));
  row.cold_us = us(median(tally.cold));
  row.distinct_us = us(median(tally.distinct));
  row.total_ms = ms(tally.running_totals().back());
  row.detail = transform.detail();
  return row;
}

Row break_even_row(Row ours, const Row& peer) {
  ours.figure = "break_even";
  ours.peer = peer.contender;
  ours.peer_prepare_ms = peer.prepare_ms;
  ours.peer_first_use_ms = peer.first_use_ms;
  ours.peer_frame_us = peer.frame_us;
  append(ours.note, peer.note == ours.note ? std::string() : peer.note);
  const auto cost = [](double prepare_ms, double frame_us) {
    return bench::StreamCost{1e3 * prepare_ms, frame_us};
  };
  const bench::BreakEven even =
      bench::break_even(cost(ours.prepare_ms, ours.frame_us), cost(peer.prepare_ms, peer.frame_us));
  ours.break_even_frames = as_number(even.frames);
  ours.ahead_until_frames = as_number(even.until);
  append(ours.note, even.reason);
  ours.break_even_kept_frames =
      as_number(bench::break_even(cost(ours.prepare_ms, ours.frame_us), cost(0, peer.frame_us)).frames);
  ours.break_even_first_use_frames = as_number(
      bench::break_even(cost(ours.first_use_ms, ours.frame_us), cost(peer.first_use_ms, peer.frame_us))
          .frames);
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
      even.back().crossed_frames =
          as_number(bench::crossing(tallies[i].running_totals(), tallies[peer].running_totals()));
    }
  }
  return even;
}

}  // namespace sfft::apps
