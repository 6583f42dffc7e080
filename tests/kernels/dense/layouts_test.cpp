// SPDX-License-Identifier: Apache-2.0
// Tests transforms along any axes, with strides on both sides, against direct sums over drawn layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "sfft/dense.hpp"
#include "sfft/error.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::layouts_test {
namespace {

using dense::Layout;
using dense::Options;
using dense::Plan;
using test::direct_dft;
using test::fft_bound;
using test::random_signal;
using test::relative_l2;
using Dimension = Layout::Dimension;
using Values = std::vector<std::complex<double>>;
using Normalization = Options::Normalization;

template <class Call>
bool throws(ErrorCode code, const Call& call) {
  return test::code_of(call) == code;
}

std::int64_t points_of(const std::vector<Dimension>& dimensions) {
  std::int64_t points = 1;
  for (const Dimension& dimension : dimensions) points *= dimension.extent;
  return points;
}

/// A layout and the reference for its transforms. Values are in the order (batch, transformed), row-major.
struct Case {
  Layout layout;
  bool real = false;

  std::vector<Dimension> dimensions() const {
    std::vector<Dimension> all = layout.batch;
    all.insert(all.end(), layout.transformed.begin(), layout.transformed.end());
    return all;
  }
  std::int64_t points() const { return points_of(layout.transformed); }
  Domain domain() const { return real ? Domain::real : Domain::complex; }

  /// Offsets of all elements of signals or spectra.
  std::vector<std::size_t> offsets(std::int64_t Dimension::*stride) const {
    const bool half = real && stride == &Dimension::spectrum_stride;
    std::vector<std::size_t> offsets{0};
    const std::vector<Dimension> all = dimensions();
    for (std::size_t d = 0; d < all.size(); ++d) {
      const std::int64_t extent = half && d + 1 == all.size() ? all[d].extent / 2 + 1 : all[d].extent;
      std::vector<std::size_t> next;
      for (const std::size_t start : offsets)
        for (std::int64_t i = 0; i < extent; ++i)
          next.push_back(start + static_cast<std::size_t>(i * all[d].*stride));
      offsets = next;
    }
    return offsets;
  }
  std::vector<std::size_t> signal() const { return offsets(&Dimension::signal_stride); }
  std::vector<std::size_t> spectrum() const { return offsets(&Dimension::spectrum_stride); }

  std::vector<std::int64_t> extents() const {
    std::vector<std::int64_t> extents;
    for (const Dimension& dimension : layout.transformed) extents.push_back(dimension.extent);
    return extents;
  }
  /// Spectra of all signals.
  Values forward(const Values& signals) const {
    const auto n = static_cast<std::ptrdiff_t>(points());
    const std::int64_t row = layout.transformed.back().extent, kept = real ? row / 2 + 1 : row;
    Values spectra;
    for (auto at = signals.begin(); at != signals.end(); at += n) {
      const Values whole = direct_dft(Values(at, at + n), extents());
      for (std::ptrdiff_t first = 0; first < n; first += row)
        spectra.insert(spectra.end(), whole.begin() + first, whole.begin() + first + kept);
    }
    return spectra;
  }
  /// Σ_f X[f] exp(2πi f·t/n) of all spectra, times `scale`; of half spectra by NumPy's rule.
  Values inverse(const Values& spectra, double scale) const {
    const std::int64_t row = layout.transformed.back().extent, kept = real ? row / 2 + 1 : row;
    const auto n = static_cast<std::ptrdiff_t>(points() / row * kept);
    std::vector<std::int64_t> slower = extents();
    slower.pop_back();
    Values signals;
    for (auto at = spectra.begin(); at != spectra.end(); at += n) {
      Values part(at, at + n);
      for (auto& value : part) value = std::conj(value);
      part = direct_dft(part, slower, kept);
      for (std::ptrdiff_t first = 0; first < n; first += kept) {
        Values line(part.begin() + first, part.begin() + first + kept);
        if (real) {
          line[0] = line[0].real();
          if (row % 2 == 0) line.back() = line.back().real();
          for (std::int64_t k = kept; k < row; ++k)
            line.push_back(std::conj(line[static_cast<std::size_t>(row - k)]));
        }
        for (const auto& value : direct_dft(line, std::vector{row}))
          signals.push_back(scale * std::conj(value));
      }
    }
    return signals;
  }
};

std::size_t span_of(const std::vector<std::size_t>& offsets) {
  return *std::max_element(offsets.begin(), offsets.end()) + 1;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  }

  /// Dimensions in any order in memory, some with gaps.
  Case layout(std::int64_t max_points) {
    constexpr std::int64_t kExtents[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 20, 30, 31, 32, 67, 90, 100};
    Case drawn;
    drawn.real = below(2) == 0;
    const auto transformed = static_cast<std::size_t>(1 + (below(3) == 0 ? below(8) : below(3)));
    const auto batch = static_cast<std::size_t>(below(5));
    std::vector<Dimension> all(transformed + batch);
    std::int64_t points = 1;
    for (Dimension& dimension : all) {
      const std::int64_t extent = kExtents[below(std::size(kExtents))];
      if (points * extent > max_points) continue;
      dimension.extent = extent;
      points *= extent;
    }
    std::shuffle(all.begin(), all.end(), random_);
    drawn.layout.transformed.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(transformed));
    drawn.layout.batch.assign(all.begin() + static_cast<std::ptrdiff_t>(transformed), all.end());
    place(drawn, &Dimension::signal_stride, false);
    place(drawn, &Dimension::spectrum_stride, drawn.real);
    return drawn;
  }
  /// The same layout on both sides.
  static void make_equal(Case& drawn) {
    for (auto* dimensions : {&drawn.layout.transformed, &drawn.layout.batch})
      for (Dimension& dimension : *dimensions) dimension.spectrum_stride = dimension.signal_stride;
  }

 private:
  void place(Case& drawn, std::int64_t Dimension::*stride, bool half) {
    std::vector<Dimension*> order;
    for (Dimension& dimension : drawn.layout.batch) order.push_back(&dimension);
    for (Dimension& dimension : drawn.layout.transformed) order.push_back(&dimension);
    const Dimension* const last = &drawn.layout.transformed.back();
    if (below(3) != 0) std::shuffle(order.begin(), order.end(), random_);
    const bool gaps = below(2) == 0;
    std::int64_t next = gaps ? 1 + below(3) : 1;
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      (*at)->*stride = next;
      const std::int64_t extent = (*at)->extent;
      next *= half && *at == last ? extent / 2 + 1 : extent;
      if (gaps) next += below(4);
    }
  }

  std::mt19937 random_;
};

template <class T>
constexpr T kGap = T(77);

template <class T>
std::vector<T> spread(const Values& values, const std::vector<std::size_t>& offsets) {
  std::vector<T> out(span_of(offsets), kGap<T>);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if constexpr (std::is_arithmetic_v<T>) {
      out[offsets[i]] = static_cast<T>(values[i].real());
    } else {
      out[offsets[i]] = T(values[i]);
    }
  }
  return out;
}

template <class T>
std::vector<T> collect(const std::vector<T>& placed, const std::vector<std::size_t>& offsets) {
  std::vector<T> values;
  for (const std::size_t offset : offsets) values.push_back(placed[offset]);
  return values;
}

/// Whether nothing but the elements was written.
template <class T>
bool gaps_kept(const std::vector<T>& placed, const std::vector<std::size_t>& offsets) {
  std::vector<bool> used(placed.size());
  for (const std::size_t offset : offsets) used[offset] = true;
  for (std::size_t i = 0; i < placed.size(); ++i)
    if (!used[i] && placed[i] != kGap<T>) return false;
  return true;
}

std::string text(const Case& drawn) {
  std::string text = drawn.real ? "real" : "complex";
  for (const auto* dimensions : {&drawn.layout.transformed, &drawn.layout.batch}) {
    text += dimensions == &drawn.layout.batch ? " batch" : " transformed";
    for (const Dimension& d : *dimensions)
      text += " " + std::to_string(d.extent) + ":" + std::to_string(d.signal_stride) + ":" +
              std::to_string(d.spectrum_stride);
  }
  return text;
}

/// Integers that all element types hold.
Values small_integers(std::size_t count, bool real, unsigned seed) {
  std::mt19937 random(seed);
  Values values(count);
  for (auto& value : values) {
    value.real(static_cast<double>(random() % 200));
    if (!real) value.imag(static_cast<double>(random() % 200));
  }
  return values;
}

template <class Real, class T>
void check_forward(const Case& drawn, const Values& signals, const Values& expected) {
  const auto at = drawn.signal(), to = drawn.spectrum();
  const std::vector<T> placed = spread<T>(signals, at), before = placed;
  std::vector<std::complex<Real>> first;
  for (const int threads : {1, 2, 3}) {
    const Plan<Real> plan(drawn.layout, drawn.domain(), {.threads = threads});
    ASSERT_EQ(plan.spectrum_points(), span_of(to)) << text(drawn);
    ASSERT_EQ(plan.signal_points(), at.size());
    std::vector<std::complex<Real>> spectra(plan.spectrum_points(), kGap<Real>);
    plan.forward(placed.data(), element_type_of<T>::value, spectra);
    EXPECT_EQ(placed, before) << "the input was changed";
    EXPECT_TRUE(gaps_kept(spectra, to)) << text(drawn);
    if (threads == 1) {
      EXPECT_LE(relative_l2(collect(spectra, to), expected),
                fft_bound<Real>(static_cast<double>(drawn.points())))
          << text(drawn) << " element type " << static_cast<int>(element_type_of<T>::value);
      first = spectra;
    }
    EXPECT_EQ(spectra, first) << "other bits on " << threads << " threads: " << text(drawn);
    if (sizeof(T) < sizeof(Real)) return;
  }
}

template <class Real, class T>
void check_inverse(const Case& drawn, const Values& spectra, const Values& expected) {
  const auto from = drawn.spectrum(), at = drawn.signal();
  const auto placed = spread<std::complex<Real>>(spectra, from), before = placed;
  std::vector<T> first;
  for (const int threads : {1, 2, 3}) {
    const Plan<Real> plan(drawn.layout, drawn.domain(),
                          {.normalization = Normalization::unitary, .threads = threads});
    std::vector<T> signals(span_of(at), kGap<T>);
    plan.inverse(placed, std::span(signals));
    EXPECT_EQ(placed, before) << "the input was changed";
    EXPECT_TRUE(gaps_kept(signals, at)) << text(drawn);
    if (threads == 1) {
      EXPECT_LE(relative_l2(collect(signals, at), expected),
                2 * fft_bound<Real>(static_cast<double>(drawn.points())))
          << text(drawn);
      first = signals;
    }
    EXPECT_EQ(signals, first) << "other bits on " << threads << " threads: " << text(drawn);
  }
}

template <class Real>
void check(const Case& drawn, unsigned seed) {
  const std::size_t count = drawn.signal().size();
  const Values integers = small_integers(count, true, seed), transformed = drawn.forward(integers);
  check_forward<Real, std::uint8_t>(drawn, integers, transformed);
  check_forward<Real, std::uint16_t>(drawn, integers, transformed);
  check_forward<Real, std::int16_t>(drawn, integers, transformed);
  check_forward<Real, float>(drawn, integers, transformed);
  check_forward<Real, double>(drawn, integers, transformed);
  if (!drawn.real) {
    const Values complex = random_signal(count, seed), spectra = drawn.forward(complex);
    check_forward<Real, std::complex<float>>(drawn, complex, spectra);
    check_forward<Real, std::complex<double>>(drawn, complex, spectra);
    const Values pairs = small_integers(count, false, seed);
    check_forward<Real, std::complex<std::int16_t>>(drawn, pairs, drawn.forward(pairs));
  }
  const Values any = random_signal(drawn.spectrum().size(), seed + 1);
  const Values expected = drawn.inverse(any, 1 / std::sqrt(static_cast<double>(drawn.points())));
  if (drawn.real) {
    check_inverse<Real, Real>(drawn, any, expected);
  } else {
    check_inverse<Real, std::complex<Real>>(drawn, any, expected);
  }
}

template <class Real>
class LayoutsTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(LayoutsTest, Reals);

TYPED_TEST(LayoutsTest, DrawnLayoutsEqualTheSums) {
  Draw draw(sizeof(TypeParam));
  for (unsigned i = 0; i < 150; ++i) {
    check<TypeParam>(draw.layout(i % 10 == 0 ? 60'000 : 3'000), i);
    if (testing::Test::HasFailure()) break;
  }
}

TYPED_TEST(LayoutsTest, NamedAxesOfContiguousArrays) {
  struct Named {
    std::vector<std::int64_t> extents;
    std::vector<int> axes;
  };
  for (const auto& [extents, axes] :
       {Named{{6, 50, 24}, {1}}, Named{{20, 3, 32}, {0, 2}}, Named{{20, 3, 33}, {2, 0}},
        Named{{40, 30, 3}, {0, 1}}, Named{{4, 5, 6, 7}, {1, 2}},
        Named{{2, 2, 3, 2, 2, 3, 2, 5}, {0, 1, 2, 3, 4, 5, 6, 7}}, Named{{5, 3, 4, 10, 6}, {3, 0, 2}},
        Named{{700, 9}, {0}}, Named{{1, 1}, {0, 1}}, Named{{3, 1, 1}, {1}}}) {
    for (const bool real : {false, true}) {
      Case named{{}, real};
      named.layout = Layout::of_axes(std::span(extents), std::span(axes), named.domain());
      check<TypeParam>(named, 5);
    }
  }
}

TYPED_TEST(LayoutsTest, ComplexTransformsWorkInPlace) {
  Draw draw(3);
  for (unsigned i = 0; i < 60; ++i) {
    Case drawn = draw.layout(4'000);
    drawn.real = false;
    Draw::make_equal(drawn);
    const auto at = drawn.signal();
    const Values signals = random_signal(at.size(), i);
    auto placed = spread<std::complex<TypeParam>>(signals, at);
    const Plan<TypeParam> plan(drawn.layout, Domain::complex, {.threads = static_cast<int>(1 + i % 3)});
    plan.forward(placed.data(), element_type_of<std::complex<TypeParam>>::value, placed);
    const double bound = fft_bound<TypeParam>(static_cast<double>(drawn.points()));
    EXPECT_LE(relative_l2(collect(placed, at), drawn.forward(signals)), bound) << text(drawn);
    plan.inverse(placed, std::span(placed));
    EXPECT_LE(relative_l2(collect(placed, at), signals), 2 * bound) << text(drawn);
    EXPECT_TRUE(gaps_kept(placed, at)) << text(drawn);
  }
}

/// Direct sums or, for long lines, a plan that does not work in place.
Values spectra_of(const Case& padded, const Values& signals) {
  constexpr std::int64_t kMaxSum = 300;
  if (padded.points() < kMaxSum || padded.layout.transformed.size() > 1) return padded.forward(signals);
  Values spectra(padded.spectrum().size());
  std::vector<double> reals;
  for (const auto& value : signals) reals.push_back(value.real());
  const Plan<double> plan(Shape(padded.points()), Domain::real, {.batch = points_of(padded.layout.batch)});
  plan.forward(reals.data(), ElementType::f64, spectra);
  return spectra;
}

/// Transforms padded rows in place and back; `plan` takes signals in rows of 2 (n/2 + 1) reals.
template <class Real>
void check_padded(const Plan<Real>& plan, const Case& padded) {
  const auto at = padded.signal(), to = padded.spectrum();
  const Values signals = random_signal(at.size(), 8);
  std::vector<std::complex<Real>> memory(span_of(to));
  auto* const reals = reinterpret_cast<Real*>(memory.data());
  Values parts;
  for (std::size_t i = 0; i < at.size(); ++i) {
    reals[at[i]] = static_cast<Real>(signals[i].real());
    parts.emplace_back(reals[at[i]]);
  }
  plan.forward(reals, element_type_of<Real>::value, memory);
  const double bound = fft_bound<Real>(static_cast<double>(padded.points()));
  EXPECT_LE(relative_l2(collect(memory, to), spectra_of(padded, parts)), bound) << text(padded);
  plan.inverse(memory, std::span(reals, span_of(at)));
  std::vector<Real> back;
  for (const std::size_t offset : at) back.push_back(reals[offset]);
  EXPECT_LE(relative_l2(back, parts), 2 * bound) << text(padded);
}

TYPED_TEST(LayoutsTest, RealTransformsWorkInPlaceInPaddedRows) {
  for (const std::vector<std::int64_t>& extents : std::vector<std::vector<std::int64_t>>{{64},
                                                                                         {63},
                                                                                         {4096},
                                                                                         {1 << 17},
                                                                                         {1021},
                                                                                         {2053},
                                                                                         {65537},
                                                                                         {1},
                                                                                         {20, 30},
                                                                                         {9, 25},
                                                                                         {40, 1},
                                                                                         {128, 100},
                                                                                         {12, 10, 18},
                                                                                         {8, 16, 33},
                                                                                         {3, 4, 5, 6}}) {
    for (const std::int64_t batch : {1, 3, 20}) {
      if (batch > 1 && extents.back() > 100 && batch != 3) continue;
      Case padded{{}, true};
      std::int64_t stride = 1;
      for (std::size_t d = extents.size(); d-- > 0;) {
        const bool last = d + 1 == extents.size();
        padded.layout.transformed.push_back({extents[d], last ? 1 : 2 * stride, stride});
        stride *= last ? extents[d] / 2 + 1 : extents[d];
      }
      std::reverse(padded.layout.transformed.begin(), padded.layout.transformed.end());
      padded.layout.batch = {{batch, 2 * stride, stride}};
      for (const int threads : {1, 3}) {
        check_padded<TypeParam>(Plan<TypeParam>(padded.layout, Domain::real, {.threads = threads}), padded);
        if (extents.size() > 3) continue;
        Options options{.threads = threads, .batch = batch};
        for (std::size_t d = 0; d < extents.size(); ++d)
          options.signal_strides.dims[d] = padded.layout.transformed[d].signal_stride;
        options.signal_strides.batch = 2 * stride;
        check_padded<TypeParam>(Plan<TypeParam>(Shape(std::span(extents)), Domain::real, options), padded);
      }
    }
  }
}

TEST(Layouts, InvalidOnesAreRefused) {
  const auto plan = [](const Layout& layout, const Options& options = {}, Domain domain = Domain::complex) {
    return [=] { Plan<float>(layout, domain, options); };
  };
  const Layout good = Layout::of_axes({4, 6}, {0}, Domain::complex);
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, [] { Layout::of_axes({4, 6}, {1, 1}, Domain::real); }));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, [] { Layout::of_axes({4, 6}, {2}, Domain::real); }));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, [] { Layout::of_axes({4, 6}, {-1}, Domain::real); }));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, [] { Layout::of_axes({4, 0}, {0}, Domain::real); }));
  EXPECT_TRUE(throws(ErrorCode::size_overflow, [] {
    Layout::of_axes({1ll << 40, 1ll << 40}, {0}, Domain::real);
  }));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan(Layout::of_axes({4, 6}, {}, Domain::complex))));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan({std::vector<Dimension>(9)})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan({{{0}}})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan({{{4}}, {{-2}}})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan({{{4, 0, 1}}})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan({{{4, 1, -1}}})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan({{{4, 1, 1}}, {{3, 4, 3}}})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan({{{4, 1, 1}}, {{3, 3, 4}}})));
  EXPECT_TRUE(
      throws(ErrorCode::size_overflow, plan({{{1ll << 40, 1, 1}}, {{1ll << 40, 1ll << 40, 1ll << 40}}})));
  EXPECT_TRUE(throws(ErrorCode::size_overflow, plan({{{4, 1ll << 61, 1}}})));
  EXPECT_TRUE(throws(ErrorCode::size_overflow, plan({{{4, 1, 1ll << 50}}})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan(good, {.batch = 2})));
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, plan(good, {.signal_strides = {{1, 0, 0}, 4}})));
  EXPECT_TRUE(throws(ErrorCode::backend_unavailable, plan(good, {.device = Device::gpu()})));

  const Plan<float> fine(good, Domain::complex);
  std::vector<std::complex<float>> signal(24), spectrum(24);
  const auto type = ElementType::c64;
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, [&] { fine.forward(nullptr, type, spectrum); }));
  EXPECT_TRUE(throws(ErrorCode::shape_mismatch,
                     [&] { fine.forward(signal.data(), type, std::span(spectrum).first(23)); }));
  EXPECT_TRUE(
      throws(ErrorCode::shape_mismatch, [&] { fine.inverse(spectrum, std::span(signal).first(23)); }));
  EXPECT_TRUE(
      throws(ErrorCode::invalid_argument, [&] { fine.forward(SignalView(signal, Shape(24)), spectrum); }));
  const Plan<float> transposing({{{4, 6, 1}}, {{6, 1, 4}}}, Domain::complex);
  EXPECT_TRUE(throws(ErrorCode::invalid_argument, [&] { transposing.forward(signal.data(), type, signal); }));
}

TEST(Layouts, ShapesHaveAtMostThreeExtents) {
  const auto shape = [](std::initializer_list<std::int64_t> extents, std::initializer_list<int> axes) {
    return Plan<float>(Layout::of_axes(extents, axes, Domain::complex), Domain::complex).shape();
  };
  EXPECT_EQ(shape({4, 5, 6}, {1}), Shape(5));
  EXPECT_EQ(shape({4, 5, 6}, {2, 0}), Shape({6, 4}));
  EXPECT_EQ(shape({2, 3, 4, 5, 6}, {0, 1, 2, 3, 4}), Shape({24, 5, 6}));
}

}  // namespace
}  // namespace sfft::layouts_test
