// SPDX-License-Identifier: Apache-2.0
// Tests each GPU stage against the CPU's mathematics: hash, permute, subsample, recover.
#include <cmath>
#include <numbers>
#include <random>

#include "bench/known_signals.hpp"
#include "kernels/base/math/hash.hpp"
#include "kernels/base/tables/witness_mean.hpp"
#include "kernels/cuda/executors/sparse_executor.hpp"
#include "kernels/cuda/stages/stages.hpp"
#include "sfft/template.hpp"
#include "sfft/template_access.hpp"
#include "template/data/support_set.hpp"
#include "template/planning/witness.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::cuda::stages_cuda_test {
namespace {

class StagesCuda : public test::GpuTest {};

TEST_F(StagesCuda, HashPlacesFrequenciesAsTheCpuDoes) {
  std::mt19937_64 random(3);
  const std::int64_t extents[3][3] = {{1 << 20, 1, 1}, {1080, 1920, 1}, {64, 81, 125}};
  const std::int64_t buckets[3][3] = {{1024, 1, 1}, {54, 96, 1}, {8, 9, 25}};
  for (int c = 0; c < 3; ++c) {
    GridShape shape;
    shape.rank = c + 1;
    std::int64_t points = 1;
    for (int d = 0; d < 3; ++d) points *= shape.extents[d] = extents[c][d];
    std::vector<std::int64_t> support;
    for (int i = 0; i < 1000; ++i)
      support.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(points)));
    const test::OnDevice<std::int64_t> on_device(support);
    const test::OnDevice<BucketPair> out(support.size());
    launch_comb_hash(shape, buckets[c], on_device.get(), 1000, out.get(), nullptr);
    const auto pairs = out.read();
    for (std::size_t i = 0; i < support.size(); ++i) {
      std::int64_t f[3] = {0, 0, 0}, rest = support[i];
      for (int d = shape.rank - 1; d >= 0; --d) {
        f[d] = rest % extents[c][d];
        rest /= extents[c][d];
      }
      std::int64_t negative[3];
      for (int d = 0; d < 3; ++d) negative[d] = f[d] == 0 ? 0 : extents[c][d] - f[d];
      EXPECT_EQ(pairs[i].at, comb_bucket(f, buckets[c]));
      EXPECT_EQ(pairs[i].mirror, comb_bucket(negative, buckets[c]));
    }
  }
}

/// A comb plan with arbitrary weights; the stages do not depend on where weights come from.
CombData random_comb(bool real) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  CombData data;
  data.shape = Shape{12, 30, 28};
  data.real = real;
  data.buckets = {4, 10, 7};
  data.delays = {{0, 1, 2}, {2, 0, 3}, {1, 2, 0}, {2, 2, 1}};
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 4; ++j) data.weights.emplace_back(normal(random), normal(random));
    data.noise_gain.push_back(std::abs(normal(random)));
    data.bias.push_back(std::abs(normal(random)));
  }
  for (int b = 0; b < 280; ++b) data.bucket_weight.push_back(b % 3 == 0 ? 0.001 * b : 0);
  return data;
}

/// Arbitrary errors, in proportions that make every term of the error estimate matter.
ErrorTable random_errors(const CombData& data) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0.5, 2);
  ErrorTable errors;
  errors.gain = data.noise_gain;
  errors.bias = data.bias;
  for (std::size_t i = 0; i < 20; ++i) {
    errors.fit.push_back(uniform(random));
    errors.model.gain_sum += errors.gain[i];
    errors.model.bias_sum += errors.bias[i];
  }
  errors.model.halves = data.real ? 2 : 1;
  errors.model.spread_gain = errors.model.halves * errors.model.gain_sum;
  errors.model.spread_bias = errors.model.halves * errors.model.bias_sum;
  errors.model.fit_power = 30;
  errors.model.fit_noise = 0.01;
  errors.model.fit_scatter = 0.005;
  errors.model.tail_per_scale = 2.5;
  errors.model.witness_scale = 1e5;
  errors.model.witness_rounding = 1e-3;
  return errors;
}

/// A witness with arbitrary columns. For a complex signal, rows s and s + 16 are the real and the imaginary
/// part of a multiplication by complex numbers.
WitnessData random_witness(bool real, bool trimmed) {
  std::mt19937 random(6);
  std::normal_distribution<double> normal(0, 0.05);
  WitnessData witness;
  witness.trimmed = trimmed;
  const std::size_t count = real ? 32 : 16;
  for (std::size_t s = 0; s < count; ++s)
    witness.samples.push_back(static_cast<std::int64_t>(random() % (12 * 30 * 28)));
  witness.columns.resize(40 * kWitnessReals);
  const auto row = [&](std::size_t s, std::size_t j) -> double& {
    return witness.columns[j * kWitnessReals + s];
  };
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t j = 0; j < 40; ++j) row(s, j) = normal(random);
    for (std::size_t j = 0; j < 40 && !real; j += 2) {
      row(s + 16, j) = -row(s, j + 1);
      row(s + 16, j + 1) = row(s, j);
    }
  }
  return witness;
}

std::vector<std::int64_t> comb_support() {
  std::vector<std::int64_t> support;
  for (int i = 0; i < 20; ++i) support.push_back(37 + 489 * i);
  return support;
}

template <class Real>
void check_stages(bool real, bool trimmed) {
  const CombData data = random_comb(real);
  const ErrorTable table = random_errors(data);
  const WitnessData witness = random_witness(real, trimmed);
  const std::vector<std::int64_t> support = comb_support();
  const BinningTables<Real> tables(
      data, support, std::vector<std::uint8_t>(20, real ? kDistinctConjugate : 0), table, witness);
  const Binning<Real>& plan = tables.view();
  const int lanes = real ? 2 : 4;
  ASSERT_EQ(plan.lanes, lanes);
  constexpr int kFrames = 3;
  const std::size_t points = 12 * 30 * 28;
  std::mt19937 random(9);
  std::normal_distribution<Real> normal;
  std::vector<Complex<Real>> signal(points * kFrames);
  for (auto& z : signal) z = {normal(random), real ? Real(0) : normal(random)};
  std::vector<Real> real_signal;
  for (const auto& z : signal) real_signal.push_back(z.re);
  const test::OnDevice<Complex<Real>> complex_frames(signal);
  const test::OnDevice<Real> real_frames(real_signal);

  Batch<Real> batch;
  batch.frames = real ? static_cast<const void*>(real_frames.get()) : complex_frames.get();
  batch.type =
      sizeof(Real) == 4 ? (real ? Element::f32 : Element::c64) : (real ? Element::f64 : Element::c128);
  batch.frame_pitch = static_cast<std::int64_t>(points);
  batch.count = kFrames;
  const std::size_t taps = 280;
  const test::OnDevice<Complex<Real>> gathered(kFrames * static_cast<std::size_t>(lanes) * taps);
  const test::OnDevice<Real> checks(kFrames * std::size_t{kWitnessReals});
  launch_permute(plan, batch, gathered.get(), checks.get(), nullptr);
  const auto z = gathered.read();
  std::size_t at = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    for (int lane = 0; lane < lanes; ++lane) {
      for (int m = 0; m < 280; ++m, ++at) {
        const auto sample = [&](int delay) {
          const auto& tau = data.delays[static_cast<std::size_t>(delay)];
          const std::int64_t t0 = m / 70 * 3 + tau[0], t1 = m / 7 % 10 * 3 + tau[1], t2 = m % 7 * 4 + tau[2];
          return signal[static_cast<std::size_t>(frame) * points +
                        static_cast<std::size_t>((t0 * 30 + t1) * 28 + t2)];
        };
        EXPECT_EQ(z[at].re, sample(real ? 2 * lane : lane).re);
        EXPECT_EQ(z[at].im, real ? sample(2 * lane + 1).re : sample(lane).im);
      }
    }
  }

  const auto check = checks.read();
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    for (std::size_t s = 0; s < kWitnessReals; ++s) {
      const auto sample =
          signal[frame * points + static_cast<std::size_t>(witness.samples[real ? s : s % 16])];
      EXPECT_EQ(check[frame * kWitnessReals + s], real || s < 16 ? sample.re : sample.im);
    }
  }

  // Recover accepts any buckets, so the gathered samples serve as input.
  const test::OnDevice<Complex<Real>> values(20 * kFrames);
  const test::OnDevice<Real> standard_errors(20 * kFrames);
  const test::OnDevice<DeviceErrors> errors(kFrames);
  const test::OnDevice<RecoverPartial> partials(kFrames * kMaxRecoverBlocks);
  batch.values = values.get();
  batch.standard_error = standard_errors.get();
  batch.errors = errors.get();
  launch_recover(plan, batch, gathered.get(), checks.get(), partials.get(), nullptr, nullptr);
  const auto got = values.read();
  const auto got_standard_errors = standard_errors.read();
  const auto got_errors = errors.read();
  const double bound = 200 * std::numeric_limits<Real>::epsilon();
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    const Complex<Real>* lane0 = &z[frame * static_cast<std::size_t>(lanes) * taps];
    double scale = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(lanes) * taps; ++i)
      scale += data.bucket_weight[i % taps] *
               (double(lane0[i].re) * lane0[i].re + double(lane0[i].im) * lane0[i].im);
    std::vector<std::complex<double>> truth, mine;
    ErrorSums sums;
    sums.scale = scale;
    for (std::size_t i = 0; i < 20; ++i) {
      const std::int64_t f[3] = {support[i] / 840, support[i] / 28 % 30, support[i] % 28};
      const auto bucket = static_cast<std::size_t>(comb_bucket(f, data.buckets.data()));
      const auto mirror =
          static_cast<std::size_t>(comb_mirror(static_cast<std::int64_t>(bucket), data.buckets.data()));
      std::complex<double> sum = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        const auto lane = [&](std::size_t l, std::size_t b) {
          return std::complex<double>(lane0[l * taps + b].re, lane0[l * taps + b].im);
        };
        // Separates the two delays that a real frame packs into one complex value.
        const std::complex<double> y =
            !real ? lane(j, bucket)
            : j % 2 == 0
                ? 0.5 * (lane(j / 2, bucket) + std::conj(lane(j / 2, mirror)))
                : (lane(j / 2, bucket) - std::conj(lane(j / 2, mirror))) / std::complex<double>(0, 2);
        sum += data.weights[i * 4 + j] * y;
      }
      truth.push_back(sum);
      mine.emplace_back(got[frame * 20 + i].re, got[frame * 20 + i].im);
      sums.norm += std::norm(sum);
      sums.fit += table.fit[i] * std::norm(sum);
    }
    EXPECT_LE(test::relative_l2(mine, truth), bound);
    sums.held = sums.norm * (real ? 2 : 1);
    std::vector<double> squares(real ? 32 : 16, 0.0);
    for (std::size_t s = 0; s < kWitnessReals; ++s) {
      const double sample = check[frame * kWitnessReals + s];
      double residue = sample;
      for (std::size_t j = 0; j < 40; ++j)
        residue -=
            witness.columns[j * kWitnessReals + s] * (j % 2 == 0 ? truth[j / 2].real() : truth[j / 2].imag());
      squares[s % squares.size()] += residue * residue;
      sums.witness_samples += sample * sample / static_cast<double>(squares.size());
    }
    sums.witness_all = witness_mean(squares.data(), static_cast<int>(squares.size()), !real, false);
    sums.witness = witness_mean(squares.data(), static_cast<int>(squares.size()), !real, trimmed);
    const Ratios ratios = error_ratios(table.model, sums, std::numeric_limits<Real>::epsilon());
    EXPECT_GT(ratios.gain_scale, scale);  // the witness has raised the scale
    EXPECT_GT(ratios.bias_scale, 0);
    for (std::size_t i = 0; i < 20; ++i) {
      const double error = std::sqrt(ratios.gain_scale * table.gain[i] + ratios.bias_scale * table.bias[i]);
      EXPECT_NEAR(got_standard_errors[frame * 20 + i] / error, 1, bound);
    }
    const ErrorEstimate expected = estimate_error(ratios);
    const DeviceErrors& estimate = got_errors[frame];
    EXPECT_NEAR(estimate.error_l2 / expected.error_l2, 1, bound);
    EXPECT_NEAR(estimate.relative_error / expected.relative_error, 1, bound);
    EXPECT_NEAR(estimate.tail_energy / expected.tail_energy, 1, bound);
    EXPECT_NEAR(estimate.residual / expected.residual, 1, bound);
    EXPECT_EQ(estimate.finite, 1);
  }
}

TEST_F(StagesCuda, PermuteAndRecover) {
  for (const bool trimmed : {false, true}) {
    check_stages<float>(false, trimmed);
    check_stages<float>(true, trimmed);
    check_stages<double>(false, trimmed);
    check_stages<double>(true, trimmed);
  }
}

/// Compares the rows that the GPU makes from a support with the planner's.
template <class Real>
void check_witness_rows(const Shape& shape, bool real) {
  const auto signal = test::SparseSignal::random(shape, real, 21, 5);
  const SupportSet support(
      *detail::data_of(Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support)));
  const WitnessData expected = make_witness(support, true, 3);
  std::vector<std::uint8_t> flags(21, 0);
  for (const SupportMember& member : support.members) {
    if (member.conjugate) flags[static_cast<std::size_t>(member.coefficient)] = kDistinctConjugate;
  }
  const int k = 21, pitch = 22, count = static_cast<int>(expected.samples.size());
  GridShape grid;
  grid.rank = shape.rank();
  for (int d = 0; d < grid.rank; ++d) grid.extents[d] = shape[d];
  const test::OnDevice<std::int64_t> frequencies(signal.support), samples(expected.samples);
  const test::OnDevice<std::uint8_t> kinds(flags);
  const test::OnDevice<Complex<Real>> rows(static_cast<std::size_t>(pitch * count));
  launch_witness_rows({grid, real, frequencies.get(), kinds.get(), k, samples.get(), count, pitch},
                      rows.get(), nullptr);
  const auto got = rows.read();
  const double unit = 1 / static_cast<double>(shape.points());
  for (std::size_t s = 0; s < expected.samples.size(); ++s) {
    for (std::size_t i = 0; i < 22; ++i) {
      const Complex<Real> row = got[s * 22 + i];
      const double* const column = &expected.columns[2 * std::min<std::size_t>(i, 20) * kWitnessReals + s];
      // The error comes from up to three phases in turns, each rounded to 2^-53, in a root that counts twice,
      // and from the conversion to Real.
      const double bound =
          (2 * 2 * std::numbers::pi * 3 * 0x1p-52 + 2 * std::numeric_limits<Real>::epsilon()) * unit;
      EXPECT_NEAR(row.re, i < 21 ? column[0] : 0, bound) << shape.to_string() << " sample " << s;
      EXPECT_NEAR(row.im, i < 21 ? column[kWitnessReals] : 0, bound) << shape.to_string() << " sample " << s;
    }
  }
}

TEST_F(StagesCuda, WitnessRowsEqualThePlanners) {
  for (const Shape& shape : {Shape{4096}, Shape{997}, Shape{48, 40}, Shape{9, 10, 14}}) {
    for (const bool real : {false, true}) {
      check_witness_rows<float>(shape, real);
      check_witness_rows<double>(shape, real);
    }
  }
}

TEST_F(StagesCuda, SubsampleWindowsAndFolds) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> window(24);
  std::vector<Complex<float>> taps(24 * 5);
  for (float& w : window) w = normal(random);
  for (auto& z : taps) z = {normal(random), normal(random)};
  const test::OnDevice<float> window_there(window);
  const test::OnDevice<Complex<float>> there(taps), out(8 * 5);
  Binning<float> plan;
  plan.fft.points = 8;
  plan.folds = 3;
  plan.window = window_there.get();
  launch_subsample(plan, 5, there.get(), out.get(), nullptr);
  const auto got = out.read();
  for (std::size_t line = 0; line < 5; ++line) {
    for (std::size_t b = 0; b < 8; ++b) {
      double re = 0, im = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        re += double(window[b + 8 * a]) * taps[line * 24 + b + 8 * a].re;
        im += double(window[b + 8 * a]) * taps[line * 24 + b + 8 * a].im;
      }
      EXPECT_NEAR(got[line * 8 + b].re, re, 1e-5);
      EXPECT_NEAR(got[line * 8 + b].im, im, 1e-5);
    }
  }
}

}  // namespace
}  // namespace sfft::detail::cuda::stages_cuda_test
