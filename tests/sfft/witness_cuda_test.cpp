// SPDX-License-Identifier: Apache-2.0
// Tests through the public interface that plans on both backends give the same error estimates.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::witness_cuda_test {
namespace {

using test::SparseSignal;

class WitnessCuda : public test::GpuTest {};

/// The planner weighs costs on its backend, so the plans may differ. Only the same plan on both gives the
/// same numbers.
template <class Real>
bool same_plan(const Plan<Real>& a, const Plan<Real>& b) {
  return a.info().path == b.info().path && a.info().buckets == b.info().buckets &&
         a.info().delays == b.info().delays && a.info().noise_gain == b.info().noise_gain;
}

template <class Real>
void expect_same_errors(const Spectrum<Real>& gpu, const Spectrum<Real>& cpu, const std::string& what) {
  const auto near = [&](double value, double truth, const char* name) {
    EXPECT_LE(std::abs(value - truth), 1e-3 * truth) << name << ", " << what;
  };
  near(gpu.quality.error_l2, cpu.quality.error_l2, "error_l2");
  near(gpu.quality.relative_error, cpu.quality.relative_error, "relative_error");
  near(gpu.quality.tail_energy, cpu.quality.tail_energy, "tail_energy");
  near(gpu.quality.residual, cpu.quality.residual, "residual");
  EXPECT_LE(test::relative_l2(gpu.standard_error, cpu.standard_error), 1e-3) << what;
  EXPECT_LE(test::relative_l2(gpu.values, cpu.values), 1e-4) << what;
  EXPECT_TRUE(gpu.quality.finite) << what;
}

/// Returns frames of tones with white noise of three strengths, each without and with a strong tone outside
/// the template.
template <class T>
std::vector<std::vector<T>> noisy_frames(const SparseSignal& signal, std::int64_t outside) {
  using Part = decltype(std::real(T{}));
  std::vector<std::vector<T>> frames;
  const auto tones = signal.template as<T>();
  const auto extra = SparseSignal::with_support(signal.shape, signal.real, {outside}, 9).template as<T>();
  std::mt19937 random(31);
  for (const double noise : {0.01, 0.3, 3.0}) {
    for (const Part strength : {Part(0), Part(1)}) {
      std::normal_distribution<Part> normal(0, static_cast<Part>(noise));
      frames.push_back(tones);
      for (std::size_t i = 0; i < tones.size(); ++i) {
        if constexpr (std::is_floating_point_v<T>) {
          frames.back()[i] += strength * extra[i] + normal(random);
        } else {
          frames.back()[i] += strength * extra[i] + T(normal(random), normal(random));
        }
      }
    }
  }
  return frames;
}

template <class Real, class T>
void check_path(Path path, const Shape& shape, std::int64_t k) {
  // A support for which both backends' cost models choose one plan.
  std::uint64_t seed = 17;
  const auto draw = [&] { return SparseSignal::random(shape, std::is_floating_point_v<T>, k, seed); };
  const auto agreed = [&](const SparseSignal& drawn) {
    const Template tmpl =
        Template::from_support(shape, drawn.real ? Domain::real : Domain::complex, drawn.support);
    return same_plan(Plan<Real>(tmpl, {.device = Device::gpu(), .path = path}),
                     Plan<Real>(tmpl, {.device = Device::cpu(), .path = path}));
  };
  for (constexpr std::uint64_t kLast = 57; seed < kLast && !agreed(draw()); ++seed) {
  }
  const auto signal = draw();
  const Template tmpl =
      Template::from_support(shape, signal.real ? Domain::real : Domain::complex, signal.support);
  // A short burst takes a witness of several blocks.
  for (const auto& [witness, burst] :
       {std::pair(PlanOptions::Witness::scattered, 0.0), std::pair(PlanOptions::Witness::scattered, 0.05),
        std::pair(PlanOptions::Witness::none, 0.0)}) {
    for (const PlanOptions::Transfer transfer :
         {PlanOptions::Transfer::gather, PlanOptions::Transfer::whole}) {
      PlanOptions options{.device = Device::gpu(), .path = path, .witness = witness};
      options.transfer = transfer;
      options.burst = burst;
      const Plan<Real> device(tmpl, options);
      options.device = Device::cpu();
      const Plan<Real> host(tmpl, options);
      ASSERT_TRUE(same_plan(device, host)) << device.explain() << host.explain();
      const std::int64_t own = witness == PlanOptions::Witness::none ? 0 : signal.real ? 32 : 16;
      if (burst == 0)
        EXPECT_EQ(device.info().witness_samples, own);
      else
        EXPECT_GE(device.info().witness_samples, 135);  // ln(1e-3) / ln(1 - 0.05)
      EXPECT_EQ(device.info().samples, host.info().samples);

      // For a comb, the tone lies in a bucket that a frequency of the template occupies.
      const std::int64_t outside =
          (signal.support[3] + (path == Path::comb ? host.info().buckets[0] : 777)) % shape.points();
      ASSERT_EQ(std::count(signal.support.begin(), signal.support.end(), outside), 0);
      const auto samples = noisy_frames<T>(signal, outside);
      std::vector<SignalView> frames;
      for (const auto& frame : samples) frames.emplace_back(frame, shape);
      auto workspace = device.make_workspace();
      std::vector<Spectrum<Real>> spectra(frames.size());
      device.execute(frames, spectra, workspace);
      for (std::size_t i = 0; i < frames.size(); ++i) {
        expect_same_errors(spectra[i], host.execute(frames[i]),
                           shape.to_string() + ", frame " + std::to_string(i) +
                               (witness == PlanOptions::Witness::none ? ", no witness" : "") +
                               (burst > 0 ? ", short bursts" : ""));
      }
      if (path != Path::comb) continue;
      // Frame 0 has little noise, frame 1 the tone as well.
      const bool seen = spectra[1].quality.tail_energy > 100 * spectra[0].quality.tail_energy;
      EXPECT_EQ(seen, witness == PlanOptions::Witness::scattered) << shape.to_string();
    }
  }
}

TEST_F(WitnessCuda, CombsEstimateTheSameErrorsOnBothBackends) {
  check_path<float, std::complex<float>>(Path::comb, Shape{1 << 14}, 20);
  check_path<float, float>(Path::comb, Shape{1 << 14}, 20);
  check_path<double, std::complex<double>>(Path::comb, Shape{1 << 12}, 20);
  check_path<double, double>(Path::comb, Shape{1 << 12}, 20);
}

TEST_F(WitnessCuda, FlatWindowsEstimateTheSameErrorsOnBothBackends) {
  check_path<float, std::complex<float>>(Path::flat_window, Shape{65537}, 24);
  check_path<float, float>(Path::flat_window, Shape{65537}, 12);
  check_path<double, std::complex<double>>(Path::flat_window, Shape{32771}, 10);
  check_path<double, double>(Path::flat_window, Shape{30011}, 6);
}

/// Learned templates shrink their coefficients, and their witness is trimmed.
TEST_F(WitnessCuda, FilmsGetTheSameErrorEstimatesOnBothBackends) {
  const Shape shape{240, 320};
  std::vector<std::vector<std::uint8_t>> films;
  std::vector<SignalView> frames;
  for (int t = 0; t < 8; ++t) films.push_back(test::film_frame(240, 320, 5 * t, t < 7 ? 1 : 2));
  for (const auto& film : films) frames.emplace_back(film, shape);
  for (const bool reference : {true, false}) {
    const Template tmpl = learn(frames[0], {.keep = Largest{100}, .reference = reference});
    const Plan<float> device(tmpl, {.device = Device::gpu(), .path = Path::comb});
    const Plan<float> host(tmpl, {.device = Device::cpu(), .path = Path::comb});
    ASSERT_TRUE(same_plan(device, host)) << device.explain() << host.explain();
    auto workspace = device.make_workspace();
    std::vector<Spectrum<float>> spectra(frames.size());
    device.execute(frames, spectra, workspace);
    // Frame 0 is its own reference: its error estimate is rounding, which differs between backends.
    for (std::size_t i = 1; i < frames.size(); ++i)
      expect_same_errors(spectra[i], host.execute(frames[i]), "frame " + std::to_string(i));
  }
}

}  // namespace
}  // namespace sfft::witness_cuda_test
