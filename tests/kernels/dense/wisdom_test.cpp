// SPDX-License-Identifier: Apache-2.0
// Tests that measured choices are kept, found again, and used only where they are valid.
#include "kernels/dense/wisdom/wisdom.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/runtime/embedded.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/wisdom.hpp"

namespace sfft::detail {
extern const EmbeddedFile kShippedWisdom[];
extern const int kShippedWisdomCount;
}  // namespace sfft::detail

namespace wisdom_test {
namespace {

using namespace sfft::test;
using sfft::dense::WisdomReport;

TEST(WisdomTest, ComesBackFromItsText) {
  Wisdom wisdom, again;
  const std::string text = filled(wisdom).format();
  const WisdomReport report = again.parse(text, here);
  EXPECT_EQ(report.taken, 4);
  EXPECT_EQ(report.ignored, 0);
  EXPECT_EQ(report.reason, "");
  EXPECT_EQ(again.format(), text);
  EXPECT_EQ(again.find(kGpu, {"f32 c2c 64", 8}), (WisdomEntry{"vkfft", "", 0.1 + 0.2}));
  EXPECT_EQ(again.find(kCpu, {"f32 c2c 64", 1}), (WisdomEntry{"fftw", "", 1e6 / 3}));
  EXPECT_EQ(Wisdom().parse(Wisdom().format(), here).reason, "");
}

TEST(WisdomTest, FindsTheNearestBatchOfTheSameTransform) {
  Wisdom wisdom;
  const auto engine_of = [&](const std::string& transform, std::int64_t batch) {
    const auto entry = wisdom.find(kGpu, {transform, batch});
    return entry ? entry->engine : "nothing";
  };
  EXPECT_EQ(engine_of("f32 c2c 64", 1), "nothing");
  wisdom.add(kGpu, {"f32 c2c 64", 1}, {"cufft", "", 1});
  wisdom.add(kGpu, {"f32 c2c 64", 8}, {"vkfft", "", 1});
  wisdom.add(kGpu, {"f32 c2c 64", 1000}, {"tuned", "", 1});
  wisdom.add(kGpu, {"f32 c2c 640", 3}, {"tuned", "", 1});
  for (const auto& [batch, engine] : std::vector<std::pair<std::int64_t, std::string>>{
           {1, "cufft"},
           {2, "cufft"},
           {3, "vkfft"},
           {8, "vkfft"},
           {89, "vkfft"},
           {90, "tuned"},
           {std::numeric_limits<std::int64_t>::max(), "tuned"}}) {
    EXPECT_EQ(engine_of("f32 c2c 64", batch), engine) << batch;
  }
  EXPECT_EQ(engine_of("f32 c2c 6", 3), "nothing");
  EXPECT_EQ(engine_of("f32 r2c 64", 3), "nothing");
  EXPECT_FALSE(wisdom.find(kCpu, {"f32 c2c 64", 1}));
  wisdom.add(kGpu, {"f32 c2c 64", 8}, {"cufft", "", 0.5});
  EXPECT_EQ(engine_of("f32 c2c 64", 8), "cufft");
  wisdom.clear();
  EXPECT_EQ(engine_of("f32 c2c 64", 8), "nothing");
}

TEST(WisdomTest, OtherDevicesAreKeptOtherDriversAndVersionsAreNot) {
  Wisdom wisdom;
  const std::string other_device = Fields{.device = R"("Other GPU")", .driver = R"("11.4")"}.text();
  WisdomReport report = wisdom.parse(file_of(other_device), here);
  EXPECT_EQ(report.taken, 1);
  EXPECT_EQ(report.reason, "");
  EXPECT_NE(wisdom.format().find("Other GPU"), std::string::npos);
  EXPECT_TRUE(wisdom.find({"Other GPU", "11.4", "0.1.0"}, {"f32 c2c 64", 1}));

  report = wisdom.parse(file_of(Fields{.driver = R"("12.8")"}.text()), here);
  EXPECT_EQ(report.taken, 0);
  EXPECT_EQ(report.ignored, 1);
  EXPECT_NE(report.reason.find("driver '12.8', here is '13.0'"), std::string::npos) << report.reason;
  report = wisdom.parse(file_of(Fields{.library = R"("0.1.1")"}.text()), here);
  EXPECT_EQ(report.ignored, 1);
  EXPECT_NE(report.reason.find("version '0.1.1', here is '0.1.0'"), std::string::npos) << report.reason;
  EXPECT_FALSE(wisdom.find(kGpu, {"f32 c2c 64", 1}));
}

TEST(WisdomTest, ShippedWisdomHoldsForEveryDriverOfOneRelease) {
  const auto shipped = [](const std::string& library, const std::string& batch) {
    return file_of(Fields{.driver = R"("12.4")", .library = library, .batch = batch}.text());
  };
  const std::string version = sfft::version();
  const std::string release = version.substr(0, version.rfind('.'));
  Wisdom wisdom;
  for (const char* other : {R"("9.9.0")", R"("0")", R"("0.")"}) {
    const WisdomReport report = wisdom.parse_shipped(shipped(other, "1"));
    EXPECT_EQ(report.ignored, 1) << other;
    EXPECT_NE(report.reason.find("version"), std::string::npos);
  }
  EXPECT_EQ(wisdom.parse_shipped(shipped(fmt::format("\"{}.77\"", release), "4")).taken, 1);
  const auto engine_of = [&](std::int64_t batch) {
    const auto entry = wisdom.find(kGpu, {"f32 c2c 64", batch});
    return entry ? entry->engine : "nothing";
  };
  EXPECT_EQ(engine_of(4), "tuned");
  EXPECT_FALSE(wisdom.find(kCpu, {"f32 c2c 64", 4}));
  EXPECT_EQ(wisdom.format(), Wisdom().format()) << "shipped wisdom is not written";
  wisdom.add(kGpu, {"f32 c2c 64", 1}, {"cufft", "", 1});
  EXPECT_EQ(engine_of(1), "cufft");
  EXPECT_EQ(engine_of(4), "tuned") << "the nearer batch goes first";
  EXPECT_EQ(engine_of(2), "cufft") << "of equally near ones what was measured here";
  wisdom.clear();
  EXPECT_EQ(engine_of(4), "nothing");

  ASSERT_GE(sfft::detail::kShippedWisdomCount, 1);
  for (int i = 0; i < sfft::detail::kShippedWisdomCount; ++i) {
    const WisdomReport report = wisdom.parse_shipped(sfft::detail::kShippedWisdom[i].text);
    EXPECT_EQ(report.reason, "") << sfft::detail::kShippedWisdom[i].name
                                 << ": measure again, or set 'library'";
  }
}

TEST(WisdomTest, PlacesOfThisMachine) {
  const WisdomPlatform cpu = sfft::detail::cpu_platform();
  EXPECT_EQ(cpu.device.find("CPU "), 0u);
  EXPECT_EQ(cpu.driver, "");
  EXPECT_EQ(cpu.library, sfft::version());
  EXPECT_EQ(sfft::detail::platform_here(cpu.device), cpu);
  EXPECT_EQ(sfft::detail::platform_here("CPU of another kind"), std::nullopt);
  EXPECT_EQ(sfft::detail::platform_here("no such GPU"), std::nullopt);
}

TEST(WisdomTest, ManyThreads) {
  Wisdom wisdom;
  std::vector<std::thread> threads;
  for (int mine = 0; mine < 4; ++mine) {
    threads.emplace_back([&wisdom, mine] {
      for (int i = 1; i <= 200; ++i) {
        wisdom.add(kGpu, {fmt::format("f32 c2c {}", mine), i}, {"cufft", "", static_cast<double>(i)});
        const auto found = wisdom.find(kGpu, {fmt::format("f32 c2c {}", mine), i});
        EXPECT_TRUE(found && found->us == i);
        if (i % 50 != 0) continue;
        EXPECT_EQ(wisdom.parse(wisdom.format(), here).reason, "");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Wisdom().parse(wisdom.format(), here).taken, 800);
}

}  // namespace
}  // namespace wisdom_test
