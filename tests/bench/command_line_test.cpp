// SPDX-License-Identifier: Apache-2.0
// Command lines of benchmark programs: options set variables, and anything else is refused.
#include "bench/command_line.hpp"

#include <gtest/gtest.h>

namespace {

using namespace sfft;

struct Arguments {
  int count = 1;
  double seconds = 0.5;
  bool quick = false;
  std::string out, taken;
  std::vector<int> threads;
  std::vector<std::string> files;
};

Arguments parse(std::vector<std::string> words, bool files = true) {
  words.insert(words.begin(), "program");
  std::vector<char*> line;
  for (std::string& word : words) line.push_back(word.data());
  Arguments arguments;
  bench::parse_options(static_cast<int>(line.size()), line.data(),
                       {{"--count", arguments.count},
                        {"--seconds", arguments.seconds},
                        {"--quick", arguments.quick},
                        {"--out", arguments.out},
                        {"--threads", arguments.threads},
                        {"--take", [&](const std::string& text) { arguments.taken += text; }}},
                       files ? &arguments.files : nullptr);
  return arguments;
}

TEST(CommandLine, OptionsSetVariables) {
  const Arguments set = parse({"--count", "-3", "--seconds", "1e9", "--quick", "--out", "a b.json"});
  EXPECT_EQ(set.count, -3);
  EXPECT_EQ(set.seconds, 1e9);
  EXPECT_TRUE(set.quick);
  EXPECT_EQ(set.out, "a b.json");
  const Arguments defaults = parse({});
  EXPECT_EQ(defaults.count, 1);
  EXPECT_FALSE(defaults.quick);
}

TEST(CommandLine, VectorsTakeListsAndRepetitions) {
  EXPECT_EQ(parse({"--threads", "1,2", "--threads", "16"}).threads, (std::vector<int>{1, 2, 16}));
  EXPECT_EQ(parse({"--take", "x", "--take", "y"}).taken, "xy");
}

TEST(CommandLine, OtherWordsAreFiles) {
  EXPECT_EQ(parse({"a.y4m", "--quick", "b.y4m"}).files, (std::vector<std::string>{"a.y4m", "b.y4m"}));
  EXPECT_THROW(parse({"a.y4m"}, false), std::invalid_argument);
}

TEST(CommandLine, WhatCannotBeTakenIsRefused) {
  EXPECT_THROW(parse({"--unknown"}), std::invalid_argument);
  EXPECT_THROW(parse({"--count"}), std::invalid_argument);
  for (const char* text : {"", "x", "3x", "1.5", "99999999999", " 3"})
    EXPECT_THROW(parse({"--count", text}), std::invalid_argument) << text;
  EXPECT_THROW(parse({"--threads", "1,,2"}), std::invalid_argument);
}

}  // namespace
