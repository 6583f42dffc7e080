// SPDX-License-Identifier: Apache-2.0
// Tests what shapes, element types and views of samples accept, refuse and report.
#include "sfft/types.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfft/error.hpp"
#include "tests/support/throws.hpp"

namespace sfft::types_test {
namespace {

using test::code_of;

TEST(Shape, HoldsOneToThreeExtents) {
  const Shape shape{3, 4, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.points(), 60);
  EXPECT_EQ(shape[1], 4);
  EXPECT_EQ(shape.to_string(), "3x4x5");
  EXPECT_EQ(Shape{7}.points(), 7);
  EXPECT_NE((Shape{3, 4}), (Shape{4, 3}));
  EXPECT_NE((Shape{12}), (Shape{12, 1}));
}

TEST(Shape, RefusesWhatIsNoShape) {
  EXPECT_EQ(code_of([] { Shape{0}; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Shape({4, -1}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Shape(std::vector<std::int64_t>{2, 2, 2, 2}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Shape(std::span<const std::int64_t>()); }), ErrorCode::invalid_argument);
}

TEST(Shape, RefusesOverflow) {
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(code_of([&] { Shape({big, big}); }), ErrorCode::size_overflow);
  EXPECT_EQ(code_of([&] { Shape({std::numeric_limits<std::int64_t>::max(), 2}); }), ErrorCode::size_overflow);
  EXPECT_EQ(code_of([&] { Shape({big, big, big}); }), ErrorCode::size_overflow);
}

TEST(SignalView, ChecksLengthAndPointer) {
  const std::vector<float> x(12);
  EXPECT_EQ(SignalView(x, Shape{3, 4}).type(), ElementType::f32);
  EXPECT_EQ(SignalView::line(x).shape(), Shape{12});
  EXPECT_EQ(code_of([&] { SignalView(x, Shape{13}); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { SignalView(x, Shape{11}); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { SignalView(nullptr, 4, ElementType::u8, Shape{4}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { SignalView(x.data(), 12, static_cast<ElementType>(17), Shape{12}); }),
            ErrorCode::invalid_argument);
}

TEST(ElementType, KnowsItsBytes) {
  EXPECT_EQ(element_bytes(ElementType::u8), 1u);
  EXPECT_EQ(element_bytes(ElementType::u16), 2u);
  EXPECT_EQ(element_bytes(ElementType::c64), sizeof(std::complex<float>));
  EXPECT_EQ(element_bytes(ElementType::c128), sizeof(std::complex<double>));
  EXPECT_FALSE(is_complex(ElementType::f64));
  EXPECT_TRUE(is_complex(ElementType::c64));
}

}  // namespace
}  // namespace sfft::types_test
