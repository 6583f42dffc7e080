// SPDX-License-Identifier: Apache-2.0
// Tests reading wisdom from texts that are damaged, foreign or hostile.
#include "kernels/dense/wisdom/wisdom_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/wisdom.hpp"

namespace wisdom_text_test {
namespace {

using namespace sfft::test;
using sfft::dense::WisdomReport;

TEST(WisdomTextTest, EveryTruncationAddsNothing) {
  Wisdom wisdom;
  const std::string text = filled(wisdom).format();
  ASSERT_EQ(text.back(), '\n');
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    Wisdom other;
    const WisdomReport report = other.parse(text.substr(0, length), here);
    EXPECT_EQ(report.taken, 0) << length;
    EXPECT_NE(report.reason, "") << length;
    EXPECT_FALSE(other.find(kGpu, {"f32 c2c 64", 1})) << length;
  }
}

TEST(WisdomTextTest, FlippedBitsNeverTakeMoreThanIsGood) {
  Wisdom wisdom;
  const std::string text = filled(wisdom).format();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      Wisdom other;
      const WisdomReport report = other.parse(flipped, here);
      EXPECT_LE(report.taken + report.ignored, 4);
      EXPECT_EQ(report.reason.empty(), report.taken == 4) << report.reason;
      // Accepted entries are well formed: their own text is accepted as a whole.
      const WisdomReport again = Wisdom().parse(other.format(), here);
      EXPECT_EQ(again.taken, report.taken);
      EXPECT_EQ(again.reason, "") << flipped;
    }
  }
}

TEST(WisdomTextTest, ABadEntryIsLeftOutAndNamed) {
  const std::string good = Fields{.transform = R"("f32 c2c 128")"}.text();
  const std::string long_name = fmt::format("\"{}\"", std::string(201, 'x'));
  const std::vector<std::pair<std::string, std::string>> cases{
      {"7", "not an object"},
      {"null", "not an object"},
      {"[]", "not an object"},
      {"{}", "no 'device'"},
      {Fields{.device = "7"}.text(), "'device' is not a string"},
      {Fields{.device = R"("")"}.text(), "'device' has 0 bytes"},
      {Fields{.device = long_name}.text(), "'device' has 201 bytes"},
      {Fields{.device = R"("Test\u0000GPU")"}.text(), "control character"},
      {Fields{.device = R"("Test\nGPU")"}.text(), "control character"},
      {Fields{.driver = "13.0"}.text(), "'driver' is not a string"},
      {Fields{.library = "null"}.text(), "'library' is not a string"},
      {Fields{.transform = "[64]"}.text(), "'transform' is not a string"},
      {Fields{.transform = long_name}.text(), "'transform' has 201 bytes"},
      {Fields{.batch = "0"}.text(), "'batch' is 0"},
      {Fields{.batch = "-4"}.text(), "'batch' is -4"},
      {Fields{.batch = "1.5"}.text(), "'batch' is not a whole number"},
      {Fields{.batch = R"("1")"}.text(), "'batch' is not a whole number"},
      {Fields{.batch = "true"}.text(), "'batch' is not a whole number"},
      {Fields{.batch = "18446744073709551615"}.text(), "'batch' is 18446744073709551615"},
      {Fields{.batch = "99999999999999999999999"}.text(), "'batch' is not a whole number"},
      {Fields{.engine = R"("mkl")"}.text(), "'mkl' is unknown"},
      {Fields{.engine = R"("automatic")"}.text(), "'automatic' is unknown"},
      {Fields{.engine = R"("fftw")"}.text(), "'fftw' does not run on 'Test GPU'"},
      {Fields{.device = R"("CPU Test")", .driver = R"("")"}.text(), "'tuned' does not run on 'CPU Test'"},
      {Fields{.kernel = "{}"}.text(), "'kernel' is not a string"},
      {Fields{.kernel = fmt::format("\"{}\"", std::string(4001, 'k'))}.text(), "'kernel' has 4001 bytes"},
      {Fields{.us = "-1"}.text(), "'us' is -1"},
      {Fields{.us = "0"}.text(), "'us' is 0"},
      {Fields{.us = "-0.0"}.text(), "'us' is -0"},
      {Fields{.us = "1e300"}.text(), "'us' is 1e+300"},
      {Fields{.us = "null"}.text(), "'us' is not a number"},
      {Fields{.us = R"("2.5")"}.text(), "'us' is not a number"},
      {Fields{.more = R"(,"note":1)"}.text(), "9 fields"},
      {good, "given before"},
  };
  for (const auto& [bad, expected] : cases) {
    Wisdom wisdom;
    const WisdomReport report = wisdom.parse(file_of(good + "," + bad), here);
    EXPECT_EQ(report.taken, 1) << bad;
    EXPECT_EQ(report.ignored, 1) << bad;
    EXPECT_EQ(report.reason.find("entry 2: "), 0u) << report.reason;
    EXPECT_NE(report.reason.find(expected), std::string::npos) << report.reason << "\n" << bad;
    EXPECT_TRUE(wisdom.find(kGpu, {"f32 c2c 128", 1}));
    EXPECT_FALSE(wisdom.find(kGpu, {"f32 c2c 64", 1}));
  }
  const WisdomReport many = Wisdom().parse(file_of(good + ",1,2,3"), here);
  EXPECT_EQ(many.ignored, 3);
  EXPECT_EQ(many.reason, "3 of 4 entries are ignored, the first is entry 2: it is not an object");
}

TEST(WisdomTextTest, ABadTextAddsNothing) {
  const std::string good = Fields{}.text();
  const std::string deep(100000, '[');
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "damaged"},
      {std::string(5, '\0'), "damaged"},
      {"7", "not sfft wisdom"},
      {"[]", "not sfft wisdom"},
      {"{}", "not sfft wisdom"},
      {R"({"format":"other","version":3,"entries":[]})", "not sfft wisdom"},
      {R"({"format":1,"version":3,"entries":[]})", "not sfft wisdom"},
      {R"({"format":"sfft-wisdom","entries":[]})", "no 'version'"},
      {R"({"format":"sfft-wisdom","version":3})", "no 'entries'"},
      {R"({"format":"sfft-wisdom","version":3,"entries":{}})", "not a list"},
      {file_of(good, "2"), "format version 2, this library reads 3: measure again"},
      {file_of(good, "0"), "format version 0"},
      {file_of(good, "-1"), "format version -1"},
      {file_of(good, "3.0"), "'version' is not a whole number"},
      {file_of(good, "\"2\""), "'version' is not a whole number"},
      {file_of(good) + "x", "damaged"},
      {file_of(good) + file_of(good), "damaged"},
      {file_of(good + ","), "damaged"},
      {file_of(Fields{.us = "1e999"}.text()), "too large"},
      {file_of(Fields{.us = "NaN"}.text()), "damaged"},
      {file_of(Fields{.kernel = "\"\xC3(\""}.text()), "damaged"},
      {file_of(good + "," + Fields{.more = R"(,"us":3)"}.text()), "given twice: 'us'"},
      {R"({"format":"x",)" + file_of(good).substr(1), "given twice: 'format'"},
      {deep, "deeper than"},
      {file_of(deep), "deeper than"},
      {file_of(good) + std::string(sfft::detail::kWisdomBytes, ' '), "no wisdom has more than"},
  };
  for (const auto& [text, expected] : cases) {
    Wisdom wisdom;
    const std::string before = filled(wisdom).format();
    const WisdomReport report = wisdom.parse(text, here);
    EXPECT_EQ(report.taken, 0);
    EXPECT_NE(report.reason.find(expected), std::string::npos) << report.reason << "\n"
                                                               << text.substr(0, 200);
    EXPECT_LT(report.reason.size(), 400u);
    EXPECT_EQ(wisdom.format(), before);
  }
}

}  // namespace
}  // namespace wisdom_text_test
