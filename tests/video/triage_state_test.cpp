// SPDX-License-Identifier: Apache-2.0
// Tests how triage writes and keeps results, and continues after an interruption.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "sfft/error.hpp"
#include "tests/video/triage_scene.hpp"
#include "video/triage/recording.hpp"
#include "video/triage/triage_report.hpp"
#include "video/triage/triage_state.hpp"

namespace sfft::video::triage_state_test {
namespace {

TriageFile result(const std::string& path) {
  TriageFile file;
  file.path = path;
  file.status = RunStatus::complete;
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
  std::vector<std::string> problems;
  const std::string list = triage_ffconcat(files, 0, problems);
  EXPECT_NE(list.find("=a\"b'\\''<script>.mp4'\ninpoint 1.500\noutpoint 3.000\n"), std::string::npos);
  EXPECT_EQ(list.find("\nlines"), std::string::npos);
  EXPECT_NE(
      triage_edl(files).find("001  AX       V     C        00:00:01:13 00:00:03:00 00:00:00:00 00:00:01:12"),
      std::string::npos);
  EXPECT_EQ(triage_page(files, 1, 6).find("<script>.mp4"), std::string::npos);
  EXPECT_EQ(triage_svg(files, 6).find("<script>"), std::string::npos);
}

TEST(Triage, ReportsNameTheZonesOfAnEvent) {
  std::vector<TriageFile> files{result("yard.mp4"), result("gate.mp4")};
  files[0].events[0].zones = {"yard", "\"gate\" <1>"};
  const auto json = nlohmann::json::parse(triage_json(files, 1));
  EXPECT_EQ(json["events"][0]["zones"], nlohmann::json({"yard", "\"gate\" <1>"}));
  EXPECT_FALSE(json["events"][1].contains("zones"));
  const std::string csv = triage_csv(files);
  EXPECT_NE(csv.find(",wall_clock,zones\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",\"yard;\"\"gate\"\" <1>\"\n"), std::string::npos) << csv;
  EXPECT_EQ(csv.substr(csv.size() - 3), ",,\n") << "no date and no zone";
  const std::string page = triage_page(files, 1, 6);
  EXPECT_NE(page.find(", in yard;"), std::string::npos);
  EXPECT_EQ(page.find("<1>"), std::string::npos);
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
  TriageOptions faster = options;
  faster.change.thresholds.change_s = 0.1;
  EXPECT_FALSE(TriageState(path, faster).find(recording));
  std::ofstream(recording, std::ios::app) << "more";
  EXPECT_FALSE(TriageState(path, options).find(recording));
  std::ofstream(path) << "a letter to my aunt";
  EXPECT_THROW(TriageState(path, options), Error);
  std::filesystem::remove_all(folder);
}

/// A recording with three squares that cross it, in a separate folder.
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
  ASSERT_EQ(whole.status, RunStatus::complete) << whole.message;
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
  // Continues from a state file, and from that of an interrupted run.
  std::atomic<bool> stop{false};
  {
    TriageState state(recording.state(), options);
    callbacks = {};
    callbacks.on_part = [&](TriagePart part) { state.keep_part(std::move(part)); };
    callbacks.on_progress = [&](std::int64_t read, std::int64_t) { stop = read > 450; };
    EXPECT_EQ(triage(recording.path(), options, callbacks, stop).status, RunStatus::interrupted);
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

  // Parts that cannot be used are ignored.
  for (const std::size_t kept : {std::size_t{0}, std::size_t{40}, parts[9].memory.size() - 1}) {
    TriagePart cut = parts[9];
    cut.memory.resize(kept);
    const TriageFile again = triage(recording.path(), options, {}, go, &cut);
    EXPECT_EQ(again.resumed_at_frame, -1);
    expect_same(again, whole);
  }
}

}  // namespace
}  // namespace sfft::video::triage_state_test
