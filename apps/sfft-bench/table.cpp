// SPDX-License-Identifier: Apache-2.0
// Chooses readable columns and units. One table shows when preparation pays off, and the other one shows the
// measurements.
#include <fmt/format.h>

#include <cmath>

#include "report.hpp"

namespace sfft::apps {

namespace {

std::string duration(double us) {
  if (!std::isfinite(us)) return "-";
  if (us >= 1e6) return fmt::format("{:.3g} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3g} ms", us / 1e3);
  return fmt::format("{:.3g} us", us);
}

std::string share(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g} %", 100 * value) : "-";
}

std::string scientific(double value) {
  return std::isfinite(value) ? fmt::format("{:.1e}", value) : "-";
}

std::string heading(const Row& row) {
  if (row.figure == "video") {
    return fmt::format("{}, {}: after frame {}", row.recording.name, row.shape, row.recording.frames);
  }
  if (row.figure == "video_batched") {
    return fmt::format("{}, {}: {} frames in the GPU's memory, {} per call", row.recording.name, row.shape,
                       row.recording.frames, row.recording.batch);
  }
  std::string text = row.figure == "dense" ? row.shape : fmt::format("N = {}", row.nominal_points);
  if (row.k > 0) text += fmt::format(", k = {}", row.k);
  if (std::isfinite(row.snr_db)) {
    text += fmt::format(", SNR {} dB, error of a full FFT {:.1e}", row.snr_db, row.errors.noise_floor);
  }
  return text;
}

std::string remarks(const Row& row) {
  std::string text = row.points == row.nominal_points ? std::string() : fmt::format("N = {}, ", row.points);
  text += row.detail;
  if (!row.note.empty()) text += (text.empty() ? "" : "; ") + row.note;
  return text;
}

void print_measured(const std::vector<Row>& group) {
  const bool video = group.front().recording.batch > 0;
  fmt::print("\n{}\n", heading(group.front()));
  fmt::print("  {:<30} {:>8} {:>9} {:>9} {:>10} {:>9} {:>9} {:>9}{}\n", "", "missed", "rel. L2", "error",
             "samples", "plan", "cold", "warm",
             video ? fmt::format(" {:>9} {:>9}", "distinct", "total") : "");
  for (const Row& row : group) {
    if (!row.skipped.empty()) {
      fmt::print("  {:<30} left out: {}\n", row.contender, row.skipped);
      continue;
    }
    const std::string more = video ? fmt::format(" {:>9} {:>9}", duration(row.times.distinct_us),
                                                 duration(1e3 * row.times.total_ms))
                                   : "";
    fmt::print("  {:<30} {:>8} {:>9} {:>9} {:>10.0f} {:>9} {:>9} {:>9}{}  {}\n", row.contender,
               share(row.errors.missed), scientific(row.errors.relative_l2), scientific(row.errors.mean),
               row.samples_read, duration(1e3 * row.times.plan_ms), duration(row.times.cold_us),
               duration(row.times.warm_us), more, remarks(row));
  }
}

std::string frames(double count) {
  return std::isfinite(count) ? fmt::format("{:.0f}", count) : "never";
}

void print_break_even(const std::vector<Row>& group) {
  const Row& any = group.front();
  fmt::print("\n{}, {}, {}, {} frame{} per call: frames until preparation is paid back\n", any.recording.name,
             any.shape, any.device, any.recording.batch, any.recording.batch == 1 ? "" : "s");
  std::string contender;
  for (const Row& row : group) {
    if (row.contender != contender) {
      contender = row.contender;
      fmt::print("  {}: {} learning, {} planning; ready after {}, on first use {}; then {} per frame\n",
                 contender, duration(1e3 * row.times.learn_ms),
                 duration(1e3 * (row.times.plan_ms - row.times.learn_ms)),
                 duration(1e3 * row.recording.costs.prepare_ms),
                 duration(1e3 * row.recording.costs.first_use_ms), duration(row.recording.costs.frame_us));
      fmt::print("    {:<30} {:>9} {:>9} {:>9} {:>11} {:>10} {:>10} {:>9}\n", "against", "ready", "first use",
                 "per frame", "break-even", "first use", "plan kept", "this run");
    }
    fmt::print("    {:<30} {:>9} {:>9} {:>9} {:>11} {:>10} {:>10} {:>9}  {}\n", row.break_even.peer,
               duration(1e3 * row.break_even.costs.prepare_ms),
               duration(1e3 * row.break_even.costs.first_use_ms), duration(row.break_even.costs.frame_us),
               frames(row.break_even.frames), frames(row.break_even.first_use_frames),
               frames(row.break_even.kept_frames),
               std::isfinite(row.break_even.crossed) ? fmt::format("{:.0f}", row.break_even.crossed) : "-",
               std::isfinite(row.break_even.ahead_until)
                   ? fmt::format("ahead until {:.0f} frames: {}", row.break_even.ahead_until, row.note)
                   : row.note);
  }
}

}  // namespace

void Table::print(const std::vector<Row>& group) const {
  if (quiet_ || group.empty()) return;
  group.front().figure == "break_even" ? print_break_even(group) : print_measured(group);
  std::fflush(stdout);
}

}  // namespace sfft::apps
