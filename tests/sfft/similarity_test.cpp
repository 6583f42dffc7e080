// SPDX-License-Identifier: Apache-2.0
// Compares the similarities that a tracker reports with their definition on whole spectra by direct sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "bench/known_signals.hpp"
#include "sfft/tracker.hpp"
#include "tests/support/direct_dft.hpp"

namespace sfft::similarity_test {
namespace {

using Spectra = std::vector<std::complex<double>>;

template <class Sample>
Spectra whole_spectrum(const std::vector<Sample>& frame, const Shape& shape) {
  return test::direct_dft({frame.begin(), frame.end()}, shape.extents());
}

/// Evaluates the definition in sfft/tracker.hpp term by term over the whole grid. `old` may be any half of a
/// real support.
TrackedFrame::Similarity expected(const Shape& shape, bool real, std::vector<std::int64_t> old,
                                  const Spectra& before, const Spectra& now) {
  const auto k = old.size();
  const auto both = [&](const std::vector<std::int64_t>& half) {
    std::set<std::int64_t> all(half.begin(), half.end());
    if (real) {
      for (const std::int64_t f : half) all.insert(test::negated(shape, f));
    }
    return all;
  };
  // The k largest; a conjugate pair counts once, and the smaller index comes first among equals.
  std::vector<std::int64_t> order;
  for (std::int64_t f = 0; f < shape.points(); ++f) {
    if (!real || f <= test::negated(shape, f)) order.push_back(f);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::norm(now[static_cast<std::size_t>(a)]) > std::norm(now[static_cast<std::size_t>(b)]);
  });
  order.resize(k);
  const auto of_old = both(old), of_largest = both(order);
  const auto shared = std::count_if(order.begin(), order.end(), [&](auto f) { return of_old.contains(f); });
  auto united = of_old;
  united.insert(of_largest.begin(), of_largest.end());
  std::complex<double> product = 0;
  double norm_before = 0, norm_now = 0, held = 0, whole = 0;
  for (std::int64_t f = 1; f < shape.points(); ++f) {
    const auto at = static_cast<std::size_t>(f);
    whole += std::norm(now[at]);
    if (of_old.contains(f)) {
      held += std::norm(now[at]);
      product += before[at] * std::conj(now[at]);
      norm_before += std::norm(before[at]);
    }
    if (united.contains(f)) norm_now += std::norm(now[at]);
  }
  return {static_cast<double>(shared) / static_cast<double>(k),
          std::abs(product) / std::sqrt(norm_before * norm_now), held / whole, 0};
}

void expect_same(const TrackedFrame::Similarity& found, const TrackedFrame::Similarity& reference,
                 double tolerance) {
  EXPECT_DOUBLE_EQ(found.overlap, reference.overlap);
  EXPECT_NEAR(found.correlation, reference.correlation, tolerance);
  EXPECT_NEAR(found.energy, reference.energy, tolerance);
}

std::vector<std::int64_t> support_of(const Template& tmpl) {
  return {tmpl.support().begin(), tmpl.support().end()};
}

constexpr std::int64_t kRows = 48, kColumns = 64;
const Shape kFilm{kRows, kColumns};

TEST(Similarity, OfRenewalsFollowsItsDefinition) {
  const auto first = test::film_frame(kRows, kColumns, 0, 1);
  Tracker<float> tracker(learn(SignalView(first, kFilm), {.keep = Largest{24}, .reference = true}),
                         {.plan = {.path = Path::comb}});
  Spectra before = whole_spectrum(first, kFilm);
  int renewals = 0, relearned = 0;
  for (int t = 1; t <= 60; ++t) {
    const auto frame = test::film_frame(kRows, kColumns, t, t <= 25 ? 1 : 2);  // a cut
    const std::vector<std::int64_t> old = support_of(tracker.current_template());
    const auto& tracked = tracker.push(SignalView(frame, kFilm));
    const bool renewed = tracked.action == TrackedFrame::Action::refreshed ||
                         tracked.action == TrackedFrame::Action::relearned;
    ASSERT_EQ(tracked.similarity.has_value(), renewed) << "frame " << t;
    if (!renewed) continue;
    const Spectra now = whole_spectrum(frame, kFilm);
    expect_same(*tracked.similarity, expected(kFilm, true, old, before, now), 1e-5);
    if (tracked.action == TrackedFrame::Action::relearned && ++relearned == 1) {
      EXPECT_LT(tracked.similarity->overlap, 0.9) << "another scene";
    }
    before = now;
    ++renewals;
  }
  EXPECT_GE(renewals, 1);
  EXPECT_GE(relearned, 1);
}

TEST(Similarity, OfEveryFrameWhereAskedFor) {
  const auto first = test::film_frame(kRows, kColumns, 0, 1);
  const Template tmpl = learn(SignalView(first, kFilm), {.keep = Largest{24}, .reference = true});
  Tracker<float> plain(tmpl, {.plan = {.path = Path::comb}});
  Tracker<float> tracker(tmpl, {.plan = {.path = Path::comb}, .similarity = true});
  Spectra before = whole_spectrum(first, kFilm);
  for (int t = 1; t <= 12; ++t) {
    const auto frame = test::film_frame(kRows, kColumns, t, 1);
    const std::vector<std::int64_t> old = support_of(tracker.current_template());
    const auto& tracked = tracker.push(SignalView(frame, kFilm));
    ASSERT_TRUE(tracked.similarity.has_value());
    EXPECT_GT(tracked.similarity->us, 0);
    const Spectra now = whole_spectrum(frame, kFilm);
    expect_same(*tracked.similarity, expected(kFilm, true, old, before, now), 1e-5);
    if (tracked.action == TrackedFrame::Action::refreshed ||
        tracked.action == TrackedFrame::Action::relearned)
      before = now;
    // Measuring similarity changes nothing.
    const auto& other = plain.push(SignalView(frame, kFilm));
    EXPECT_EQ(tracked.action, other.action);
    EXPECT_EQ(tracked.spectrum.values, other.spectrum.values);
  }
}

/// A complex signal with frequencies that stay, disappear and appear, and with rotating phases, so that every
/// count is known.
TEST(Similarity, OfAComplexSignalWhosePartsChange) {
  const Shape shape{480};
  const auto at = [&](std::vector<std::int64_t> support, unsigned seed) {
    return test::SparseSignal::with_support(shape, false, std::move(support), seed).samples();
  };
  const std::vector<std::int64_t> old{0, 3, 50, 111, 200, 301, 333, 444};
  const auto first = at(old, 1), second = at({0, 3, 50, 111, 201, 302, 334, 445}, 9);
  const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{8}});
  ASSERT_EQ(support_of(tmpl), old);
  Tracker<double> tracker(tmpl, {.similarity = true});
  const TrackedFrame::Similarity same = tracker.push(SignalView(first, shape)).similarity.value();
  EXPECT_DOUBLE_EQ(same.overlap, 1);
  EXPECT_NEAR(same.correlation, 1, 1e-12);
  EXPECT_NEAR(same.energy, 1, 1e-12);
  const TrackedFrame::Similarity other = tracker.push(SignalView(second, shape)).similarity.value();
  EXPECT_DOUBLE_EQ(other.overlap, 0.5) << "four of eight";
  expect_same(other, expected(shape, false, old, whole_spectrum(first, shape), whole_spectrum(second, shape)),
              1e-9);
}

/// A given support may name either frequency of a conjugate pair, and has no values to correlate with.
TEST(Similarity, OfASupportOfOtherHalvesWithoutValues) {
  const Shape shape{12, 10};
  const auto signal = test::SparseSignal::with_support(shape, true, {1, 14, 33, 57}, 4);
  std::vector<double> samples;
  for (const std::complex<double>& x : signal.samples()) samples.push_back(x.real());
  std::vector<std::int64_t> mirrored;
  for (const std::int64_t f : signal.support) mirrored.push_back(test::negated(shape, f));
  Tracker<double> tracker(Template::from_support(shape, Domain::real, mirrored), {.similarity = true});
  const TrackedFrame::Similarity found = tracker.push(SignalView(samples, shape)).similarity.value();
  EXPECT_DOUBLE_EQ(found.overlap, 1);
  EXPECT_NEAR(found.energy, 1, 1e-12);
  EXPECT_TRUE(std::isnan(found.correlation));
}

TEST(Similarity, OfFramesWithoutEnergyOrWithNaN) {
  const auto film = test::film_frame(kRows, kColumns, 0, 1);
  std::vector<float> frame(film.begin(), film.end());
  Tracker<float> tracker(learn(SignalView(frame, kFilm), {.keep = Largest{24}, .reference = true}),
                         {.plan = {.path = Path::comb}, .similarity = true});
  const std::vector<float> grey(frame.size(), 7.0F);
  const auto flat = tracker.push(SignalView(grey, kFilm)).similarity;
  ASSERT_TRUE(flat.has_value());
  EXPECT_TRUE(std::isnan(flat->energy) || flat->energy < 1.01) << flat->energy;
  std::vector<float> broken = frame;
  for (float& sample : broken) sample = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(tracker.push(SignalView(broken, kFilm)).similarity.has_value());
  broken = frame;
  broken[5 * kColumns + 7] = std::numeric_limits<float>::infinity();  // the plan may not read it
  EXPECT_FALSE(tracker.push(SignalView(broken, kFilm)).similarity.has_value());
  EXPECT_TRUE(tracker.push(SignalView(frame, kFilm)).similarity.has_value());
}

}  // namespace
}  // namespace sfft::similarity_test
