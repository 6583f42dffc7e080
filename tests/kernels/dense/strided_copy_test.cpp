// SPDX-License-Identifier: Apache-2.0
// Tests packing strided signals and unpacking them, against indexing by the definition of Strides.
#include "kernels/dense/cpu/strided_copy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/dense/problem/problem.hpp"

namespace sfft::detail::strided_copy_test {
namespace {

struct Case {
  Shape shape;
  dense::Options::Strides strides;
  std::int64_t batch;
};

std::vector<Case> cases() {
  return {{Shape{7}, {{1, 0, 0}, 7}, 2},          {Shape{5}, {{3, 0, 0}, 1}, 3},
          {Shape{4, 6}, {{6, 1, 0}, 24}, 2},      {Shape{4, 6}, {{10, 1, 0}, 45}, 3},
          {Shape{3, 5}, {{1, 3, 0}, 15}, 2},      {Shape{2, 3, 4}, {{12, 4, 1}, 24}, 1},
          {Shape{2, 3, 4}, {{40, 12, 2}, 90}, 2}, {Shape{2, 3, 4}, {{2, 4, 12}, 1}, 2},
          {Shape{1, 1, 1}, {{1, 1, 1}, 5}, 4},    {Shape{1, 9}, {{100, 2, 0}, 1}, 2}};
}

/// The offset of the element with linear index `flat` (row-major) of signal b.
std::int64_t place(const Case& kind, std::int64_t b, std::int64_t flat) {
  std::int64_t at = b * kind.strides.batch;
  for (int d = kind.shape.rank() - 1; d >= 0; --d) {
    at += flat % kind.shape[d] * kind.strides.dims[static_cast<std::size_t>(d)];
    flat /= kind.shape[d];
  }
  return at;
}

DenseProblem problem_of(const Case& kind) {
  dense::Options options;
  options.batch = kind.batch;
  options.signal_strides = kind.strides;
  return make_problem(kind.shape, false, options);
}

TEST(StridedCopy, PacksAndPutsBackEveryElementType) {
  for (const Case& kind : cases()) {
    const DenseProblem problem = problem_of(kind);
    const std::int64_t points = kind.shape.points();
    const std::int64_t span = place(kind, kind.batch - 1, points - 1) + 1;
    for (const ElementType type : {ElementType::u8, ElementType::u16, ElementType::f32, ElementType::f64,
                                   ElementType::c64, ElementType::c128, ElementType::s8, ElementType::s16,
                                   ElementType::s32, ElementType::cs8, ElementType::cs16, ElementType::cu8}) {
      const std::size_t bytes = element_bytes(type);
      // Distinct bytes reveal an element that is misplaced or torn.
      std::vector<unsigned char> signals(static_cast<std::size_t>(span) * bytes);
      for (std::size_t i = 0; i < signals.size(); ++i)
        signals[i] = static_cast<unsigned char>((i * 89 + i / 251) % 64);
      const std::vector<unsigned char> before = signals;
      for (std::int64_t b = 0; b < kind.batch; ++b) {
        std::vector<unsigned char> packed(static_cast<std::size_t>(points) * bytes);
        gather_signal(problem, b, signals.data(), type, packed.data());
        for (std::int64_t flat = 0; flat < points; ++flat) {
          const auto at = static_cast<std::size_t>(place(kind, b, flat)) * bytes;
          ASSERT_EQ(std::memcmp(&packed[static_cast<std::size_t>(flat) * bytes], &signals[at], bytes), 0)
              << kind.shape.to_string() << " signal " << b << " element " << flat;
        }

        // Unpacking other values changes these elements and nothing between them.
        for (unsigned char& byte : packed) byte = static_cast<unsigned char>(byte ^ 1);
        std::vector<unsigned char> expected = before;
        for (std::int64_t flat = 0; flat < points; ++flat) {
          const auto at = static_cast<std::size_t>(place(kind, b, flat)) * bytes;
          std::memcpy(&expected[at], &packed[static_cast<std::size_t>(flat) * bytes], bytes);
        }
        std::vector<unsigned char> written = before;
        scatter_signal(problem, b, packed.data(), type, written.data());
        ASSERT_EQ(written, expected) << kind.shape.to_string() << " signal " << b;
      }
    }
  }
}

}  // namespace
}  // namespace sfft::detail::strided_copy_test
