// SPDX-License-Identifier: Apache-2.0
// Tests one plan on both backends: the fused and the staged kernels give the CPU executor's results.
#include <algorithm>
#include <random>
#include <span>
#include <stdexcept>

#include "bench/known_signals.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "kernels/cuda/executors/sparse_executor.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/comb/comb_planner.hpp"
#include "template/flat/flat_planner.hpp"
#include "tests/support/path_comparison.hpp"

namespace sfft::detail::cuda::paths_cuda_test {
namespace {

class PathsCuda : public test::GpuTest {};

/// Compares every kernel that can run a plan with the host's executor. `tail` is that of a halved comb.
template <class Real, class T>
void compare_kernels(const auto& data, const SupportSet& support, const ErrorModels& models,
                     const std::vector<std::int64_t>& frequencies, const Expected<Real, T>& expected,
                     const std::string& what, const std::vector<TailTerm>& tail = {}) {
  const DeviceInfo& info = device_info(0);
  const auto tables = [&] {
    WitnessData witness = models.witness;
    witness.columns.clear();  // the GPU makes its own columns
    if constexpr (requires { data.buckets[0]; }) {
      return BinningTables<Real>(data, frequencies, flags_of(support), models.errors, witness, tail);
    } else {
      return BinningTables<Real>(data, frequencies, flags_of(support), models.errors, witness);
    }
  };
  using Kernels = typename SparseExecutor<Real>::Kernels;
  const auto count = static_cast<int>(expected.estimates.size());
  {
    const SparseExecutor<Real> staged(tables(), info, count, Kernels::staged);
    compare<Real, T>(staged, expected, what + " staged");
  }
  for (const int frames_hint : {1, 32, 1000}) {
    if (!choose_fused_policy(tables().view(), info, frames_hint)) continue;
    const SparseExecutor<Real> fused(tables(), info, frames_hint, Kernels::fused);
    compare<Real, T>(fused, expected, what + " " + fused.describe());
  }
  // Runs every policy that fits, not only the chosen ones.
  SparseExecutor<Real> fused(tables(), info, 1);
  const int lanes = fused.tables().view().lanes;
  for (const int cluster : {1, 2, 3, 4, 5, 8, 11, 16}) {
    if (cluster > 1 && (cluster > info.largest_cluster || fused.tables().view().flat())) continue;
    for (const int side : {1, 2, 3, lanes}) {
      FusedPolicy policy;
      policy.cluster = cluster;
      policy.lanes_per_group = cluster > 1 ? (lanes + cluster - 1) / cluster : side;
      policy.groups = cluster > 1 ? 1 : (lanes + side - 1) / side;
      policy.threads = side == 2 ? 96 : side == 1 ? 512 : 256;
      policy.overlap = info.overlap && side != 3;
      if (side == 1) policy.copied = policy.copied_witness = 200 << 10;
      if (policy.lanes_per_group > lanes || (cluster - 1) * policy.lanes_per_group >= lanes) continue;
      if (fused_shared_bytes(fused.tables().view(), policy) > info.shared_bytes_per_block) continue;
      fused.set_policy(policy);
      compare<Real, T>(fused, expected,
                       what + " cluster " + std::to_string(cluster) + " side " + std::to_string(side));
    }
  }
}

template <class T>
std::vector<T> random_frames(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> out(count);
  for (T& sample : out) {
    if constexpr (std::is_integral_v<T>) {
      sample = static_cast<T>(random());
    } else if constexpr (std::is_floating_point_v<T>) {
      sample = static_cast<T>(normal(random));
    } else {
      sample = {static_cast<typename T::value_type>(normal(random)),
                static_cast<typename T::value_type>(normal(random))};
    }
  }
  return out;
}

template <class Real>
CombData comb_plan(const Template& tmpl, const SupportSet& support) {
  CombRequest request;
  request.max_samples = support.shape.points();
  request.epsilon = std::numeric_limits<Real>::epsilon();
  request.limit_us = 1e9;
  std::vector<Rejection> rejected;
  const auto plan = plan_comb(support, make_prior(*detail::data_of(tmpl), support, false), request, rejected);
  if (!plan) throw std::runtime_error("no comb plan for " + support.shape.to_string());
  return plan->data;
}

template <class Real, class T>
void check_comb(const Shape& shape, std::int64_t k, int count) {
  const bool real = !is_complex(element_type_of<T>::value);
  const auto signal = test::SparseSignal::random(shape, real, k, 11);
  const Template tmpl = Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support);
  const SupportSet support(*detail::data_of(tmpl));
  const CombData data = comb_plan<Real>(tmpl, support);
  const auto host = cpu::make_comb_executor<Real>(data);
  const auto points = static_cast<std::size_t>(shape.points());
  const auto frames = random_frames<T>(points * static_cast<std::size_t>(count), 5);
  const auto reference = random_frames<T>(points, 7);
  for (const Variant& variant : kVariants) {
    const ErrorModels models =
        make_error_models<Real>(support, {data.noise_gain, {}, {}, data.tail_energy_per_scale}, variant);
    const auto expected =
        expect<Real, T>(*host, support, models, frames, variant.reference ? reference : std::vector<T>{});
    const std::string what = shape.to_string() + " " + to_string(element_type_of<T>::value) + variant.name;
    compare_kernels<Real, T>(data, support, models, signal.support, expected, what);
    for (int d = 0; real && d < shape.rank(); ++d) {
      if (data.buckets[static_cast<std::size_t>(d)] % 2 != 0 || data.delay_count() > 16) continue;
      const HalvedComb half = halved(data, d);
      compare_kernels<Real, T>(half.data, support, models, signal.support, expected,
                               what + " halved along " + std::to_string(d), half.tail);
    }
  }
}

/// Tests the kernel compiled for the plan, which a single frame gets, and the others for frames of another
/// type.
template <class Real, class T>
void check_compiled(const Shape& shape, std::int64_t k, std::span<const Variant> variants = kVariants) {
  const DeviceInfo& info = device_info(0);
  const bool real = !is_complex(element_type_of<T>::value);
  const auto signal = test::SparseSignal::random(shape, real, k, 21);
  const Template tmpl = Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support);
  const SupportSet support(*detail::data_of(tmpl));
  const CombData data = comb_plan<Real>(tmpl, support);
  const auto host = cpu::make_comb_executor<Real>(data);
  const auto points = static_cast<std::size_t>(shape.points());
  const auto frames = random_frames<T>(3 * points, 9);
  const auto reference = random_frames<T>(points, 10);
  const int side = dimension_to_halve(data, info, 1);
  const HalvedComb half = side < 0 ? HalvedComb{data, {}} : halved(data, side);
  for (const Variant& variant : variants) {
    const ErrorModels models =
        make_error_models<Real>(support, {data.noise_gain, {}, {}, data.tail_energy_per_scale}, variant);
    const auto expected =
        expect<Real, T>(*host, support, models, frames, variant.reference ? reference : std::vector<T>{});
    SparseExecutor<Real> device(BinningTables<Real>(half.data, signal.support, flags_of(support),
                                                    models.errors, models.witness, half.tail),
                                info, 1);
    device.compile_for(static_cast<Element>(element_type_of<T>::value), info);
    const std::string what = shape.to_string() + " " + device.describe() + variant.name;
    const bool compiled = info.largest_cluster > 1 && sizeof(Real) == sizeof(float);
    EXPECT_EQ(what.find(", compiled for this plan") != std::string::npos, compiled) << what;
    compare<Real, T>(device, expected, what);
  }
}

template <class Real, class T>
void check_flat(const Shape& shape, std::int64_t k, int count) {
  const bool real = !is_complex(element_type_of<T>::value);
  const auto signal = test::SparseSignal::random(shape, real, k, 12);
  const Template tmpl = Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support);
  const SupportSet support(*detail::data_of(tmpl));
  FlatOptions options;
  options.leakage = sizeof(Real) == 4 ? 1e-8 : 1e-14;
  const FlatPlanResult plan = plan_flat_windows(shape, real, signal.support, options);
  ASSERT_TRUE(plan.ok) << plan.reason;
  const auto host = cpu::make_flat_executor<Real>(plan.data);
  const auto points = static_cast<std::size_t>(shape.points());
  const auto frames = random_frames<T>(points * static_cast<std::size_t>(count), 6);
  const auto reference = random_frames<T>(points, 8);
  for (const Variant& variant : kVariants) {
    const ErrorModels models = make_error_models<Real>(support, {plan.data.noise_gain, {}, {}, 1}, variant);
    const auto expected =
        expect<Real, T>(*host, support, models, frames, variant.reference ? reference : std::vector<T>{});
    compare_kernels<Real, T>(
        plan.data, support, models, signal.support, expected,
        "flat " + shape.to_string() + " " + to_string(element_type_of<T>::value) + variant.name);
  }
}

/// Adds a tone outside the template in a bucket that a template frequency occupies. Empty buckets do not show
/// it, so only the witness can report it.
template <class Real, class T>
void check_hidden_tone(bool trimmed) {
  const bool real = !is_complex(element_type_of<T>::value);
  const Shape shape{1 << 14};
  auto signal = test::SparseSignal::random(shape, real, 20, 13);
  const Template tmpl = Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support);
  const SupportSet support(*detail::data_of(tmpl));
  const CombData data = comb_plan<Real>(tmpl, support);
  const auto host = cpu::make_comb_executor<Real>(data);
  const std::int64_t hidden = (signal.support[7] + data.buckets[0]) % shape.points();
  ASSERT_EQ(std::count(signal.support.begin(), signal.support.end(), hidden), 0);
  ASSERT_EQ(std::count(signal.support.begin(), signal.support.end(), test::negated(shape, hidden)), 0);
  auto frames = signal.template as<T>();
  const auto tone = test::SparseSignal::with_support(shape, real, {hidden}, 14);
  const auto extra = tone.template as<T>();
  for (std::size_t i = 0; i < extra.size(); ++i) frames.push_back(frames[i] + extra[i]);
  Variant variant = kVariants[0];
  variant.trimmed = trimmed;
  const ErrorModels models =
      make_error_models<Real>(support, {data.noise_gain, {}, {}, data.tail_energy_per_scale}, variant);
  const auto expected = expect<Real, T>(*host, support, models, frames, {});
  const double energy = (real ? 2 : 1) * std::norm(tone.values[0]);
  EXPECT_LE(expected.estimates[0].tail_energy, 1e-6 * energy);
  EXPECT_GE(expected.estimates[1].tail_energy, 0.1 * energy);
  EXPECT_GE(expected.estimates[1].relative_error, 0.02);
  // the error estimate of the first frame is rounding, which differs between backends.
  const std::vector<T> last(frames.begin() + static_cast<std::ptrdiff_t>(extra.size()), frames.end());
  const auto alone = expect<Real, T>(*host, support, models, last, {});
  compare_kernels<Real, T>(
      data, support, models, signal.support, alone,
      std::string("hidden tone, ") + to_string(element_type_of<T>::value) + (trimmed ? ", trimmed" : ""));
}

TEST_F(PathsCuda, CombsOfEveryElementType) {
  const Shape shape{96, 160};
  check_comb<float, std::uint8_t>(shape, 30, 3);
  check_comb<float, std::uint16_t>(shape, 30, 1);
  check_comb<float, float>(shape, 30, 3);
  check_comb<float, double>(shape, 30, 1);
  check_comb<float, std::complex<float>>(shape, 30, 3);
  check_comb<float, std::complex<double>>(shape, 30, 1);
  check_comb<double, std::uint8_t>(shape, 30, 1);
  check_comb<double, std::uint16_t>(shape, 30, 3);
  check_comb<double, float>(shape, 30, 1);
  check_comb<double, double>(shape, 30, 3);
  check_comb<double, std::complex<float>>(shape, 30, 1);
  check_comb<double, std::complex<double>>(shape, 30, 3);
}

TEST_F(PathsCuda, CombsOfManyShapes) {
  check_comb<float, std::complex<float>>(Shape{1024}, 8, 3);
  check_comb<float, std::complex<float>>(Shape{1 << 16}, 64, 3);
  check_comb<float, std::complex<float>>(Shape{1 << 16}, 1000, 1);
  check_comb<float, std::complex<float>>(Shape{1 << 18}, 5000, 1);
  check_comb<double, std::complex<double>>(Shape{1 << 16}, 1000, 1);
  check_comb<float, float>(Shape{1 << 14}, 20, 128);
  check_comb<float, std::uint8_t>(Shape{432, 768}, 200, 3);
  check_comb<float, std::uint8_t>(Shape{1080, 1920}, 500, 1);
  check_comb<float, std::complex<float>>(Shape{32, 27, 25}, 12, 3);
  check_comb<double, float>(Shape{1, 4096}, 10, 1);
  check_comb<float, float>(Shape{4096, 1}, 10, 1);
}

// There is one test for each type, and one for a single kernel, so that a sanitizer can run one of them
// within its time limit.
TEST_F(PathsCuda, CompiledOnce) {
  check_compiled<float, std::uint8_t>(Shape{432, 768}, 1000, std::span(kVariants).subspan(1, 1));
}
TEST_F(PathsCuda, CompiledForBytes) {
  check_compiled<float, std::uint8_t>(Shape{432, 768}, 1000);
}
TEST_F(PathsCuda, CompiledForShorts) {
  check_compiled<float, std::uint16_t>(Shape{1080, 1920}, 1000);
}
TEST_F(PathsCuda, CompiledForFloats) {
  check_compiled<float, float>(Shape{40, 96, 50}, 1000);
}
TEST_F(PathsCuda, CompiledForComplexFloats) {
  check_compiled<float, std::complex<float>>(Shape{1 << 16}, 1000);
}
TEST_F(PathsCuda, CompiledForComplexDoubles) {
  check_compiled<float, std::complex<double>>(Shape{3 * 5 * 7 * 11, 96}, 700);
}
TEST_F(PathsCuda, NotCompiledForPlansOfDouble) {
  check_compiled<double, double>(Shape{1 << 17}, 500);
}

TEST_F(PathsCuda, NotCompiledWhereNoClusterSharesAFrame) {
  const Shape shape{4096};
  const auto signal = test::SparseSignal::random(shape, false, 8, 3);
  const SupportSet support(*detail::data_of(Template::from_support(shape, Domain::complex, signal.support)));
  const CombData data =
      comb_plan<float>(Template::from_support(shape, Domain::complex, signal.support), support);
  const ErrorModels models =
      make_error_models<float>(support, {data.noise_gain, {}, {}, data.tail_energy_per_scale}, kVariants[0]);
  SparseExecutor<float> device(
      BinningTables<float>(data, signal.support, flags_of(support), models.errors, models.witness),
      device_info(0), 1);
  device.compile_for(Element::c64, device_info(0));
  EXPECT_NE(device.describe().find("not compiled for this plan: "), std::string::npos) << device.describe();
}

TEST_F(PathsCuda, FlatWindows) {
  check_flat<float, std::complex<float>>(Shape{65537}, 24, 3);
  check_flat<float, float>(Shape{65537}, 24, 1);
  check_flat<float, std::uint8_t>(Shape{101, 307}, 10, 3);
  check_flat<double, std::complex<double>>(Shape{65537}, 24, 1);
  check_flat<double, double>(Shape{30011}, 9, 1);
  check_flat<float, std::complex<float>>(Shape{31, 37, 41}, 6, 1);
  check_flat<float, std::complex<float>>(Shape{1009}, 4, 128);
}

TEST_F(PathsCuda, HiddenTonesShowInTheWitness) {
  for (const bool trimmed : {false, true}) {
    check_hidden_tone<float, std::complex<float>>(trimmed);
    check_hidden_tone<float, float>(trimmed);
    check_hidden_tone<double, std::complex<double>>(trimmed);
    check_hidden_tone<double, double>(trimmed);
  }
}

}  // namespace
}  // namespace sfft::detail::cuda::paths_cuda_test
