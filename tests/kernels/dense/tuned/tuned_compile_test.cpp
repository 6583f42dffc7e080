// SPDX-License-Identifier: Apache-2.0
// Tests that kernels of the tuned engine compile for every architecture of the build, without a GPU.
#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <span>
#include <sstream>

#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/codegen/source.hpp"
#include "kernels/runtime/embedded.hpp"
#include "kernels/runtime/user_cache.hpp"
#include "tests/support/tuned_problem.hpp"

namespace sfft::detail {
extern const EmbeddedFile kShippedWisdom[];
extern const int kShippedWisdomCount;
}  // namespace sfft::detail

namespace sfft::test::tuned_compile_test {
namespace {

using dense::Storage;
using detail::DenseProblem;
using detail::cuda::find_nvrtc;
using detail::tuned::Formats;
using detail::tuned::Kernel;
using detail::tuned::TransformPolicy;

struct Case {
  DenseProblem problem;
  std::vector<int> factors{};
  bool alternating = false;
};

std::vector<Case> cases() {
  const dense::Options::Strides interleaved{{8, 0, 0}, 1}, pitched{{1000, 1, 0}, 1000 * 540};
  return {
      {dense_problem(Shape(2), false, 1000)},
      {dense_problem(Shape(17), false, 1000)},
      {dense_problem(Shape(127), false, 1000)},
      {dense_problem(Shape(509), true, 100)},
      {dense_problem(Shape(512), true, 100)},
      {dense_problem(Shape(1000), false, 100)},
      {dense_problem(Shape(1001), true, 100)},
      {dense_problem(Shape(2053), false, 10)},
      {dense_problem(Shape(3000), true, 10)},
      {dense_problem(Shape(4096), false, 10)},
      {dense_problem(Shape(8192), false, 10)},
      {dense_problem(Shape(1024), false, 8, interleaved)},
      {dense_problem(Shape(256 * 1024), false, 2), {256, 1024}},
      {dense_problem(Shape(360 * 400), false, 2), {360, 400}, true},
      {dense_problem(Shape(128 * 64 * 96), false, 1), {128, 64, 96}, true},
      {dense_problem(Shape({512, 512}), false)},
      {dense_problem(Shape({540, 960}), true), {}, true},
      {dense_problem(Shape({540, 960}), true, 1, pitched)},
      {dense_problem(Shape({1080, 1920}), true)},
      {dense_problem(Shape({499, 251}), true)},
      {dense_problem(Shape({243, 63}), false, 4), {}, true},
      {dense_problem(Shape({64, 64, 64}), false)},
      {dense_problem(Shape({60, 90, 100}), false), {}, true},
      {dense_problem(Shape({64, 48, 80}), true)},
      {dense_problem(Shape({64, 48, 80}), false), {6, 8}},
      {dense_problem(Shape({17, 19, 23}), true)},
  };
}

/// Returns distinct sources of the kernels that a spread of problems needs, by architecture: a drawn two
/// thirds of them, because all take minutes.
std::map<std::string, std::set<std::string>> sources() {
  std::map<std::string, std::set<std::string>> all;
  bool inverse = false;
  int kinds = 0;
  std::mt19937 random(1);
  for (const Case& c : cases()) {
    for (const bool single : {true, false}) {
      for (const auto& [architecture, limits] :
           {std::pair{"sm_75", kTuring}, {"sm_80", kAmpere}, {"sm_90", kHopper}}) {
        TransformPolicy policy = rule_policy(c.problem, single, c.factors, limits);
        policy.alternating_groups = c.alternating ? 4 : 0;
        policy.streams = c.alternating ? 2 : 1;
        const bool left_out = random() % 3 == 0;
        ++kinds;
        for (detail::tuned::KernelPolicy& kernel : policy.kernels) {
          kernel.loads = static_cast<detail::tuned::Loads>(kinds / 2 % 3);
          kernel.streaming = kinds % 5 < 2;
          kernel.double_buffered = kinds % 4 < 3;
          kernel.early_prefetch = kinds % 4 > 0;
          kernel.interleaved_threads = kinds / 3 % 3 > 0;
          kernel.prefetch_distance = kinds % 5 * 10;
          kernel.multiprocessor_delay = kinds % 2 * 800;
        }
        const ElementType element =
            kinds % 3 == 0 ? ElementType::u16 : (single ? ElementType::u8 : ElementType::f64);
        const device::Keep keep = inverse || kinds % 2 == 0
                                      ? device::Keep::all
                                      : (kinds % 4 == 1 ? device::Keep::above : device::Keep::at);
        Formats formats;
        if (single && keep == device::Keep::all && kinds / 6 % 3 != 0) {
          formats = kinds / 6 % 3 == 1 ? Formats{Storage::f16, Storage::bf16, Storage::f16, 8}
                                       : Formats{Storage::bf16, Storage::f16, Storage::f32, 8};
        }
        const auto program = lay_out({c.problem, single, inverse, element, keep, formats}, policy);
        if (left_out) continue;
        for (const Kernel& kernel : program.kernels) all[architecture].insert(source_of(kernel, single));
      }
      inverse = !inverse;
    }
    inverse = !inverse;  // the next problem is inverse in the other precision
  }
  return all;
}

TEST(TunedCompile, EveryKernelOfASpreadOfProblems) {
  if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  for (const auto& [architecture, needed] : sources()) {
    const std::vector<std::string> list(needed.begin(), needed.end());
    const auto compiled = detail::tuned::compile(list, architecture);
    ASSERT_EQ(compiled.size(), list.size());
    for (const char* seldom :
         {"policy.double_buffered = 1", "policy.early_prefetch = 1", "policy.prefetch_distance = 1",
          "policy.interleaved_threads = 1", "policy.block_delay = 1", "step.rows = 64",
          "in.storage = dense::Storage::f16", "in.storage = dense::Storage::bf16",
          "out.storage = dense::Storage::f16", "out.storage = dense::Storage::bf16", "Element = F16"}) {
      EXPECT_TRUE(
          std::any_of(list.begin(), list.end(),
                      [&](const std::string& source) { return source.find(seldom) != std::string::npos; }))
          << architecture << ": " << seldom;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(compiled[i].failure, "") << architecture << "\n" << list[i];
      EXPECT_FALSE(compiled[i].image.empty()) << architecture << "\n" << list[i];
    }
  }
}

/// Compiles packed tiles, fused twiddle factors and blocks of integers as the rules choose them for 16-bit
/// lines.
TEST(TunedCompile, LinesOf16Bits) {
  if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  std::vector<std::string> list;
  for (const std::int64_t points : {64, 500, 2048}) {
    for (const Storage storage : {Storage::f16, Storage::bf16, Storage::block16}) {
      const DenseProblem problem = dense_problem(Shape(points), false, 100);
      const Formats formats{storage, storage, Storage::f32, 1};
      std::string why;
      TransformPolicy policy;
      for (const auto& need : needs_of(problem, true, {}, kHopper, why, formats))
        policy.kernels.push_back(candidates(need, true, kHopper, 1).front());
      for (const Kernel& kernel :
           lay_out({problem, true, points == 500, ElementType::f32, device::Keep::all, formats}, policy)
               .kernels)
        list.push_back(source_of(kernel, true));
    }
  }
  for (const char* seldom : {"::fused", "policy.staged = 1", "in.storage = dense::Storage::block16"}) {
    EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const std::string& source) {
      return source.find(seldom) != std::string::npos;
    })) << seldom;
  }
  for (const char* architecture : {"sm_75", "sm_80", "sm_90"}) {
    const auto compiled = detail::tuned::compile(list, architecture);
    for (std::size_t i = 0; i < list.size(); ++i)
      EXPECT_EQ(compiled[i].failure, "") << architecture << "\n" << list[i];
  }
}

/// The problem of a wisdom file's "f32 r2c 1080x1920".
DenseProblem problem_of(const std::string& transform, std::int64_t batch) {
  std::istringstream words(transform);
  std::string precision, kind, grid, extent;
  words >> precision >> kind >> grid;
  std::vector<std::int64_t> extents;
  for (std::istringstream parts(grid); std::getline(parts, extent, 'x');)
    extents.push_back(std::stoll(extent));
  return dense_problem(Shape(std::span<const std::int64_t>(extents)), kind == "r2c", batch);
}

/// Parses what follows the word "stored".
Formats formats_of(const std::string& transform) {
  const std::size_t at = transform.find(" stored ");
  if (at == std::string::npos) return {};
  std::istringstream words(transform.substr(at + 8));
  std::array<dense::Storage, 3> found{};
  for (dense::Storage& storage : found) {
    std::string word;
    words >> word;
    for (const auto known : {dense::Storage::f32, dense::Storage::f16, dense::Storage::bf16})
      storage = word == to_string(known) ? known : storage;
  }
  return {found[0], found[1], found[2], 1};
}

/// The generator must still accept the shipped policies, which can be tested without a GPU. Entries without a
/// policy leave the choice to the rules, which must have one.
TEST(TunedCompile, ShippedPolicies) {
  std::set<std::string> needed;
  int tuned = 0;
  for (int i = 0; i < detail::kShippedWisdomCount; ++i) {
    const auto file = nlohmann::json::parse(detail::kShippedWisdom[i].text);
    for (const auto& entry : file.at("entries")) {
      if (entry.at("engine").get<std::string>() != "tuned") continue;
      const std::string transform = entry.at("transform"), kernel = entry.at("kernel");
      const DenseProblem problem = problem_of(transform, entry.at("batch"));
      const bool single = transform.rfind("f32", 0) == 0;
      const auto policies = kernel.empty() ? detail::tuned::PlanPolicy{rule_policy(problem, single), {}}
                                           : detail::tuned::parse_plan_policy(kernel);
      ASSERT_TRUE(policies) << transform << ": " << kernel;
      if (!kernel.empty()) {
        EXPECT_EQ(to_text(*policies), kernel) << transform;
      }
      for (const TransformPolicy& policy : {policies->own, policies->bytes.value_or(policies->own)}) {
        const Formats formats = formats_of(transform);
        const ElementType element = formats == Formats{} ? ElementType::u8 : ElementType::f32;
        const auto keep = device::Keep::all;
        for (const Kernel& made : lay_out({problem, single, false, element, keep, formats}, policy).kernels) {
          EXPECT_LE(made.shared_bytes(single), kHopper.shared_bytes) << transform;
          needed.insert(source_of(made, single));
        }
      }
      ++tuned;
    }
  }
  EXPECT_GT(tuned, 30);
  if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  const std::vector<std::string> list(needed.begin(), needed.end());
  const auto compiled = detail::tuned::compile(list, "sm_90");
  for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(compiled[i].failure, "") << list[i];
}

TEST(TunedCompile, RefusalsSayWhy) {
  if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  const DenseProblem problem = dense_problem(Shape(16), false);
  const Kernel whole = lay_out({problem}, rule_policy(problem, true)).kernels.front();
  const std::string good = source_of(whole, true);
  EXPECT_NE(detail::tuned::compile({good}, "sm_1").front().failure, "");
  Kernel broken = whole;
  broken.step.points = 19;
  broken.step.policy.radices = {19};  // no butterfly has this radix
  const auto compiled = detail::tuned::compile({source_of(broken, true), good, good}, "sm_80");
  EXPECT_TRUE(compiled[0].image.empty());
  const std::string& failure = compiled[0].failure;
  const std::string log = failure.substr(std::min(failure.find('\n') + 1, failure.size()));
  EXPECT_NE(log.substr(0, log.find('\n')).find("error: "), std::string::npos) << failure;
  EXPECT_NE(log.find("<19>"), std::string::npos) << failure;
  EXPECT_EQ(compiled[1].failure, "") << "one that is broken spoils no other";
  EXPECT_EQ(compiled[1].image, compiled[2].image);

  try {
    detail::cuda::compile("__global__ void f() { no_such_thing(); }", {}, {}, "sm_80");
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
    EXPECT_NE(std::string(error.what()).find("sfft.cu(1): error: identifier \"no_such_thing\""),
              std::string::npos)
        << error.what();
  }
}

TEST(TunedCompile, OtherProcessesFindTheMachineCode) {
  if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  std::string folder = (std::filesystem::temp_directory_path() / "sfft-kernels-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string before = detail::UserCache::global()->folder();
  detail::UserCache::set_global(folder);
  const std::string source = "extern \"C\" __global__ void f(int* a) { *a = ANSWER; }";
  const auto compile = [&](const char* answer, const char* headers, const char* architecture) {
    const std::string define = std::string("--define-macro=ANSWER=") + answer;
    return detail::cuda::cached_image(define + headers + architecture + source, [&] {
      return detail::cuda::compile(source, {}, std::span(&define, 1), architecture);
    });
  };
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder + "/kernels"), {});
  };
  const std::vector<char> image = compile("1", "1", "sm_80");
  EXPECT_EQ(files(), 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/kernels")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string text(std::filesystem::file_size(entry.path()), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    EXPECT_NE(text.find(source), std::string::npos) << "the key is the whole source";
  }
  EXPECT_EQ(compile("1", "1", "sm_80"), image);
  EXPECT_EQ(files(), 1);
  EXPECT_NE(compile("2", "1", "sm_80"), image);
  EXPECT_NE(compile("1", "1", "sm_90"), image);
  EXPECT_EQ(compile("1", "2", "sm_80"), image);
  EXPECT_EQ(files(), 4) << "options, architecture and headers are part of the key";
  detail::UserCache::set_global(before);
  std::filesystem::remove_all(folder);
}

TEST(TunedCompile, NothingBeginsAfterTheDeadline) {
  if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  const DenseProblem problem = dense_problem(Shape(33), false);
  const std::string source = source_of(lay_out({problem}, rule_policy(problem, true)).kernels.front(), true);
  const auto late = detail::tuned::compile({source}, "sm_80", std::chrono::steady_clock::now());
  EXPECT_TRUE(late.front().image.empty());
  EXPECT_NE(late.front().failure, "");
  EXPECT_EQ(detail::tuned::compile({source}, "sm_80").front().failure, "")
      << "it was not remembered as broken";
  EXPECT_EQ(detail::tuned::compile({source}, "sm_80", std::chrono::steady_clock::now()).front().failure, "");
}

}  // namespace
}  // namespace sfft::test::tuned_compile_test
