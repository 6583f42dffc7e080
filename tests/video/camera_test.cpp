// SPDX-License-Identifier: Apache-2.0
// Tests cameras that are unplugged, return with other pictures, freeze, or stay away.
#include "video/sources/reconnection.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace sfft::video::camera_test {
namespace {

using namespace std::chrono_literals;

/// What a camera does from one opening to the next.
struct Plug {
  int frames = 0;
  int width = 64;
  bool there = true;
  int still_before = -1;  ///< the frame before which it freezes
};

/// Each opening takes the next plug; the last one remains.
class PluggedCamera {
 public:
  explicit PluggedCamera(std::vector<Plug> plugs) : plugs_(std::move(plugs)) {}

  OpenCapture open() {
    return [this]() -> std::unique_ptr<Capture> {
      EXPECT_EQ(open_at_once_.load(), 0) << "a camera is opened by one program at a time";
      const Plug plug = plugs_[std::min<std::size_t>(opened++, plugs_.size() - 1)];
      if (!plug.there) throw InputError("there is no camera");
      return std::make_unique<OneCapture>(*this, plug);
    };
  }

  std::size_t opened = 0;

 private:
  class OneCapture final : public Capture {
   public:
    OneCapture(PluggedCamera& camera, const Plug& plug) : camera_(camera), plug_(plug) {
      ++camera_.open_at_once_;
    }
    ~OneCapture() override { --camera_.open_at_once_; }
    SourceInfo info() const override {
      SourceInfo info;
      info.width = plug_.width;
      info.height = 48;
      info.fps = 100;
      return info;
    }
    bool read(Frame& frame) override {
      if (read_ == plug_.frames) return false;
      std::this_thread::sleep_for(read_ == plug_.still_before ? 2200ms : 1ms);
      frame.width = plug_.width;
      frame.height = 48;
      frame.samples.assign(static_cast<std::size_t>(48 * plug_.width), static_cast<std::byte>(read_++));
      return true;
    }

   private:
    PluggedCamera& camera_;
    Plug plug_;
    int read_ = 0;
  };

  std::vector<Plug> plugs_;
  std::atomic<int> open_at_once_{0};
};

constexpr Plug kAway{0, 64, false};

TEST(Camera, IsOpenedAgainAndItsPicturesMayChange) {
  PluggedCamera camera(std::vector<Plug>{{20}, kAway, {0}, {15, 96}, kAway});
  SourceOptions options;
  options.reconnect_seconds = 2.5;
  const auto source = watch_camera("camera 7", options, camera.open());
  EXPECT_TRUE(source->live());
  Frame frame;
  double last = 0;
  for (int i = 0; i < 35; ++i) {
    ASSERT_TRUE(source->next(frame));
    EXPECT_EQ(frame.segment, i < 20 ? 0 : 1);
    EXPECT_EQ(frame.width, i < 20 ? 64 : 96);
    EXPECT_GE(frame.seconds, last);
    EXPECT_EQ(frame.gap_seconds > 0.25 + 0.5 + 1 - 0.1, i == 20) << "pauses that double";
    EXPECT_EQ(frame.gap_seconds > 0, i == 20);
    last = frame.seconds;
  }
  try {
    source->next(frame);
    FAIL() << "it does not come back";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'camera 7' was lost after frame 35"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("2.5 s"), std::string::npos);
  }
  const SourceLog log = source->log();
  ASSERT_EQ(log.gaps.size(), 2U);
  EXPECT_EQ(log.gaps[0].frame, 20);
  EXPECT_EQ(log.gaps[0].attempts, 3);
  ASSERT_EQ(log.changes.size(), 1U);
  EXPECT_EQ(log.changes[0].frame, 20);
  EXPECT_EQ(log.changes[0].after.width, 96);
  EXPECT_EQ(source->warnings().size(), 1U);
}

TEST(Camera, StandingStillIsAGapToo) {
  PluggedCamera camera(std::vector<Plug>{{10, 64, true, 6}});
  const auto source = watch_camera("camera 0", {}, camera.open());
  Frame frame;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(source->next(frame));
    EXPECT_EQ(frame.gap_seconds > 2, i == 6);
  }
  ASSERT_EQ(source->log().gaps.size(), 1U);
  EXPECT_EQ(source->log().gaps[0].attempts, 0);
  EXPECT_EQ(camera.opened, 1U);
}

TEST(Camera, WaitingForItCanBeStopped) {
  for (const bool by_flag : {false, true}) {
    PluggedCamera camera(std::vector<Plug>{{3}, kAway});
    std::atomic<bool> stop{false};
    SourceOptions options;
    options.stop = &stop;
    const auto source = watch_camera("camera 0", options, camera.open());
    Frame frame;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(source->next(frame));
    std::thread stopper([&] {
      std::this_thread::sleep_for(300ms);
      if (by_flag) stop = true;
      if (!by_flag) source->interrupt();
    });
    EXPECT_FALSE(source->next(frame));
    stopper.join();
  }
}

TEST(Camera, WithoutReconnectionItEndsAtOnce) {
  PluggedCamera camera(std::vector<Plug>{{3}});
  SourceOptions options;
  options.reconnect_seconds = 0;
  const auto source = watch_camera("camera 0", options, camera.open());
  Frame frame;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(source->next(frame));
  EXPECT_THROW(source->next(frame), InputError);
  EXPECT_EQ(camera.opened, 1U);
}

}  // namespace
}  // namespace sfft::video::camera_test
