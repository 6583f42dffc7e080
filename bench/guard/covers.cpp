// SPDX-License-Identifier: Apache-2.0
// A hand, a bag or a cloth slides in from one side, and stays.
#include "bench/guard/covers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

#include "bench/guard/drawn_scene.hpp"
#include "bench/guard/tamper.hpp"
#include "video/guard/guard.hpp"

namespace sfft::bench {

namespace {

/// Seconds before the cover appears, and after it has come to rest.
constexpr double kBefore_s = 8, kAfter_s = 8;

struct SlowCover {
  double seconds = 0;  ///< duration of the slide
  double share = 0;    ///< share of the picture that it finally hides
  double angle = 0;    ///< direction of the slide
  double level = 0, texture = 0, softness = 0, noise = 0;
  bool printed = false;  ///< has a printed picture, as bags and boxes have
  std::string text() const {
    return fmt::format("{:.1f} s, {:.0f} %, {:.0f} degrees, {} {:.0f}, texture {:.0f}, edge {:.0f} px",
                       seconds, 100 * share, angle * 57.3, printed ? "picture" : "level", level, texture,
                       softness);
  }
};

SlowCover drawn_cover(cv::RNG& random) {
  SlowCover cover;
  cover.seconds = std::exp(random.uniform(std::log(1.0), std::log(15.0)));
  cover.share = random.uniform(0.6, 1.0);
  cover.angle = random.uniform(0.0, 6.2832);
  cover.level = random.uniform(10.0, 200.0);
  cover.texture = random.uniform(0, 2) == 0 ? random.uniform(0.0, 3.0) : random.uniform(3.0, 25.0);
  cover.softness = random.uniform(1.0, 12.0);
  cover.printed = random.uniform(0, 2) == 0;
  cover.noise = random.uniform(0.5, 2.0);
  return cover;
}

/// Draws the part of the cover that is already in the picture, behind a straight edge. Its texture moves with
/// it.
class ComingCover {
 public:
  ComingCover(const SlowCover& cover, cv::Size size, cv::RNG& random)
      : cover_(cover), size_(size), along_(size, CV_32F) {
    const double c = std::cos(cover.angle);
    const double s = std::sin(cover.angle);
    double min = 1e9;
    std::vector<double> all;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const double at = c * x + s * y;
        along_.at<float>(y, x) = static_cast<float>(at);
        min = std::min(min, at);
        if (x % 4 == 0 && y % 4 == 0) all.push_back(at);
      }
    }
    std::ranges::sort(all);
    from_ = min - 3 * cover.softness;
    to_ = all[static_cast<std::size_t>(cover.share * static_cast<double>(all.size() - 1))] +
          (cover.share > 0.98 ? 3 * cover.softness : 0);
    // Cloth and skin have coarse and fine texture.
    const cv::Size large(2 * size.width, 2 * size.height);
    surface_ = cv::Mat(large, CV_32F, cv::Scalar(cover.level));
    for (const int part : {64, 16, 5}) {
      cv::Mat grain(large.height / part + 2, large.width / part + 2, CV_32F), fine;
      random.fill(grain, cv::RNG::NORMAL, 0, cover.texture);
      cv::resize(grain, fine, large, 0, 0, cv::INTER_CUBIC);
      surface_ += fine;
    }
    cv::GaussianBlur(surface_, surface_, {}, 2.0);
    if (cover.printed) surface_ += drawn_place(large, random) - 100;
  }

  cv::Mat over(const cv::Mat& frame, double way, cv::RNG& random) const {
    if (way <= 0) return frame;
    const double edge = from_ + std::min(1.0, way) * (to_ - from_);
    cv::Mat mask = (edge - along_) * (1 / cover_.softness) + 0.5;
    cv::min(cv::max(mask, 0), 1, mask);
    const double back = to_ - edge;
    const auto at = [&](double shift, int extent) {
      return std::clamp(static_cast<int>(0.5 * extent + shift), 0, extent);
    };
    const cv::Rect window(at(back * std::cos(cover_.angle), size_.width),
                          at(back * std::sin(cover_.angle), size_.height), size_.width, size_.height);
    cv::Mat picture, grain(frame.size(), CV_32F);
    frame.convertTo(picture, CV_32F);
    random.fill(grain, cv::RNG::NORMAL, 0, cover_.noise);
    const cv::Mat surface = surface_(window) + grain;
    picture += mask.mul(surface - picture);
    cv::Mat out;
    picture.convertTo(out, CV_8U);
    return out;
  }

 private:
  SlowCover cover_;
  cv::Size size_;
  cv::Mat along_, surface_;
  double from_ = 0, to_ = 0;
};

}  // namespace

nlohmann::ordered_json covers(const PopulationOptions& options, const std::vector<std::string>& recordings) {
  if (recordings.empty()) throw std::runtime_error("covers need recordings: name some after the options");
  std::vector<Clip> clips;
  for (const std::string& path : recordings) clips.push_back(read_clip(path, 700));
  struct Row {
    int covers = 0, found = 0, others = 0;
  };
  std::map<std::string, Row> rows;
  std::mutex mutex;
  each_of(options.count, options.threads, [&](int index) {
    const Clip& clip = clips[static_cast<std::size_t>(index) % clips.size()];
    cv::RNG random(options.seed * 1000003 + static_cast<std::uint64_t>(index));
    for (int i = 0; i < 8; ++i) random.next();
    const SlowCover cover = drawn_cover(random);
    const double fps = clip.fps > 0 ? clip.fps : 25;
    const auto count = static_cast<std::int64_t>(clip.frames.size());
    // Plays the recording forwards and backwards.
    const std::int64_t first = random.uniform(0, static_cast<int>(count));
    const ComingCover coming(cover, clip.frames[0].size(), random);
    video::Guard guard({.source = clip.name});
    std::vector<video::Event> events;
    for (std::int64_t i = 0; static_cast<double>(i) / fps < kBefore_s + cover.seconds + kAfter_s; ++i) {
      const double t = static_cast<double>(i) / fps;
      const std::int64_t place = (first + i) % (2 * count - 2);
      const cv::Mat& shown =
          clip.frames[static_cast<std::size_t>(place < count ? place : 2 * count - 2 - place)];
      const cv::Mat frame = coming.over(shown, (t - kBefore_s) / cover.seconds, random);
      for (const auto& [phase, event] : guard.push(view(frame), t).events)
        if (phase == video::EventPhase::start && event.kind != video::EventKind::light)
          events.push_back(event);
    }
    const std::string bin = cover.seconds < 2   ? "1-2 s"
                            : cover.seconds < 4 ? "2-4 s"
                            : cover.seconds < 8 ? "4-8 s"
                                                : "8-15 s";
    const auto found = std::ranges::find_if(events, [](const video::Event& event) {
      return event.kind == video::EventKind::covered && event.start_s > kBefore_s - 0.2;
    });
    const std::lock_guard lock(mutex);
    for (Row* row : {&rows[bin], &rows["all"]}) {
      ++row->covers;
      row->found += found != events.end() ? 1 : 0;
      row->others += static_cast<int>(std::ranges::count_if(
          events, [](const video::Event& event) { return event.start_s < kBefore_s - 0.2; }));
    }
    if (options.verbose && found == events.end()) {
      fmt::print("  cover {} of {} ({}):", index, clip.name, cover.text());
      for (const video::Event& event : events)
        fmt::print(" {} at {:.2f} ({})", video::to_string(event.kind), event.start_s, event.detail);
      fmt::print("\n");
    }
  });
  nlohmann::ordered_json out;
  for (const auto& [name, row] : rows) {
    fmt::print("{:<8} {:>4} of {:>4} covers found, {} alarms before\n", name, row.found, row.covers,
               row.others);
    out[name] = {{"found", row.found}, {"covers", row.covers}, {"alarms_before", row.others}};
  }
  return out;
}

}  // namespace sfft::bench
