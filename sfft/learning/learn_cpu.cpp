// SPDX-License-Identifier: Apache-2.0
// Computes the learning frames' spectra in host memory with the dense engine, and answers queries from them.
#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/base/log_cells.hpp"
#include "kernels/base/region.hpp"
#include "sfft/dense.hpp"
#include "sfft/learning/learning.hpp"
#include "template/data/envelope.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

namespace {

constexpr double kExcluded = -1;  ///< in place of a power: the element counts in no sum and no rank
/// Squares of coefficients up to this size, and sums of such squares, are surely in range.
constexpr double kLargest = 1e140;
constexpr double kSmallest = 1e-120;

class HostSpectrum final : public LearningSpectrum {
 public:
  HostSpectrum(std::span<const SignalView> frames, const SpectrumLayout& spectrum, int threads)
      : LearningSpectrum(spectrum) {
    const dense::Plan<double> dense(layout().shape, layout().real, {.threads = threads});
    first_.resize(dense.spectrum_points());
    dense.forward(frames[0], first_);
    const bool twice = frames[0].type() == ElementType::f64 || frames[0].type() == ElementType::c128;
    // All-zero frames need no scale; they are rare enough to be scanned twice.
    if (twice && !ordinary(first_)) {
      exponent_ = scale_exponent(frames);
      if (exponent_ != 0) forward(frames[0], dense, first_);
    }
    check_finite(first_[0], 0);
    power_.resize(first_.size());
    for (std::size_t i = 0; i < first_.size(); ++i) power_[i] = std::norm(first_[i]);
    if (frames.size() > 1) add_later_frames(frames, dense);
    for (std::int64_t i = 0; i < layout().points(); ++i) {
      if (!layout().representative(i)) power_[static_cast<std::size_t>(i)] = kExcluded;
    }
  }

  int exponent() const noexcept override { return exponent_; }
  std::vector<double> power_sums() const override { return sums_over_cells(power_); }
  std::vector<double> change_sums() const override { return sums_over_cells(change_); }

  double power_at_rank(std::int64_t rank) const override {
    if (rank == 1) return *std::max_element(power_.begin(), power_.end());
    std::vector<double> powers;
    std::copy_if(power_.begin(), power_.end(), std::back_inserter(powers), [](double p) { return p >= 0; });
    const auto at = powers.begin() + (rank - 1);
    std::nth_element(powers.begin(), at, powers.end(), std::greater<>());
    return *at;
  }

  std::vector<RankedPower> largest(std::int64_t first, std::int64_t count) const override {
    std::vector<RankedPower> all = above(first, kExcluded);
    std::nth_element(all.begin(), all.begin() + (count - 1), all.end(),
                     [](const RankedPower& a, const RankedPower& b) {
                       return a.power != b.power ? a.power > b.power : a.index < b.index;
                     });
    all.resize(static_cast<std::size_t>(count));
    std::sort(all.begin(), all.end(),
              [](const RankedPower& a, const RankedPower& b) { return a.index < b.index; });
    return all;
  }

  std::vector<RankedPower> above(std::int64_t first, double level) const override {
    std::vector<RankedPower> found;
    for (std::int64_t i = first; i < layout().points(); ++i) {
      const double power = power_[static_cast<std::size_t>(i)];
      if (power > level) found.push_back({i, power});
    }
    return found;
  }

  std::vector<std::complex<double>> first_values(const std::vector<RankedPower>& chosen) const override {
    std::vector<std::complex<double>> values;
    for (const RankedPower& element : chosen)
      values.push_back(first_[static_cast<std::size_t>(element.index)]);
    return values;
  }

  void remove(const std::vector<RankedPower>& chosen) override {
    for (const RankedPower& element : chosen) power_[static_cast<std::size_t>(element.index)] = kExcluded;
  }

 private:
  void add_later_frames(std::span<const SignalView> frames, const dense::Plan<double>& dense) {
    std::vector<std::complex<double>> spectrum(first_.size());
    change_.assign(first_.size(), 0.0);
    for (std::size_t t = 1; t < frames.size(); ++t) {
      forward(frames[t], dense, spectrum);
      check_finite(spectrum[0], t);
      for (std::size_t i = 0; i < spectrum.size(); ++i) {
        power_[i] += std::norm(spectrum[i]);
        change_[i] += std::norm(spectrum[i] - first_[i]);
      }
    }
    for (double& p : power_) p /= static_cast<double>(frames.size());
    for (double& c : change_) c /= static_cast<double>(frames.size() - 1);
  }

  static bool ordinary(const std::vector<std::complex<double>>& spectrum) {
    double largest = 0;
    bool finite = true;
    for (const std::complex<double>& x : spectrum) {
      largest = std::max({largest, std::fabs(x.real()), std::fabs(x.imag())});
      finite = finite && std::isfinite(x.real()) && std::isfinite(x.imag());
    }
    return finite && largest > kSmallest && largest < kLargest;
  }

  /// The frame's spectrum times 2^-exponent_.
  void forward(const SignalView& frame, const dense::Plan<double>& dense,
               std::vector<std::complex<double>>& spectrum) const {
    if (exponent_ == 0) return dense.forward(frame, spectrum);
    const std::vector<double> scaled = scaled_samples(frame, exponent_);
    const auto points = static_cast<std::size_t>(frame.shape().points());
    dense.forward(SignalView(scaled.data(), points, frame.type(), frame.shape()), spectrum);
  }

  /// Row by row, because cells are runs of columns.
  std::vector<double> sums_over_cells(const std::vector<double>& values) const {
    const CellGrid grid(layout().shape);
    std::vector<double> sums(grid.cells(), 0.0);
    const int last = layout().shape.rank() - 1;
    const std::int64_t columns = layout().shape[last];
    const std::int64_t row_points = layout().row_points();
    for (std::int64_t start = 0; start < layout().points(); start += row_points) {
      const std::size_t row_cell = grid.cell(coordinates(layout().shape, layout().flat_index(start)));
      for (int c = 0; c < grid.axis(last).cells(); ++c) {
        const LogCellMembers members = log_cell_members(c, columns, layout().real);
        double& sum = sums[row_cell + static_cast<std::size_t>(c)];
        for (std::int64_t m = 0; m < members.count(); ++m) {
          const std::int64_t i = start + members[m];
          if (power_[static_cast<std::size_t>(i)] < 0) continue;
          const bool inside = layout().real && members[m] != 0 && 2 * members[m] != columns;
          sum += (inside ? 2 : layout().multiplicity(i)) * values[static_cast<std::size_t>(i)];
        }
      }
    }
    return sums;
  }

  int exponent_ = 0;
  std::vector<std::complex<double>> first_;  ///< the first frame's spectrum
  std::vector<double> power_, change_;
};

}  // namespace

int scale_exponent(std::span<const SignalView> frames) {
  double largest = 0;
  for (const SignalView& frame : frames) {
    for (const double x : scaled_samples(frame, 0)) largest = std::max(largest, std::fabs(x));
  }
  constexpr int kMost = 1000;
  return std::isfinite(largest) && largest > 0 ? std::clamp(std::ilogb(largest), -kMost, kMost) : 0;
}

std::vector<double> scaled_samples(const SignalView& frame, int exponent) {
  std::vector<double> samples(frame.bytes() / sizeof(double));
  copy_elements(frame, reinterpret_cast<std::byte*>(samples.data()));
  const double scale = std::ldexp(1.0, -exponent);
  for (double& x : samples) x *= scale;
  return samples;
}

std::unique_ptr<LearningSpectrum> stored_spectrum(std::span<const SignalView> frames, int threads) {
  const SpectrumLayout layout{frames[0].shape(), !is_complex(frames[0].type())};
  return std::make_unique<HostSpectrum>(frames, layout, threads);
}

Learned learn_on_cpu(std::span<const SignalView> frames, const LearnOptions& options, bool bound) {
  if (frames.size() == 1 && options.k > 0) return learn_largest(frames[0], options.k, options.threads);
  return select_from(*stored_spectrum(frames, options.threads), frames.size() > 1, options, bound);
}

}  // namespace sfft::detail
