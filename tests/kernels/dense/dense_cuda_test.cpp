// SPDX-License-Identifier: Apache-2.0
// Tests the results of the engines of dense plans on a GPU over shapes, batches, strides and element types.
#include "sfft/dense.hpp"

#include <cmath>

#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/strided.hpp"

namespace sfft::test::dense_cuda_test {
namespace {

using dense::Engine;
using dense::Options;
using dense::Plan;

template <class Real>
class DenseCuda : public GpuTest {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseCuda, Reals);

std::vector<Shape> small_shapes() {
  return {Shape(1),         Shape(2),         Shape(3),           Shape(12),          Shape(16),
          Shape(17),        Shape(101),       Shape(1000),        Shape(1021),        Shape(4096),
          Shape({1, 1}),    Shape({1, 12}),   Shape({12, 1}),     Shape({13, 17}),    Shape({31, 33}),
          Shape({48, 54}),  Shape({2, 101}),  Shape({101, 2}),    Shape({64, 64}),    Shape({67, 40}),
          Shape({1, 1, 1}), Shape({2, 3, 5}), Shape({7, 11, 13}), Shape({16, 1, 10}), Shape({1, 71, 6}),
          Shape({9, 8, 1}), Shape({16, 8, 4})};
}

/// Transforms native samples forward and back.
template <class Real, class T>
void check_round_trip(const Shape& shape, const Options& options) {
  const bool real = std::is_same_v<T, Real>;
  const auto plan = plan_if_possible<Real>(shape, real, options);
  if (!plan) return;
  SCOPED_TRACE(plan->engine_name() + " " + shape.to_string() + (real ? " real" : " complex"));
  EXPECT_EQ(plan->engine(), options.engine);
  const auto x = as_samples<T>(random_signal(plan->signal_points(), 21));
  const auto spectra = forward_on_device(*plan, x);
  const double bound = gpu_bound<Real>(options.engine, static_cast<double>(shape.points()));
  EXPECT_LE(relative_l2(spectra, expected_spectra(x, shape, real)), bound);
  EXPECT_LE(relative_l2(inverse_on_device(*plan, spectra, std::vector<T>(x.size())), x), 2 * bound);
}

TYPED_TEST(DenseCuda, SmallShapesEqualSums) {
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape : small_shapes()) {
      for (const std::int64_t batch : {1, 3}) {
        check_round_trip<TypeParam, TypeParam>(shape, {.engine = engine, .batch = batch});
        check_round_trip<TypeParam, std::complex<TypeParam>>(shape, {.engine = engine, .batch = batch});
      }
    }
  }
}

TYPED_TEST(DenseCuda, ManySmallSignals) {
  for (const Engine engine : gpu_engines()) {
    check_round_trip<TypeParam, TypeParam>(Shape(24), {.engine = engine, .batch = 1000});
    check_round_trip<TypeParam, std::complex<TypeParam>>(Shape(7), {.engine = engine, .batch = 1001});
    check_round_trip<TypeParam, std::complex<TypeParam>>(Shape({5, 6}), {.engine = engine, .batch = 300});
  }
}

/// Compares large shapes with the built-in engine in double.
template <class Real, class T>
void check_large(const Shape& shape, Engine engine) {
  const bool real = std::is_same_v<T, Real>;
  const auto plan = plan_if_possible<Real>(shape, real, {.engine = engine});
  if (!plan) return;
  SCOPED_TRACE(plan->engine_name() + " " + shape.to_string() + (real ? " real" : " complex"));
  const auto x = as_samples<T>(random_signal(static_cast<std::size_t>(shape.points()), 22));
  const Plan<double> exact(shape, real ? Domain::real : Domain::complex, {.engine = Engine::built_in});
  std::vector<std::complex<double>> expected(exact.spectrum_points());
  exact.forward(SignalView(x, shape), expected);
  const auto spectrum = forward_on_device(*plan, x);
  const double bound = gpu_bound<Real>(engine, static_cast<double>(shape.points()));
  EXPECT_LE(relative_l2(spectrum, expected), 2 * bound);
  EXPECT_LE(relative_l2(inverse_on_device(*plan, spectrum, std::vector<T>(x.size())), x), 2 * bound);
}

TYPED_TEST(DenseCuda, LargeShapesEqualTheBuiltInEngine) {
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape :
         {Shape(65536), Shape(65537), Shape(99999), Shape(1 << 20), Shape({768, 432}), Shape({1080, 1920}),
          Shape({257, 509}), Shape({64, 64, 64}), Shape({31, 64, 45}), Shape({101, 103, 107})}) {
      check_large<TypeParam, TypeParam>(shape, engine);
      check_large<TypeParam, std::complex<TypeParam>>(shape, engine);
    }
  }
}

template <class Real, class T>
void check_type(const Shape& shape, bool real, const Options& options,
                const dense::Options::Strides& layout) {
  const auto plan = plan_if_possible<Real>(shape, real, options);
  if (!plan) return;
  SCOPED_TRACE(plan->engine_name() + " " + to_string(element_type_of<T>::value) +
               (real ? " real" : " complex"));
  ComplexSignal noise = random_signal(plan->signal_points(), 23);
  for (auto& value : noise) value = {std::abs(50 * value.real()), 50 * value.imag()};  // fits u8
  const auto packed = as_samples<T>(noise);
  const auto x = spread(packed, shape, layout, options.batch, T(99));
  EXPECT_LE(relative_l2(forward_on_device(*plan, x), expected_spectra(packed, shape, real)),
            gpu_bound<Real>(options.engine, static_cast<double>(shape.points())));
}

template <class Real>
void check_types(const Shape& shape, const Options& options, const dense::Options::Strides& layout) {
  for (const bool real : {true, false}) {
    check_type<Real, std::uint8_t>(shape, real, options, layout);
    check_type<Real, std::uint16_t>(shape, real, options, layout);
    check_type<Real, float>(shape, real, options, layout);
    check_type<Real, double>(shape, real, options, layout);
  }
  check_type<Real, std::complex<float>>(shape, false, options, layout);
  check_type<Real, std::complex<double>>(shape, false, options, layout);
}

TYPED_TEST(DenseCuda, EveryElementType) {
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape : {Shape(35), Shape({6, 35}), Shape({4, 5, 6})}) {
      dense::Options::Strides layout = strided_cases(shape, 1)[1].strides;  // one channel: contiguous
      layout.batch = shape.points();
      check_types<TypeParam>(shape, {.engine = engine, .batch = 2}, layout);
    }
  }
}

TYPED_TEST(DenseCuda, StridesOfEveryKind) {
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape : {Shape(20), Shape({6, 10}), Shape({7, 1}), Shape({3, 4, 5})}) {
      for (const auto& [name, strides] : strided_cases(shape, 3)) {
        SCOPED_TRACE(shape.to_string() + " " + name);
        const Options options{.engine = engine, .batch = 3, .signal_strides = strides};
        check_types<TypeParam>(shape, options, strides);
        const auto back = [&](auto gap) {
          using T = decltype(gap);
          const auto plan = plan_if_possible<TypeParam>(shape, std::is_same_v<T, TypeParam>, options);
          if (!plan) return;
          const auto packed = as_samples<T>(random_signal(plan->signal_points(), 24));
          const auto placed = spread(packed, shape, strides, 3, gap);
          const auto result =
              inverse_on_device(*plan, forward_on_device(*plan, placed), std::vector<T>(placed.size(), gap));
          EXPECT_LE(relative_l2(result, placed), 2 * gpu_bound<TypeParam>(engine, 60))
              << plan->engine_name() << ": the signals, or gaps that were to stay";
        };
        back(TypeParam(-77));
        back(std::complex<TypeParam>(-77));
      }
    }
  }
}

TYPED_TEST(DenseCuda, InPlace) {
  using C = std::complex<TypeParam>;
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape :
         {Shape(1000), Shape(1021), Shape(1 << 18), Shape({31, 33}), Shape({8, 9, 10})}) {
      const auto plan = plan_if_possible<TypeParam>(shape, false, {.engine = engine, .batch = 2});
      if (!plan) continue;
      const auto x = as_samples<C>(random_signal(plan->signal_points(), 25));
      const auto apart = forward_on_device(*plan, x);
      const OnDevice<C> values(x);
      const Workspace workspace(plan->device_workspace_bytes());
      plan->enqueue_forward(values.get(), element_type_of<C>::value, values.get(), workspace.get(), nullptr);
      const double bound = gpu_bound<TypeParam>(engine, static_cast<double>(shape.points()));
      EXPECT_LE(relative_l2(values.read(), apart), bound) << plan->engine_name() << " " << shape.to_string();
      plan->enqueue_inverse(values.get(), values.get(), workspace.get(), nullptr);
      EXPECT_LE(relative_l2(values.read(), x), 2 * bound) << plan->engine_name() << " " << shape.to_string();
    }
  }
}

TYPED_TEST(DenseCuda, UnalignedRealSignals) {
  const Shape shape({6, 20});
  const auto x = as_samples<TypeParam>(random_signal(121, 26));
  const std::vector<TypeParam> behind(x.begin() + 1, x.end());
  for (const Engine engine : gpu_engines()) {
    const auto plan = plan_if_possible<TypeParam>(shape, true, {.engine = engine});
    if (!plan) continue;
    const OnDevice<TypeParam> input(x), output(121);
    const OnDevice<std::complex<TypeParam>> spectrum(plan->spectrum_points());
    const Workspace workspace(plan->device_workspace_bytes());
    plan->enqueue_forward(input.get() + 1, element_type_of<TypeParam>::value, spectrum.get(), workspace.get(),
                          nullptr);
    plan->enqueue_inverse(spectrum.get(), output.get() + 1, workspace.get(), nullptr);
    const double bound = gpu_bound<TypeParam>(engine, 120);
    EXPECT_LE(relative_l2(spectrum.read(), expected_spectra(behind, shape, true)), bound)
        << plan->engine_name();
    auto back = output.read();
    back.erase(back.begin());
    EXPECT_LE(relative_l2(back, behind), 2 * bound) << plan->engine_name();
  }
}

}  // namespace
}  // namespace sfft::test::dense_cuda_test
