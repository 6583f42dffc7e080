// SPDX-License-Identifier: Apache-2.0
// Tests the limit on frames kept in memory, and its message.
#include "video/pipeline/memory.hpp"

#include <gtest/gtest.h>

#include "sfft/error.hpp"

namespace sfft::video::memory_test {
namespace {

TEST(Memory, SomeIsAvailable) {
  EXPECT_GT(available_memory_bytes(), 1 << 20);
  EXPECT_LE(held_frames_limit_bytes(), available_memory_bytes());
}

TEST(Memory, HeldFramesAreLimited) {
  Frame frame;
  frame.width = 100;
  frame.height = 50;
  frame.samples.resize(5000);
  check_held_frames(200, frame, 1000000);
  try {
    check_held_frames(201, frame, 1000000);
    ADD_FAILURE() << "201 frames take more";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("at most 200"), std::string::npos) << error.what();
  }
  check_held_frames(1, frame, 10);  // one has been read already
}

}  // namespace
}  // namespace sfft::video::memory_test
