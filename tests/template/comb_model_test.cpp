// SPDX-License-Identifier: Apache-2.0
// Tests the planner's linear algebra: rows recover the right coefficients, and errors are as predicted.
#include "template/comb/comb_model.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "bench/known_signals.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "sfft/template.hpp"
#include "sfft/template_access.hpp"
#include "template/comb/comb_planner.hpp"

namespace sfft::detail::comb_model_test {
namespace {

std::complex<double> turn(double turns) {
  return std::polar(1.0, 2 * std::numbers::pi * turns);
}

/// The response of row i of a plan to frequency f of unit amplitude.
std::complex<double> response(const CombData& data, std::size_t i, const std::array<std::int64_t, 3>& f) {
  const std::size_t r = data.delays.size();
  const double folded = static_cast<double>(data.bucket_count()) / static_cast<double>(data.shape.points());
  std::complex<double> sum = 0;
  for (std::size_t j = 0; j < r; ++j) {
    double turns = 0;
    for (int d = 0; d < data.shape.rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      turns += static_cast<double>(f[at] * data.delays[j][at] % data.shape[d]) /
               static_cast<double>(data.shape[d]);
    }
    sum += data.weights[i * r + j] * folded * turn(turns);
  }
  return sum;
}

TEST(CombModel, LeastSquaresRowsSeeTheirOwnFrequencyOnly) {
  for (const bool real : {false, true}) {
    const test::SparseSignal signal = test::SparseSignal::random(Shape{24, 36}, real, 40, 3);
    TemplateData data;
    data.shape = signal.shape;
    data.real = real;
    data.support = std::make_shared<std::vector<std::int64_t>>(signal.support);
    const SupportSet support(data);
    const SpectralPrior prior = make_prior(data, support, false);
    CombModel model(support, prior, {8, 12, 1});
    ASSERT_GE(model.largest_group(), 2);
    std::vector<Delay> delays;
    for (std::int64_t a = 0; a < 3; ++a) {
      for (std::int64_t b = 0; b < 3; ++b) delays.push_back({a, b, 0});
    }
    ASSERT_TRUE(model.assess(delays, 0).solvable);
    const CombData plan = model.build(delays).data;
    for (std::size_t i = 0; i < signal.support.size(); ++i) {
      for (const SupportMember& member : support.members) {
        const bool same_bucket = (member.f[0] % 8) * 12 + member.f[1] % 12 == plan.bucket[i];
        if (!same_bucket) continue;
        const bool own = member.coefficient == static_cast<std::int64_t>(i) && !member.conjugate;
        EXPECT_NEAR(std::abs(response(plan, i, member.f) - (own ? 1.0 : 0.0)), 0, 1e-12);
      }
    }
  }
}

TEST(CombModel, PredictsTheErrorThatWhiteTailsCause) {
  // Monte Carlo over spectra: template coefficients and a white tail are folded by the definition of the
  // comb.
  const Shape shape{120};
  const test::SparseSignal signal = test::SparseSignal::random(shape, false, 12, 8);
  TemplateData data;
  data.shape = shape;
  data.support = std::make_shared<std::vector<std::int64_t>>(signal.support);
  const SupportSet support(data);
  const SpectralPrior prior = make_prior(data, support, false);
  CombModel model(support, prior, {30, 1, 1});
  const std::vector<Delay> delays{{0, 0, 0}, {1, 0, 0}, {3, 0, 0}};
  ASSERT_TRUE(model.assess(delays, 0).solvable);
  const CombData plan = model.build(delays).data;

  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  std::vector<double> squares(12, 0.0);
  double scale = 0;
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::complex<double>> spectrum;
    for (int f = 0; f < 120; ++f) spectrum.emplace_back(normal(random), normal(random));
    std::vector<std::vector<std::complex<double>>> folded(3, std::vector<std::complex<double>>(30));
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::int64_t f = 0; f < 120; ++f) {
        folded[j][static_cast<std::size_t>(f % 30)] +=
            0.25 * spectrum[static_cast<std::size_t>(f)] *
            turn(static_cast<double>(f * delays[j][0] % 120) / 120);
      }
    }
    for (std::size_t b = 0; b < 30; ++b) {
      for (std::size_t j = 0; j < 3; ++j) scale += plan.bucket_weight[b] * std::norm(folded[j][b]) / kRuns;
    }
    for (std::size_t i = 0; i < 12; ++i) {
      std::complex<double> estimate = 0;
      for (std::size_t j = 0; j < 3; ++j)
        estimate += plan.weights[i * 3 + j] * folded[j][static_cast<std::size_t>(plan.bucket[i])];
      squares[i] += std::norm(estimate - spectrum[static_cast<std::size_t>(signal.support[i])]) / kRuns;
    }
  }
  EXPECT_NEAR(scale, 1, 0.03) << "a tail of unit power a frequency";
  EXPECT_NEAR(plan.tail_energy_per_scale, 120 - 12, 1e-6);
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(squares[i] / plan.noise_gain[i], 1, 0.12) << "coefficient " << i;
}

TEST(CombModel, PredictsTheErrorThatColouredTailsCause) {
  // For uncorrelated frequencies the error of a linear estimate is a sum over all of them.
  const struct {
    Shape shape;
    std::array<std::int64_t, 3> buckets;
  } cases[] = {{Shape{768}, {96, 1, 1}}, {Shape{48, 64}, {12, 16, 1}}, {Shape{12, 16, 20}, {6, 8, 10}}};
  std::mt19937_64 random(9);
  for (const auto& kind : cases) {
    for (const bool real : {false, true}) {
      const test::SparseSignal signal = test::SparseSignal::random(kind.shape, real, 25, 8);
      TemplateData data;
      data.shape = kind.shape;
      data.real = real;
      data.support = std::make_shared<std::vector<std::int64_t>>(signal.support);
      const SupportSet support(data);
      const CellGrid cells(kind.shape);
      SpectralPrior prior;
      prior.tail.power.assign(cells.cells(), 0);
      for (std::int64_t flat = 0; flat < kind.shape.points(); ++flat) {
        const auto f = coordinates(kind.shape, flat);
        double squares = 1;
        for (int d = 0; d < kind.shape.rank(); ++d) {
          const auto at = static_cast<std::size_t>(d);
          const double turns = static_cast<double>(std::min(f[at], kind.shape[d] - f[at])) /
                               static_cast<double>(kind.shape[d]);
          squares += 400 * turns * turns;
        }
        prior.tail.power[cells.cell(f)] = 1 / squares;
      }
      for (std::size_t i = 0; i < 25; ++i)
        prior.support_power.push_back(std::exp2(static_cast<double>(random() % 8)));
      CombModel model(support, prior, kind.buckets);
      std::set<Delay> drawn;
      while (drawn.size() < 4) {
        Delay delay{};
        for (int d = 0; d < kind.shape.rank(); ++d) {
          const auto at = static_cast<std::size_t>(d);
          delay[at] = static_cast<std::int64_t>(random() %
                                                static_cast<std::uint64_t>(kind.shape[d] / kind.buckets[at]));
        }
        drawn.insert(delay);
      }
      const std::vector<Delay> delays(drawn.begin(), drawn.end());
      const CombModel::Quality looked = model.assess(delays, 0);
      const auto [plan, quality] = model.build(delays);
      EXPECT_NEAR(looked.error, quality.error, 1e-9 * quality.error);
      EXPECT_NEAR(looked.power, quality.power, 1e-9 * quality.power);
      double measured = 0, predicted = 0;
      for (std::size_t i = 0; i < 25; ++i) {
        if (static_cast<std::int64_t>(i) == support.mean_coefficient) continue;
        predicted += plan.noise_gain[i] + plan.bias[i];
        for (std::int64_t flat = 0; flat < kind.shape.points(); ++flat) {
          const auto f = coordinates(kind.shape, flat);
          std::int64_t bucket = 0;
          for (std::size_t d = 0; d < 3; ++d) bucket = bucket * kind.buckets[d] + f[d] % kind.buckets[d];
          if (bucket != plan.bucket[i]) continue;
          double power = prior.tail.power[cells.cell(f)];
          double wanted = 0;
          for (const SupportMember& member : support.members) {
            if (member.f != f) continue;
            power = prior.support_power[static_cast<std::size_t>(member.coefficient)];
            wanted = member.coefficient == static_cast<std::int64_t>(i) && !member.conjugate ? 1 : 0;
          }
          measured += power * std::norm(response(plan, i, f) - wanted);
        }
      }
      EXPECT_NEAR(predicted / quality.error, 1, 1e-9);
      EXPECT_NEAR(measured / predicted, 1, 0.15) << kind.shape.to_string() << (real ? " real" : " complex");
    }
  }
}

TEST(CombPlanner, KeepsItsPromises) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const Shape& shape : {Shape{4096}, Shape{3600}, Shape{96, 80}, Shape{16, 18, 20}}) {
      for (const bool real : {false, true}) {
        const test::SparseSignal signal = test::SparseSignal::random(shape, real, 25, seed);
        TemplateData data;
        data.shape = shape;
        data.real = real;
        data.support = std::make_shared<std::vector<std::int64_t>>(signal.support);
        const SupportSet support(data);
        const SpectralPrior prior = make_prior(data, support, false);
        CombRequest request;
        request.max_samples = shape.points() / 3;
        request.epsilon = 1e-7;
        request.limit_us = 1e9;
        request.seed = seed;
        std::vector<Rejection> rejected;
        const auto plan = plan_comb(support, prior, request, rejected);
        ASSERT_TRUE(plan) << shape.to_string();
        EXPECT_LE(plan->data.samples(), request.max_samples);
        std::set<Delay> distinct(plan->data.delays.begin(), plan->data.delays.end());
        EXPECT_EQ(static_cast<std::int64_t>(distinct.size()), plan->data.delay_count());
        if (real) {
          EXPECT_EQ(plan->data.delay_count() % 2, 0);
        }
        for (int d = 0; d < shape.rank(); ++d) {
          const auto at = static_cast<std::size_t>(d);
          EXPECT_EQ(shape[d] % plan->data.buckets[at], 0);
          for (const Delay& delay : plan->data.delays) EXPECT_LT(delay[at], plan->data.stride(d));
        }
        EXPECT_GE(std::count_if(plan->data.bucket_weight.begin(), plan->data.bucket_weight.end(),
                                [](double w) { return w > 0; }),
                  8);
        const auto again = plan_comb(support, prior, request, rejected);
        EXPECT_EQ(again->data.delays, plan->data.delays) << "the same seed gives the same plan";
        EXPECT_EQ(again->data.weights, plan->data.weights);
      }
    }
  }
}

/// A template of a camera's frames, for transforms of the changes between frames.
Template film_template(const Shape& shape, std::int64_t k) {
  const auto frame = test::film_frame(shape[0], shape[1], 0);
  return learn(SignalView(frame, shape), {.keep = Largest{k}, .reference = true});
}

TEST(CombPlanner, TakesFewerRowsWhereMoreErrorIsEnough) {
  const Shape shape{270, 480};
  const Template tmpl = film_template(shape, 150);
  const SupportSet support(*detail::data_of(tmpl));
  const SpectralPrior prior = make_prior(*detail::data_of(tmpl), support, true);
  std::vector<Rejection> rejected;
  CombRequest request;
  request.max_samples = 12000;
  request.limit_us = 1e9;
  const auto in_memory = estimate_comb_error(support, prior, request);
  ASSERT_TRUE(in_memory);
  const double exact = plan_comb(support, prior, request, rejected)->predicted_error;
  EXPECT_LE(std::abs(std::log(*in_memory / exact)), std::log(2.0));
  request.cost = [](const CombCost& cost) {
    return predict_from_host_us(predict_comb_device_us(cost, 132, 64), cost.bus_bytes, 64);
  };
  request.bus = {1, 90 * 480};
  request.time_weight = 1.0 / 3;
  double before = 0;
  for (const double factor : {0.25, 1.0, 4.0}) {
    request.enough = factor * *in_memory;
    const auto plan = plan_comb(support, prior, request, rejected);
    ASSERT_TRUE(plan);
    if (before > 0) {
      EXPECT_LE(plan->predicted_us, 1.02 * before) << factor;
    }
    before = plan->predicted_us;
    cpu::ThreadPool pool(3);
    request.pool = &pool;
    EXPECT_EQ(plan_comb(support, prior, request, rejected)->data.delays, plan->data.delays);
    request.pool = nullptr;
  }
}

TEST(CombPlanner, StaysWithinTheRowsThatABusMayCarry) {
  const Shape shape{270, 480};
  const Template tmpl = film_template(shape, 150);
  const SupportSet support(*detail::data_of(tmpl));
  const SpectralPrior prior = make_prior(*detail::data_of(tmpl), support, true);
  std::vector<Rejection> rejected;
  for (const PlanEffort effort : {PlanEffort::quick, PlanEffort::normal}) {
    CombRequest request;
    request.max_samples = 12000;
    request.epsilon = 1e-7;
    request.limit_us = 1e9;
    request.effort = effort;
    request.cost = [](const CombCost& cost) { return predict_comb_device_us(cost, 132, 64); };
    const auto anywhere = plan_comb(support, prior, request, rejected);
    request.time_weight = 1;
    request.cost = [](const CombCost& cost) {
      return predict_from_host_us(predict_comb_device_us(cost, 132, 64), cost.bus_bytes, 64);
    };
    for (const std::int64_t element : {1, 2}) {
      for (const std::int64_t max : {40 * 480, 90 * 480}) {
        request.bus = {element, max * element};
        const auto plan = plan_comb(support, prior, request, rejected);
        ASSERT_TRUE(plan && anywhere);
        std::set<std::int64_t> starts;
        for (const Delay& delay : plan->data.delays) starts.insert(delay[0]);
        const std::int64_t rows = static_cast<std::int64_t>(starts.size()) * plan->data.buckets[0];
        EXPECT_LE(rows * 480, max);
        EXPECT_LE(plan->data.samples(), request.max_samples);
        EXPECT_EQ(plan->data.delay_count() % 2, 0);
        EXPECT_EQ((std::set<Delay>(plan->data.delays.begin(), plan->data.delays.end()).size()),
                  plan->data.delays.size());
        // Fewer rows could not provide this number of samples.
        EXPECT_GE(plan->data.samples(), rows * 480 / 40);
        const auto again = plan_comb(support, prior, request, rejected);
        EXPECT_EQ(again->data.delays, plan->data.delays);
        cpu::ThreadPool pool(3);
        request.pool = &pool;
        EXPECT_EQ(plan_comb(support, prior, request, rejected)->data.delays, plan->data.delays);
        request.pool = nullptr;
      }
    }
  }
  // If this few rows are not enough, their limit is ignored.
  CombRequest request;
  request.max_samples = 12000;
  request.limit_us = 1e9;
  const auto anywhere = plan_comb(support, prior, request, rejected);
  request.bus = {1, 480};
  EXPECT_EQ(plan_comb(support, prior, request, rejected)->data.delays, anywhere->data.delays);
}

}  // namespace
}  // namespace sfft::detail::comb_model_test
