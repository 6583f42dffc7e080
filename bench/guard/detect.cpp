// SPDX-License-Identifier: Apache-2.0
// The untouched clip runs through one guard; at each moment a copy of it receives tampered frames instead.
#include "bench/guard/detect.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "video/guard/guard.hpp"

namespace sfft::bench {

namespace {

using video::EventKind;
using video::EventPhase;
using video::Guard;
using Tamper = std::function<cv::Mat(const std::vector<const cv::Mat*>& frames, std::size_t at)>;

struct Trial {
  std::string kind;
  double strength;
  bool at_a_glance;
  std::function<Tamper(cv::Size, cv::RNG&)> make;
};

/// Frame `index` of the clip, played back and forth.
const cv::Mat& frame_at(const Clip& clip, std::size_t index) {
  const std::size_t count = clip.frames.size();
  if (count == 1) return clip.frames[0];
  const std::size_t place = index % (2 * count - 2);
  return clip.frames[place < count ? place : 2 * count - 2 - place];
}

std::vector<Trial> trials(double fps) {
  std::vector<Trial> all;
  for (const double pixels : {0.7, 1.5, 3.0, 6.0, 20.0}) {
    all.push_back({"moved", pixels, pixels >= 2.5, [pixels](cv::Size, cv::RNG& random) {
                     const double angle = random.uniform(0.0, 2 * CV_PI);
                     return [=](const auto& frames, std::size_t at) {
                       return warped(*frames[at], pixels * std::cos(angle), pixels * std::sin(angle));
                     };
                   }});
  }
  for (const double share : {0.1, 0.25, 0.5, 0.75, 1.0}) {
    all.push_back({"covered", share, share >= 0.5, [share](cv::Size size, cv::RNG& random) {
                     const Cover cover(size, share, random);
                     return [cover, random](const auto& frames, std::size_t at) mutable {
                       return cover.over(*frames[at], random);
                     };
                   }});
  }
  for (const double sigma : {0.7, 1.5, 2.5, 4.0, 8.0}) {
    all.push_back({"defocused", sigma, sigma >= 2.5, [sigma](cv::Size, cv::RNG&) {
                     return
                         [sigma](const auto& frames, std::size_t at) { return blurred(*frames[at], sigma); };
                   }});
  }
  for (const double seconds : {0.12, 0.24, 0.4, 0.8, 1.6}) {
    const int count = std::max(2, static_cast<int>(std::lround(seconds * fps)));
    all.push_back({"frozen", seconds, seconds >= 0.8, [count](cv::Size, cv::RNG&) {
                     return [count](const auto& frames, std::size_t at) {
                       return frames[at < static_cast<std::size_t>(count) ? 0 : at]->clone();
                     };
                   }});
  }
  return all;
}

/// Makes a natural change of light: dusk with the noise of a night picture, lamps, or exposure.
cv::Mat other_light(const cv::Mat& frame, int variant, cv::RNG& random) {
  switch (variant % 6) {
    case 0:
      return relit(frame, 0.25, 0.0, 1.0, 2.0, random);
    case 1:
      return relit(frame, 0.5, 0.0, 1.6, 3.0, random);
    case 2:
      return relit(frame, 1.0, 0.15, 1.0, 0.0, random);
    case 3:
      return relit(frame, 1.5, 0.0, 1.0, 0.0, random);
    case 4:
      return relit(frame, 0.7, 0.0, 0.6, 1.0, random);
    default:
      return relit(frame, 0.6, -0.02, 1.0, 1.0, random);
  }
}

bool alarm(EventKind kind) {
  return kind != EventKind::light;
}

void count_alarms(Guard& guard, const cv::Mat& frame, double seconds, nlohmann::ordered_json& alarms,
                  const std::string& where, int& lights) {
  for (const auto& [phase, event] : guard.push(view(frame), seconds).events) {
    if (phase != EventPhase::start) continue;
    if (!alarm(event.kind)) {
      ++lights;
      continue;
    }
    alarms.push_back({{"kind", to_string(event.kind)},
                      {"frame", event.start_frame},
                      {"confidence", event.confidence},
                      {"detail", event.detail},
                      {"where", where}});
  }
}

}  // namespace

int frames_within(const Clip& clip, const DetectOptions& options) {
  return std::max(10, static_cast<int>(std::lround(options.within_s * (clip.fps > 0 ? clip.fps : 25))));
}

nlohmann::ordered_json detect(const Clip& clip, const DetectOptions& options) {
  const int within = frames_within(clip, options);
  constexpr std::size_t kFirst = 30;
  const double fps = clip.fps > 0 ? clip.fps : 25;
  cv::RNG random(options.seed);
  const std::size_t length = std::max<std::size_t>(clip.frames.size(), 120);
  std::vector<std::size_t> moments;
  for (int i = 0; i < options.moments; ++i)
    moments.push_back(static_cast<std::size_t>(
        random.uniform(static_cast<int>(kFirst), static_cast<int>(length) - within)));
  std::ranges::sort(moments);

  struct Result {
    int found = 0, trials = 0;
    double delay = 0;
    std::map<std::string, int> others;
    std::vector<std::size_t> missed;
    double shift_error = 0;
  };
  const std::vector<Trial> all = trials(fps);
  std::vector<Result> results(all.size());
  Guard guard({.sensitivity = options.sensitivity, .source = clip.name});
  std::size_t next = 0;
  for (std::size_t t = 0; t < length && next < moments.size(); ++t) {
    for (; next < moments.size() && moments[next] == t; ++next) {
      std::vector<const cv::Mat*> frames;
      for (int i = 0; i < within; ++i) frames.push_back(&frame_at(clip, t + static_cast<std::size_t>(i)));
      for (std::size_t n = 0; n < all.size(); ++n) {
        const Tamper tamper = all[n].make(frames[0]->size(), random);
        Guard copy(guard);
        Result& result = results[n];
        ++result.trials;
        bool found = false;
        for (int i = 0; i < within; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const cv::Mat frame = tamper(frames, at);
          for (const auto& [phase, event] :
               copy.push(view(frame), static_cast<double>(t + at) / fps).events) {
            if (phase != EventPhase::start) continue;
            if (to_string(event.kind) != all[n].kind) {
              ++result.others[to_string(event.kind)];
              continue;
            }
            if (found) continue;
            found = true;
            ++result.found;
            result.delay += i + 1;
          }
        }
        if (!found) result.missed.push_back(t);
      }
    }
    guard.push(view(frame_at(clip, t)), static_cast<double>(t) / fps);
  }
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < all.size(); ++n) {
    const Result& r = results[n];
    if (r.missed.size() > 8) results[n].missed.resize(8);
    out.push_back({{"kind", all[n].kind},
                   {"strength", all[n].strength},
                   {"at_a_glance", all[n].at_a_glance},
                   {"trials", r.trials},
                   {"found", r.found},
                   {"mean_delay_frames", r.found > 0 ? r.delay / r.found : 0.0},
                   {"other_kinds", r.others},
                   {"missed_at", results[n].missed}});
  }
  return out;
}

nlohmann::ordered_json false_alarms(const Clip& clip, const DetectOptions& options) {
  const double fps = clip.fps > 0 ? clip.fps : 25;
  nlohmann::ordered_json alarms = nlohmann::ordered_json::array();
  int lights = 0;
  std::int64_t frames = 0;
  {
    Guard guard({.sensitivity = options.sensitivity, .source = clip.name});
    for (std::size_t t = 0; t < clip.frames.size(); ++t, ++frames)
      count_alarms(guard, clip.frames[t], static_cast<double>(t) / fps, alarms, "untouched", lights);
  }
  const int lights_untouched = lights;
  lights = 0;
  int steps = 0;
  cv::RNG random(options.seed + 1);
  const std::size_t length = std::max<std::size_t>(clip.frames.size(), 240);
  for (int variant = 0; variant < 12; ++variant) {
    Guard guard({.sensitivity = options.sensitivity, .source = clip.name});
    const auto on = static_cast<std::size_t>(random.uniform(30, static_cast<int>(length) - 120));
    const auto off = on + static_cast<std::size_t>(random.uniform(20, 80));
    steps += 2;
    for (std::size_t t = 0; t < length && t < off + 60; ++t, ++frames) {
      const cv::Mat& frame = frame_at(clip, t);
      const bool other = t >= on && t < off;
      count_alarms(guard, other ? other_light(frame, variant, random) : frame, static_cast<double>(t) / fps,
                   alarms,
                   "light " + std::to_string(variant % 6) +
                       (t < on  ? " before"
                        : other ? " on"
                                : " off"),
                   lights);
    }
  }
  return {{"frames", frames},
          {"light_steps", steps},
          {"light_events", lights},
          {"light_events_untouched", lights_untouched},
          {"alarms", alarms}};
}

}  // namespace sfft::bench
