// SPDX-License-Identifier: Apache-2.0
// Compares the luma of pictures in the pixel formats of decoders with its definition in floating point.
// libavutil writes the pictures sample by sample.
#include "video/sources/luma.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ostream>

#include "video/sources/frame_times.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace sfft::video::luma_test {
namespace {

constexpr int kWidth = 37, kHeight = 6;  // not multiples of a vector's width

struct Case {
  const char* name;
  bool marked_full;  ///< the picture is marked as full range
  bool stretched;    ///< whether stretching is expected
  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.name << (c.marked_full ? " full" : "");
  }
};

/// A deterministic sample of a component with this many bits.
std::uint16_t sample(int x, int y, int component, int bits) {
  const unsigned mixed = 2654435761U * static_cast<unsigned>(1 + x + 1000 * y + 100000 * component);
  return static_cast<std::uint16_t>(mixed >> (32 - bits));
}

libav::Picture picture(AVPixelFormat format) {
  libav::Picture picture(av_frame_alloc());
  picture->format = format;
  picture->width = kWidth;
  picture->height = kHeight;
  if (av_frame_get_buffer(picture.get(), 0) < 0) return nullptr;
  const AVPixFmtDescriptor& description = *av_pix_fmt_desc_get(format);
  for (const AVBufferRef* const buffer : picture->buf) {  // libavutil adds bits to the old contents
    if (buffer != nullptr) std::memset(buffer->data, 0, buffer->size);
  }
  for (int c = 0; c < description.nb_components; ++c) {
    const bool chroma = (c == 1 || c == 2) && (description.flags & AV_PIX_FMT_FLAG_RGB) == 0;
    const int width = chroma ? AV_CEIL_RSHIFT(kWidth, description.log2_chroma_w) : kWidth;
    const int height = chroma ? AV_CEIL_RSHIFT(kHeight, description.log2_chroma_h) : kHeight;
    for (int y = 0; y < height; ++y) {
      std::vector<std::uint16_t> line;
      for (int x = 0; x < width; ++x) line.push_back(sample(x, y, c, description.comp[c].depth));
      av_write_image_line(line.data(), picture->data, picture->linesize, &description, 0, y, c, width);
    }
  }
  return picture;
}

double value_of(const Frame& frame, int x, int y) {
  const auto at = static_cast<std::size_t>(y * frame.width + x);
  if (!frame.bit_depth16) return static_cast<double>(frame.samples[at]);
  std::uint16_t value = 0;
  std::memcpy(&value, frame.samples.data() + 2 * at, 2);
  return value;
}

class Luma : public testing::TestWithParam<Case> {};
TEST_P(Luma, IsWhatItsDefinitionSays) {
  const AVPixelFormat format = av_get_pix_fmt(GetParam().name);
  ASSERT_NE(format, AV_PIX_FMT_NONE);
  const libav::Picture drawn = picture(format);
  ASSERT_TRUE(drawn);
  drawn->color_range = GetParam().marked_full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_UNSPECIFIED;
  const AVPixFmtDescriptor& description = *av_pix_fmt_desc_get(format);
  const bool rgb = (description.flags & AV_PIX_FMT_FLAG_RGB) != 0;
  int bits = 8;
  for (int c = 0; c < (rgb ? 3 : 1); ++c) bits = std::max(bits, description.comp[c].depth);
  Frame frame;
  to_luma(*drawn, {}, frame);
  EXPECT_EQ(frame.width, kWidth);
  EXPECT_EQ(frame.height, kHeight);
  EXPECT_EQ(frame.bit_depth16, bits > 8);
  ASSERT_EQ(frame.samples.size(), static_cast<std::size_t>(kWidth * kHeight * (bits > 8 ? 2 : 1)));
  const double top = std::pow(2, bits) - 1;
  const double unit = std::pow(2, bits - 8);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const auto component = [&](int c) {
        const int depth = description.comp[c].depth;
        return sample(x, y, c, depth) * top / (std::pow(2, depth) - 1);
      };
      double expected = component(0);
      if (rgb) expected = 0.299 * component(0) + 0.587 * component(1) + 0.114 * component(2);
      if (GetParam().stretched) expected = std::clamp((expected - 16 * unit) * top / (219 * unit), 0.0, top);
      EXPECT_NEAR(value_of(frame, x, y), expected, rgb ? 0.5 + 0.5 + top / 32768 : 0.501)
          << x << " " << y << " " << GetParam();
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    , Luma,
    testing::Values(Case{"gray", false, false}, Case{"gray10le", false, false},
                    Case{"gray16be", false, false}, Case{"ya8", false, false}, Case{"yuv420p", false, true},
                    Case{"yuv420p", true, false}, Case{"yuvj420p", false, false},
                    Case{"yuv411p", false, true}, Case{"yuva444p", false, true},
                    Case{"yuv420p10le", false, true}, Case{"yuv422p10be", false, true},
                    Case{"yuv444p12le", true, false}, Case{"yuv420p16le", false, true},
                    Case{"nv12", false, true}, Case{"nv21", true, false}, Case{"p010le", false, true},
                    Case{"p010le", true, false}, Case{"p016le", false, true}, Case{"yuyv422", false, true},
                    Case{"uyvy422", false, true}, Case{"y210le", false, true}, Case{"rgb24", false, false},
                    Case{"bgr24", false, false}, Case{"rgba", false, false}, Case{"0bgr", false, false},
                    Case{"gbrp", false, false}, Case{"gbrp10le", false, false}, Case{"rgb48le", false, false},
                    Case{"bgr48be", false, false}, Case{"rgb565le", false, false},
                    Case{"monob", false, false}),
    [](const auto& tested) {
      return tested.param.name + std::string(tested.param.marked_full ? "_full" : "");
    });

/// Covers whole vectors and the remainder of a row.
TEST(LumaOf, EveryByteIsStretchedAsItsDefinitionSays) {
  constexpr int kWide = 256 + 37;
  const libav::Picture drawn(av_frame_alloc());
  drawn->format = AV_PIX_FMT_YUV420P;
  drawn->width = kWide;
  drawn->height = 256;
  ASSERT_GE(av_frame_get_buffer(drawn.get(), 0), 0);
  for (int y = 0; y < 256; ++y) {
    for (int x = 0; x < kWide; ++x)
      drawn->data[0][y * drawn->linesize[0] + x] = static_cast<std::uint8_t>(x + y);
  }
  Frame frame;
  to_luma(*drawn, {}, frame);
  for (int y = 0; y < 256; ++y) {
    for (int x = 0; x < kWide; ++x)
      ASSERT_EQ(value_of(frame, x, y), std::round(std::clamp(((x + y) % 256 - 16) / 219.0, 0.0, 1.0) * 255));
  }
}

TEST(LumaOf, PalettesAreLookedUp) {
  libav::Picture drawn(av_frame_alloc());
  drawn->format = AV_PIX_FMT_PAL8;
  drawn->width = 4;
  drawn->height = 1;
  ASSERT_GE(av_frame_get_buffer(drawn.get(), 0), 0);
  const std::uint32_t palette[] = {0xFF000000U, 0xFFFF0000U, 0xFF00FF00U, 0xFF0000FFU};
  std::memcpy(drawn->data[1], palette, sizeof palette);
  for (std::uint8_t i = 0; i < 4; ++i) drawn->data[0][i] = i;
  Frame frame;
  to_luma(*drawn, {}, frame);
  const double expected[] = {0, 0.299 * 255, 0.587 * 255, 0.114 * 255};
  for (int x = 0; x < 4; ++x) EXPECT_NEAR(value_of(frame, x, 0), expected[x], 0.51);
}

TEST(LumaOf, PicturesAreRotatedClockwise) {
  for (const char* name : {"gray", "gray10le"}) {
    const libav::Picture drawn = picture(av_get_pix_fmt(name));
    Frame whole;
    to_luma(*drawn, {}, whole);
    for (int turns = 0; turns < 4; ++turns) {
      Frame turned;
      to_luma(*drawn, {.quarter_turns = turns}, turned);
      ASSERT_EQ(turned.width, turns % 2 == 0 ? kWidth : kHeight);
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
          const int places[4][2] = {
              {x, y}, {kHeight - 1 - y, x}, {kWidth - 1 - x, kHeight - 1 - y}, {y, kWidth - 1 - x}};
          ASSERT_EQ(value_of(turned, places[turns][0], places[turns][1]), value_of(whole, x, y))
              << name << turns;
        }
      }
    }
  }
}

TEST(LumaOf, WhatHasNoIntegerSamplesIsRefused) {
  libav::Picture drawn(av_frame_alloc());
  drawn->format = AV_PIX_FMT_GRAYF32LE;
  drawn->width = drawn->height = 4;
  ASSERT_GE(av_frame_get_buffer(drawn.get(), 0), 0);
  Frame frame;
  EXPECT_THROW(to_luma(*drawn, {}, frame), InputError);
}

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(FrameTimes, CountFromTheFirstFrame) {
  FrameTimes times(25);
  EXPECT_DOUBLE_EQ(times.next(7.5), 0);
  EXPECT_DOUBLE_EQ(times.next(7.625), 0.125);
  EXPECT_DOUBLE_EQ(times.next(8), 0.5);
  SourceLog log;
  times.add_to(log);
  EXPECT_DOUBLE_EQ(log.min_interval_seconds, 0.125);
  EXPECT_DOUBLE_EQ(log.max_interval_seconds, 0.375);
  EXPECT_EQ(log.frames_without_time, 0);
}

TEST(FrameTimes, FollowTheRateWhereStampsAreMissing) {
  FrameTimes times(4);
  EXPECT_DOUBLE_EQ(times.next(kNone), 0);
  EXPECT_DOUBLE_EQ(times.next(kNone), 0.25);
  EXPECT_DOUBLE_EQ(times.next(100), 0.5);
  EXPECT_DOUBLE_EQ(times.next(100.25), 0.75);
  EXPECT_DOUBLE_EQ(times.next(kNone), 1);
  SourceLog log;
  times.add_to(log);
  EXPECT_EQ(log.frames_without_time, 3);
}

TEST(FrameTimes, NeverRunBackwards) {
  FrameTimes times(4);
  times.next(1000);
  EXPECT_DOUBLE_EQ(times.next(1000.25), 0.25);
  EXPECT_DOUBLE_EQ(times.next(1000), 0.5) << "one frame out of order";
  EXPECT_DOUBLE_EQ(times.next(1000.75), 0.75);
  EXPECT_DOUBLE_EQ(times.next(3), 1) << "the clock starts again";
  EXPECT_DOUBLE_EQ(times.next(3.5), 1.5);
}

TEST(FrameTimes, GoOnAfterAGap) {
  FrameTimes times(4);
  times.next(1000);
  times.jump(30);
  EXPECT_DOUBLE_EQ(times.next(2), 30);
  EXPECT_DOUBLE_EQ(times.next(2.25), 30.25);
  SourceLog log;
  times.add_to(log);
  EXPECT_DOUBLE_EQ(log.max_interval_seconds, 0.25);
}

}  // namespace
}  // namespace sfft::video::luma_test
