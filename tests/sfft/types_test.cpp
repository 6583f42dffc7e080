// SPDX-License-Identifier: Apache-2.0
// Tests what shapes, element types, views of samples and devices accept, refuse and report.
#include "sfft/types.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sfft/device.hpp"
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

TEST(Device, HoldsOneToSixteenGpus) {
  const Device two = Device::gpus({3, 1});
  EXPECT_EQ(std::vector<int>(two.gpus().begin(), two.gpus().end()), (std::vector<int>{3, 1}));
  EXPECT_TRUE(two.several());
  EXPECT_EQ(two.gpu_number(), 3);
  EXPECT_EQ(to_string(two), "GPUs 3 and 1");
  const Device most = Device::gpus(std::vector<int>(16, 2));
  EXPECT_EQ(most.gpus().size(), 16u);
  EXPECT_EQ(code_of([] { Device::gpus(std::vector<int>(17)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Device::gpus({}); }), ErrorCode::invalid_argument);
}

TEST(Device, ComparesBackendAndGpus) {
  EXPECT_EQ(Device::gpus({5}), Device::gpu(5));
  EXPECT_NE(Device::gpus({5, 0}), Device::gpu(5));
  EXPECT_NE(Device::gpus({1, 2}), Device::gpus({2, 1}));
  EXPECT_EQ(Device(), Device::automatic(0));
  EXPECT_NE(Device::automatic(1), Device::gpu(1));
  const Device host = Device::cpu(), either = Device::automatic(1);
  EXPECT_TRUE(host.gpus().empty());
  EXPECT_EQ(either.gpus().size(), 1u);
}

}  // namespace
}  // namespace sfft::types_test
