// SPDX-License-Identifier: Apache-2.0
// Tests the transform of single frames on the GPU against direct sums, or against the CPU if those would take
// too long.
#include "kernels/cuda/spectrum/frame_fft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "kernels/cuda/spectrum/shape_extents.hpp"
#include "kernels/cuda/spectrum/spectrum_power.hpp"
#include "sfft/dense.hpp"
#include "template/learning/learning_spectrum.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/learning.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::cuda::frame_fft_cuda_test {
namespace {

using Value = std::complex<double>;
using test::OnDevice;
using test::Signal;

class FrameFftGpu : public test::GpuTest {};

constexpr ElementType kTypes[] = {ElementType::u8,  ElementType::u16, ElementType::f32,
                                  ElementType::f64, ElementType::c64, ElementType::c128};

template <class T>
std::vector<Value> values_of(const Signal& signal) {
  std::vector<T> samples(signal.bytes.size() / sizeof(T));
  std::memcpy(static_cast<void*>(samples.data()), signal.bytes.data(), signal.bytes.size());
  return {samples.begin(), samples.end()};
}

std::vector<Value> samples_of(const Signal& signal) {
  switch (signal.type) {
    case ElementType::u8:
      return values_of<std::uint8_t>(signal);
    case ElementType::u16:
      return values_of<std::uint16_t>(signal);
    case ElementType::f32:
      return values_of<float>(signal);
    case ElementType::f64:
      return values_of<double>(signal);
    case ElementType::c64:
      return values_of<std::complex<float>>(signal);
    default:
      break;
  }
  return values_of<Value>(signal);
}

/// Whether the lines of a shape fit into shared memory, which is smaller on some GPUs.
bool fits(const Shape& shape, ElementType type) {
  if (FrameFft::supports(extents_of(shape, !is_complex(type)), 0)) return true;
  EXPECT_LT(device_info(0).shared_bytes_per_block, std::size_t{227} << 10) << shape.to_string();
  return false;
}

struct Transformed {
  std::vector<Value> spectrum;
  std::vector<double> power;
};

Transformed transform(const Signal& signal, double scale) {
  const SpectrumExtents extents = extents_of(signal.shape, !is_complex(signal.type));
  const FrameFft fft(extents, 0);
  const auto points = static_cast<std::size_t>(extents.points());
  const OnDevice<std::byte> samples(signal.bytes);
  const OnDevice<Value> spectrum(points);
  const OnDevice<double> power(points);
  const OnDevice<std::byte> workspace(std::max<std::size_t>(fft.workspace_bytes(), 1));
  fft.enqueue(samples.get(), static_cast<Element>(signal.type), spectrum.get(), power.get(), scale,
              workspace.get(), nullptr);
  synchronize(nullptr);
  return {spectrum.read(), power.read()};
}

/// Returns the stored part of a whole spectrum.
std::vector<Value> stored(const std::vector<Value>& whole, const SpectrumLayout& layout) {
  std::vector<Value> part;
  for (std::int64_t i = 0; i < layout.points(); ++i)
    part.push_back(whole[static_cast<std::size_t>(layout.linear_index(i))]);
  return part;
}

void check(const Shape& shape, ElementType type, unsigned seed, double scale = 1) {
  SCOPED_TRACE(shape.to_string() + " " + to_string(type));
  if (!fits(shape, type)) return;
  const Signal signal = test::random_signal(type, shape, seed);
  const SpectrumLayout layout{shape, !is_complex(type)};
  const Transformed result = transform(signal, scale);
  const std::vector<std::int64_t> grid(shape.extents().begin(), shape.extents().end());
  std::vector<Value> expected = stored(test::direct_dft(samples_of(signal), grid), layout);
  for (Value& value : expected) value *= scale;
  EXPECT_LE(test::relative_l2(result.spectrum, expected),
            test::fft_bound<double>(static_cast<double>(shape.points())));
  for (std::int64_t i = 0; i < layout.points(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double power = std::norm(result.spectrum[at]);
    if (layout.representative(i))
      EXPECT_NEAR(result.power[at], power, 4e-16 * power) << i;
    else
      EXPECT_EQ(result.power[at], kExcluded) << i;
  }
}

TEST_F(FrameFftGpu, EveryTypeOfManyShapes) {
  const std::vector<Shape> shapes{
      Shape{1},       Shape{2},         Shape{3},          Shape{11},        Shape{16},      Shape{127},
      Shape{254},     Shape{1000},      Shape{4096},       Shape{5929},      Shape{1, 7},    Shape{7, 1},
      Shape{8, 1},    Shape{2, 2},      Shape{12, 16},     Shape{9, 15},     Shape{96, 64},  Shape{127, 3},
      Shape{61, 122}, Shape{1, 1, 1},   Shape{6, 1, 1},    Shape{1, 1, 8},   Shape{1, 5, 1}, Shape{3, 3, 8},
      Shape{5, 6, 7}, Shape{16, 8, 17}, Shape{2, 118, 31}, Shape{27, 1, 10}, Shape{360, 640}};
  for (const Shape& shape : shapes) {
    for (const ElementType type : kTypes) check(shape, type, 3);
  }
}

TEST_F(FrameFftGpu, RandomShapes) {
  std::mt19937 random(7);
  const auto draw = [&](std::int64_t max) {
    for (;;) {
      const auto n = static_cast<std::int64_t>(random() % static_cast<unsigned>(max)) + 1;
      if (FrameFft::supports({{1, 1, n}, false}, 0)) return n;
    }
  };
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const ElementType type = kTypes[random() % 6];
    check(Shape{draw(5000)}, type, seed);
    check(Shape{draw(150), draw(150)}, type, seed);
    check(Shape{draw(20), draw(20), draw(20)}, type, seed);
  }
}

TEST_F(FrameFftGpu, Scales) {
  check(Shape{45, 64}, ElementType::u8, 1, 0.5);
  check(Shape{45, 64}, ElementType::c64, 1, -3);
  check(Shape{45}, ElementType::f64, 1, 1e-200);
}

TEST_F(FrameFftGpu, VideoFrames) {
  for (const Shape& shape : {Shape{432, 768}, Shape{1080, 1920}, Shape{2160, 3840}, Shape{1081, 1925}}) {
    for (const ElementType type : {ElementType::u8, ElementType::c128}) {
      if (!fits(shape, type)) continue;
      const Signal signal = test::random_signal(type, shape, 9);
      const bool real = !is_complex(type);
      const SpectrumLayout layout{shape, real};
      std::vector<Value> expected(static_cast<std::size_t>(layout.points()));
      const dense::Plan<double> plan(shape, real ? Domain::real : Domain::complex,
                                     {.engine = dense::Engine::built_in});
      plan.forward(signal.bytes.data(), type, std::span(expected));
      EXPECT_LE(test::relative_l2(transform(signal, 1).spectrum, expected),
                2 * test::fft_bound<double>(static_cast<double>(shape.points())))
          << shape.to_string() << " " << to_string(type);
    }
  }
}

TEST_F(FrameFftGpu, AnImpulseHasPowersThatAreExactlyEqual) {
  for (const Shape& shape : {Shape{1000}, Shape{45, 48}, Shape{4, 6, 10}, Shape{22, 26}}) {
    std::vector<double> impulse(static_cast<std::size_t>(shape.points()), 0.0);
    impulse[0] = 3;
    for (const Value& value : transform(test::make_signal(shape, impulse), 1).spectrum)
      EXPECT_EQ(value, Value(3)) << shape.to_string();
    for (double& sample : impulse) sample = 0;
    for (const Value& value : transform(test::make_signal(shape, impulse), 1).spectrum)
      EXPECT_EQ(value, Value(0)) << shape.to_string();
  }
}

TEST_F(FrameFftGpu, SaysWhatItDoesNotTake) {
  const auto supports = [](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t frames = 1) {
    return FrameFft::supports({{a, b, c}, true}, 0, frames);
  };
  EXPECT_TRUE(supports(1, 432, 768));
  EXPECT_TRUE(supports(1, 127, 254));
  EXPECT_FALSE(supports(1, 131, 1920));
  EXPECT_FALSE(supports(1, 1080, 2 * 131));
  EXPECT_FALSE(supports(1, 1, 1 << 16));
  EXPECT_FALSE(supports(257 * 2, 256, 256));
  EXPECT_TRUE(supports(1, 1024, 1024, 16));
  EXPECT_FALSE(supports(1, 1024, 1024, 17));
  EXPECT_FALSE(supports(3000, 3000, 3000, std::int64_t{1} << 60));
}

}  // namespace
}  // namespace sfft::detail::cuda::frame_fft_cuda_test
