// SPDX-License-Identifier: Apache-2.0
// Converts the samples to double once; each coefficient is then a blocked dot product with its row of
// twiddles.
#include "kernels/cpu/executors/executor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/base/tables/direct_table.hpp"
#include "kernels/cpu/stages/permute.hpp"

namespace sfft::detail::cpu {

namespace {

/// Parallel sums: they fill a vector, and no addition waits for another.
constexpr std::size_t kLanes = 4;
/// The number of products that are added plainly before their sum enters a compensated one.
constexpr std::size_t kRun = 4;
constexpr std::size_t kBlock = kLanes * kRun;

/// kLanes parallel sums. A compensated sum tracks what its additions lose (Knuth's two-sum), as if it were
/// computed in twice the precision.
template <bool kCompensated>
struct Sums {
  double sum[kLanes]{};
  double lost[kLanes]{};

  void add(std::size_t lane, double value) noexcept {
    const double before = sum[lane];
    const double after = before + value;
    if constexpr (kCompensated) {
      const double added = after - before;
      lost[lane] += (before - (after - added)) + (value - added);
    }
    sum[lane] = after;
  }
  double total() noexcept {
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      add(0, sum[lane]);
      lost[0] += lost[lane];
    }
    // The lost part of an infinite sum is NaN.
    return kCompensated && std::isfinite(sum[0]) ? sum[0] + lost[0] : sum[0];
  }
};

/// Σ x·(c + is) over whole blocks; `im` is not read when x is real.
template <bool kCompensated, bool kComplex>
std::complex<double> product(const double* __restrict re, const double* __restrict im,
                             const double* __restrict c, const double* __restrict s,
                             std::size_t count) noexcept {
  Sums<kCompensated> sum_re, sum_im;
  for (std::size_t t = 0; t < count; t += kBlock) {
    double part_re[kLanes], part_im[kLanes];
    for (std::size_t run = 0; run < kRun; ++run) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t i = t + run * kLanes + lane;
        const double x = kComplex ? re[i] * c[i] - im[i] * s[i] : re[i] * c[i];
        const double y = kComplex ? re[i] * s[i] + im[i] * c[i] : re[i] * s[i];
        part_re[lane] = run == 0 ? x : part_re[lane] + x;
        part_im[lane] = run == 0 ? y : part_im[lane] + y;
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sum_re.add(lane, part_re[lane]);
      sum_im.add(lane, part_im[lane]);
    }
  }
  return {sum_re.total(), sum_im.total()};
}

void gather(FrameData frame, ElementType type, std::size_t samples, double* re, double* im) noexcept {
  const auto row = permute_kernels<double>().gather[static_cast<std::size_t>(type)];
  const std::int64_t offsets[2] = {0, 0};  // for a real frame, `im` receives a copy
  if (frame.region == nullptr) {
    row(frame.data, static_cast<std::int64_t>(samples), 1, offsets, 1, re, im);
    return;
  }
  const Shape& shape = frame.region->shape();
  const std::int64_t columns = shape[shape.rank() - 1];
  for_each_row(*frame.region, [&](const std::byte* first, std::int64_t i) {
    row(first, columns, 1, offsets, 1, re + i * columns, im + i * columns);
  });
}

/// The error that rounded twiddles cause for samples of magnitude 1. Errors of distinct twiddles are random;
/// a twiddle that repeats has the same error each time.
double twiddle_rounding(const Shape& shape, std::int64_t flat) {
  std::int64_t different = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    different = std::lcm(different, shape[d] / std::gcd(flat % shape[d], shape[d]));
    flat /= shape[d];
  }
  return std::numeric_limits<double>::epsilon() * static_cast<double>(shape.points()) /
         std::sqrt(static_cast<double>(different));
}

/// Sums are in double for any Real, and compensated when Real is double. Their rounding therefore stays below
/// that of the result for any number of samples. The rounding of the twiddles remains: a few units in the
/// last place of double, relative to the frame.
template <class Real>
class DirectExecutor final : public Executor<Real> {
 public:
  DirectExecutor(const Shape& shape, std::span<const std::int64_t> support);

  std::size_t scratch_bytes() const noexcept override { return 2 * pitch_ * sizeof(double); }
  std::size_t reference_reals() const noexcept override { return 0; }
  void gather_reference(const void*, ElementType, Real*) const noexcept override {}
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               ExecutionStats& stats, std::byte* scratch) const noexcept override;

  /// E|X̂_i − X_i|² per unit of scale, which is the square of the largest sample.
  std::vector<double> rounding_power() const override {
    std::vector<double> power;
    for (const double rounding : rounding_) power.push_back(rounding * rounding);
    return power;
  }

 private:
  std::size_t samples_;
  std::size_t pitch_;              ///< length of a row of the tables, padded with zeros to whole blocks
  std::vector<double> cos_, sin_;  ///< k × pitch
  std::vector<double> rounding_;   ///< k, relative to the largest sample
};

}  // namespace

template <class Real>
DirectExecutor<Real>::DirectExecutor(const Shape& shape, std::span<const std::int64_t> support)
    : samples_(static_cast<std::size_t>(shape.points())),
      pitch_((samples_ + kBlock - 1) / kBlock * kBlock),
      cos_(support.size() * pitch_, 0.0),
      sin_(support.size() * pitch_, 0.0) {
  const std::vector<std::complex<double>> table = direct_table(shape, support);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::size_t at = i / samples_ * pitch_ + i % samples_;
    cos_[at] = table[i].real();
    sin_[at] = table[i].imag();
  }
  for (const std::int64_t f : support) rounding_.push_back(twiddle_rounding(shape, f));
}

template <class Real>
void DirectExecutor<Real>::execute(FrameData frame, ElementType type, const Real*,
                                   std::span<std::complex<Real>> values, ExecutionStats& stats,
                                   std::byte* scratch) const noexcept {
  constexpr bool kCompensated = std::is_same_v<Real, double>;
  double* re = reinterpret_cast<double*>(scratch);
  double* im = re + pitch_;
  gather(frame, type, samples_, re, im);
  std::fill(re + samples_, re + pitch_, 0.0);
  std::fill(im + samples_, im + pitch_, 0.0);
  double finite = 0;
  double largest = 0;
  for (std::size_t t = 0; t < samples_; ++t) {
    finite += (re[t] - re[t]) + (im[t] - im[t]);
    largest = std::max({largest, std::abs(re[t]), std::abs(im[t])});
  }
  const auto dot = is_complex(type) ? product<kCompensated, true> : product<kCompensated, false>;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::complex<double> sum = dot(re, im, &cos_[i * pitch_], &sin_[i * pitch_], pitch_);
    values[i] = std::complex<Real>(sum);
    finite +=
        static_cast<double>((values[i].real() - values[i].real()) + (values[i].imag() - values[i].imag()));
  }
  stats.finite = finite == 0;
  if (stats.finite) stats.exponent = power_exponent(largest);
  const double unit = std::ldexp(largest, -stats.exponent);
  stats.scale = unit * unit;
}

template <class Real>
std::unique_ptr<const Executor<Real>> make_direct_executor(const Shape& shape,
                                                           std::span<const std::int64_t> support) {
  return std::make_unique<DirectExecutor<Real>>(shape, support);
}
template std::unique_ptr<const Executor<float>> make_direct_executor(const Shape&,
                                                                     std::span<const std::int64_t>);
template std::unique_ptr<const Executor<double>> make_direct_executor(const Shape&,
                                                                      std::span<const std::int64_t>);

}  // namespace sfft::detail::cpu
