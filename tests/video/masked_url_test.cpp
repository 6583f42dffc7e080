// SPDX-License-Identifier: Apache-2.0
// Tests that passwords in addresses, as people write them, are not shown.
#include "video/sources/masked_url.hpp"

#include <gtest/gtest.h>

namespace masked_url_test {
namespace {

using sfft::video::masked_url;

TEST(MaskedUrl, HidesPasswords) {
  EXPECT_EQ(masked_url("rtsp://admin:secret@10.0.0.7:554/ch1"), "rtsp://admin:***@10.0.0.7:554/ch1");
  EXPECT_EQ(masked_url("rtsp://admin:p%40ss%3Aw%2Frd@cam/ch1"), "rtsp://admin:***@cam/ch1");
  EXPECT_EQ(masked_url("rtsp://admin:p@ss:w@cam/ch1"), "rtsp://admin:***@cam/ch1");
  EXPECT_EQ(masked_url("rtsp://admin:pa/ss?w#d@cam/ch1"), "rtsp://admin:***@cam/ch1");
  EXPECT_EQ(masked_url("rtsp://:secret@cam/"), "rtsp://:***@cam/");
  EXPECT_EQ(masked_url("http://u:s@[fe80::1]:80/x"), "http://u:***@[fe80::1]:80/x");
  EXPECT_EQ(masked_url("RTSPS://u:s@cam"), "RTSPS://u:***@cam");
}

TEST(MaskedUrl, HidesSecretParameters) {
  EXPECT_EQ(masked_url("rtsp://cam/user=admin&password=secret&channel=1"),
            "rtsp://cam/user=admin&password=***&channel=1");
  EXPECT_EQ(masked_url("rtsp://cam/user=admin_password=se_cret_channel=1_stream=0.sdp?real_stream"),
            "rtsp://cam/user=admin_password=***_channel=1_stream=0.sdp?real_stream");
  EXPECT_EQ(masked_url("http://cam/?monkey=1&API_KEY=2"), "http://cam/?monkey=1&API_KEY=***");
  EXPECT_EQ(masked_url("http://cam/v.cgi?user=a&pwd=b&Token=c#d"),
            "http://cam/v.cgi?user=a&pwd=***&Token=***#d");
  EXPECT_EQ(masked_url("http://u:s@cam/?access_token=abc"), "http://u:***@cam/?access_token=***");
}

TEST(MaskedUrl, LeavesTheRest) {
  for (const char* const input :
       {"rtsp://cam:554/ch1", "rtsp://admin@cam/ch1", "rtsp://[fe80::1]:554/a@b", "http://cam/a@b:c",
        "udp://@239.0.0.1:1234", "street.mp4", "file:///home/u:s@x/street.mp4", "a:b@c.mp4", "", "://",
        "rtsp://", "0", "-"})
    EXPECT_EQ(masked_url(input), input);
}

}  // namespace
}  // namespace masked_url_test
