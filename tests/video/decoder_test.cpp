// SPDX-License-Identifier: Apache-2.0
// Tests the decoder thread: order of frames, depth of reading ahead, errors, limits and interruption.
#include "video/sources/decoder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "tests/video/decoder_sources.hpp"

namespace sfft::video::decoder_test {
namespace {

using End = NumberedSource::End;
const std::atomic<bool> kGo{false};

int number_of(const DecodedFrame& decoded) {
  return static_cast<const std::uint8_t*>(decoded.view().data())[0];
}

TEST(Decoder, KeepsTheOrderAndReusesItsBuffers) {
  NumberedSource source(200, End::clean);
  Decoder decoder(source);
  std::set<const void*> buffers;
  for (int i = 0; i < 200; ++i) {
    const auto frames = decoder.next(1, 1, kGo);
    ASSERT_EQ(frames.size(), 1u);
    ASSERT_EQ(number_of(frames[0]), i);
    EXPECT_GE(frames[0].decode_us, 0);
    buffers.insert(frames[0].view().data());
  }
  EXPECT_TRUE(decoder.next(1, 1, kGo).empty());
  EXPECT_TRUE(decoder.next(1, 1, kGo).empty());
  EXPECT_LE(buffers.size(), 5u);
}

TEST(Decoder, ReadsAheadButNotFar) {
  NumberedSource source(200, End::clean);
  Decoder decoder(source);
  ASSERT_EQ(decoder.next(1, 1, kGo).size(), 1u);
  while (source.read < 5) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(source.read, 5) << "one consumed, four waiting";
}

TEST(Decoder, AwaitedFramesAreStillToCome) {
  NumberedSource source(23, End::clean);
  Decoder decoder(source, {.slots = 8});
  const auto check = [](std::span<const DecodedFrame> frames, int first) {
    for (std::size_t i = 0; i < frames.size(); ++i)
      ASSERT_EQ(number_of(frames[i]), first + static_cast<int>(i));
  };
  for (int first = 0; first < 20; first += 4) {
    for (const std::size_t wanted :
         {2, 4, 7, 100}) {  // more than fit before the last slot, and more than ever fit
      const auto frames = decoder.await(wanted, kGo);
      ASSERT_GE(frames.size(), std::min<std::size_t>(wanted, 4)) << first;
      check(frames, first);
    }
    const auto frames = decoder.next(4, 4, kGo);
    ASSERT_EQ(frames.size(), 4u);
    check(frames, first);
  }
  EXPECT_EQ(decoder.await(4, kGo).size(), 3u) << "the last ones";
  check(decoder.next(4, 4, kGo), 20);
  EXPECT_TRUE(decoder.await(1, kGo).empty());
  EXPECT_TRUE(decoder.next(4, 4, kGo).empty());
}

TEST(Decoder, AwaitingEndsSoonAfterAStop) {
  NumberedSource source(3, End::silent);
  Decoder decoder(source);
  std::atomic<bool> stop{false};
  EXPECT_EQ(decoder.await(3, stop).size(), 3u);
  stop = true;
  EXPECT_EQ(decoder.await(4, stop).size(), 3u);
}

TEST(Decoder, AwaitingEndsWhenTimeIsUp) {
  NumberedSource source(3, End::silent);
  Decoder decoder(source, {.slots = 8});
  while (decoder.await(3, kGo).size() < 3) {
  }
  const auto until = std::chrono::steady_clock::now() + 30ms;
  EXPECT_EQ(decoder.await(5, kGo, until).size(), 3u) << "a frame that does not come";
  EXPECT_GE(std::chrono::steady_clock::now(), until);
  EXPECT_EQ(decoder.await(2, kGo, until).size(), 3u);
  EXPECT_EQ(decoder.next(5, 1, kGo).size(), 3u);
}

TEST(Decoder, ReadsNoMoreThanItsLimit) {
  NumberedSource source(3, End::silent);
  {
    Decoder decoder(source, {.limit = 3});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(decoder.next(1, 1, kGo).size(), 1u);
    EXPECT_TRUE(decoder.next(1, 1, kGo).empty());
  }
  EXPECT_FALSE(source.interrupted);
}

TEST(Decoder, ASecondOneGoesOnWhereTheFirstStopped) {
  for (int repeat = 0; repeat < 50; ++repeat) {  // the previous thread may not have ended yet
    NumberedSource source(20, End::clean);
    {
      Decoder decoder(source, {.limit = 2});
      for (int i = 0; i < 2; ++i) EXPECT_EQ(decoder.next(1, 1, kGo).size(), 1u);
    }
    EXPECT_FALSE(source.interrupted);
    Decoder decoder(source, {.limit = 18, .slots = 40});
    const auto frames = decoder.next(40, 40, kGo);
    ASSERT_EQ(frames.size(), 18u);
    for (int i = 0; i < 18; ++i) ASSERT_EQ(number_of(frames[static_cast<std::size_t>(i)]), 2 + i);
  }
}

TEST(Decoder, TheFirstFrameOfAnotherFormatIsTheLast) {
  for (const bool given : {false, true}) {
    NumberedSource source(40, End::silent);
    source.changes_at = 17;
    std::vector<std::byte> memory(10 * 256);
    int at = 0;
    for (const int end : {18, 40}) {
      Frame like;
      DecoderOptions options{.limit = end == 40 ? 22 : 0, .slots = 10, .one_format = true};
      if (end == 40) {
        like.width = 16;
        like.height = 8;
        like.segment = 1;
        options.like = &like;
      }
      if (given) {
        options.memory = memory;
        options.frame_bytes = 256;
      }
      Decoder decoder(source, options);
      for (;;) {
        const auto frames = decoder.next(3, 1, kGo);
        if (frames.empty()) break;
        for (const DecodedFrame& decoded : frames) {
          EXPECT_EQ(decoded.frame.format().height, at >= 17 ? 8 : 16);
          EXPECT_EQ(decoded.copy().samples[0], static_cast<std::byte>(at));
          EXPECT_EQ(decoded.copy().samples.size(), at >= 17 ? 128U : 256U);
          ++at;
        }
      }
      EXPECT_EQ(at, end);
      EXPECT_FALSE(source.interrupted) << "the next decoder goes on with it";
    }
  }
}

TEST(Decoder, FillsBatchesOrTakesWhatThereIs) {
  for (const std::size_t max : {1, 3, 8, 16}) {
    for (const bool fill : {false, true}) {
      NumberedSource source(100, End::clean);
      Decoder decoder(source, {.slots = 16});
      int at = 0;
      while (true) {
        const auto frames = decoder.next(max, fill ? max : 1, kGo);
        if (frames.empty()) break;
        ASSERT_LE(frames.size(), max);
        for (const DecodedFrame& frame : frames) ASSERT_EQ(number_of(frame), at++);
        if (fill && 16 % max == 0 && at < 96) {
          ASSERT_EQ(frames.size(), max);
        }
      }
      EXPECT_EQ(at, 100);
    }
  }
}

TEST(Decoder, WakesForSeveralFramesAndForTheLast) {
  for (const std::size_t wake : {std::size_t{1}, std::size_t{4}, std::size_t{100}}) {
    NumberedSource source(201, End::clean);
    Decoder decoder(source, {.slots = 12});
    int seen = 0;
    while (true) {
      const auto frames = decoder.next(1, 1, kGo, wake);
      if (frames.empty()) break;
      ASSERT_EQ(number_of(frames[0]), seen++);
    }
    EXPECT_EQ(seen, 201);
  }
  // A source that falls silent after fewer frames still delivers them.
  NumberedSource source(2, End::silent);
  Decoder decoder(source, {.slots = 12});
  EXPECT_EQ(decoder.next(1, 1, kGo, 8).size(), 1u);
  EXPECT_EQ(decoder.next(1, 1, kGo, 8).size(), 1u);
}

TEST(Decoder, TheConsumerMakesSamplesThatItWaitsFor) {
  for (const std::size_t max : {std::size_t{1}, std::size_t{3}}) {
    LateSource source(200);
    Decoder decoder(source, {.slots = 12, .samples_by_consumer = true});
    int seen = 0;
    while (true) {
      const auto frames = decoder.next(max, 1, kGo, 4);
      if (frames.empty()) break;
      for (const DecodedFrame& decoded : frames) {
        ASSERT_EQ(decoded.frame.samples.size(), 256u);
        EXPECT_EQ(number_of(decoded), seen % 256);
        EXPECT_EQ(decoded.frame.seconds, ++seen);
        EXPECT_FALSE(decoded.later);
      }
    }
    EXPECT_EQ(seen, 200);
    EXPECT_GT(source.made_by_consumer, 0);  // at least the first frame, which nothing precedes
    EXPECT_LE(source.made_by_consumer, 160);
  }
}

TEST(Decoder, ASlowSourceIsNotWaitedForWhereOneFrameIsEnough) {
  NumberedSource source(3, End::silent);
  Decoder decoder(source, {.slots = 16});
  std::size_t got = 0;
  while (got < 3) {
    const auto frames = decoder.next(8, 1, kGo);
    ASSERT_FALSE(frames.empty());
    got += frames.size();
  }
  EXPECT_EQ(got, 3u);
}

TEST(Decoder, PutsFramesSideBySideIntoMemoryThatItIsGiven) {
  NumberedSource source(30, End::clean);
  std::vector<std::byte> memory(6 * 256);
  Decoder decoder(source, {.slots = 6, .memory = memory, .frame_bytes = 256});
  for (int at = 0; at < 30; at += 3) {
    const auto frames = decoder.next(3, 3, kGo);
    ASSERT_EQ(frames.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(number_of(frames[i]), at + static_cast<int>(i));
      EXPECT_EQ(frames[i].view().data(), memory.data() + (static_cast<std::size_t>(at) % 6 + i) * 256);
    }
  }
}

TEST(Decoder, FramesOfAnotherSizeStayOutOfThatMemory) {
  NumberedSource source(4, End::clean);
  std::vector<std::byte> memory(4 * 100, std::byte{9});
  Decoder decoder(source, {.slots = 4, .memory = memory, .frame_bytes = 100});
  const auto frames = decoder.next(4, 4, kGo);
  ASSERT_EQ(frames.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(number_of(frames[static_cast<std::size_t>(i)]), i);
  EXPECT_EQ(std::set<std::byte>(memory.begin(), memory.end()).size(), 1u);
}

TEST(Decoder, FramesOnAGpuStayThere) {
  std::vector<std::byte> memory(6 * 256);
  SourceOnGpu source(30, memory);
  const DevicePictures pictures;
  Frame like;
  like.width = like.height = 16;
  Decoder decoder(source,
                  {.slots = 6, .memory = memory, .frame_bytes = 256, .pictures = &pictures, .like = &like});
  for (int at = 0; at < 30; at += 3) {
    const auto frames = decoder.next(3, 3, kGo);
    ASSERT_EQ(frames.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(number_of(frames[i]), at + static_cast<int>(i));
      EXPECT_EQ(frames[i].frame.seconds, at + static_cast<int>(i));
      EXPECT_EQ(frames[i].view().data(), memory.data() + (static_cast<std::size_t>(at) % 6 + i) * 256);
    }
  }
}

TEST(Decoder, ErrorsComeAfterTheFramesBeforeThem) {
  for (const std::size_t max : {1, 2, 8}) {
    NumberedSource source(3, End::damaged);
    Decoder decoder(source, {.slots = 8});
    std::size_t got = 0;
    while (got < 3) got += decoder.next(max, max, kGo).size();
    EXPECT_EQ(got, 3u);
    EXPECT_THROW(decoder.next(max, max, kGo), InputError);
  }
}

TEST(Decoder, StopsWhileTheSourceSaysNothing) {
  for (const std::size_t min : {1, 8}) {
    NumberedSource source(1 + static_cast<int>(min) / 2, End::silent);
    Decoder decoder(source, {.slots = 16});
    std::atomic<bool> stop{false};
    EXPECT_EQ(decoder.next(1, 1, stop).size(), 1u);
    std::thread later([&] {
      std::this_thread::sleep_for(50ms);
      stop = true;
    });
    EXPECT_EQ(decoder.next(8, min, stop).size(), min / 2) << "what was decoded until then";
    later.join();
  }
}

TEST(Decoder, EndsASourceThatIsNotReadToItsEnd) {
  NumberedSource silent(2, End::silent);
  NumberedSource long_one(100000, End::clean);
  for (NumberedSource* source : {&silent, &long_one}) {
    Decoder decoder(*source);
    EXPECT_EQ(decoder.next(1, 1, kGo).size(), 1u);
  }
  EXPECT_TRUE(silent.interrupted);
  EXPECT_LE(long_one.read, 6);
}

}  // namespace
}  // namespace sfft::video::decoder_test
