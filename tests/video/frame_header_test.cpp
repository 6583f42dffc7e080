// SPDX-License-Identifier: Apache-2.0
// Tests frame sizes read from JPEG and VP9 headers, by hand-made bytes and by random damage to them.
#include "video/sources/frame_header.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sfft::video {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// SOI, a comment that contains a false frame header, fill bytes, and the SOF of the given process.
Bytes jpeg(std::uint8_t process) {
  return {0xFF, 0xD8, 0xFF, 0xFE, 0x00,    0x0B, 0xFF, 0xC0, 0x00, 0x11, 8,    0x11, 0x11, 0x22,
          0x22, 0xFF, 0xFF, 0xFF, process, 0x00, 0x11, 8,    0x01, 0x20, 0x02, 0x80, 3};
}

TEST(FrameHeader, OfJpeg) {
  for (const std::uint8_t process : {0xC0, 0xC1, 0xC2, 0xC3, 0xC9}) {
    EXPECT_EQ(jpeg_size(jpeg(process)), (FrameSize{640, 288})) << int{process};
  }
  for (const std::uint8_t other : {0xC4, 0xC8, 0xCC, 0xDA, 0xD9, 0xE0}) EXPECT_FALSE(jpeg_size(jpeg(other)));
  EXPECT_FALSE(jpeg_size(Bytes{}));
  EXPECT_FALSE(jpeg_size(Bytes{0xFF, 0xD8}));
}

/// Profile 0, a key frame that is shown, 8-bit 4:2:0, 352x288.
const Bytes kVp9Key{0x82, 0x49, 0x83, 0x42, 0x00, 0x15, 0xF0, 0x11, 0xF0, 0x00};

TEST(FrameHeader, OfVp9) {
  EXPECT_EQ(vp9_size(kVp9Key), (FrameSize{352, 288}));
  // The same size in a frame that refers to others of another one: no found_ref bit is set.
  const Bytes explicit_size{0x86, 0x00, 0x00, 0x00, 0x00, 0xAF, 0x80, 0x8F, 0x80};
  EXPECT_EQ(vp9_size(explicit_size), (FrameSize{352, 288}));
  Bytes as_before = explicit_size;
  as_before[3] |= 0x02;
  EXPECT_FALSE(vp9_size(as_before));
  Bytes wrong = kVp9Key;
  wrong[1] ^= 1;
  EXPECT_FALSE(vp9_size(wrong));
}

TEST(FrameHeader, AnyBytesAreSurvived) {
  std::mt19937 random(3);
  for (int run = 0; run < 20000; ++run) {
    Bytes bytes = run % 2 == 0 ? jpeg(0xC0) : kVp9Key;
    bytes.resize(random() % (bytes.size() + 1));
    for (std::size_t i = 2; i < bytes.size(); ++i) {
      if (random() % 4 == 0) bytes[i] = static_cast<std::uint8_t>(random());
    }
    const auto a = jpeg_size(bytes), b = vp9_size(bytes);
    EXPECT_LE(a ? std::max(a->width, a->height) : 0, 65535);
    EXPECT_GE(b ? std::min(b->width, b->height) : 1, 1);
  }
}

}  // namespace
}  // namespace sfft::video
