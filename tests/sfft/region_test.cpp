// SPDX-License-Identifier: Apache-2.0
// Tests that regions of larger arrays give the same bits as their contiguous copies, in every function.
#include "tests/support/region.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/throws.hpp"

namespace sfft::region_test {
namespace {

using test::code_of;
using test::Region;
using test::scene;

template <class Real>
void expect_same(const Spectrum<Real>& got, const Spectrum<Real>& expected, const std::string& what) {
  EXPECT_EQ(*got.support, *expected.support) << what;
  EXPECT_EQ(got.values, expected.values) << what;
  EXPECT_EQ(got.standard_error, expected.standard_error) << what;
  EXPECT_EQ(got.quality.error_l2, expected.quality.error_l2) << what;
  EXPECT_EQ(got.quality.relative_error, expected.quality.relative_error) << what;
  EXPECT_EQ(got.quality.tail_energy, expected.quality.tail_energy) << what;
  EXPECT_EQ(got.quality.residual, expected.quality.residual) << what;
  EXPECT_TRUE(got.quality.finite) << what;
}

void expect_same(const Discovery& got, const Discovery& expected, const std::string& what) {
  expect_same(got.spectrum, expected.spectrum, what);
  EXPECT_EQ(got.verified, expected.verified) << what;
  EXPECT_EQ(got.missed_bound, expected.missed_bound) << what;
  EXPECT_EQ(got.samples, expected.samples) << what;
}

void expect_same(const Template& got, const Template& expected) {
  const detail::TemplateData &a = *detail::data_of(got), &b = *detail::data_of(expected);
  EXPECT_EQ(*a.support, *b.support);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.power, b.power);
  EXPECT_EQ(a.tail_energy, b.tail_energy);
  EXPECT_EQ(a.tail_envelope.power, b.tail_envelope.power);
  EXPECT_EQ(a.change_envelope.power, b.change_envelope.power);
  EXPECT_EQ(a.reference, b.reference);
}

std::vector<Shape> shapes() {
  return {Shape{480},   Shape{30, 48},    Shape{23, 29},  Shape{12, 1},
          Shape{1, 60}, Shape{8, 12, 20}, Shape{5, 1, 16}};
}

template <class T>
class RegionTest : public testing::Test {};
using Types = testing::Types<std::uint8_t, std::uint16_t, float, double, std::complex<float>,
                             std::complex<double>, std::int8_t, std::int16_t, std::int32_t,
                             std::complex<std::int8_t>, std::complex<std::int16_t>>;
TYPED_TEST_SUITE(RegionTest, Types);

/// Runs every path that can transform the template, with both kinds of frames in one batch.
template <class Real, class T>
void compare_plans(const Shape& shape, std::set<Path>& seen) {
  const std::vector<T> first = scene<T>(shape, 1), a = scene<T>(shape, 2), b = scene<T>(shape, 3);
  const Region<T> region_first(first, shape), region_a(a, shape), region_b(b, shape);
  for (const bool reference : {false, true}) {
    const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{4}, .reference = reference});
    for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
      for (const int threads : {1, 2}) {
        if (threads > 1 && shape.rank() < 3) continue;
        const PlanOptions options{.max_samples = 1, .path = path, .threads = threads};
        if (code_of([&] { Plan<Real>(tmpl, options); }) == ErrorCode::not_sparse) continue;
        seen.insert(path);
        const Plan<Real> plan(tmpl, options);
        const std::string what = shape.to_string() + "\n" + plan.explain();
        auto workspace = plan.make_workspace();
        std::vector<Spectrum<Real>> got(4), expected(4);
        const std::vector<SignalView> mixed{region_a.view(), SignalView(b, shape), region_b.view(),
                                            SignalView(a, shape)};
        const std::vector<SignalView> whole{SignalView(a, shape), SignalView(b, shape), SignalView(b, shape),
                                            SignalView(a, shape)};
        plan.execute(whole, expected, workspace);
        plan.execute(mixed, got, workspace);
        for (std::size_t i = 0; i < got.size(); ++i) expect_same(got[i], expected[i], what);
        plan.execute(region_a.view(), got[0], workspace);
        plan.execute(SignalView(a, shape), expected[0], workspace);
        expect_same(got[0], expected[0], what);
        if (!reference) continue;
        const auto renewed = plan.with_reference(region_first.view(), tmpl.values());
        expect_same(renewed.execute(region_b.view()), plan.execute(SignalView(b, shape)), what);
      }
    }
  }
}

TYPED_TEST(RegionTest, PlansGiveTheSameBits) {
  std::set<Path> seen;
  for (const Shape& shape : shapes()) {
    compare_plans<float, TypeParam>(shape, seen);
    compare_plans<double, TypeParam>(shape, seen);
  }
  EXPECT_EQ(seen.size(), 4u) << "every path";
}

TYPED_TEST(RegionTest, LearningGivesTheSameTemplate) {
  for (const Shape& shape : shapes()) {
    const std::vector<TypeParam> a = scene<TypeParam>(shape, 4), b = scene<TypeParam>(shape, 5);
    const Region<TypeParam> region_a(a, shape), region_b(b, shape);
    const LearnOptions options{.keep = Largest{5}, .reference = true};
    expect_same(learn(region_a.view(), options), learn(SignalView(a, shape), options));
    const std::vector<SignalView> regions{region_a.view(), region_b.view()};
    const std::vector<SignalView> copies{SignalView(a, shape), SignalView(b, shape)};
    expect_same(learn(regions, options), learn(copies, options));
    const Energy shares{0.9};
    expect_same(transform(region_a.view(), shares), transform(SignalView(a, shape), shares),
                shape.to_string());
    const Template tmpl = learn(SignalView(a, shape), options);
    expect_same(transform(region_b.view(), tmpl), transform(SignalView(b, shape), tmpl), shape.to_string());
  }
}

TYPED_TEST(RegionTest, DiscoveryGivesTheSameAnswer) {
  for (const Shape& shape : {Shape{64, 90}, Shape{71, 73}, Shape{16, 18, 20}}) {
    const std::vector<TypeParam> x = scene<TypeParam>(shape, 6);
    const Region<TypeParam> region(x, shape);
    for (const Path path : {Path::automatic, Path::comb, Path::flat_window}) {
      const DiscoverOptions options{.k = 3, .dense_fallback = false, .path = path};
      const Discovery got = discover(region.view(), options),
                      expected = discover(SignalView(x, shape), options);
      expect_same(got, expected, shape.to_string() + ", " + to_string(path));
    }
    expect_same(discover(region.view(), {.k = 3}), discover(SignalView(x, shape), {.k = 3}),
                shape.to_string());
  }
}

TYPED_TEST(RegionTest, TrackersGiveTheSameFrames) {
  const Shape shape{36, 50};
  const std::vector<TypeParam> first = scene<TypeParam>(shape, 7);
  for (const bool reference : {false, true}) {
    const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{6}, .reference = reference});
    Tracker<float> of_regions(tmpl), of_copies(tmpl);  // without a reference, so the first frame becomes it
    for (unsigned t = 8; t < 14; ++t) {
      const std::vector<TypeParam> x = scene<TypeParam>(shape, t);
      const Region<TypeParam> region(x, shape);
      const auto& got = of_regions.push(region.view());
      const auto& expected = of_copies.push(SignalView(x, shape));
      EXPECT_EQ(got.action, expected.action);
      expect_same(got.spectrum, expected.spectrum, got.reason);
    }
    EXPECT_EQ(detail::data_of(of_regions.current_template())->reference,
              detail::data_of(of_copies.current_template())->reference);
  }
}

TYPED_TEST(RegionTest, DensePlansGiveTheSameBits) {
  for (const Shape& shape : shapes()) {
    const std::vector<TypeParam> x = scene<TypeParam>(shape, 20);
    const Region<TypeParam> region(x, shape);
    const dense::Plan<float> plan(shape, domain_of(element_type_of<TypeParam>::value));
    std::vector<std::complex<float>> got(plan.spectrum_points()), expected(plan.spectrum_points());
    plan.forward(region.view(), got);
    plan.forward(SignalView(x, shape), expected);
    EXPECT_EQ(got, expected) << shape.to_string();
  }
}

TEST(SignalView, DescribesRegions) {
  const std::vector<float> image(40);
  const SignalView whole = SignalView::rows(image.data(), {4, 10}, 10);
  EXPECT_TRUE(whole.contiguous());
  EXPECT_EQ(whole.stride(0), 10);
  const SignalView part = SignalView::rows(image.data() + 12, {3, 6}, 10);
  EXPECT_FALSE(part.contiguous());
  EXPECT_EQ(part.bytes(), 18 * sizeof(float)) << "of the elements alone";
  EXPECT_TRUE(SignalView::rows(image.data(), {1, 6}, 10).contiguous()) << "a single row has no gaps";
  EXPECT_TRUE(SignalView::rows(image.data(), Shape{40}, 40).contiguous());
  const SignalView column = SignalView::rows(image.data() + 3, {4, 1}, 10);
  EXPECT_FALSE(column.contiguous());
  const SignalView volume = SignalView::rows(image.data(), {2, 2, 3}, 5, 20);
  EXPECT_EQ(volume.stride(0), 20);
  EXPECT_EQ(volume.stride(1), 5);
  EXPECT_EQ(SignalView::rows(image.data(), {2, 2, 3}, 5).stride(0), 10);
}

TEST(SignalView, RefusesStridesThatCannotBe) {
  const std::vector<float> x(40);
  const auto code = [&](const Shape& shape, std::vector<std::int64_t> strides) {
    return code_of([&] { SignalView(x.data(), ElementType::f32, shape, strides); });
  };
  EXPECT_EQ(code({4, 8}, {10, 1}), std::nullopt);
  EXPECT_EQ(code({4, 8}, {7, 1}), ErrorCode::invalid_argument) << "rows overlap";
  EXPECT_EQ(code({4, 8}, {0, 1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({4, 8}, {-10, 1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({4, 8}, {10, 2}), ErrorCode::invalid_argument) << "every other column";
  EXPECT_EQ(code({4, 8}, {10}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({2, 2, 3}, {7, 5, 1}), ErrorCode::invalid_argument) << "planes overlap";
  EXPECT_EQ(code({2, 2, 3}, {8, 5, 1}), std::nullopt) << "the last row of a plane has no gap behind it";
  EXPECT_EQ(code({4, 8}, {std::int64_t{1} << 61, 1}), ErrorCode::size_overflow);
  EXPECT_EQ(code({1, 8}, {-3, 1}), std::nullopt) << "there is no second row";
  EXPECT_EQ(code_of([] {
              SignalView::rows(static_cast<const float*>(nullptr), {4, 8}, 10);
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              SignalView::rows(x.data(), {4, 8}, std::int64_t{1} << 62);
            }),
            ErrorCode::size_overflow);
}

TEST(SignalView, TakesNoVectorWithoutAShape) {
  static_assert(!std::is_constructible_v<SignalView, std::vector<float>>);
  static_assert(!std::is_convertible_v<const std::vector<std::uint8_t>&, SignalView>);
  static_assert(!std::is_constructible_v<SignalView, std::span<const float>>);
  std::vector<float> x(12);
  EXPECT_EQ(SignalView::line(x).shape(), Shape{12});
  EXPECT_EQ(SignalView::line(std::span(x)).shape(), Shape{12});
  EXPECT_EQ(SignalView::line(std::span<const float>(x)).data(), x.data());
  EXPECT_EQ(code_of([] { SignalView::line(std::vector<float>()); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::region_test
