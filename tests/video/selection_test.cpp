// SPDX-License-Identifier: Apache-2.0
// Tests which frames a selection keeps and which regions it cuts out, and pictures made from spectra.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>

#include "tests/support/throws.hpp"
#include "video/report/reconstruction.hpp"
#include "video/sources/source.hpp"

namespace sfft::video::selection_test {
namespace {

/// 7x5 frames at 10 per second. A sample is its index plus ten times its frame.
class PlacesSource final : public FrameSource {
 public:
  explicit PlacesSource(int frames, bool words = false) : frames_(frames), words_(words) {
    info_.path = "places";
    info_.width = 7;
    info_.height = 5;
    info_.fps = 10;
    info_.frames_expected = frames;
  }
  const SourceInfo& info() const noexcept override { return info_; }
  bool advance(Frame& frame) override {
    if (++at_ >= frames_) return false;
    frame.seconds = timed ? at_ / 10.0 : std::nan("");
    frame.gap_seconds = at_ == gap_at ? 2.5 : 0;
    return true;
  }
  void load(Frame& frame) override {
    ++loaded;
    frame.width = 7;
    frame.height = 5;
    frame.bit_depth16 = words_;
    frame.samples.clear();
    for (int i = 0; i < 35; ++i) {
      frame.samples.push_back(static_cast<std::byte>(i + 10 * at_));
      if (words_) frame.samples.push_back(std::byte{1});
    }
  }

  SourceLog log() const override {
    SourceLog log;
    log.gaps.push_back({gap_at, 0.3, 2.5, 1, "lost"});
    return log;
  }

  int loaded = 0;
  int gap_at = -1;
  bool timed = true;

 private:
  int frames_, at_ = -1;
  bool words_;
  SourceInfo info_;
};

std::vector<int> frames_of(FrameSource& source) {
  std::vector<int> numbers;
  Frame frame;
  while (source.next(frame)) numbers.push_back(static_cast<int>(std::lround(10 * frame.seconds)));
  return numbers;
}

std::vector<int> selected(const Selection& selection, int frames = 12) {
  const auto source = select_frames(std::make_unique<PlacesSource>(frames), selection);
  const std::int64_t expected = source->info().frames_expected;
  std::vector<int> numbers = frames_of(*source);
  EXPECT_EQ(expected, static_cast<std::int64_t>(numbers.size()));
  return numbers;
}

TEST(Selection, TakesTheFramesOfAStretchOfTime) {
  EXPECT_EQ(selected({.start_seconds = 0.3, .end_seconds = 0.7}), (std::vector{3, 4, 5, 6}));
  EXPECT_EQ(selected({.start_seconds = 0.25}), (std::vector{3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(selected({.end_seconds = 0.2}), (std::vector{0, 1}));
}

TEST(Selection, TakesFramesByTheirNumber) {
  EXPECT_EQ(selected({.start_frame = 2, .end_frame = 5}), (std::vector{2, 3, 4}));
  EXPECT_EQ(selected({.end_seconds = 0.4, .start_frame = 2}), (std::vector{2, 3}));
}

TEST(Selection, CountsEveryNthFromTheStart) {
  EXPECT_EQ(selected({.every = 5}), (std::vector{0, 5, 10}));
  EXPECT_EQ(selected({.start_seconds = 0.1, .end_seconds = 0.9, .every = 3}), (std::vector{1, 4, 7}));
  const auto source = select_frames(std::make_unique<PlacesSource>(12), {.every = 4});
  EXPECT_DOUBLE_EQ(source->frame_rate(), 2.5);
}

TEST(Selection, LoadsNothingThatItLeavesOut) {
  auto owned = std::make_unique<PlacesSource>(12);
  PlacesSource& places = *owned;
  places.gap_at = 4;
  const auto source = select_frames(std::move(owned), {.start_frame = 3, .every = 4});
  Frame frame;
  ASSERT_TRUE(source->next(frame));
  EXPECT_EQ(frame.gap_seconds, 0);
  ASSERT_TRUE(source->next(frame));
  EXPECT_EQ(frame.gap_seconds, 2.5) << "the gap before a frame that was left out";
  EXPECT_EQ(frames_of(*source), (std::vector{11}));
  EXPECT_EQ(places.loaded, 3);
  EXPECT_EQ(source->log().gaps.at(0).frame, 1) << "of the frames that were taken: 3, 7 and 11";
}

/// Frames of 12 columns and 8 rows, then half of that, 6 and 4, then 24 and 8. A sample is its column.
class GrowingSource final : public FrameSource {
 public:
  const SourceInfo& info() const noexcept override { return info_; }
  bool next(Frame& frame) override {
    constexpr std::int64_t kSizes[3][2] = {{12, 8}, {6, 4}, {24, 8}};
    if (at_ == 3) return false;
    frame.segment = at_;
    frame.width = kSizes[at_][0];
    frame.height = kSizes[at_][1];
    frame.samples.clear();
    for (std::int64_t i = 0; i < frame.width * frame.height; ++i)
      frame.samples.push_back(static_cast<std::byte>(i % frame.width));
    ++at_;
    return true;
  }

 private:
  int at_ = 0;
  SourceInfo info_;
};

TEST(Selection, ARegionFollowsTheSizeOfThePictures) {
  const auto source = select_frames(std::make_unique<GrowingSource>(), {.roi = Region{4, 2, 6, 4}});
  constexpr int kExpected[3][3] = {{4, 6, 4}, {2, 3, 2}, {8, 12, 4}};  // left, width, height
  Frame frame;
  for (const auto& [left, width, height] : kExpected) {
    ASSERT_TRUE(source->next(frame));
    EXPECT_EQ(frame.width, width);
    EXPECT_EQ(frame.height, height);
    ASSERT_EQ(frame.samples.size(), static_cast<std::size_t>(width * height));
    EXPECT_EQ(frame.samples.front(), static_cast<std::byte>(left));
    EXPECT_EQ(frame.samples.back(), static_cast<std::byte>(left + width - 1));
  }
}

TEST(Selection, CutsRegionsOut) {
  for (const bool words : {false, true}) {
    const auto source = select_frames(std::make_unique<PlacesSource>(3, words), {.roi = Region{2, 1, 4, 3}});
    EXPECT_EQ(source->info().width, 4);
    EXPECT_EQ(source->info().height, 3);
    Frame frame;
    for (int t = 0; source->next(frame); ++t) {
      ASSERT_EQ(frame.width, 4);
      ASSERT_EQ(frame.height, 3);
      ASSERT_EQ(frame.samples.size(), words ? 24u : 12u);
      for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 4; ++x) {
          const auto at = static_cast<std::size_t>((y * 4 + x) * (words ? 2 : 1));
          EXPECT_EQ(static_cast<int>(frame.samples[at]), (y + 1) * 7 + x + 2 + 10 * t);
        }
      }
    }
  }
}

TEST(Selection, WhatSelectsNothingIsSaid) {
  const auto places = [] { return std::make_unique<PlacesSource>(12); };
  EXPECT_EQ(test::code_of([&] { select_frames(places(), {.start_seconds = 2, .end_seconds = 1}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(test::code_of([&] {
              select_frames(places(), {.roi = Region{4, 0, 4, 5}});
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(test::code_of([&] {
              select_frames(places(), {.roi = Region{0, 0, 0, 5}});
            }),
            ErrorCode::invalid_argument);
  auto still = places();
  still->timed = false;
  const auto timeless = select_frames(std::move(still), {.end_seconds = 1});
  Frame any;
  EXPECT_EQ(test::code_of([&] { timeless->next(any); }), ErrorCode::invalid_argument);
  const auto late = select_frames(places(), {.start_seconds = 60});
  Frame frame;
  EXPECT_THROW(late->next(frame), InputError);
}

/// Tones whose sum is known at every pixel.
struct Tone {
  std::int64_t row, column;
  std::complex<double> value;
};

TEST(Reconstruction, IsTheSumOfItsTones) {
  for (const Shape shape : {Shape{6, 8}, Shape{5, 7}, Shape{4, 1}, Shape{1, 6}}) {
    const std::int64_t rows = shape[0];
    const std::int64_t columns = shape[1];
    const auto points = static_cast<double>(shape.points());
    // One of each pair of opposite frequencies, from either half, on and off the columns that are their own
    // mirror images.
    std::vector<Tone> tones{{0, 0, 3 * points}};
    if (rows > 2) tones.push_back({1, 0, {5, 7}});
    if (rows > 2 && columns > 3) tones.push_back({2, columns - 1, {-4, 9}});
    if (rows > 2 && columns == 8) tones.push_back({1, 4, {2, -6}});
    if (rows == 6 && columns == 8) tones.push_back({3, 4, {8, 0}});
    Spectrum<float> spectrum;
    std::vector<std::int64_t> support;
    for (const Tone& tone : tones) {
      support.push_back(tone.row * columns + tone.column);
      spectrum.values.emplace_back(tone.value);
    }
    spectrum.support = std::make_shared<const std::vector<std::int64_t>>(support);
    Reconstruction reconstruction(shape);
    const std::vector<float>& picture = reconstruction.picture(spectrum, 99);
    for (std::int64_t y = 0; y < rows; ++y) {
      for (std::int64_t x = 0; x < columns; ++x) {
        double sum = 0;
        for (const Tone& tone : tones) {
          const bool own = (2 * tone.row) % rows == 0 && (2 * tone.column) % columns == 0;
          const double angle = 2 * std::numbers::pi *
                               (static_cast<double>(tone.row * y) / static_cast<double>(rows) +
                                static_cast<double>(tone.column * x) / static_cast<double>(columns));
          sum += (own ? 1 : 2) * (tone.value * std::polar(1.0, angle)).real() / points;
        }
        EXPECT_NEAR(picture[static_cast<std::size_t>(y * columns + x)], sum, 1e-4)
            << rows << " " << y << " " << x;
      }
    }
  }
}

TEST(Reconstruction, AFilmShowsBothSideBySide) {
  const std::string path = testing::TempDir() + "sfft-film-" + std::to_string(getpid()) + ".y4m";
  {
    detail::OutputFile output(path);
    ReconstructionFilm film(output, 12.5);
    std::vector<std::uint16_t> samples(6 * 8, 400);  // for example 10 bits
    samples[3] = 1000;
    Spectrum<float> spectrum;
    spectrum.support = std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{0});
    spectrum.values = {{412.5F * 48, 0}};
    film.add({samples.data(), samples.size(), ElementType::u16, Shape{6, 8}}, spectrum);
    output.commit();
  }
  const auto source = open_source(path);
  EXPECT_EQ(source->info().width, 16);
  EXPECT_EQ(source->info().height, 6);
  EXPECT_DOUBLE_EQ(source->frame_rate(), 12.5);
  Frame frame;
  ASSERT_TRUE(source->next(frame));
  EXPECT_EQ(static_cast<int>(frame.samples[0]), 100);
  EXPECT_EQ(static_cast<int>(frame.samples[3]), 250);
  for (std::size_t x = 8; x < 16; ++x) EXPECT_EQ(static_cast<int>(frame.samples[x]), 103);
  EXPECT_FALSE(source->next(frame));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sfft::video::selection_test
