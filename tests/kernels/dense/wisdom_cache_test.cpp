// SPDX-License-Identifier: Apache-2.0
// Tests that wisdom about single problems passes from process to process, and only where it is valid.
#include "kernels/dense/wisdom/wisdom.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "kernels/dense/wisdom/wisdom_text.hpp"
#include "tests/support/wisdom.hpp"

namespace wisdom_cache_test {
namespace {

using namespace sfft::test;
using sfft::detail::recall_wisdom;
using sfft::detail::remember_wisdom;
using sfft::detail::UserCache;
using sfft::detail::WisdomProblem;

const WisdomProblem kProblem{"f32 c2c 64", 8};

class WisdomCacheTest : public testing::Test {
 protected:
  WisdomCacheTest() : cache_(make_folder()) {}
  ~WisdomCacheTest() override { std::filesystem::remove_all(cache_.folder()); }

  static std::string make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sfft-wisdom-XXXXXX").string();
    return mkdtemp(name.data());
  }
  /// What another process finds.
  std::optional<WisdomEntry> found(const std::string& build, const WisdomPlatform& platform = kGpu,
                                   const WisdomProblem& problem = kProblem) const {
    Wisdom other;
    recall_wisdom(cache_, build, platform, problem, other);
    return other.find(platform, problem, Wisdom::Batch::exact);
  }

  UserCache cache_;
};

TEST_F(WisdomCacheTest, IsFoundByOtherProcesses) {
  Wisdom wisdom;
  const WisdomEntry compared{"tuned", "radix 8 8", 2.5, true}, measured{"vkfft", "", 1.5};
  EXPECT_EQ(found("1"), std::nullopt);
  remember_wisdom(cache_, "1", kGpu, kProblem, compared, wisdom);
  EXPECT_EQ(wisdom.find(kGpu, kProblem), compared);
  EXPECT_EQ(found("1"), compared);
  remember_wisdom(cache_, "1", kGpu, kProblem, measured, wisdom);
  EXPECT_EQ(found("1"), measured) << "a measurement counts for more";
  remember_wisdom(cache_, "1", kGpu, kProblem, compared, wisdom);
  EXPECT_EQ(found("1"), measured);
}

TEST_F(WisdomCacheTest, IsValidForOneBuildPlatformAndProblem) {
  Wisdom wisdom;
  const WisdomEntry entry{"tuned", "radix 8 8", 2.5, true};
  remember_wisdom(cache_, "1", kGpu, kProblem, entry, wisdom);
  EXPECT_EQ(found("2"), std::nullopt);
  WisdomPlatform other = kGpu;
  other.driver = "12.9";
  EXPECT_EQ(found("1", other), std::nullopt);
  EXPECT_EQ(found("1", kGpu, {"f32 c2c 64", 9}), std::nullopt);
  EXPECT_EQ(found("1", kGpu, {"f64 c2c 64", 8}), std::nullopt);
}

TEST_F(WisdomCacheTest, TextOfAnotherProblemIsIgnored) {
  Wisdom wisdom;
  remember_wisdom(cache_, "1", kGpu, kProblem, {"tuned", "radix 8 8", 2.5, true}, wisdom);
  const std::string key = "compared\n1\n" + kGpu.device + "\n" + kGpu.driver + "\n" + kGpu.library + "\n" +
                          kProblem.transform + "\n8";
  ASSERT_TRUE(cache_.find("wisdom", key)) << "this test knows the key";
  Fields fields;
  for (const std::string& text :
       {std::string("no wisdom"), file_of(""), file_of(fields.text()),  // another batch
        file_of(fields.text(), "99"), std::string()}) {
    cache_.store("wisdom", key, text);
    EXPECT_EQ(found("1"), std::nullopt) << text;
  }
  fields.batch = "8";
  cache_.store("wisdom", key, file_of(fields.text()));
  EXPECT_TRUE(found("1"));
  fields.engine = R"("built_in")";
  cache_.store("wisdom", key, file_of(fields.text()));
  EXPECT_EQ(found("1"), std::nullopt) << "an engine that does not run there";
}

TEST_F(WisdomCacheTest, ComparisonsCountForTheirBatchAlone) {
  Wisdom wisdom;
  wisdom.add(kGpu, {"f32 c2c 64", 8}, {"cufft", "", 1, true});
  EXPECT_EQ(wisdom.find(kGpu, {"f32 c2c 64", 9}), std::nullopt);
  wisdom.add(kGpu, {"f32 c2c 64", 1000}, {"tuned", "", 1});
  EXPECT_EQ(wisdom.find(kGpu, {"f32 c2c 64", 8})->engine, "cufft");
  EXPECT_EQ(wisdom.find(kGpu, {"f32 c2c 64", 9})->engine, "tuned");
  wisdom.add(kGpu, {"f32 c2c 64", 8}, {"vkfft", "", 1});
  EXPECT_EQ(wisdom.find(kGpu, {"f32 c2c 64", 8})->engine, "vkfft") << "a measurement counts for more";
  Wisdom again;
  again.parse(wisdom.format(), here);
  EXPECT_EQ(again.find(kGpu, {"f32 c2c 64", 8})->engine, "vkfft") << "files have measurements";
  wisdom.clear();
  EXPECT_EQ(wisdom.find(kGpu, {"f32 c2c 64", 8}), std::nullopt);
}

}  // namespace
}  // namespace wisdom_cache_test
