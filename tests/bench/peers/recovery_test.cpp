// SPDX-License-Identifier: Apache-2.0
// The published algorithms find what they promise to find: random supports, sizes and phases (a code that
// returns conjugates fails here), several lengths and sparsities. They are randomised: each test states how
// many of its seeds must succeed.
#include <gtest/gtest.h>

#include <map>

#include "bench/known_signals.hpp"
#include "bench/peers/peer.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::peers {
namespace {

using test::SparseSignal;

constexpr Method kMethods[] = {Method::sfft1, Method::sfft2, Method::sfft3, Method::aafft, Method::ffast};

struct Outcome {
  bool support_right;
  double relative_l2;
};

Outcome compare(const SparseSignal& signal, const std::vector<Tone>& tones) {
  std::map<std::int64_t, std::complex<double>> found;
  for (const Tone& tone : tones) found[tone.frequency] = tone.value;
  std::vector<std::complex<double>> values;
  for (const std::int64_t f : signal.support) values.push_back(found.contains(f) ? found[f] : 0.0);
  const bool same = found.size() == tones.size() && tones.size() == signal.support.size() &&
                    std::all_of(signal.support.begin(), signal.support.end(),
                                [&](std::int64_t f) { return found.contains(f); });
  return {same, test::relative_l2(values, signal.values)};
}

template <class Real>
int successes(Method method, std::int64_t points, std::int64_t k, int seeds, double tolerance) {
  if (method == Method::ffast) points = ffast_length(points, k);
  const auto peer = make_peer<Real>(method, points, k);
  int good = 0;
  std::vector<Tone> tones;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto signal = SparseSignal::random(Shape{points}, false, k, static_cast<unsigned>(seed));
    peer->execute(signal.as<std::complex<Real>>(), tones);
    const Outcome outcome = compare(signal, tones);
    good += outcome.support_right && outcome.relative_l2 <= tolerance;
  }
  return good;
}

struct Case {
  Method method;
  int points_log2;
  std::int64_t k;
};

class Recovery : public testing::TestWithParam<Case> {};

// sFFT-3 lets errors of its emptiness threshold pass; the others end at the precision of the samples.
double tolerance(Method method, bool single) {
  if (method == Method::sfft3) return 1e-5;
  return single ? 1e-6 : 1e-7;
}

TEST_P(Recovery, FindsEveryTermOfExactlySparseSignals) {
  const auto [method, bits, k] = GetParam();
  const std::int64_t points = std::int64_t{1} << bits;
  const int seeds = 15;
  EXPECT_GE(successes<float>(method, points, k, seeds, tolerance(method, true)), seeds - 1);
  EXPECT_GE(successes<double>(method, points, k, seeds, tolerance(method, false)), seeds - 1);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Method method : kMethods) {
    for (const auto& [bits, k] : {std::pair{10, 1}, {12, 7}, {14, 50}, {16, 50}, {15, 200}}) {
      all.push_back({method, bits, k});
    }
  }
  return all;
}

std::string name(const testing::TestParamInfo<Case>& info) {
  std::string text = to_string(info.param.method);
  std::erase_if(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return text + "_N" + std::to_string(info.param.points_log2) + "_k" + std::to_string(info.param.k);
}

INSTANTIATE_TEST_SUITE_P(Peers, Recovery, testing::ValuesIn(cases()), name);

TEST(Recovery, SucceedsInNinetyNineOfAHundredSeeds) {
  for (const Method method : kMethods) {
    EXPECT_GE(successes<float>(method, 1 << 13, 20, 100, tolerance(method, true)), 99) << to_string(method);
  }
}

TEST(Recovery, FewerTermsThanRequestedAreAllFound) {
  for (const Method method : kMethods) {
    const std::int64_t points = method == Method::ffast ? ffast_length(1 << 14, 50) : 1 << 14;
    const auto signal = SparseSignal::random(Shape{points}, false, 12, 3);
    std::vector<Tone> tones;
    make_peer<double>(method, points, 50)->execute(signal.samples(), tones);
    for (std::size_t i = 0; i < signal.support.size(); ++i) {
      const auto hit = std::find_if(tones.begin(), tones.end(),
                                    [&](const Tone& tone) { return tone.frequency == signal.support[i]; });
      ASSERT_NE(hit, tones.end()) << to_string(method);
      EXPECT_LE(std::abs(hit->value - signal.values[i]), 1e-5 * static_cast<double>(points))
          << to_string(method);
    }
  }
}

TEST(Recovery, OfOneResidueClassWhereEveryCombSeesOneBucket) {
  const std::int64_t points = 1 << 14;
  for (const Method method : {Method::sfft1, Method::sfft3, Method::aafft}) {
    const auto signal =
        SparseSignal::with_support(Shape{points}, false, {77, 77 + 512, 77 + 1024, 77 + 4096, 77 + 8192}, 4);
    std::vector<Tone> tones;
    make_peer<double>(method, points, 5)->execute(signal.samples(), tones);
    const Outcome outcome = compare(signal, tones);
    EXPECT_TRUE(outcome.support_right) << to_string(method);
    EXPECT_LE(outcome.relative_l2, 1e-5) << to_string(method);
  }
}

TEST(Recovery, OfNothingIsNothing) {
  for (const Method method : kMethods) {
    const std::int64_t points = method == Method::ffast ? ffast_length(1 << 12, 5) : 1 << 12;
    const std::vector<std::complex<double>> zeros(static_cast<std::size_t>(points));
    std::vector<Tone> tones;
    make_peer<double>(method, points, 5)->execute(zeros, tones);
    for (const Tone& tone : tones) EXPECT_EQ(std::abs(tone.value), 0) << to_string(method);
  }
}

/// Number of `seeds` noisy signals whose support is found with an L2 error within the bound.
int found_in_noise(Method method, double snr_db, double bound, int seeds) {
  const std::int64_t k = 20;
  const std::int64_t points = method == Method::ffast ? ffast_length(1 << 15, k) : 1 << 15;
  const auto peer = make_peer<double>(method, points, k);
  int good = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto signal = SparseSignal::random(Shape{points}, false, k, static_cast<unsigned>(seed));
    std::vector<std::complex<double>> x = signal.samples();
    double power = 0;
    for (const std::complex<double>& sample : x) power += std::norm(sample);
    power /= static_cast<double>(points);
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::normal_distribution<double> noise(0, std::sqrt(power * std::pow(10, -snr_db / 10) / 2));
    for (std::complex<double>& sample : x) sample += std::complex<double>(noise(random), noise(random));
    std::vector<Tone> tones;
    peer->execute(x, tones);
    const Outcome outcome = compare(signal, tones);
    good += outcome.support_right && outcome.relative_l2 <= bound;
  }
  return good;
}

TEST(Noise, TheVotingAlgorithmsAndAafftStandIt) {
  for (const Method method : {Method::sfft1, Method::sfft2, Method::aafft}) {
    EXPECT_GE(found_in_noise(method, 20, 0.1, 20), 19) << to_string(method);
  }
}

TEST(Noise, TheExactAlgorithmsDoNotAsPublished) {
  for (const Method method : {Method::sfft3, Method::ffast}) {
    EXPECT_EQ(found_in_noise(method, 20, 0.1, 20), 0) << to_string(method);
  }
}

TEST(Peers, ReadFewSamples) {
  for (const Method method : kMethods) {
    const std::int64_t points = method == Method::ffast ? ffast_length(1 << 20, 10) : 1 << 20;
    const auto peer = make_peer<float>(method, points, 10);
    std::vector<std::complex<float>> x(static_cast<std::size_t>(points), 1.0F);
    std::vector<Tone> tones;
    peer->execute(x, tones);
    EXPECT_GT(peer->samples_read(), 0) << to_string(method);
    EXPECT_LT(peer->samples_read(), points) << to_string(method);
    EXPECT_FALSE(peer->describe().empty());
  }
}

TEST(Peers, RefuseWhatTheyCannotDo) {
  const auto code = [](Method method, std::int64_t points, std::int64_t k) {
    return test::code_of([=] { make_peer<float>(method, points, k); });
  };
  for (const Method method : kMethods) {
    EXPECT_EQ(code(method, 1 << 12, 0), ErrorCode::invalid_argument);
    EXPECT_EQ(code(method, 1 << 12, 1 << 10), ErrorCode::invalid_argument);
    if (method != Method::ffast) {
      EXPECT_EQ(code(method, 12345, 5), ErrorCode::invalid_argument);
    }
  }
  EXPECT_EQ(code(Method::ffast, 1048573, 50), ErrorCode::invalid_argument);  // prime
  EXPECT_EQ(ffast_length(162 * 162 * 162, 50), 161 * 162 * 163);
}

}  // namespace
}  // namespace sfft::peers
