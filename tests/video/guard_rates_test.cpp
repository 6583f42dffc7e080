// SPDX-License-Identifier: Apache-2.0
// Tests the guard on a drawn scene at many frame rates, on stopped, looped and padded streams, with cameras
// on patrol, in infrared light, and behind a spider's web.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sfft/error.hpp"
#include "video/events/thresholds.hpp"
#include "video/guard/guard.hpp"

namespace sfft::video::guard_rates_test {
namespace {

constexpr int kWidth = 240, kHeight = 180, kAround = 2400;

using Picture = std::vector<float>;

/// The view of a camera that turns: white noise, smoothed a little and a lot.
class Panorama {
 public:
  explicit Panorama(unsigned seed) : grey_(static_cast<std::size_t>(kAround * kHeight)) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 1);
    for (const auto& [side, deviation] : {std::pair(3, 22.0F), std::pair(12, 30.0F)}) {
      const int columns = kAround / side + 2;
      std::vector<float> coarse(static_cast<std::size_t>(columns * (kHeight / side + 2)));
      for (float& value : coarse) value = deviation * normal(random);
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kAround; ++x) {
          const float u = static_cast<float>(x % side) / static_cast<float>(side);
          const float v = static_cast<float>(y % side) / static_cast<float>(side);
          const auto at = [&](int dx, int dy) {
            return coarse[static_cast<std::size_t>((y / side + dy) * columns + x / side + dx)];
          };
          grey_[static_cast<std::size_t>(y * kAround + x)] +=
              (1 - v) * ((1 - u) * at(0, 0) + u * at(1, 0)) + v * ((1 - u) * at(0, 1) + u * at(1, 1));
        }
      }
    }
  }
  Picture view(int left) const {
    Picture picture;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        picture.push_back(120 + grey_[static_cast<std::size_t>(y * kAround + (left + x) % kAround)]);
    return picture;
  }

 private:
  std::vector<float> grey_;
};

void fill(Picture& picture, int left, int right, float grey) {
  for (int y = 0; y < kHeight; ++y)
    for (int x = std::max(0, left); x < std::min(kWidth, right); ++x)
      picture[static_cast<std::size_t>(y * kWidth + x)] = grey;
}

Picture blurred(const Picture& picture, int reach) {
  Picture out = picture;
  for (int pass = 0; pass < 4; ++pass) {
    const Picture from = out;
    const int step = pass % 2 == 0 ? 1 : kWidth;
    for (int i = 0; i < kWidth * kHeight; ++i) {
      float sum = 0;
      for (int d = -reach; d <= reach; ++d)
        sum += from[static_cast<std::size_t>(std::clamp(i + d * step, 0, kWidth * kHeight - 1))];
      out[static_cast<std::size_t>(i)] = sum / static_cast<float>(2 * reach + 1);
    }
  }
  return out;
}

class Stream {
 public:
  explicit Stream(const GuardOptions& options = {}) : guard_(options) {
    std::normal_distribution<float> normal(0, 1.5F);
    for (float& grain : grains_) grain = normal(random_);
  }
  std::vector<std::uint8_t> exposed(const Picture& picture) {
    std::vector<std::uint8_t> frame;
    std::size_t grain = random_();
    for (const float grey : picture)
      frame.push_back(static_cast<std::uint8_t>(
          std::clamp(grey + grains_[grain++ % grains_.size()] + 0.5F, 0.0F, 255.0F)));
    return frame;
  }
  void push(const std::vector<std::uint8_t>& frame, double seconds) {
    for (const auto& [phase, event] : guard_.push({frame, Shape{kHeight, kWidth}}, seconds).events) {
      if (phase == EventPhase::start) events.push_back(event);
      for (Event& one : events)
        if (one.id == event.id) one = event;
    }
  }
  /// Returns all events except changes of light, for messages.
  std::string alarms() const {
    std::string text;
    for (const Event& event : events)
      if (event.kind != EventKind::light)
        text += std::string(to_string(event.kind)) + " " + std::to_string(event.start_s) + " (" +
                event.detail + ") ";
    return text;
  }

  std::vector<Event> events;

 private:
  Guard guard_;
  std::mt19937 random_{11};
  std::vector<float> grains_ = std::vector<float>(100003);
};

/// `start` and `end` are right within 0.2 s or one frame.
void expect_only(const Stream& stream, EventKind kind, double start, double end, double fps) {
  ASSERT_EQ(std::ranges::count_if(stream.events, [](const Event& e) { return e.kind != EventKind::light; }),
            1)
      << fps << " fps: " << stream.alarms();
  const Event& event =
      *std::ranges::find_if(stream.events, [](const Event& e) { return e.kind != EventKind::light; });
  const double tolerance = std::max(0.2, 1 / fps) + 1e-6;
  EXPECT_EQ(event.kind, kind) << fps;
  EXPECT_NEAR(event.start_s, start, tolerance) << fps;
  if (std::isfinite(end)) {
    EXPECT_NEAR(event.end_s, end, tolerance) << fps;
  }
}

TEST(GuardRatesTest, ALorryIsNothingAndACoverIsTheSameAtEveryRate) {
  const Picture scene = Panorama(1).view(0);
  for (const double fps : {5.0, 8.0, 12.5, 25.0, 60.0, 120.0}) {
    Stream stream;
    for (int i = 0; i < 10 * fps; ++i) {
      const double t = i / fps;
      Picture picture = scene;
      // A lorry of three quarters of the width passes within 0.8 s.
      const int lorry = static_cast<int>(kWidth * (1.75 * (t - 4) / 0.8 - 0.75));
      if (t >= 4 && t < 4.8) fill(picture, lorry, lorry + 3 * kWidth / 4, 160);
      if (t >= 6 && t < 8) fill(picture, 0, 4 * kWidth / 5, 70);
      stream.push(stream.exposed(picture), t);
    }
    expect_only(stream, EventKind::covered, 6, 8, fps);
  }
}

TEST(GuardRatesTest, AStopIsTheSameAtEveryRate) {
  const Picture scene = Panorama(2).view(0);
  for (const double fps : {5.0, 12.5, 30.0, 60.0}) {
    Stream stream;
    std::vector<std::uint8_t> frame;
    for (int i = 0; i < 10 * fps; ++i) {
      const double t = i / fps;
      if (t < 6 || t >= 8) frame = stream.exposed(scene);
      stream.push(frame, t);
    }
    expect_only(stream, EventKind::frozen, 6, 8, fps);
  }
}

TEST(GuardRatesTest, ADarkPictureThatAnEncoderRepeatsIsNotFrozen) {
  const Picture scene = Panorama(2).view(0);
  for (const double fps : {5.0, 12.5, 30.0, 60.0}) {
    Stream stream;
    std::vector<std::uint8_t> night(kWidth * kHeight, 3);
    std::fill_n(night.begin() + 20 * kWidth, 8 * kWidth, std::uint8_t{90});  // a caption
    for (int i = 0; i < 10 * fps; ++i) {
      const double t = i / fps;
      stream.push(t >= 6 && t < 8 ? night : stream.exposed(scene), t);
    }
    // A cap on the lens looks the same.
    std::erase_if(stream.events, [](const Event& e) { return e.kind == EventKind::covered; });
    expect_only(stream, EventKind::dark, 6, 8, fps);
  }
}

TEST(GuardRatesTest, TwoPicturesInTurnAndALoopAreFrozen) {
  const Picture scene = Panorama(3).view(0);
  constexpr double kFps = 15;
  for (const int period : {2, 150}) {
    Stream stream;
    std::vector<std::vector<std::uint8_t>> shown;
    const int from = 180;
    const int until = 330;
    for (int i = 0; i < 360; ++i) {
      Picture picture = scene;
      fill(picture, i % 400 - 20, i % 400, 200);  // a person walks by
      const bool again = i >= from && i < until;
      shown.push_back(again ? shown[static_cast<std::size_t>(i - period)] : stream.exposed(picture));
      stream.push(shown.back(), i / kFps);
    }
    expect_only(stream, EventKind::frozen, from / kFps, until / kFps, kFps);
  }
}

TEST(GuardRatesTest, ALoopOfAnyNumberOfFramesIsFrozen) {
  const Picture scene = Panorama(3).view(0);
  // Frames are skipped at these rates, and a loop's period need not be a whole number of judged frames. The
  // last rate varies.
  for (const double fps : {50.0, 60.0, 100.0, 25.0}) {
    Stream stream;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> factor(0.5, 1.6);
    std::vector<std::vector<std::uint8_t>> shown;
    std::size_t period = 0;
    double from = 0;
    for (double t = 0; t < 13; t += fps == 25 ? factor(random) / fps : 1 / fps) {
      Picture picture = scene;
      fill(picture, static_cast<int>(15 * t) - 20, static_cast<int>(15 * t), 200);  // a person walks by
      const bool again = t >= 8 && t < 11;
      if (again && period == 0) {
        from = t;
        period = (shown.size() / 3) | 1;
      }
      shown.push_back(again ? shown[shown.size() - period] : stream.exposed(picture));
      stream.push(shown.back(), t);
    }
    expect_only(stream, EventKind::frozen, from, 11, fps);
  }
}

TEST(GuardRatesTest, HeadlightsDoNotBlindAtALowRate) {
  const Picture scene = Panorama(2).view(0);
  for (const double fps : {5.0, 8.0, 10.0, 25.0}) {
    for (const double until : {6.7, 9.0}) {
      Stream stream;
      for (int i = 0; i < 12 * fps; ++i) {
        const double t = i / fps;
        Picture picture = scene;
        // They approach and leave within 0.2 s.
        const double way = std::clamp(std::min(t - 6.03, until - t) / 0.2, 0.0, 1.0);
        fill(picture, 0, static_cast<int>(0.8 * kWidth * way), 255);
        stream.push(stream.exposed(picture), t);
      }
      std::erase_if(stream.events, [](const Event& e) { return e.kind == EventKind::covered; });
      if (until > 7) {
        expect_only(stream, EventKind::blinded, 6.18, until - 0.15, fps);
      } else {
        EXPECT_EQ(stream.alarms(), "") << fps;
      }
    }
  }
}

TEST(GuardRatesTest, APaddedStreamIsNotFrozenUntilItStops) {
  const Picture scene = Panorama(4).view(0);
  for (const double fps : {1.0, 5.0}) {
    Stream stream;
    std::vector<std::uint8_t> frame;
    double next = 0;
    for (int i = 0; i < 30 * 25; ++i) {
      const double t = i / 25.0;
      if (t >= next - 1e-9 && t < 22) {
        frame = stream.exposed(scene);
        next += 1 / fps;
      }
      stream.push(frame, t);
    }
    // The last picture came one frame period (a second, or a fifth of one) before.
    expect_only(stream, EventKind::frozen, 22 - 1 / fps, NAN, fps);
  }
}

/// Shows `pictures` per second as `shown` frames per second. An encoder changes some pixels of repeats.
template <class Draw>
void push_padded(Stream& stream, double pictures, double shown, double seconds, const Draw& draw) {
  std::vector<std::vector<std::uint8_t>> taken;
  const auto times = static_cast<int>(std::lround(shown / pictures));
  for (int i = 0; i < seconds * shown; ++i) {
    if (i % times == 0) taken.push_back(draw(taken, i / shown));
    std::vector<std::uint8_t> frame = taken.back();
    for (std::size_t p = static_cast<std::size_t>(i % times); p < frame.size(); p += 17) frame[p] ^= 1;
    stream.push(frame, i / shown);
  }
}

TEST(GuardRatesTest, APaddedStreamIsJudgedByItsPictures) {
  const Picture scene = Panorama(4).view(0);
  using Taken = std::vector<std::vector<std::uint8_t>>;
  for (const auto& [fps, shown] : {std::pair(5.0, 30.0), std::pair(10.0, 60.0)}) {
    const auto count = [fps](double seconds) { return static_cast<std::size_t>(std::lround(fps * seconds)); };
    Stream cover;
    push_padded(cover, fps, shown, 14, [&](const Taken&, double t) {
      Picture picture = scene;
      const int lorry = static_cast<int>(kWidth * (1.75 * (t - 7) / 0.8 - 0.75));
      if (t >= 7 && t < 7.8) fill(picture, lorry, lorry + 3 * kWidth / 4, 160);
      if (t >= 10 && t < 12) fill(picture, 0, 4 * kWidth / 5, 70);
      return cover.exposed(picture);
    });
    expect_only(cover, EventKind::covered, 10, 12, fps);
    for (const std::size_t period : {std::size_t{2}, count(3)}) {
      Stream stream;
      push_padded(stream, fps, shown, 20, [&](const Taken& taken, double t) {
        Picture picture = scene;
        fill(picture, static_cast<int>(11 * t) - 20, static_cast<int>(11 * t), 200);  // a person walks by
        const bool again = taken.size() >= count(10) && taken.size() < count(16);
        return again ? taken[taken.size() - period] : stream.exposed(picture);
      });
      expect_only(stream, EventKind::frozen, 10, 16, fps);
    }
  }
}

TEST(GuardRatesTest, ALoopOfPicturesFromBeforeTheGuardHasLearned) {
  // A padded stream is learned again after its first seconds; the loop begins with pictures from then.
  const Picture scene = Panorama(4).view(0);
  Stream stream;
  push_padded(stream, 5, 30, 16, [&](const std::vector<std::vector<std::uint8_t>>& taken, double t) {
    Picture picture = scene;
    fill(picture, static_cast<int>(11 * t) - 20, static_cast<int>(11 * t), 200);  // a person walks by
    const bool again = taken.size() >= 35 && taken.size() < 60;
    return again ? taken[taken.size() - 22] : stream.exposed(picture);
  });
  expect_only(stream, EventKind::frozen, 7, 12, 5);
}

TEST(GuardRatesTest, ACoverHasToStayAsLongIfTheRateChanges) {
  const Picture scene = Panorama(4).view(0);
  for (const double until : {7.6, 9.0}) {
    Stream stream;
    for (double t = 0; t < 11; t += t < 7 - 1e-9 ? 0.2 : 1 / 30.0) {
      Picture picture = scene;
      if (t < until) fill(picture, 0, static_cast<int>(0.85 * kWidth * std::clamp(t - 6, 0.0, 1.0)), 70);
      stream.push(stream.exposed(picture), t);
    }
    if (until < 8) {
      EXPECT_EQ(stream.alarms(), "") << "it was there for 0.8 s";
    } else {
      expect_only(stream, EventKind::covered, 6.8, until, 5);
    }
  }
}

TEST(GuardRatesTest, ACoverWithoutNoiseIsNoReplay) {
  const Picture scene = Panorama(5).view(0);
  Stream stream;
  for (int i = 0; i < 250; ++i) {
    Picture picture = scene;
    if (i >= 125) {
      fill(picture, 0, kWidth, 90);
      // An encoder changes the picture now and then.
      std::vector<std::uint8_t> frame(picture.size(), 90);
      for (std::size_t p = 0; p < frame.size(); p += 7) frame[p] = static_cast<std::uint8_t>(90 + i / 12 % 2);
      stream.push(frame, i / 25.0);
    } else {
      stream.push(stream.exposed(picture), i / 25.0);
    }
  }
  expect_only(stream, EventKind::covered, 5, NAN, 25);
}

TEST(GuardRatesTest, APatrolBetweenKnownViewsIsNoMove) {
  const Panorama around(6);
  const std::vector<int> views{0, 600, 1300};
  constexpr double kFps = 12.5;
  Stream stream({.presets = 3});
  double place = 0;
  int frame = 0;
  const auto go = [&](int view, int rest) {
    for (; std::abs(view - place) > 1; ++frame) {
      place += std::clamp(view - place, -90.0, 90.0);
      stream.push(stream.exposed(around.view(static_cast<int>(place))), frame / kFps);
    }
    for (int i = 0; i < rest; ++i, ++frame) stream.push(stream.exposed(around.view(view)), frame / kFps);
  };
  for (int round = 0; round < 3; ++round)
    for (const int view : views) go(view + round % 2, 50);  // accurate to a pixel
  EXPECT_EQ(stream.alarms(), "");
  const double left = frame / kFps;
  go(1900, 60);
  expect_only(stream, EventKind::moved, left, NAN, kFps);
}

TEST(GuardRatesTest, InfraredLightIsNotFocusedAndNoAlarm) {
  const Picture scene = Panorama(7).view(0);
  for (const bool infrared : {true, false}) {
    Stream stream;
    for (int i = 0; i < 300; ++i) {
      Picture picture = scene;
      if (i >= 100) {
        picture = blurred(scene, 3);
        if (infrared)
          for (float& grey : picture) grey *= 0.6F;
      }
      stream.push(stream.exposed(picture), i / 25.0);
    }
    if (infrared) {
      EXPECT_EQ(stream.alarms(), "");
    } else {
      expect_only(stream, EventKind::defocused, 4, NAN, 25);
    }
  }
}

/// A spider's web before the camera: threads in four directions, 50 pixels from one to the next, which sway
/// along the rows.
void add_web(Picture& picture, double light, double there, double sway = 0) {
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      double web = 0;
      for (const double slope : {-1.1, -0.3, 0.4, 1.5}) {
        const double from = std::remainder(x - sway + slope * y, 50) / std::hypot(1, slope);
        web += std::exp(-from * from / 12);
      }
      web = there * std::min(1.0, web);
      float& grey = picture[static_cast<std::size_t>(y * kWidth + x)];
      grey = static_cast<float>((1 - 0.8 * web) * grey + light * web);
    }
  }
}

TEST(GuardRatesTest, AWebInInfraredLightIsNoCover) {
  const Picture scene = Panorama(7).view(0);
  for (const bool infrared : {true, false}) {
    Stream stream;
    for (int i = 0; i < 250; ++i) {
      Picture picture = scene;
      for (float& grey : picture) grey *= i >= 100 && infrared ? 0.9F : 0.6F;
      if (i >= 100) add_web(picture, 150, 0.8);
      stream.push(stream.exposed(picture), i / 25.0);
    }
    if (infrared) {
      EXPECT_EQ(stream.alarms(), "");
    } else {  // something else lies over the picture
      expect_only(stream, EventKind::covered, 4, NAN, 25);
    }
  }
}

/// In other light, the level of tiles changes by up to 14 % to either side, and on average by nothing.
TEST(GuardRatesTest, InfraredLightNeedNotChangeTheLevel) {
  const Picture scene = Panorama(7).view(0);
  for (const bool infrared : {true, false}) {
    Stream stream;
    for (int i = 0; i < 300; ++i) {
      Picture picture = scene;
      if (i >= 100) {
        picture = blurred(scene, 3);
        for (int p = 0; p < kWidth * kHeight; ++p) {
          const double across = 2.0 * (p % kWidth) / kWidth - 1;
          picture[static_cast<std::size_t>(p)] *= static_cast<float>(infrared ? 1 + 0.14 * across : 1.06);
        }
      }
      stream.push(stream.exposed(picture), i / 25.0);
    }
    if (infrared) {
      EXPECT_EQ(stream.alarms(), "");
    } else {  // a little more light does not put a lens out of focus
      expect_only(stream, EventKind::defocused, 4, NAN, 25);
    }
  }
}

TEST(GuardRatesTest, AWebThatGrowsIsNoCover) {
  const Picture scene = Panorama(7).view(0);
  for (const bool sways : {false, true}) {
    for (const bool covered : {false, true}) {
      Stream stream;
      for (int i = 0; i < 250; ++i) {
        const double t = i / 25.0;
        Picture picture = scene;
        for (float& grey : picture) grey -= 40;
        add_web(picture, 160, std::clamp(0.9 * (t - 3), 0.0, 0.6), sways ? 2 * std::sin(5 * t) : 0);
        if (covered && t >= 8) fill(picture, 0, kWidth / 2, 70);
        stream.push(stream.exposed(picture), t);
      }
      if (covered) {
        expect_only(stream, EventKind::covered, 8, NAN, 25);
      } else {
        EXPECT_EQ(stream.alarms(), "") << sways;
      }
    }
  }
}

/// At night hardly anything but the web has contrast.
TEST(GuardRatesTest, AWebThatSwaysIsNoMove) {
  const Panorama around(8);
  for (const int moved : {0, 12}) {
    Stream stream;
    for (int i = 0; i < 400; ++i) {
      const double t = i / 25.0;
      Picture picture = around.view(t >= 12 ? 100 - moved : 100);
      for (float& grey : picture) grey = 60 + 0.1F * (grey - 120);
      const double gust = 0.6 + 0.4 * std::sin(1.1 * t);
      add_web(picture, 130, 0.8, 4 * gust * std::sin(8 * t) + (t >= 12 ? moved : 0));
      stream.push(stream.exposed(picture), t);
    }
    if (moved == 0) {
      EXPECT_EQ(stream.alarms(), "");
    } else {  // known when the web does not swing back
      ASSERT_EQ(stream.events.size(), 1) << stream.alarms();
      EXPECT_EQ(stream.events[0].kind, EventKind::moved);
      EXPECT_NEAR(stream.events[0].start_s, 12.5, 0.5);
    }
  }
}

TEST(GuardRatesTest, AMoveBehindAWebThatSwaysIsAMove) {
  const Panorama around(8);
  Stream stream;
  for (int i = 0; i < 400; ++i) {
    const double t = i / 25.0;
    Picture picture = around.view(t >= 12 ? 106 : 100);
    add_web(picture, 150, 0.6, 4 * std::sin(8 * t));
    stream.push(stream.exposed(picture), t);
  }
  expect_only(stream, EventKind::moved, 12, NAN, 25);
}

TEST(GuardRatesTest, AWebThatSwaysInTimeIsNoReplay) {
  const Picture scene = Panorama(9).view(0);
  constexpr double kFps = 15;
  constexpr int kPeriod = 86;            // of the gusts
  for (const int again : {0, 100, 1}) {  // the live picture, a replay, a stop
    Stream stream;
    std::vector<std::vector<std::uint8_t>> shown;
    for (int i = 0; i < 420; ++i) {
      const double phase = 2 * 3.14159265 * i / kPeriod;
      Picture picture = scene;
      for (float& grey : picture) grey = 60 + 0.2F * (grey - 120);
      add_web(picture, 130, 0.8, 6 * (0.6 + 0.4 * std::sin(phase)) * std::sin(5.5 * phase));
      const bool fresh = again == 0 || i < 240;
      shown.push_back(fresh ? stream.exposed(picture) : shown[static_cast<std::size_t>(i - again)]);
      stream.push(shown.back(), i / kFps);
    }
    if (again == 0) {
      EXPECT_EQ(stream.alarms(), "");
    } else {
      expect_only(stream, EventKind::frozen, (again == 1 ? 239 : 240) / kFps, NAN, kFps);
    }
  }
}

TEST(ThresholdsTest, AreSetByName) {
  Thresholds thresholds;
  set_threshold(thresholds, "passing-s=1.5");
  EXPECT_EQ(thresholds.passing_s, 1.5);
  for (const char* wrong : {"passing=1", "passing-s", "passing-s=", "passing-s=-1", "passing-s=1x", "=1", ""})
    EXPECT_THROW(set_threshold(thresholds, wrong), Error) << wrong;
  for (const ThresholdName& one : threshold_names()) {
    set_threshold(thresholds, std::string(one.name) + "=0.75");
    EXPECT_EQ(thresholds.*one.value, 0.75) << one.name;
  }
  EXPECT_EQ(sizeof(Thresholds), threshold_names().size() * sizeof(double));
}

}  // namespace
}  // namespace sfft::video::guard_rates_test
