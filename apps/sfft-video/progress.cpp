// SPDX-License-Identifier: Apache-2.0
// Estimates the remaining time from the mean rate, or for several files from the share of bytes done, resumed
// files excluded.
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "inputs.hpp"
#include "video/report/text.hpp"

namespace sfft::apps {

void Progress::update(std::int64_t done, std::int64_t expected) {
  if (!line_.due()) return;
  const double rate = static_cast<double>(done) / line_.seconds();
  if (expected > 0) {
    const double left = static_cast<double>(expected - done) / rate;
    line_.show(fmt::format("{}/{} frames ({:.0f} %), {:.0f} per second, {:.0f} s left", done, expected,
                           100.0 * static_cast<double>(done) / static_cast<double>(expected), rate,
                           std::max(left, 0.0)));
  } else {
    line_.show(fmt::format("{} frames, {:.0f} per second", done, rate));
  }
}

TriageProgress::TriageProgress(const std::vector<std::string>& files, bool quiet) : line_(quiet) {
  double known = 0;
  double count = 0;
  const std::vector<std::string> names = short_names(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::error_code code;
    const auto bytes = std::filesystem::file_size(files[i], code);
    One one;
    one.name = video::printable(names[i]);
    one.weight = code ? 0 : static_cast<double>(bytes);
    known += one.weight;
    count += code ? 0 : 1;
    files_.push_back(one);
  }
  for (One& one : files_)
    if (!(one.weight > 0)) one.weight = known > 0 ? known / count : 1;
}

void TriageProgress::update(std::size_t file, std::int64_t read, std::int64_t expected) {
  const std::lock_guard lock(mutex_);
  One& one = files_[file];
  one.begun = true;
  one.read = read;
  if (expected > 0) one.share = std::min(1.0, static_cast<double>(read) / static_cast<double>(expected));
}

void TriageProgress::finished(std::size_t file, bool resumed) {
  const std::lock_guard lock(mutex_);
  One& one = files_[file];
  one.over = true;
  one.share = 1;
  one.resumed = resumed;
}

std::string TriageProgress::text(double seconds) const {
  double done = 0;
  double all = 0;
  double frames = 0;
  std::size_t over = 0;
  std::string running;
  int shown = 0;
  for (const One& one : files_) {
    frames += static_cast<double>(one.read);
    over += one.over ? 1 : 0;
    if (!one.resumed) {
      done += one.weight * one.share;
      all += one.weight;
    }
    if (one.begun && !one.over && ++shown <= 4)
      running += fmt::format(" · {} {:.0f} %", one.name, 100 * one.share);
  }
  std::string text = fmt::format("{}/{} files", over, files_.size());
  if (done > 0 && all > 0) {
    const double left = seconds * (all - done) / done;
    text += left < 120 ? fmt::format(" ({:.0f} %), {:.0f} s left", 100 * done / all, left)
                       : fmt::format(" ({:.1f} %), {:.0f} min left", 100 * done / all, left / 60);
  }
  return text + fmt::format(", {:.0f} frames per second{}", frames / seconds, running);
}

void TriageProgress::show() {
  if (!line_.due()) return;
  std::string now;
  {
    const std::lock_guard lock(mutex_);
    now = text(line_.seconds());
  }
  line_.show(now);
}

}  // namespace sfft::apps
