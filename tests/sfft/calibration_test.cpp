// SPDX-License-Identifier: Apache-2.0
// Tests what a tracker learns from comparisons, on streams whose true errors are a function of the reported
// ones.
#include "sfft/tracking/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace calibration_test {
namespace {

using sfft::detail::Calibration;

struct Outcome {
  int compared = 0, beyond_twice = 0, judged = 0;
  double lowest = 1e300, highest = 0;  ///< calibrated over true errors
};

/// Pushes frames whose reported and true relative errors are given; counts from frame `from` on.
Outcome watch(Calibration& calibration, int frames, const std::function<double(int)>& reported,
              const std::function<double(int)>& truth, int from) {
  Outcome outcome;
  for (int i = 0; i < frames; ++i) {
    const double r = reported(i), t = truth(i);
    if (calibration.due(r)) {
      ++outcome.compared;
      calibration.compared(100 * t, 100 * r, r);
      continue;
    }
    if (i < from) continue;
    const double ratio = calibration.factor(r) * r / t;
    ++outcome.judged;
    outcome.beyond_twice += ratio < 0.5 ? 1 : 0;
    outcome.lowest = std::min(outcome.lowest, ratio);
    outcome.highest = std::max(outcome.highest, ratio);
  }
  return outcome;
}

TEST(Calibration, LearnsAConstantFactor) {
  for (const double factor : {0.05, 0.15, 0.4, 0.7, 1.0, 1.5, 4.0, 30.0}) {
    Calibration calibration(256);
    std::mt19937 generator(1);
    std::normal_distribution<double> scatter(0, 0.1);
    const Outcome outcome = watch(
        calibration, 1000, [&](int) { return 0.01 * std::exp(scatter(generator)); },
        [&](int) { return 0.01 * factor; }, 40);
    EXPECT_EQ(outcome.beyond_twice, 0) << factor;
    EXPECT_GT(outcome.lowest, 0.65) << factor;
    // Factors beyond the limits of one comparison need several, and the most cautious of five is used.
    const bool extreme = factor > 16 || factor < 0.35;
    EXPECT_LT(outcome.highest, factor < 0.35 ? 2 : 1.7) << factor;
    EXPECT_LE(outcome.compared, extreme ? 30 : 18) << factor;
  }
}

std::optional<Calibration::KnownErrors> nothing_found(std::size_t) {
  return std::nullopt;
}

TEST(Calibration, ExpectsTheComparisonsThatComeWhereNothingSurprises) {
  Calibration calibration(64);
  std::vector<int> expected, compared;
  const auto nothing_known = [](std::size_t) -> std::optional<double> { return std::nullopt; };
  calibration.expected(999, nothing_known, nothing_found, [&](std::size_t frame) {
    expected.push_back(static_cast<int>(frame));
    return true;
  });
  for (int i = 0; i < 999; ++i) {
    if (!calibration.due(0.01)) continue;
    calibration.compared(1, 1, 0.01);
    compared.push_back(i);
  }
  EXPECT_EQ(compared, expected);
}

TEST(Calibration, ExpectsWhatKnownReportsWillCallFor) {
  // Frames have errors of three levels or none, so that most comparisons come out of turn.
  const auto report = [](std::size_t i) {
    return i % 97 < 5 ? 0 : i % 130 < 40 ? 0.01 : i % 7 < 2 ? 0.3 : 0.08;
  };
  Calibration calibration(64);
  std::vector<std::size_t> expected, compared;
  const auto known = [&](std::size_t i) { return std::optional<double>(report(i)); };
  calibration.expected(999, known, nothing_found, [&](std::size_t frame) {
    expected.push_back(frame);
    return expected.size() < 20;
  });
  for (std::size_t i = 0; i < 999 && compared.size() < 20; ++i) {
    if (!calibration.due(report(i))) continue;
    // As expected: the first report is believed, and those after it with the usual margin.
    calibration.compared(calibration.factor(report(i)) / 1.1, 1, report(i));
    compared.push_back(i);
  }
  EXPECT_EQ(expected.size(), 20u);
  EXPECT_EQ(compared, expected);
}

TEST(Calibration, ExpectsWhatKnownFindingsWillCallFor) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<double> scatter(0.3, 4);
  std::vector<double> reports, errors;
  for (int i = 0; i < 600; ++i) {
    reports.push_back(0.03 * scatter(generator));
    errors.push_back((i / 30 % 2 == 0 ? 0.01 : 0.1) * scatter(generator));
  }
  Calibration calibration(64);
  std::vector<std::size_t> expected, compared;
  const auto known = [&](std::size_t i) { return std::optional(reports[i]); };
  const auto found = [&](std::size_t i) {
    return std::optional(Calibration::KnownErrors{errors[i], reports[i]});
  };
  calibration.expected(reports.size(), known, found, [&](std::size_t frame) {
    expected.push_back(frame);
    return true;
  });
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!calibration.due(reports[i])) continue;
    calibration.compared(errors[i], reports[i], reports[i]);
    compared.push_back(i);
  }
  EXPECT_GT(compared.size(), 50u) << "surprises call for comparisons";
  EXPECT_EQ(compared, expected);
}

TEST(Calibration, AFewLuckyFramesAreNotBelieved) {
  // Reports are right, but the first comparisons met frames whose true error was a thirtieth of the reported
  // one.
  for (const int lucky : {1, 2, 3, 4}) {
    Calibration calibration(256);
    for (int i = 0; i < lucky; ++i) calibration.compared(1, 30, 0.03);
    EXPECT_GT(calibration.factor(0.03), 0.35);
  }
  // Five in a row are believed, and one that contradicts them ends it.
  Calibration calibration(256);
  for (int i = 0; i < 5; ++i) calibration.compared(1, 30, 0.03);
  EXPECT_LT(calibration.factor(0.03), 0.1);
  calibration.compared(29, 30, 0.03);
  EXPECT_GT(calibration.factor(0.03), 0.9);
}

TEST(Calibration, RequestedComparisonsReplaceScheduledOnes) {
  Calibration calibration(256);
  int own = 0;
  for (int i = 0; i < 1000; ++i) {
    if (calibration.due(0.01)) {
      ++own;
    } else if (i % 10 == 0) {
      calibration.bring_forward();
    } else {
      continue;
    }
    calibration.compared(3, 1, 0.01);
  }
  EXPECT_LE(own, 4);
  EXPECT_NEAR(calibration.factor(0.01), 3, 0.6);
}

TEST(Calibration, FollowsErrorsThatStayWhileReportsSwing) {
  // A swaying camera: the difference to the reference comes and goes, but the noise of the reference stays.
  Calibration calibration(256);
  const auto reported = [](int i) { return 0.006 + 0.0035 * std::sin(0.46 * i); };
  const Outcome outcome = watch(
      calibration, 600, reported, [](int) { return 0.015; }, 40);
  EXPECT_EQ(outcome.beyond_twice, 0);
  EXPECT_LT(outcome.highest, 1.4);
}

TEST(Calibration, TellsLevelsApart) {
  // Reports are ten times too large where they are large, and right where they are small.
  Calibration calibration(256);
  const auto loud = [](int i) { return i / 40 % 2 == 1; };
  const Outcome outcome = watch(
      calibration, 800, [&](int i) { return loud(i) ? 0.2 : 0.004; },
      [&](int i) { return loud(i) ? 0.02 : 0.004; }, 100);
  EXPECT_EQ(outcome.beyond_twice, 0);
}

TEST(Calibration, AContradictionIsBelieved) {
  // The reports were three times too large; from frame 100 on they are right, and look the same.
  Calibration calibration(64);
  const Outcome outcome = watch(
      calibration, 400, [](int) { return 0.05; }, [](int i) { return i < 100 ? 0.017 : 0.05; }, 128);
  EXPECT_LE(outcome.beyond_twice, 64);  // until the next comparison
  EXPECT_GE(calibration.factor(0.05), 0.8);
}

/// A kind of change whose frames report one level.
struct Kind {
  sfft::detail::ChangeShape shape;
  double ratio;  ///< true over reported error
};

/// Pushes frames that report 0.03 with some scatter; `kind` gives the kind of each frame.
Outcome watch_kinds(Calibration& calibration, int frames, const std::function<Kind(int)>& kind, int from) {
  std::mt19937 generator(7);
  std::normal_distribution<double> scatter(0, 0.08);
  Outcome outcome;
  for (int i = 0; i < frames; ++i) {
    const Kind now = kind(i);
    const double r = 0.03 * std::exp(scatter(generator)), t = 0.03 * now.ratio;
    const Calibration::Report report(
        r, {now.shape.held + scatter(generator), now.shape.shared + scatter(generator)});
    if (calibration.due(report)) {
      ++outcome.compared;
      calibration.compared(100 * t, 100 * r, report);
      continue;
    }
    if (i < from) continue;
    const double ratio = calibration.factor(report) * r / t;
    ++outcome.judged;
    outcome.beyond_twice += ratio < 0.5 ? 1 : 0;
    outcome.lowest = std::min(outcome.lowest, ratio);
    outcome.highest = std::max(outcome.highest, ratio);
  }
  return outcome;
}

TEST(Calibration, TellsKindsOfChangeOfOneLevelApart) {
  // A shadow, grain, blocks and a tone at the same reported error. Each may follow any other.
  const std::vector<Kind> kinds{{{2.4, 1.5}, 0.5}, {{-1.9, 5}, 2}, {{-3.4, 4.4}, 0.7}, {{-0.9, 1.8}, 3}};
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<std::size_t> draw(0, kinds.size() - 1);
    std::uniform_int_distribution<int> length(60, 400);
    std::size_t now = 0;
    int until = 500;
    Calibration calibration(256);
    const Outcome outcome = watch_kinds(
        calibration, 6000,
        [&](int i) {
          if (i == until) {
            now = draw(generator);
            until += length(generator);
          }
          return kinds[now];
        },
        40);
    EXPECT_LE(outcome.beyond_twice, 6) << seed;
    EXPECT_GT(outcome.lowest, 0.2) << seed;
    EXPECT_LE(outcome.compared, 100) << seed;
  }
}

TEST(Calibration, AnUnknownKindOfChangeIsReportedWithCaution) {
  Calibration calibration(256);
  const Calibration::Report known(0.03, {2, 2}), unknown(0.03, {-2, 5});
  for (int i = 0; i < 5; ++i) calibration.compared(0.4, 1, known);
  EXPECT_NEAR(calibration.factor(known), 0.45, 0.05);
  EXPECT_GT(calibration.factor(unknown), 1.5);
}

TEST(Calibration, RemembersAKindOfChangeThatComesBack) {
  Calibration calibration(256);
  const Calibration::Report rare(0.03, {2, 2}), usual(0.03, {-2, 5});
  for (int i = 0; i < 3; ++i) calibration.compared(2.5, 1, rare);
  for (int i = 0; i < 100; ++i) calibration.compared(0.5, 1, usual);
  EXPECT_GT(calibration.factor(rare), 2);
  EXPECT_LT(calibration.factor(usual), 0.7);
}

TEST(Calibration, AShapeThatWandersDoesNotMakeAStreamDense) {
  for (const double step : {0.05, 0.3, 1.0, 3.0}) {
    Calibration calibration(256);
    std::mt19937 generator(9);
    std::normal_distribution<double> normal(0, step);
    double held = 0, shared = 3;
    const Outcome outcome = watch_kinds(
        calibration, 4000,
        [&](int) {
          held = std::clamp(held + normal(generator), -5.0, 5.0);
          shared = std::clamp(shared + normal(generator), 0.0, 6.0);
          return Kind{{held, shared}, 1};
        },
        0);
    // Comparisons: one in 64 frames, some at the start, and some after each new kind.
    EXPECT_LE(outcome.compared, 4000 / 64 + 60) << step;
    EXPECT_EQ(outcome.beyond_twice, 0) << step;
    EXPECT_LT(outcome.highest, 2.2) << step;
  }
}

TEST(Calibration, AKindThatLooksLikeAnEarlierOneIsComparedSoon) {
  Calibration calibration(256);
  const Calibration::Report first(0.03, {-2, 5, 0.7}), second(0.03, {2, 2, -1.5}),
      like_first(0.03, {-2.2, 5, 0.5});
  for (int i = 0; i < 5; ++i) calibration.compared(0.5, 1, first);
  for (int i = 0; i < 5; ++i) calibration.compared(1, 1, second);
  for (int i = 0; i < 200; ++i) {
    if (calibration.due(second)) calibration.compared(1, 1, second);
  }
  int frames = 0;
  while (!calibration.due(like_first)) ASSERT_LT(++frames, 4);
}

TEST(Calibration, ErrorsOfFewCoefficientsMayScatter) {
  // Nothing changes, but two of six coefficients have most of the error.
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    Calibration calibration(256);
    calibration.coefficients(6);
    std::mt19937 generator(seed);
    std::exponential_distribution<double> power;
    int compared = 0;
    for (int i = 0; i < 800; ++i) {
      if (!calibration.due(0.01)) continue;
      ++compared;
      calibration.compared(std::sqrt((power(generator) + power(generator)) / 2), 1, 0.01);
    }
    EXPECT_LE(compared, 40) << seed;
  }
}

TEST(ChangeShape, KnowsWhatIsNewInAFrame) {
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  const auto noise = [&] { return std::complex<double>(normal(generator), normal(generator)); };
  const std::vector<std::complex<double>> reference(400, {30, -40});
  std::vector<std::complex<double>> before = reference;
  sfft::Spectrum<double> spectrum;
  spectrum.values = reference;
  spectrum.quality.tail_energy = 1;
  spectrum.quality.error_l2 = 1;
  spectrum.quality.relative_error = 1e-3;
  for (std::size_t i = 0; i < 400; ++i) {
    before[i] += noise();
    spectrum.values[i] += noise();
  }
  const auto fresh = [&](const std::vector<std::complex<double>>& previous) {
    return sfft::detail::change_shape<double>(spectrum, reference, previous, -1).fresh;
  };
  EXPECT_NEAR(fresh(before), std::log(2.1), 0.2);
  EXPECT_NEAR(fresh(spectrum.values), std::log(0.1), 1e-9);
  EXPECT_TRUE(std::isnan(fresh({})));
}

TEST(ChangeShape, IsTheSameForChangesOfOneKindAndAnySize) {
  std::vector<std::complex<double>> reference(101, {3, -4});
  sfft::Spectrum<double> spectrum;
  for (const double size : {1e-3, 1.0, 1e3}) {
    spectrum.values.assign(reference.begin(), reference.end());
    // The mean does not count. Of the other coefficients, every fourth has changed equally.
    spectrum.values[50] += 1e6 * size;
    for (std::size_t i = 0; i < 100; i += 4) spectrum.values[i] += std::complex<double>(0, 2) * size;
    spectrum.quality.tail_energy = 50 * size * size;
    spectrum.quality.error_l2 = size;
    spectrum.quality.relative_error = 0.02;
    const auto shape = sfft::detail::change_shape<double>(spectrum, reference, {}, 50);
    EXPECT_NEAR(shape.held, std::log(25 * 4 / 50.0), 1e-6);
    EXPECT_NEAR(shape.shared, std::log(25), 1e-6);
  }
  spectrum.values.assign(reference.begin(), reference.end());
  const auto none = sfft::detail::change_shape<double>(spectrum, reference, {}, 50);
  EXPECT_EQ(none.held, 0);
  EXPECT_EQ(none.shared, 0);
  // Phases that advance: coefficients change by more than half their energy.
  for (std::size_t i = 0; i < 101; ++i) spectrum.values[i] *= std::complex<double>(0, 1);
  spectrum.quality.relative_error = spectrum.quality.error_l2 / 50;
  const auto apart = sfft::detail::change_shape<double>(spectrum, reference, {}, 50);
  EXPECT_EQ(apart.held, 0);
  EXPECT_EQ(apart.shared, 0);
}

TEST(Calibration, IsGivenUpByAnIntervalOfZero) {
  Calibration calibration(0);
  const Outcome outcome = watch(
      calibration, 300, [](int) { return 0.01; }, [](int) { return 0.02; }, 0);
  EXPECT_EQ(outcome.compared, 0);
  EXPECT_EQ(calibration.factor(0.01), 1);
}

}  // namespace
}  // namespace calibration_test
