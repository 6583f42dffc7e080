// SPDX-License-Identifier: Apache-2.0
// Tests what is reported about recordings that vary, change or end early. The tests make the recordings.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include "tests/support/recording.hpp"
#include "video/pipeline/run.hpp"
#include "video/report/report.hpp"
#include "video/sources/recording_end.hpp"

namespace sfft::video::recording_test {
namespace {

using test::RecordedFrame;
using test::steady_frames;

struct Kind {
  const char *container, *encoder;
  friend std::ostream& operator<<(std::ostream& out, const Kind& kind) {
    return out << kind.container << ", " << kind.encoder;
  }
};

class Recordings : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (avcodec_find_encoder_by_name(GetParam().encoder) == nullptr)
      GTEST_SKIP() << "libavcodec has no encoder " << GetParam().encoder;
    path_ = testing::TempDir() + "sfft-recording-" + std::to_string(getpid()) + "." + GetParam().container;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void record(const std::vector<RecordedFrame>& frames) { test::record(path_, GetParam().encoder, frames); }

  RunReport run() {
    const auto source = open_source(path_);
    const std::atomic<bool> go{false};
    RunOptions options;
    options.k = 8;
    options.verify = 0;
    return video::run(
        *source, options, nullptr, [](std::int64_t, std::int64_t) {}, go);
  }

  std::string path_;
};

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  std::string name = std::string(info.param.container) + "_" + info.param.encoder;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

class Steady : public Recordings {};
TEST_P(Steady, IsComplete) {
  record(steady_frames(30));
  const RunReport report = run();
  EXPECT_EQ(report.status, RunStatus::complete) << report.message;
  EXPECT_EQ(report.frames_read, 30);
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  EXPECT_NE(file_end(path_), FileEnd::cut);
}
INSTANTIATE_TEST_SUITE_P(, Steady,
                         testing::Values(Kind{"mp4", "mpeg4"}, Kind{"mov", "mjpeg"}, Kind{"mkv", "ffv1"},
                                         Kind{"avi", "mjpeg"}, Kind{"ts", "mpeg2video"}, Kind{"flv", "flv"},
                                         Kind{"webm", "libvpx"}, Kind{"ogv", "libtheora"},
                                         Kind{"mkv", "libx264"}, Kind{"mpg", "mpeg1video"}),
                         name_of);

/// Half of the frames come ten times as slowly, so counts from duration and rate are five times too large.
class Varying : public Recordings {};
TEST_P(Varying, IsCompleteToo) {
  std::vector<RecordedFrame> frames = steady_frames(40);
  for (std::size_t t = 20; t < 40; ++t) frames[t].ms = static_cast<std::int64_t>(800 + 400 * (t - 20));
  record(frames);
  const RunReport report = run();
  EXPECT_GT(report.input.frames_expected, 100) << "the count is an estimate, or this tests nothing";
  EXPECT_EQ(report.status, RunStatus::complete) << report.message;
  EXPECT_EQ(report.frames_read, 40);
  if (std::string(GetParam().container) != "mpg") {  // MPEG program streams lack a time stamp for every frame
    EXPECT_NEAR(report.input_log.min_interval_seconds, 0.04, 0.002);
    EXPECT_NEAR(report.input_log.max_interval_seconds, 0.4, 0.02);
  }
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(json_report(report).find("varying intervals"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(, Varying,
                         testing::Values(Kind{"mkv", "ffv1"}, Kind{"mkv", "mpeg4"}, Kind{"avi", "mjpeg"},
                                         Kind{"ts", "mpeg2video"}, Kind{"flv", "flv"}, Kind{"webm", "libvpx"},
                                         Kind{"ogv", "libtheora"}, Kind{"mpg", "mpeg1video"}),
                         name_of);

/// Nothing was recorded for an hour.
class Interrupted : public Recordings {};
TEST_P(Interrupted, HoldsAGap) {
  std::vector<RecordedFrame> frames = steady_frames(40);
  for (std::size_t t = 25; t < 40; ++t) frames[t].ms += 3600000;
  record(frames);
  const RunReport report = run();
  EXPECT_EQ(report.status, RunStatus::complete) << report.message;
  ASSERT_EQ(report.input_log.gaps.size(), 1U);
  const Gap& gap = report.input_log.gaps[0];
  EXPECT_EQ(gap.frame, 25);
  EXPECT_NEAR(gap.seconds, 3600.04, 0.05);
  EXPECT_NEAR(gap.start_seconds, 0.96, 0.05);
  EXPECT_EQ(gap.attempts, 0);
}
INSTANTIATE_TEST_SUITE_P(, Interrupted,
                         testing::Values(Kind{"mkv", "ffv1"}, Kind{"mkv", "libx264"}, Kind{"mov", "mjpeg"}),
                         name_of);

/// Truncated recordings, also with a varying rate, whose frame count is useless.
class Truncated : public Recordings {};
TEST_P(Truncated, IsDamaged) {
  std::vector<RecordedFrame> frames = steady_frames(40);
  for (std::size_t t = 20; t < 40; ++t) frames[t].ms = static_cast<std::int64_t>(800 + 80 * (t - 20));
  record(frames);
  const auto bytes = std::filesystem::file_size(path_);
  for (const double share : {0.98, 0.8, 0.51, 0.25}) {
    std::filesystem::resize_file(path_, static_cast<std::uintmax_t>(share * static_cast<double>(bytes)));
    EXPECT_EQ(file_end(path_), FileEnd::cut);
    try {
      const RunReport report = run();
      EXPECT_EQ(report.status, RunStatus::input_damaged) << share;
      EXPECT_LT(report.frames_read, 41);
    } catch (const InputError&) {  // it cannot even be opened
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, Truncated,
                         testing::Values(Kind{"mp4", "mpeg4"}, Kind{"mkv", "ffv1"}, Kind{"avi", "mjpeg"},
                                         Kind{"flv", "flv"}, Kind{"webm", "libvpx"},
                                         Kind{"ogv", "libtheora"}),
                         name_of);

/// OpenCV would scale the later frames to the size of the first.
class Changing : public Recordings {};
TEST_P(Changing, BeginsAgainWhenFramesChangeSize) {
  std::vector<RecordedFrame> frames = steady_frames(40);
  for (std::size_t t = 20; t < 40; ++t) {
    frames[t].width = 96;
    frames[t].height = 64;
  }
  record(frames);
  const RunReport report = run();
  EXPECT_EQ(report.status, RunStatus::complete) << report.message;
  EXPECT_EQ(report.frames_read, 40);
  EXPECT_EQ(report.frames.size(), 38U) << "one frame is learned from in each segment";
  ASSERT_EQ(report.input_log.changes.size(), 1U);
  const FormatChange& change = report.input_log.changes[0];
  EXPECT_EQ(change.frame, 20);
  EXPECT_EQ(change.before.width, 64);
  EXPECT_EQ(change.before.height, 48);
  EXPECT_EQ(change.after.width, 96);
  EXPECT_EQ(change.after.height, 64);
  EXPECT_EQ(report.input.width, 64);
}
INSTANTIATE_TEST_SUITE_P(, Changing,
                         testing::Values(Kind{"avi", "mjpeg"}, Kind{"avi", "mpeg4"}, Kind{"mov", "mjpeg"},
                                         Kind{"ts", "mpeg2video"}, Kind{"ts", "libx264"},
                                         Kind{"ts", "libx265"}, Kind{"webm", "libvpx"},
                                         Kind{"webm", "libvpx-vp9"}, Kind{"mpg", "mpeg1video"}),
                         name_of);

/// Reads all frames of a file.
std::vector<Frame> frames_of(const std::string& path, const SourceOptions& options = {}) {
  const auto source = open_source(path, options);
  std::vector<Frame> frames;
  for (Frame frame; source->next(frame);) frames.push_back(frame);
  return frames;
}

/// The matrix in the header of the only track, as ISO/IEC 14496-12 lays it out.
TEST(Turned, PicturesAreRotatedAsTheContainerSays) {
  const std::string path = testing::TempDir() + "sfft-turned-" + std::to_string(getpid()) + ".mp4";
  test::record(path, "mpeg4", steady_frames(5));
  const Frame upright = frames_of(path).front();
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  file.clear();
  file.seekp(static_cast<std::streamoff>(content.find("tkhd") + 4 + 40));
  file << std::string(
      "\0\0\0\0"
      "\0\1\0\0"
      "\0\0\0\0"
      "\xFF\xFF\0\0"
      "\0\0\0\0",
      20);  // the rotation is clockwise
  file.close();
  const auto source = open_source(path);
  EXPECT_EQ(source->info().width, 48);
  EXPECT_EQ(source->info().height, 64);
  Frame turned;
  ASSERT_TRUE(source->next(turned));
  ASSERT_EQ(turned.width, 48);
  ASSERT_EQ(turned.height, 64);
  for (std::size_t y = 0; y < 48; ++y) {
    for (std::size_t x = 0; x < 64; ++x)
      ASSERT_EQ(turned.samples[x * 48 + 47 - y], upright.samples[y * 64 + x]);
  }
  std::filesystem::remove(path);
}

/// Starting in the middle gives the same frames as reading up to it.
TEST(Selected, FramesAreThoseOfTheWholeRecording) {
  for (const char* const kind : {"mp4", "mkv", "avi", "ts"}) {
    const std::string path = testing::TempDir() + "sfft-selected-" + std::to_string(getpid()) + "." + kind;
    test::record(path, std::string(kind) == "ts" ? "mpeg2video" : "mpeg4", steady_frames(60));
    const std::vector<Frame> whole = frames_of(path);
    ASSERT_EQ(whole.size(), 60u);
    SourceOptions options;
    options.selection.start_seconds = 1.32;
    options.selection.end_seconds = 2;
    const std::vector<Frame> part = frames_of(path, options);
    ASSERT_EQ(part.size(), 17u) << kind;
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_NEAR(part[i].seconds, whole[33 + i].seconds, 1e-3);
      EXPECT_EQ(part[i].samples, whole[33 + i].samples) << kind << " " << i;
    }
    std::filesystem::remove(path);
  }
}

TEST(Damage, AnIndexThatIsMissingIsNamed) {
  const std::string path = testing::TempDir() + "sfft-index-" + std::to_string(getpid()) + ".mp4";
  test::record(path, "mpeg4", steady_frames(30));
  EXPECT_FALSE(lacks_index(path));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_TRUE(lacks_index(path));
  try {
    open_source(path);
    ADD_FAILURE() << "it was opened";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("moov"), std::string::npos) << error.what();
  }
  std::filesystem::remove(path);
  EXPECT_FALSE(lacks_index(path));
}

/// The file ends with appended bytes, or with a last box that is not needed.
TEST(Damage, NothingIsMissingWhereTheIndexIsComplete) {
  const std::string path = testing::TempDir() + "sfft-rest-" + std::to_string(getpid()) + ".mp4";
  test::record(path, "mpeg4", steady_frames(30));
  std::ofstream(path, std::ios::binary | std::ios::app) << std::string("\0\0\1\0free", 8) << "cut";
  EXPECT_EQ(file_end(path), FileEnd::cut);
  const auto source = open_source(path);
  Frame frame;
  int frames = 0;
  while (source->next(frame)) ++frames;
  EXPECT_EQ(frames, 30);
  std::filesystem::remove(path);
}

/// Makes a hole in the middle; the container still counts the frames in it.
TEST(Damage, FramesThatCannotBeDecodedAreMissed) {
  const std::string path = testing::TempDir() + "sfft-damage-" + std::to_string(getpid()) + ".mkv";
  test::record(path, "mpeg4", steady_frames(60));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  file.clear();
  file.seekp(static_cast<std::streamoff>(content.size() / 4));
  file << std::string(content.size() / 2, '\x55');
  file.close();
  const auto source = open_source(path);
  const std::atomic<bool> go{false};
  RunOptions options;
  options.k = 8;
  const RunReport report = run(
      *source, options, nullptr, [](std::int64_t, std::int64_t) {}, go);
  EXPECT_LT(report.frames_read, 60);
  EXPECT_TRUE(report.status == RunStatus::input_damaged || !report.warnings.empty());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sfft::video::recording_test
