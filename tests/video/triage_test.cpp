// SPDX-License-Identifier: Apache-2.0
// Triage of made-up scenes: what is an event, what is none, and how events and results are kept and written.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

#include "sfft/error.hpp"
#include "video/triage/change_meter.hpp"
#include "video/triage/event_list.hpp"
#include "video/triage/recording.hpp"
#include "video/triage/triage_report.hpp"
#include "video/triage/triage_state.hpp"

namespace sfft::video {
namespace {

constexpr int kWidth = 192, kHeight = 108, kFrames = 300;
constexpr double kRate = 25;
using Grey = std::vector<float>;

float& pixel(Grey& grey, int x, int y) {
  return grey[static_cast<std::size_t>(y * kWidth + x)];
}

/// Walls, a slope and texture, the same in every frame.
const Grey& scene() {
  static const Grey drawn = [] {
    Grey grey(kWidth * kHeight);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> unit(0, 1);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        pixel(grey, x, y) = 90 + 0.2F * static_cast<float>(x) + 14 * unit(random);
    for (int i = 0; i < 60; ++i) {
      const int left = static_cast<int>(unit(random) * (kWidth - 30));
      const int top = static_cast<int>(unit(random) * (kHeight - 20));
      const float level = 40 + 150 * unit(random);
      for (int y = top; y < top + 4 + i % 13; ++y)
        for (int x = left; x < left + 4 + i % 23; ++x) pixel(grey, x, y) = level;
    }
    return grey;
  }();
  return drawn;
}

using Edit = std::function<void(Grey& grey, int frame)>;

std::vector<TriageEvent> events_of(const Edit& change, double noise = 1.5) {
  ChangeMeter meter({}, kRate);
  EventList list({}, kRate);
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, static_cast<float>(noise));
  std::vector<TriageEvent> events;
  std::vector<Change> changes;
  const auto take = [&] {
    for (const Change& one : changes)
      if (auto event = list.add(one)) events.push_back(*event);
    changes.clear();
  };
  std::vector<std::uint8_t> samples(kWidth * kHeight);
  for (int frame = 0; frame < kFrames; ++frame) {
    Grey grey = scene();
    change(grey, frame);
    for (std::size_t i = 0; i < grey.size(); ++i)
      samples[i] = static_cast<std::uint8_t>(std::clamp(grey[i] + normal(random) + 0.5F, 0.0F, 255.0F));
    meter.push(SignalView(samples, Shape{kHeight, kWidth}), frame / kRate, changes);
    take();
  }
  meter.finish(changes);
  take();
  if (auto event = list.finish()) events.push_back(*event);
  return events;
}

/// A square that crosses the picture in frames 120 to 169.
Edit crossing(int side, float contrast) {
  return [=](Grey& grey, int frame) {
    if (frame < 120 || frame >= 170) return;
    const int left = 10 + 3 * (frame - 120);
    for (int y = 60; y < 60 + side; ++y)
      for (int x = left; x < left + side; ++x) pixel(grey, x, y) += contrast;
  };
}

TEST(Triage, SmallViewDrawsLowFrequencies) {
  const auto wave = [](double x, double y) {
    const double turns = 3 * x / kWidth + 2 * y / kHeight;
    return 120 + 50 * std::cos(2 * std::numbers::pi * turns + 0.4);
  };
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) samples.push_back(static_cast<std::uint8_t>(wave(x, y) + 0.5));
  const SignalView frame(samples, Shape{kHeight, kWidth});
  SmallView view(frame, 1000, 0);
  ASSERT_EQ(view.frame_x(view.width()), kWidth);  // no rim is left out
  ASSERT_EQ(view.frame_y(view.height()), kHeight);
  Grey picture;
  view.read(frame, picture);
  for (int y = 0; y < view.height(); ++y) {
    for (int x = 0; x < view.width(); ++x)
      EXPECT_NEAR(picture[static_cast<std::size_t>(y * view.width() + x)],
                  wave(view.frame_x(x), view.frame_y(y)), 0.5);
  }
  const std::vector<std::uint8_t> tiny(20 * 20);
  EXPECT_THROW(SmallView(SignalView(tiny, Shape{20, 20}), 1000, 0), Error);
  const std::vector<std::uint8_t> other(100 * 100);
  EXPECT_THROW(view.read(SignalView(other, Shape{100, 100}), picture), Error);
}

TEST(Triage, LightIsFittedToMostOfThePicture) {
  std::vector<float> picture;
  for (const float level : scene()) picture.push_back(1.3F * level - 20);
  for (std::size_t i = 0; i < picture.size() * 2 / 5; ++i) picture[i] = 230;
  const Light light = fit_light(picture, scene(), {});
  EXPECT_NEAR(light.gain, 1.3, 0.01);
  EXPECT_NEAR(light.offset, -20, 1);
}

TEST(Triage, NothingHappens) {
  EXPECT_TRUE(events_of([](Grey&, int) {}).empty());
}

TEST(Triage, LightIsNoEvent) {
  const auto steps = events_of([](Grey& grey, int frame) {
    const float gains[] = {1, 0.6F, 1.25F, 0.8F};
    const float offsets[] = {0, 20, -10, 5};
    for (float& level : grey) level = gains[frame / 75] * level + offsets[frame / 75];
  });
  EXPECT_TRUE(steps.empty());
  const auto nightfall = events_of([](Grey& grey, int frame) {
    for (float& level : grey) level *= 1 - 0.9F * static_cast<float>(frame) / kFrames;
  });
  EXPECT_TRUE(nightfall.empty());
  const auto flicker = events_of([](Grey& grey, int frame) {
    for (float& level : grey) level *= 1 + 0.08F * static_cast<float>(std::sin(2.1 * frame));
  });
  EXPECT_TRUE(flicker.empty());
  const auto lamp = events_of([](Grey& grey, int frame) {
    if (frame / 80 % 2 == 0) return;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const double distance = std::hypot(x - 50, y - 40) / 60;
        pixel(grey, x, y) *= 1 + 0.4F * static_cast<float>(std::exp(-0.5 * distance * distance));
      }
    }
  });
  EXPECT_TRUE(lamp.empty());
}

TEST(Triage, RainAndWavingClothAreNoEvents) {
  std::mt19937 random(5);
  const auto rain = events_of([&random](Grey& grey, int) {
    for (int i = 0; i < 25; ++i) {
      const auto x = static_cast<int>(random() % kWidth);
      const auto y = static_cast<int>(random() % (kHeight - 9));
      for (int v = y; v < y + 9; ++v) pixel(grey, x, v) += 45;
    }
  });
  EXPECT_TRUE(rain.empty());
  std::uniform_real_distribution<double> pace(0.2, 0.8);
  double phase = 0;
  const auto cloth = events_of([&](Grey& grey, int) {
    phase += pace(random);
    for (int y = 30; y < 54; ++y)
      for (int x = 50; x < 74; ++x)
        pixel(grey, x, y) =
            110 + 60 * static_cast<float>(std::sin(x / 3.0 + phase + 2 * std::sin(phase / 3.1 + y / 8.0)));
  });
  EXPECT_TRUE(cloth.empty());
}

TEST(Triage, SmallObjectsAreEvents) {
  for (const float contrast : {40.0F, 80.0F, -60.0F}) {
    const auto events = events_of(crossing(kWidth / 16, contrast));
    ASSERT_EQ(events.size(), 1U) << contrast;
    EXPECT_NEAR(events[0].change_start_s, 4.8, 0.2);
    EXPECT_NEAR(events[0].change_end_s, 6.8, 0.4);
    EXPECT_NEAR(events[0].start_s, events[0].change_start_s - 1, 1e-9);
    EXPECT_GE(events[0].peak_s, 4.8);
    EXPECT_LE(events[0].peak_s, 6.9);
    const double left = 10 + 3 * (static_cast<double>(events[0].peak_frame) - 120);
    EXPECT_NEAR(events[0].peak_x, left, 24);
    EXPECT_NEAR(events[0].peak_y, 66, 14);
  }
}

TEST(Triage, WhatComesToStayIsOneEvent) {
  const auto parked = [](Grey& grey, int frame) {
    if (frame < 100) return;
    const int left = std::min(10 + 2 * (frame - 100), 90);
    for (int y = 50; y < 70; ++y)
      for (int x = left; x < left + 30; ++x) pixel(grey, x, y) = 220;
  };
  const auto events = events_of(parked);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NEAR(events[0].change_start_s, 4, 0.2);
  EXPECT_GT(events[0].change_end_s, 5.4);
  EXPECT_LT(events[0].change_end_s, 9);
}

/// Events of scores, one per frame at 10 frames per second.
std::vector<TriageEvent> events_of_scores(const std::vector<double>& scores, const EventOptions& options) {
  EventList list(options, 10);
  std::vector<TriageEvent> events;
  std::int64_t frame = 0;
  for (const double score : scores) {
    const double seconds = static_cast<double>(frame) / 10;
    if (auto event = list.add({frame++, seconds, score, 7, 9})) events.push_back(*event);
  }
  if (auto event = list.finish()) events.push_back(*event);
  return events;
}

TEST(Triage, MarginsAreAddedAndMerge) {
  std::vector<double> scores(300, 1.0);
  for (int i = 50; i < 60; ++i) scores[static_cast<std::size_t>(i)] = 10 + (i == 55);
  for (int i = 75; i < 80; ++i) scores[static_cast<std::size_t>(i)] = 8;
  for (int i = 200; i < 210; ++i) scores[static_cast<std::size_t>(i)] = 8;
  scores[250] = 100;  // shorter than an event
  EventOptions options;
  options.margin_before_s = 0.5;
  options.margin_after_s = 0.7;
  auto events = events_of_scores(scores, options);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].id, 1);
  EXPECT_NEAR(events[0].start_s, 4.5, 1e-9);
  EXPECT_NEAR(events[0].end_s, 6.7, 1e-9);
  EXPECT_EQ(events[0].start_frame, 45);
  EXPECT_EQ(events[0].end_frame, 68);
  EXPECT_EQ(events[0].peak, 11);
  EXPECT_EQ(events[0].peak_frame, 55);
  EXPECT_NEAR(events[2].start_s, 19.5, 1e-9);
  options.margin_after_s = 1.5;
  events = events_of_scores(scores, options);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NEAR(events[0].end_s, 9.5, 1e-9);
  scores.resize(205);  // ends while something happens
  events = events_of_scores(scores, options);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NEAR(events[1].end_s, 20.5, 1e-9);
  EXPECT_EQ(events[1].end_frame, 205);
}

TriageFile result(const std::string& path) {
  TriageFile file;
  file.path = path;
  file.status = TriageStatus::complete;
  file.frames = 250;
  file.seconds = 10;
  file.fps = 25;
  TriageEvent event;
  event.id = 1;
  event.start_s = 1.5;
  event.end_s = 3;
  event.start_frame = 38;
  event.end_frame = 75;
  event.peak = 12.25;
  event.peak_s = 2;
  file.events.push_back(event);
  file.timeline = {{0, 0.5}, {2, 12.25}};
  return file;
}

TEST(Triage, ReportsQuoteNames) {
  const std::vector<TriageFile> files{result("=a\"b'<script>.mp4"), result("two\nlines.mp4")};
  const auto json = nlohmann::json::parse(triage_json(files, 1));
  EXPECT_EQ(json["events"][0]["file"], files[0].path);
  EXPECT_EQ(json["events"][0]["start_s"], 1.5);
  EXPECT_EQ(json["events"][0]["peak"], 12.25);
  EXPECT_EQ(json["files"][1]["events"], 1);
  EXPECT_TRUE(json["files"][1]["resumed_at_frame"].is_null());
  EXPECT_NE(triage_csv(files).find("\" =a\"\"b'<script>.mp4\",1,1.500,3.000,38,75"), std::string::npos);
  const std::string list = triage_ffconcat(files);
  EXPECT_NE(list.find("=a\"b'\\''<script>.mp4'\ninpoint 1.500\noutpoint 3.000\n"), std::string::npos);
  EXPECT_EQ(list.find("\nlines"), std::string::npos);
  EXPECT_NE(
      triage_edl(files).find("001  AX       V     C        00:00:01:13 00:00:03:00 00:00:00:00 00:00:01:13"),
      std::string::npos);
  EXPECT_EQ(triage_page(files, 1, 6).find("<script>.mp4"), std::string::npos);
  EXPECT_EQ(triage_svg(files, 6).find("<script>"), std::string::npos);
}

TEST(Triage, StateKeepsResults) {
  const auto folder = std::filesystem::temp_directory_path() / "sfft_triage_state_test";
  std::filesystem::create_directories(folder);
  const std::string recording = (folder / "r\xff.mp4").string();
  const std::string path = (folder / "state").string();
  std::filesystem::remove(path);
  std::ofstream(recording) << "ten bytes.";
  TriageOptions options;
  {
    TriageState state(path, options);
    EXPECT_FALSE(state.find(recording));
    state.keep(result(recording));
  }
  const auto kept = TriageState(path, options).find(recording);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->resumed);
  EXPECT_EQ(kept->path, recording);
  ASSERT_EQ(kept->events.size(), 1U);
  EXPECT_EQ(kept->events[0].peak, 12.25);
  EXPECT_EQ(kept->timeline.size(), 2U);

  TriageOptions other = options;
  other.event.threshold = 3;
  EXPECT_TRUE(TriageState(path, other).other_options());
  EXPECT_FALSE(TriageState(path, other).find(recording));
  std::ofstream(recording, std::ios::app) << "more";
  EXPECT_FALSE(TriageState(path, options).find(recording));
  std::ofstream(path) << "a letter to my aunt";
  EXPECT_THROW(TriageState(path, options), Error);
  std::filesystem::remove_all(folder);
}

/// A recording with three squares that cross it, in a folder of its own.
class LongRecording {
 public:
  explicit LongRecording(int frames) {
    std::filesystem::create_directories(folder_);
    std::ofstream file(path(), std::ios::binary);
    file << "YUV4MPEG2 W" << kWidth << " H" << kHeight << " F25:1 Cmono\n";
    std::mt19937 random(11);
    std::normal_distribution<float> normal(0, 1.5F);
    for (int frame = 0; frame < frames; ++frame) {
      Grey grey = scene();
      for (const int first : {120, 330, 520}) crossing(16, 50)(grey, frame - first + 120);
      std::string samples;
      for (const float level : grey)
        samples += static_cast<char>(std::clamp(level + normal(random) + 0.5F, 0.0F, 255.0F));
      file << "FRAME\n" << samples;
    }
  }
  ~LongRecording() { std::filesystem::remove_all(folder_); }
  LongRecording(const LongRecording&) = delete;
  LongRecording& operator=(const LongRecording&) = delete;
  std::string path() const { return (folder_ / "film.y4m").string(); }
  std::string state() const { return (folder_ / "state").string(); }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "sfft_triage_part_test";
};

void expect_same(const TriageFile& found, const TriageFile& expected) {
  EXPECT_EQ(found.status, expected.status) << found.message;
  EXPECT_EQ(found.frames, expected.frames);
  EXPECT_EQ(found.seconds, expected.seconds);
  ASSERT_EQ(found.events.size(), expected.events.size());
  for (std::size_t i = 0; i < found.events.size(); ++i) {
    const TriageEvent &one = found.events[i], &other = expected.events[i];
    EXPECT_EQ(one.id, other.id);
    EXPECT_EQ(one.start_frame, other.start_frame);
    EXPECT_EQ(one.end_frame, other.end_frame);
    EXPECT_EQ(one.peak, other.peak);
    EXPECT_EQ(one.peak_frame, other.peak_frame);
    EXPECT_EQ(one.change_end_s, other.change_end_s);
  }
  ASSERT_EQ(found.timeline.size(), expected.timeline.size());
  for (std::size_t i = 0; i < found.timeline.size(); ++i) {
    EXPECT_EQ(found.timeline[i].value, expected.timeline[i].value) << i;
    EXPECT_EQ(found.timeline[i].seconds, expected.timeline[i].seconds) << i;
  }
}

TEST(Triage, GoesOnWithinARecordingAsIfItHadNotStopped) {
  const LongRecording recording(700);
  const std::atomic<bool> go{false};
  TriageOptions options;
  options.change.window_s = 8;
  options.part_every_s = 0;
  std::vector<TriagePart> parts;
  TriageCallbacks callbacks;
  callbacks.on_part = [&](TriagePart part) { parts.push_back(std::move(part)); };
  const TriageFile whole = triage(recording.path(), options, callbacks, go);
  ASSERT_EQ(whole.status, TriageStatus::complete) << whole.message;
  ASSERT_EQ(whole.events.size(), 3U);
  ASSERT_GT(parts.size(), 20U);
  callbacks = {};
  for (const std::size_t i : {std::size_t{0}, parts.size() / 3, 2 * parts.size() / 3, parts.size() - 1}) {
    std::size_t told = 0;
    callbacks.on_event = [&](const TriageFile&, const TriageEvent&) { ++told; };
    const TriageFile again = triage(recording.path(), options, callbacks, go, &parts[i]);
    EXPECT_GE(again.resumed_at_frame, 100);
    EXPECT_EQ(told, 3U);
    expect_same(again, whole);
  }
  // Through the state file, and from one that was interrupted.
  std::atomic<bool> stop{false};
  {
    TriageState state(recording.state(), options);
    callbacks = {};
    callbacks.on_part = [&](TriagePart part) { state.keep_part(std::move(part)); };
    callbacks.on_progress = [&](std::int64_t read, std::int64_t) { stop = read > 450; };
    EXPECT_EQ(triage(recording.path(), options, callbacks, stop).status, TriageStatus::interrupted);
    state.save();
  }
  TriageState state(recording.state(), options);
  EXPECT_FALSE(state.find(recording.path()));
  const TriagePart* const part = state.find_part(recording.path());
  ASSERT_NE(part, nullptr);
  const TriageFile rest = triage(recording.path(), options, {}, go, part);
  EXPECT_GT(rest.resumed_at_frame, 200);
  expect_same(rest, whole);
  state.keep(rest);
  EXPECT_EQ(state.find_part(recording.path()), nullptr);

  // What cannot be used is left alone.
  for (const std::size_t kept : {std::size_t{0}, std::size_t{40}, parts[9].memory.size() - 1}) {
    TriagePart cut = parts[9];
    cut.memory.resize(kept);
    const TriageFile anew = triage(recording.path(), options, {}, go, &cut);
    EXPECT_EQ(anew.resumed_at_frame, -1);
    expect_same(anew, whole);
  }
}

}  // namespace
}  // namespace sfft::video
