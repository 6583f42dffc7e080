// SPDX-License-Identifier: Apache-2.0
// Tests the YUV4MPEG2 reader: every chroma format, damaged streams, and claims larger than the data.
#include "video/sources/y4m_source.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace sfft::video::y4m_test {
namespace {

std::string failure(const std::string& bytes) {
  std::istringstream stream(bytes);
  try {
    const auto source = open_y4m(stream, "test");
    Frame frame;
    while (source->next(frame)) {
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Y4m, ReadsLumaOfEveryChroma) {
  struct Tag {
    const char* name;
    int chroma, bytes;
  };
  // 5 x 3 frames: chroma samples in addition to 15 of luma.
  for (const Tag& tag :
       {Tag{"mono", 0, 1}, Tag{"420jpeg", 12, 1}, Tag{"420paldv", 12, 1}, Tag{"420", 12, 1},
        Tag{"422", 18, 1}, Tag{"444", 30, 1}, Tag{"444alpha", 45, 1}, Tag{"411", 12, 1}, Tag{"440", 20, 1},
        Tag{"mono16", 0, 2}, Tag{"420p10", 12, 2}, Tag{"422p12", 18, 2}, Tag{"444p16", 30, 2}}) {
    std::string bytes = std::string("YUV4MPEG2 W5 H3 F30000:1001 Ip A1:1 C") + tag.name + " XYSCSS=420JPEG\n";
    for (int t = 0; t < 2; ++t) {
      bytes += t == 0 ? "FRAME\n" : "FRAME Ixyz\n";
      for (int i = 0; i < 15 * tag.bytes; ++i) bytes.push_back(static_cast<char>(i + t));
      bytes.append(static_cast<std::size_t>(tag.chroma * tag.bytes), '\x80');
    }
    std::istringstream stream(bytes);
    const auto source = open_y4m(stream, "test");
    EXPECT_EQ(source->info().width, 5);
    EXPECT_EQ(source->info().height, 3);
    EXPECT_NEAR(source->frame_rate(), 29.97, 0.01);
    Frame frame;
    for (int t = 0; t < 2; ++t) {
      ASSERT_TRUE(source->next(frame)) << tag.name;
      EXPECT_NEAR(frame.seconds, t * 1.001 / 30, 1e-12);
      EXPECT_EQ(frame.bit_depth16, tag.bytes == 2);
      ASSERT_EQ(frame.samples.size(), static_cast<std::size_t>(15 * tag.bytes));
      for (std::size_t i = 0; i < frame.samples.size(); ++i)
        EXPECT_EQ(static_cast<int>(frame.samples[i]), static_cast<int>(i) + t);
      EXPECT_EQ(frame.view().type(), tag.bytes == 2 ? ElementType::u16 : ElementType::u8);
    }
    EXPECT_FALSE(source->next(frame)) << tag.name;
  }
}

TEST(Y4m, DamageIsNamed) {
  EXPECT_NE(failure(""), "");
  EXPECT_NE(failure("RIFF....AVI"), "");
  EXPECT_NE(failure("YUV4MPEG2 H3\n"), "");
  EXPECT_NE(failure("YUV4MPEG2 W0 H3\n"), "");
  EXPECT_NE(failure("YUV4MPEG2 W5x H3\n"), "");
  EXPECT_NE(failure("YUV4MPEG2 W99999999 H3\n"), "");
  EXPECT_NE(failure("YUV4MPEG2 W5 H3 C999\n"), "");
  EXPECT_NE(failure("YUV4MPEG2 W5 H3 C420p99\n"), "");
  EXPECT_NE(failure(std::string(10000, 'x')), "");
  EXPECT_EQ(failure("YUV4MPEG2 W2 H1 Cmono\n"), "") << "no frames is not damage here";
  EXPECT_NE(failure("YUV4MPEG2 W2 H1 Cmono\nFRAME\na").find("frame 0"), std::string::npos);
  EXPECT_NE(failure("YUV4MPEG2 W2 H1 Cmono\nFRAME\nabXXXXX\n").find("frame 1"), std::string::npos);
  EXPECT_NE(failure("YUV4MPEG2 W2 H2 C420\nFRAME\nabcd\x80").find("frame 0"), std::string::npos)
      << "chroma is missing";
}

TEST(Y4m, ClaimsCostNoMoreThanWhatArrives) {
  const std::string header = "YUV4MPEG2 W65536 H65536 Cmono16\n";
  std::istringstream small(header + "FRAME\n" + std::string(1000, 'x'));
  const auto source = open_y4m(small, "test");
  Frame frame;
  EXPECT_THROW(source->next(frame), InputError);
  EXPECT_LE(frame.samples.capacity(), std::size_t{1} << 23);
  // If the size of the file is known, nothing is read.
  std::istringstream file(header + "FRAME\n" + std::string(1000, 'x'));
  EXPECT_THROW(open_y4m(file, "test", 1040), InputError);
}

TEST(Y4m, FramesLargerThanTheFirstReadAreWhole) {
  const std::size_t luma = 5000 * 3000;
  std::string bytes = "YUV4MPEG2 W5000 H3000 Cmono\n";
  for (int t = 0; t < 2; ++t) {
    bytes += "FRAME\n";
    for (std::size_t i = 0; i < luma; ++i)
      bytes.push_back(static_cast<char>(i * 7 + i / 4096 + static_cast<std::size_t>(t)));
  }
  std::istringstream stream(bytes);
  const auto source = open_y4m(stream, "test");
  Frame frame;
  for (int t = 0; t < 2; ++t) {
    ASSERT_TRUE(source->next(frame));
    ASSERT_EQ(frame.samples.size(), luma);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < luma; ++i)
      wrong +=
          frame.samples[i] !=
          static_cast<std::byte>(static_cast<unsigned char>(i * 7 + i / 4096 + static_cast<std::size_t>(t)));
    EXPECT_EQ(wrong, 0u);
  }
}

}  // namespace
}  // namespace sfft::video::y4m_test
