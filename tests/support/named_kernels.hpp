// SPDX-License-Identifier: Apache-2.0
// Makes dense plans of tuned kernels that wisdom names, and checks their results.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft/dense.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"

namespace sfft::test {

/// Forgets the wisdom that named the kernels.
class NamedKernelsTest : public GpuTest {
 protected:
  ~NamedKernelsTest() override { dense::forget_wisdom(); }
};

/// Transforms a shape by kernels that wisdom names.
template <class Real>
class NamedKernels {
 public:
  NamedKernels(const Shape& shape, bool real, std::int64_t batch)
      : shape_(shape),
        real_(real),
        options_{.device = Device::gpu(), .batch = batch},
        problem_(detail::make_problem(shape, real, options_)) {}

  const detail::DenseProblem& problem() const { return problem_; }
  detail::tuned::TransformPolicy by_rules() const {
    return detail::tuned::choose_by_rules(problem_, sizeof(Real) == 4);
  }
  double bound() const { return gpu_bound<Real>(dense::Engine::tuned, static_cast<double>(shape_.points())); }

  dense::Plan<Real> plan(const std::string& kernel) const {
    dense::forget_wisdom();
    detail::Wisdom::global().add(detail::gpu_platform(0), detail::wisdom_problem<Real>(problem_),
                                 {"tuned", kernel, 1});
    dense::Plan<Real> plan(shape_, real_ ? Domain::real : Domain::complex, options_);
    // The text in the order of the knobs, without knobs at their defaults.
    const auto policy = detail::tuned::parse_plan_policy(kernel);
    const std::string name = policy ? detail::tuned::to_text(*policy) : "not a policy: " + kernel;
    EXPECT_NE(plan.engine_name().find(name), std::string::npos)
        << name << ": " << plan.engine_name() << ", " << plan.reason();
    return plan;
  }

  /// Random samples of type T that fit 8 bits.
  template <class T>
  std::vector<T> signals(unsigned seed) const {
    ComplexSignal noise = random_signal(detail::span_points(problem_), seed);
    if (real_) {
      for (auto& value : noise) value = {std::abs(50 * value.real()), 0};
    }
    return as_samples<T>(noise);
  }

  /// Computes the expected result by the built-in engine in double.
  template <class T>
  std::vector<std::complex<double>> expected(const std::vector<T>& x) const {
    const dense::Plan<double> exact(shape_, real_ ? Domain::real : Domain::complex,
                                    {.engine = dense::Engine::built_in, .batch = options_.batch});
    std::vector<std::complex<double>> spectra(exact.spectrum_points());
    exact.forward(x.data(), element_type_of<T>::value, spectra);
    return spectra;
  }

  template <class T>
  void expect_forward_right(const dense::Plan<Real>& plan) const {
    const auto x = signals<T>(5);
    EXPECT_LE(relative_l2(forward_on_device(plan, x), expected(x)), bound()) << plan.engine_name();
  }

 private:
  Shape shape_;
  bool real_;
  dense::Options options_;
  detail::DenseProblem problem_;
};

/// Checks the forward transform and the round trip for lines of n points.
template <class Real>
void expect_line_right(std::int64_t n, const std::string& line, std::int64_t batch = 7) {
  const NamedKernels<Real> named(Shape(n), false, batch);
  const auto plan = named.plan(line);
  const auto x = named.template signals<std::complex<Real>>(8);
  const auto spectra = forward_on_device(plan, x);
  EXPECT_LE(relative_l2(spectra, expected_spectra(x, Shape(n), false)), named.bound()) << line;
  EXPECT_LE(relative_l2(inverse_on_device(plan, spectra, x), x), 2 * named.bound()) << line;
}

}  // namespace sfft::test
