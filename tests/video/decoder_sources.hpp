// SPDX-License-Identifier: Apache-2.0
// Sources with numbered frames, for tests of the decoder thread.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <thread>

#include "video/sources/source.hpp"

namespace sfft::video {

using namespace std::chrono_literals;

/// A source that numbers its frames in their first byte. Then it ends, fails, or blocks until it is
/// interrupted.
class NumberedSource final : public FrameSource {
 public:
  enum class End : std::uint8_t { clean, damaged, silent };
  NumberedSource(int frames, End end) : frames_(frames), end_(end) {}

  const SourceInfo& info() const noexcept override { return info_; }
  bool next(Frame& frame) override {
    if (read == frames_ && end_ == End::damaged) throw InputError("damaged after the last frame");
    if (read == frames_ && end_ == End::silent) {
      while (!interrupted) std::this_thread::sleep_for(1ms);
    }
    if (read == frames_ || interrupted) return false;
    frame.width = 16;
    frame.height = read >= changes_at ? 8 : 16;
    frame.segment = read >= changes_at ? 1 : 0;
    frame.samples.resize(static_cast<std::size_t>(16 * frame.height));
    frame.samples[0] = static_cast<std::byte>(read++);
    return true;
  }
  void interrupt() noexcept override { interrupted = true; }

  int changes_at = 1000;  ///< the frame at which its size changes
  std::atomic<int> read{0};
  std::atomic<bool> interrupted{false};

 private:
  int frames_;
  End end_;
  SourceInfo info_;
};

/// Writes the number into the second byte of each frame when its samples are made, and counts by which
/// thread.
class LateSource final : public FrameSource {
 public:
  class Unmade final : public UnmadeSamples {
   public:
    Unmade(LateSource& source, int number) : source_(source), number_(number) {}
    void make(Frame& frame) override { source_.fill(frame, number_); }

   private:
    LateSource& source_;
    int number_;
  };

  explicit LateSource(int frames) : frames_(frames) {}
  const SourceInfo& info() const noexcept override { return info_; }
  bool advance(Frame& frame) override {
    frame.seconds = ++found_;
    return found_ <= frames_;
  }
  void load(Frame& frame) override { fill(frame, found_ - 1); }
  std::unique_ptr<UnmadeSamples> load_later() override {
    if (found_ % 5 == 0) return nullptr;
    return std::make_unique<Unmade>(*this, found_ - 1);
  }
  void fill(Frame& frame, int number) {
    if (std::this_thread::get_id() == consumer) ++made_by_consumer;
    frame.width = frame.height = 16;
    frame.samples.assign(256, static_cast<std::byte>(number));
  }

  const std::thread::id consumer = std::this_thread::get_id();
  int made_by_consumer = 0;

 private:
  int frames_, found_ = 0;
  SourceInfo info_;
};

/// A source whose samples are already made, except in every fourth frame, as from a GPU.
class SourceOnGpu final : public FrameSource {
 public:
  SourceOnGpu(int frames, std::span<std::byte> memory) : frames_(frames), memory_(memory) {}
  const SourceInfo& info() const noexcept override { return info_; }
  bool advance(Frame& frame) override {
    if (at_ == frames_) return false;
    frame.seconds = at_++;
    return true;
  }
  void load(Frame& frame) override {
    frame.width = frame.height = 16;
    frame.samples.assign(256, static_cast<std::byte>(at_ - 1));
  }
  bool on_gpu() const noexcept override { return true; }
  bool load_on_gpu(Frame& frame, const DevicePictures&, std::size_t offset) override {
    EXPECT_EQ(frame.width, 16);
    if (at_ % 4 == 0) return false;
    memory_[offset] = static_cast<std::byte>(at_ - 1);
    return true;
  }

 private:
  int frames_, at_ = 0;
  std::span<std::byte> memory_;
  SourceInfo info_;
};

}  // namespace sfft::video
