// SPDX-License-Identifier: Apache-2.0
// Tests the decoder thread: order of frames, how far it reads ahead, errors, limits and interruption.
#include "video/sources/decoder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

namespace sfft::video {
namespace {

using namespace std::chrono_literals;

/// A source that numbers its frames in their first byte; then ends, breaks, or blocks until it is
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
    frame.height = 16;
    frame.samples.resize(256);
    frame.samples[0] = static_cast<std::byte>(read++);
    return true;
  }
  void interrupt() noexcept override { interrupted = true; }

  std::atomic<int> read{0};
  std::atomic<bool> interrupted{false};

 private:
  int frames_;
  End end_;
  SourceInfo info_;
};

using End = NumberedSource::End;
const std::atomic<bool> kGo{false};

TEST(Decoder, KeepsTheOrderAndReusesItsBuffers) {
  NumberedSource source(200, End::clean);
  Decoder decoder(source, 0);
  DecodedFrame decoded;
  std::set<const std::byte*> buffers;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(decoder.next(decoded, kGo));
    ASSERT_EQ(static_cast<int>(decoded.frame.samples[0]), i);
    EXPECT_GE(decoded.decode_us, 0);
    buffers.insert(decoded.frame.samples.data());
  }
  EXPECT_FALSE(decoder.next(decoded, kGo));
  EXPECT_FALSE(decoder.next(decoded, kGo));
  EXPECT_LE(buffers.size(), 8u);
}

TEST(Decoder, ReadsAheadButNotFar) {
  NumberedSource source(200, End::clean);
  Decoder decoder(source, 0);
  DecodedFrame decoded;
  ASSERT_TRUE(decoder.next(decoded, kGo));
  while (source.read < 5) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(source.read, 5) << "one consumed, four waiting";
}

TEST(Decoder, ReadsNoMoreThanItsLimit) {
  NumberedSource source(3, End::silent);
  Decoder decoder(source, 3);
  DecodedFrame decoded;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(decoder.next(decoded, kGo));
  EXPECT_FALSE(decoder.next(decoded, kGo));
  EXPECT_FALSE(source.interrupted);
}

TEST(Decoder, ErrorsComeAfterTheFramesBeforeThem) {
  NumberedSource source(3, End::damaged);
  Decoder decoder(source, 0);
  DecodedFrame decoded;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(decoder.next(decoded, kGo));
  EXPECT_THROW(decoder.next(decoded, kGo), InputError);
}

TEST(Decoder, StopsWhileTheSourceSaysNothing) {
  NumberedSource source(1, End::silent);
  Decoder decoder(source, 0);
  DecodedFrame decoded;
  std::atomic<bool> stop{false};
  EXPECT_TRUE(decoder.next(decoded, stop));
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    stop = true;
  });
  EXPECT_FALSE(decoder.next(decoded, stop));
  later.join();
}

TEST(Decoder, EndsASourceThatIsNotReadToItsEnd) {
  NumberedSource silent(2, End::silent);
  NumberedSource long_one(100000, End::clean);
  for (NumberedSource* source : {&silent, &long_one}) {
    Decoder decoder(*source, 0);
    DecodedFrame decoded;
    EXPECT_TRUE(decoder.next(decoded, kGo));
  }
  EXPECT_TRUE(silent.interrupted);
  EXPECT_LE(long_one.read, 6);
}

}  // namespace
}  // namespace sfft::video
