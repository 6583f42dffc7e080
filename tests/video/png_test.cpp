// SPDX-License-Identifier: Apache-2.0
// Tests the chunks of PNG images and their base64 form.
#include "video/report/encoding.hpp"

#include <gtest/gtest.h>

namespace sfft::video::png_test {
namespace {

TEST(Png, HasTheChunksThatDecodersNeed) {
  const std::string png = encode_png({3, 2, 1, {0, 50, 100, 150, 200, 250}});
  EXPECT_EQ(png.substr(0, 8), std::string("\x89PNG\r\n\x1a\n", 8));
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(png.substr(16, 13), std::string("\0\0\0\3\0\0\0\2\x08\0\0\0\0", 13));
  // CRC-32 of "IEND" is AE426082 in every PNG file.
  EXPECT_EQ(png.substr(png.size() - 12), std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
  EXPECT_NE(png.find("IDAT"), std::string::npos);
  EXPECT_EQ(encode_png({1, 1, 3, {1, 2, 3}})[25], 2) << "RGB";
}

TEST(Png, DataUriIsBase64) {
  const std::string uri = data_uri({1, 1, 1, {7}});
  EXPECT_EQ(uri.rfind("data:image/png;base64,iVBORw0KGgo", 0), 0u) << "every PNG begins so";
  EXPECT_EQ((uri.size() - std::string("data:image/png;base64,").size()) % 4, 0u);
}

}  // namespace
}  // namespace sfft::video::png_test
