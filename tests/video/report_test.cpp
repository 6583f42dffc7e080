// SPDX-License-Identifier: Apache-2.0
// Tests runs and their reports: statuses, counts, escaping of names, and pages that stay small.
#include "video/report/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "tests/support/throws.hpp"
#include "video/pipeline/batching.hpp"
#include "video/pipeline/statistics.hpp"
#include "video/report/text.hpp"

namespace sfft::video::report_test {
namespace {

/// A source with the frames of a short film.
class FilmSource final : public FrameSource {
 public:
  explicit FilmSource(int frames, int change_size_at = -1, bool live = false)
      : frames_(frames), change_(change_size_at), live_(live) {
    info_.path = "film <&\">";
    info_.width = 96;
    info_.height = 64;
    info_.frames_expected = frames;
  }
  const SourceInfo& info() const noexcept override { return info_; }
  bool live() const noexcept override { return live_; }
  bool next(Frame& frame) override {
    if (at_ == frames_) return false;
    frame.width = at_ == change_ ? 80 : 96;
    frame.height = 64;
    const auto film = test::film_frame(frame.height, frame.width, at_++);
    const auto* bytes = reinterpret_cast<const std::byte*>(film.data());
    frame.samples.assign(bytes, bytes + film.size());
    return true;
  }

 private:
  int frames_, change_, at_ = 0;
  bool live_;
  SourceInfo info_;
};

RunReport run_film(FilmSource source, RunOptions options = {}, bool stop_early = false) {
  std::atomic<bool> stop{false};
  options.k = options.k == 0 ? 30 : options.k;
  const auto progress = [&](std::int64_t read, std::int64_t) {
    if (stop_early && read == 4) stop = true;
  };
  return run(source, options, nullptr, progress, stop);
}

TEST(Run, ReadsVerifiesAndCounts) {
  RunOptions options;
  options.verify = 5;
  const RunReport report = run_film(FilmSource(21), options);
  EXPECT_EQ(report.status, RunStatus::complete);
  EXPECT_EQ(report.frames_read, 21);
  EXPECT_EQ(report.frames.size(), 20u) << "the first frame was learned from";
  const RunStatistics numbers(report);
  EXPECT_EQ(numbers.verified, 4);
  EXPECT_LE(numbers.error_max, 0.5);
  EXPECT_GT(numbers.median_us, 0);
  EXPECT_GT(numbers.dense_us, 0);
}

TEST(Run, StopsBetweenFramesAndKeepsWhatIsDone) {
  const RunReport report = run_film(FilmSource(21), {}, true);
  EXPECT_EQ(report.status, RunStatus::interrupted);
  EXPECT_EQ(report.frames_read, 4);
}

TEST(Run, AChangedSizeIsDamageButWhatWasReadIsReported) {
  const RunReport report = run_film(FilmSource(21, 7));
  EXPECT_EQ(report.status, RunStatus::input_damaged);
  EXPECT_EQ(report.frames_read, 7);
  EXPECT_NE(report.message.find("frame 7"), std::string::npos);
  EXPECT_NE(json_report(report).find("\"frames_read\": 7"), std::string::npos);
}

/// Returns the reports' rows without the times.
std::vector<std::string> rows_of(FilmSource source, RunOptions options) {
  std::vector<std::string> rows;
  options.on_frame = [&](const FrameRecord& frame) {
    FrameRecord timeless = frame;
    timeless.us = 0;
    rows.push_back(csv_row(timeless));
  };
  static_cast<void>(run_film(std::move(source), options));
  return rows;
}

TEST(Run, BatchesOfAnySizeReportTheSame) {
  RunOptions options;
  options.verify = 3;
  for (const std::int64_t learn_frames : {1, 4}) {
    options.learn_frames = learn_frames;
    options.batch = 1;
    const auto expected = rows_of(FilmSource(38), options);
    ASSERT_EQ(expected.size(), 37u);
    for (const int batch : {3, 32}) {
      options.batch = batch;
      for (const bool live : {false, true}) EXPECT_EQ(rows_of(FilmSource(38, -1, live), options), expected);
    }
  }
}

TEST(Run, ARecordingFillsItsBatches) {
  RunOptions options;
  options.batch = 8;
  const RunReport filled = run_film(FilmSource(27), options);
  EXPECT_EQ(filled.frames_read, 27);
  EXPECT_EQ(filled.pushes, 4) << "8 + 8 + 8 + 2 after the frame that is learned from";
  options.frames = 13;
  const RunReport limited = run_film(FilmSource(27), options);
  EXPECT_EQ(limited.frames_read, 13);
  EXPECT_EQ(limited.pushes, 2);
  options.frames = 1;
  EXPECT_EQ(run_film(FilmSource(27), options).frames_read, 1);
}

/// A camera that delivers a frame only after the previous one has been reported.
class PatientCamera final : public FrameSource {
 public:
  PatientCamera(int frames, const std::atomic<std::int64_t>& reported) : film_(frames), reported_(reported) {}
  const SourceInfo& info() const noexcept override { return film_.info(); }
  bool live() const noexcept override { return true; }
  bool next(Frame& frame) override {
    while (reported_ < read_ && !interrupted_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++read_;
    return !interrupted_ && film_.next(frame);
  }
  void interrupt() noexcept override { interrupted_ = true; }

 private:
  FilmSource film_;
  const std::atomic<std::int64_t>& reported_;
  std::int64_t read_ = 0;
  std::atomic<bool> interrupted_{false};
};

TEST(Run, ACameraIsNotWaitedForHoweverLargeTheBatch) {
  for (const int batch : {0, 1, 32}) {
    std::atomic<std::int64_t> reported{0};
    PatientCamera camera(12, reported);
    RunOptions options;
    options.k = 30;
    options.batch = batch;
    const std::atomic<bool> stop{false};
    const RunReport report = run(
        camera, options, nullptr, [&](std::int64_t read, std::int64_t) { reported = read; }, stop);
    EXPECT_EQ(report.status, RunStatus::complete);
    EXPECT_EQ(report.frames_read, 12);
    EXPECT_EQ(report.pushes, 11);
  }
}

TEST(Run, ADamagedFrameInABatchComesAfterThoseBeforeIt) {
  RunOptions options;
  for (const int batch : {1, 4, 32}) {
    options.batch = batch;
    for (const int change : {1, 7}) {
      const RunReport report = run_film(FilmSource(21, change), options);
      EXPECT_EQ(report.status, RunStatus::input_damaged);
      EXPECT_EQ(report.frames_read, change);
      EXPECT_EQ(report.frames.size(), static_cast<std::size_t>(change - 1));
      EXPECT_NE(report.message.find("frame " + std::to_string(change) + " is"), std::string::npos);
    }
  }
}

TEST(Run, ABatchUnderWayIsFinishedAndReported) {
  RunOptions options;
  options.batch = 5;
  const RunReport report = run_film(FilmSource(21), options, true);
  EXPECT_EQ(report.status, RunStatus::interrupted);
  EXPECT_EQ(report.frames_read, 6) << "the first, and the batch with the fourth in it";
  EXPECT_EQ(report.frames.size(), 5u);
}

TEST(Run, FramesFitTheMemoryTheyMayUse) {
  const std::size_t frame = 2'073'600;
  const auto max = [&](BatchingRequest request, std::int64_t bytes) {
    const Batching batching = choose_batching(request, frame, bytes);
    EXPECT_LE(batching.max, batching.slots);
    EXPECT_EQ(batching.slots % batching.max, 0u);
    EXPECT_EQ(batching.min, request.live ? 1 : batching.max);
    return batching.max;
  };
  constexpr std::int64_t kPlenty = std::int64_t{1} << 30;
  EXPECT_EQ(max({.gpu = true}, kPlenty), 64u);
  EXPECT_EQ(max({.gpu = true, .live = true}, kPlenty), 8u);
  EXPECT_EQ(max({.gpu = true, .devices = 2}, kPlenty), 128u);
  EXPECT_EQ(max({.threads = 1}, kPlenty), 1u);
  EXPECT_EQ(max({.threads = 4}, kPlenty), 16u);
  EXPECT_EQ(max({.threads = 64}, kPlenty), 32u);
  EXPECT_EQ(max({.batch = 100, .threads = 4}, kPlenty), 100u);
  EXPECT_EQ(max({.batch = 100}, 20 * 2'073'600), 10u);
  EXPECT_EQ(max({.batch = 100}, 0), 1u);
  EXPECT_EQ(plan_batch({.gpu = true}), 64);
  EXPECT_EQ(plan_batch({.gpu = true, .devices = 3}), 192);
  EXPECT_EQ(plan_batch({.gpu = true, .live = true}), 1);
  EXPECT_EQ(plan_batch({.batch = 9, .gpu = true, .live = true}), 9);
  EXPECT_EQ(plan_batch({.batch = 9, .threads = 8}), 1);
}

TEST(Run, APipeIsTakenForRecordedWhileItsFramesComeFasterThanTheyAreShown) {
  DeliveryPace pace(25);  // one frame per 40 ms
  EXPECT_TRUE(pace.recorded()) << "until it is known better";
  const auto came = [&](std::initializer_list<double> intervals_us) {
    std::vector<DecodedFrame> frames(intervals_us.size());
    std::ranges::transform(intervals_us, frames.begin(), [](double us) {
      DecodedFrame frame;
      frame.decode_us = us;
      return frame;
    });
    pace.note(frames);
    return pace.recorded();
  };
  EXPECT_TRUE(came({3000, 2000, 30000, 100}));
  EXPECT_FALSE(came({39000, 41000}));
  EXPECT_FALSE(came({500000, 10, 10, 10})) << "a camera that stood still";
  EXPECT_TRUE(came({10, 10, 10}));
  EXPECT_FALSE(came({25000}));
  EXPECT_FALSE(DeliveryPace(0).recorded()) << "nobody knows how fast they are shown";
}

TEST(Run, AnEmptySourceIsDamage) {
  EXPECT_EQ(run_film(FilmSource(0)).status, RunStatus::input_damaged);
}

TEST(Run, ATemplateOfAnotherShapeIsRefused) {
  RunOptions options;
  const std::vector<std::int64_t> support{1};
  options.tmpl = Template::from_support(Shape{8, 8}, Domain::real, support);
  EXPECT_EQ(test::code_of([&] { run_film(FilmSource(3), options); }), ErrorCode::shape_mismatch);
}

TEST(Reports, EscapeAndStayWellFormedWhereNothingWasMeasured) {
  for (const int frames : {0, 1, 12}) {
    std::string csv = csv_header();
    RunOptions options;
    options.on_frame = [&](const FrameRecord& frame) { csv += csv_row(frame); };
    const RunReport report = run_film(FilmSource(frames), options);
    const std::string json = json_report(report);
    EXPECT_EQ(json.find("nan"), std::string::npos);
    EXPECT_NE(json.find("\"schema\": \"sfft-video/1\""), std::string::npos);
    const std::string html = html_report(report);
    EXPECT_EQ(html.find("film <&"), std::string::npos) << "names are escaped";
    EXPECT_NE(html.find("film &lt;&amp;&quot;&gt;"), std::string::npos);
    EXPECT_EQ(html.find("http"), std::string::npos) << "no network";
    std::istringstream lines(csv);
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
      EXPECT_EQ(std::count(line.begin(), line.end(), ','), 10) << line;
      ++count;
    }
    EXPECT_EQ(count, std::max(1, frames));
  }
}

TEST(Run, SimilarityOfEveryFrameIsReportedWithItsCost) {
  RunOptions options;
  options.similarity = true;
  std::vector<FrameRecord> seen;
  options.on_frame = [&](const FrameRecord& frame) { seen.push_back(frame); };
  const RunReport report = run_film(FilmSource(13), options);
  ASSERT_EQ(seen.size(), 12u);
  for (const FrameRecord& frame : seen) {
    ASSERT_TRUE(frame.similarity.has_value()) << frame.index;
    EXPECT_GT(frame.similarity->energy, 0.5);
    EXPECT_GT(frame.similarity->us, 0);
    EXPECT_GT(frame.us, 0) << "the cost is taken off the time of the frame, once";
  }
  const std::string json = json_report(report);
  EXPECT_NE(json.find("\"every_frame\": true"), std::string::npos);
  EXPECT_NE(json.find("\"frames\": 12,\n    \"overlap\""), std::string::npos) << json;
  EXPECT_NE(summary(report).find("us more per frame"), std::string::npos);
  EXPECT_NE(html_report(report).find("spectral correlation"), std::string::npos);
}

TEST(Reports, ListRenewalsWithTheirSimilarity) {
  RunReport report = run_film(FilmSource(3));
  EXPECT_NE(json_report(report).find("\"renewals\": []"), std::string::npos);
  EXPECT_EQ(html_report(report).find("How similar"), std::string::npos) << "nothing is known of it";
  FrameRecord cut;
  cut.index = 7;
  cut.action = TrackedFrame::Action::relearned;
  cut.reason = "a <cut>";
  cut.similarity = TrackedFrame::Similarity{0.25, 0.125, 0.5, 3.0};
  report.frames.push_back(cut);
  cut.index = 9;
  cut.similarity->correlation = std::numeric_limits<double>::quiet_NaN();
  report.frames.push_back(cut);
  const std::string json = json_report(report);
  EXPECT_NE(json.find("\"frame\": 7"), std::string::npos);
  EXPECT_NE(json.find("\"overlap\": 0.25"), std::string::npos);
  EXPECT_NE(json.find("\"correlation\": null"), std::string::npos) << "unknown of a bare support";
  const std::string html = html_report(report);
  EXPECT_NE(html.find("<td>25.00 %</td><td>12.50 %</td><td>50.00 %</td>"), std::string::npos);
  EXPECT_EQ(html.find("a <cut>"), std::string::npos) << "reasons are escaped";
  EXPECT_EQ(csv_row(cut).substr(csv_row(cut).size() - 11), ",0.25,,0.5\n");
}

TEST(Reports, NamesThatAreNoTextAreShownAsText) {
  RunReport report = run_film(FilmSource(3));
  report.input.path = "a\x1b[2J\xff\n\xc3\xa4\xe2\x80\xae.mp4";
  const std::string html = html_report(report);
  EXPECT_NE(html.find("a\\x1B[2J\\xFF\\x0A\xc3\xa4\\xE2\\x80\\xAE.mp4"), std::string::npos);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(summary(report).find('\x1b'), std::string::npos);
}

/// A source with one frame of noise, the worst case for the size of a picture.
class NoiseSource final : public FrameSource {
 public:
  NoiseSource(std::int64_t width, std::int64_t height) : width_(width), height_(height) {
    info_.path = "noise";
  }
  const SourceInfo& info() const noexcept override { return info_; }
  bool next(Frame& frame) override {
    if (done_) return false;
    done_ = true;
    frame.width = width_;
    frame.height = height_;
    std::mt19937 random(1);
    frame.samples.resize(static_cast<std::size_t>(width_ * height_));
    for (std::byte& sample : frame.samples) sample = static_cast<std::byte>(random());
    return true;
  }

 private:
  std::int64_t width_, height_;
  bool done_ = false;
  SourceInfo info_;
};

TEST(Reports, PagesOfLargeFramesStaySmall) {
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{2100, 1000}, {20, 20000}};
  for (const auto& [width, height] : sizes) {
    NoiseSource source(width, height);
    RunOptions options;
    options.k = 300;
    const std::atomic<bool> stop{false};
    const RunReport report = run(
        source, options, nullptr, [](std::int64_t, std::int64_t) {}, stop);
    const std::string page = html_report(report);
    EXPECT_NE(page.find("circle class='hit'"), std::string::npos);
    EXPECT_LT(page.size(), std::size_t{6} << 20) << width << "x" << height;
  }
}

TEST(Text, EverySingleByteAndItsNeighbours) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string raw(1, static_cast<char>(byte));
    const bool shown = byte >= 0x20 && byte < 0x7F;
    EXPECT_EQ(printable(raw), shown ? raw : fmt::format("\\x{:02X}", byte));
  }
  for (const char* good :
       {"\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(printable(good), good);
  // C1 controls, overlong forms, surrogates, beyond Unicode, and truncated characters.
  for (const char* bad : {"\xc2\x9b", "\xc0\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xe2\x82"})
    EXPECT_EQ(printable(bad).find_first_not_of("\\x0123456789ABCDEF"), std::string::npos) << printable(bad);
}

}  // namespace
}  // namespace sfft::video::report_test
