// SPDX-License-Identifier: Apache-2.0
// Tests damaged plans in a template file: the template is still read, planning works without the plans, and
// reports this. No number from a file is trusted.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/plan.hpp"
#include "sfft/template_access.hpp"
#include "template/data/file_bytes.hpp"
#include "tests/support/kept_plans.hpp"
#include "tests/support/throws.hpp"

namespace sfft::plan_section_test {
namespace {

using detail::Checksum;
using test::bytes_of;
using test::code_of;
using test::parsed;

Template small_template(unsigned scene = 1) {
  const auto frame = test::film_frame(16, 24, 0, scene);
  return learn(SignalView(frame, Shape{16, 24}), {.keep = Largest{4}});
}

const PlanOptions kComb{.max_samples = 0.9, .path = Path::comb};

/// A template file with two plans.
std::vector<char> good_file(const Template& tmpl = small_template()) {
  const Template one = Plan<float>(tmpl, kComb).keep_in(tmpl);
  return bytes_of(Plan<double>(tmpl, {.path = Path::dense}).keep_in(one));
}

/// Corrects the checksum at `at` of the bytes from `first` on.
void mend(std::vector<char>& bytes, std::size_t first, std::size_t at) {
  const std::uint64_t checksum = Checksum::of(bytes.data() + first, at - first);
  std::memcpy(bytes.data() + at, &checksum, sizeof checksum);
}

/// Corrects the checksums of a file's only section and of the whole.
void mend_section(std::vector<char>& bytes) {
  mend(bytes, test::sections_at(bytes), bytes.size() - 16);
  mend(bytes, 0, bytes.size() - 8);
}

/// Expects that the template in `bytes` is whole, its plans are not used, and a reason is given.
void expect_without_plans(const std::vector<char>& bytes, bool plan) {
  const Template tmpl = parsed(bytes);
  EXPECT_EQ(bytes_of(tmpl), bytes_of(small_template()));
  EXPECT_TRUE(tmpl.kept_plans().empty());
  EXPECT_NE(tmpl.kept_plans_problem(), "");
  if (!plan) return;
  const Plan<float> made(tmpl, kComb);
  EXPECT_FALSE(made.info().kept);
  EXPECT_EQ(made.info().kept_note, tmpl.kept_plans_problem());
  test::expect_same_plan(made.info(), Plan<float>(small_template(), kComb).info());
}

TEST(PlanSection, OnlyFilesWithPlansHaveTheNewVersion) {
  std::uint32_t version = 0;
  std::memcpy(&version, bytes_of(small_template()).data() + 8, sizeof version);
  EXPECT_EQ(version, 1u) << "older libraries read it";
  const std::vector<char> file = good_file();
  std::memcpy(&version, file.data() + 8, sizeof version);
  EXPECT_EQ(version, 2u);
  std::uint64_t last = 0;
  std::memcpy(&last, file.data() + file.size() - 8, sizeof last);
  EXPECT_EQ(last, Checksum::of(file.data(), file.size() - 8))
      << "older libraries check this one first, and then refuse the version";
  EXPECT_EQ(parsed(file).kept_plans().size(), 2u);
  EXPECT_EQ(bytes_of(parsed(file)), file);
}

TEST(PlanSection, EveryFlippedBitOfItLeavesTheTemplate) {
  const std::vector<char> good = good_file();
  for (std::size_t bit = 8 * test::sections_at(good); bit < 8 * good.size(); ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit));
    std::vector<char> bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    expect_without_plans(bad, bit % 61 == 0);
  }
}

TEST(PlanSection, EveryTruncationOfItLeavesTheTemplate) {
  const std::vector<char> good = good_file();
  for (std::size_t size = test::sections_at(good); size < good.size(); ++size) {
    SCOPED_TRACE("size " + std::to_string(size));
    expect_without_plans({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, size % 19 == 0);
  }
  std::vector<char> longer = good;
  longer.push_back('\0');
  expect_without_plans(longer, true);
}

TEST(PlanSection, DamageToTheTemplateBeforeItIsDamage) {
  const std::vector<char> good = good_file();
  const std::size_t end = test::sections_at(good);
  for (std::size_t bit = 0; bit < 8 * end; ++bit) {
    std::vector<char> bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(code_of([&] { parsed(bad); }), ErrorCode::file_corrupt) << "bit " << bit;
  }
  for (std::size_t size = 0; size < end; ++size) {
    const std::vector<char> bad(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(code_of([&] { parsed(bad); }), ErrorCode::file_corrupt) << "size " << size;
  }
}

TEST(PlanSection, OfAnotherTemplateIsForeign) {
  const std::vector<char> good = good_file(), other = good_file(small_template(2));
  ASSERT_NE(bytes_of(small_template(2)), bytes_of(small_template()));
  std::vector<char> mixed(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(test::sections_at(good)));
  mixed.insert(mixed.end(), other.begin() + static_cast<std::ptrdiff_t>(test::sections_at(other)),
               other.end());
  mend(mixed, 0, mixed.size() - 8);
  expect_without_plans(mixed, true);
  EXPECT_NE(parsed(mixed).kept_plans_problem().find("another template"), std::string::npos);
}

TEST(PlanSection, NewerAndUnknownSectionsAreIgnoredWithAReason) {
  const std::vector<char> good = good_file();
  const std::size_t start = test::sections_at(good);
  std::vector<char> newer = good;
  newer[start + 4] = 2;
  mend_section(newer);
  expect_without_plans(newer, true);
  EXPECT_NE(parsed(newer).kept_plans_problem().find("version 2, this library reads 1"), std::string::npos);
  // A section of a future kind, before or after the plans.
  for (const bool before : {false, true}) {
    std::vector<char> section{'\x63', 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};
    section.resize(section.size() + 8);
    mend(section, 0, section.size() - 8);
    std::vector<char> two = good;
    const std::size_t at = before ? start : good.size() - 8;
    two.insert(two.begin() + static_cast<std::ptrdiff_t>(at), section.begin(), section.end());
    mend(two, 0, two.size() - 8);
    const Template tmpl = parsed(two);
    EXPECT_NE(tmpl.kept_plans_problem().find("kind 99"), std::string::npos) << tmpl.kept_plans_problem();
    EXPECT_EQ(tmpl.kept_plans().size(), 2u) << "the plans are whole";
    EXPECT_TRUE(Plan<float>(tmpl, kComb).info().kept);
  }
}

/// Returns the problem that is reported for a file with correct checksums and this plan.
std::string problem_with(const std::function<void(detail::KeptPlan&)>& change) {
  const Template tmpl = small_template();
  auto data =
      std::make_shared<detail::TemplateData>(*detail::data_of(Plan<float>(tmpl, kComb).keep_in(tmpl)));
  change(data->plans.at(0));
  const std::vector<char> bytes = detail::template_bytes(*data);
  expect_without_plans(bytes, true);
  return parsed(bytes).kept_plans_problem();
}

TEST(PlanSection, ImpossiblePlansAreRefused) {
  using detail::KeptPlan;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const std::function<void(KeptPlan&)> changes[] = {
      [](KeptPlan& p) {
        p.buckets = {5, 24, 1};
      },
      [](KeptPlan& p) {
        p.buckets = {0, 24, 1};
      },
      [](KeptPlan& p) {
        p.buckets = {-4, 4, 1};
      },
      [](KeptPlan& p) { p.buckets[2] = 2; },
      [=](KeptPlan& p) { p.buckets[0] = huge; },
      [](KeptPlan& p) { p.delays.clear(); },
      [](KeptPlan& p) {
        p.delays[0] = {16, 0, 0};
      },
      [](KeptPlan& p) {
        p.delays[0] = {0, -1, 0};
      },
      [](KeptPlan& p) {
        p.delays[0] = {0, 0, 1};
      },
      [](KeptPlan& p) { p.delays.assign(2, p.delays[0]); },
      [](KeptPlan& p) {
        p.delays.assign(25, {0, 0, 0});
      },
      [](KeptPlan& p) { p.path = Path::automatic; },
      [](KeptPlan& p) { p.path = Path::dense; },
      [](KeptPlan& p) { p.key.backend = Backend::automatic; },
      [](KeptPlan& p) { p.key.backend = Backend::cuda; },
      [](KeptPlan& p) { p.key.device = "a GPU"; },
      [](KeptPlan& p) { p.key.library = ""; },
      [](KeptPlan& p) { p.key.library = "0.1\x1b[2J"; },
      [](KeptPlan& p) { p.key.library = std::string(300, 'a'); },
      [=](KeptPlan& p) { p.key.accuracy = nan; },
      [](KeptPlan& p) { p.key.accuracy = -1; },
      [](KeptPlan& p) { p.key.max_samples = 2; },
      [](KeptPlan& p) { p.key.batch = 0; },
      [=](KeptPlan& p) { p.predicted_us = nan; },
      [](KeptPlan& p) {
        p.key.burst = 1.5;
        p.key.burst_miss = 0.5;
      },
      [](KeptPlan& p) { p.key.burst = 0.5; },
  };
  int number = 0;
  for (const auto& change : changes) {
    SCOPED_TRACE("change " + std::to_string(number++));
    EXPECT_NE(problem_with(change).find("impossible"), std::string::npos);
  }
  const auto flat = [](KeptPlan& p) {
    p.path = p.key.path = Path::flat_window;
    p.buckets = {1, 1, 30};
    p.sigma = {5, 7, 0};
  };
  EXPECT_NE(problem_with([&](KeptPlan& p) {
              flat(p);
              p.sigma[1] = 4;
            }).find("every sample"),
            std::string::npos);
  EXPECT_NE(problem_with([&](KeptPlan& p) {
              flat(p);
              p.delays[0] = {0, 24, 0};
            }).find("outside the grid"),
            std::string::npos);
}

/// The numbers are possible decisions of a planner, but not for this template.
TEST(PlanSection, UnusablePlansAreMadeAgain) {
  // Delays half a stride apart cannot distinguish the aliases 7 and 7 + 2·96.
  const Shape shape{960};
  const std::vector<std::int64_t> support{7, 7 + 2 * 96};
  const Template tmpl = Template::from_support(shape, Domain::complex, support);
  const auto note = [&](const PlanOptions& options, const std::function<void(detail::KeptPlan&)>& change) {
    auto data =
        std::make_shared<detail::TemplateData>(*detail::data_of(Plan<double>(tmpl, options).keep_in(tmpl)));
    change(data->plans.at(0));
    const Template hostile = parsed(detail::template_bytes(*data));
    EXPECT_EQ(hostile.kept_plans_problem(), "");
    const Plan<double> plan(hostile, options);
    EXPECT_FALSE(plan.info().kept);
    test::expect_same_plan(plan.info(), Plan<double>(tmpl, options).info());
    const auto signal = test::SparseSignal::with_support(shape, false, support, 3);
    const auto x = signal.samples();
    test::expect_same_bits(plan.execute(SignalView(x, shape)),
                           Plan<double>(tmpl, options).execute(SignalView(x, shape)));
    return plan.info().kept_note;
  };
  const auto blind = [](detail::KeptPlan& plan) {
    plan.buckets = {96, 1, 1};
    plan.delays = {{0, 0, 0}, {5, 0, 0}};
  };
  EXPECT_NE(note(kComb, blind).find("do not separate"), std::string::npos);
  const auto greedy = [](detail::KeptPlan& plan) {
    plan.buckets = {960, 1, 1};
    plan.delays = {{0, 0, 0}};
  };
  EXPECT_NE(note({.max_samples = 0.5, .path = Path::comb}, greedy).find("more than"), std::string::npos);
  const PlanOptions flat{.path = Path::flat_window};
  EXPECT_NE(note(flat, [](detail::KeptPlan& plan) { plan.buckets[2] = 959; }).find("too long"),
            std::string::npos);
  EXPECT_NE(note(flat,
                 [](detail::KeptPlan& plan) {
                   plan.full_period = false;
                   plan.buckets[2] = 1;
                 })
                .find("too short"),
            std::string::npos);
  EXPECT_NE(note(flat,
                 [](detail::KeptPlan& plan) {
                   plan.full_period = true;
                   plan.buckets[2] = 960;
                   plan.delays.assign(64, {0, 0, 0});
                 })
                .find("it does not work"),
            std::string::npos);
  // The plan sums over a signal that is too long for direct sums.
  const Shape long_shape{1 << 17};
  const Template long_one = Template::from_support(long_shape, Domain::complex, support);
  auto data =
      std::make_shared<detail::TemplateData>(*detail::data_of(Plan<float>(long_one).keep_in(long_one)));
  data->plans.at(0).path = Path::direct;
  data->plans.at(0).delays.clear();
  data->plans.at(0).buckets = {1, 1, 1};
  const Plan<float> plan(parsed(detail::template_bytes(*data)));
  EXPECT_FALSE(plan.info().kept);
  EXPECT_NE(plan.info().path, Path::direct);
  EXPECT_NE(plan.info().kept_note, "");
}

}  // namespace
}  // namespace sfft::plan_section_test
