// SPDX-License-Identifier: Apache-2.0
// Stores the learning frames' spectra in host memory and answers queries from them.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/base/math/region.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/learning/pass_runner.hpp"
#include "template/data/envelope.hpp"
#include "template/data/template_data.hpp"
#include "template/learning/axis_runs.hpp"
#include "template/learning/select.hpp"

namespace sfft::detail {

namespace {

constexpr double kExcluded = -1;  ///< replaces a power: the element is left out of all sums and ranks
/// Squares of coefficients up to this size, and sums of such squares, are safely in range.
constexpr double kLargest = 1e140;
constexpr double kSmallest = 1e-120;

/// Σ values[i] over the elements that are not excluded, in eight independent sums.
double sum_present(const double* values, const double* power, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += power[i + lane] < 0 ? 0.0 : values[i + lane];
  }
  for (; i < count; ++i) sums[0] += power[i] < 0 ? 0.0 : values[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

class HostSpectrum final : public LearningSpectrum {
  using Spectrum = cpu::LargeArray<std::complex<double>>;

 public:
  HostSpectrum(std::span<const SignalView> frames, const SpectrumLayout& spectrum, int threads)
      : LearningSpectrum(spectrum) {
    const auto points = static_cast<std::size_t>(layout().points());
    const bool several = frames.size() > 1;
    std::optional<PassRunner> runner(std::in_place, layout().shape, layout().real, threads,
                                     several ? points * 2 * (sizeof(std::complex<double>) + sizeof(double))
                                             : points * sizeof(std::complex<double>));
    first_ = Spectrum(static_cast<std::size_t>(layout().points()));
    touch(reinterpret_cast<std::byte*>(first_.begin()), first_.size() * sizeof first_[0]);
    forward(frames[0], *runner, first_);
    const bool twice = frames[0].type() == ElementType::f64 || frames[0].type() == ElementType::c128;
    // All-zero frames need no scale, and are rare enough to scan twice.
    if (twice && !ordinary(first_)) {
      exponent_ = scale_exponent(frames);
      if (exponent_ != 0) forward(frames[0], *runner, first_);
    }
    check_finite(first_[0], 0);
    if (!several) runner.reset();  // its memory is as large as what follows
    power_ = cpu::LargeArray<double>(first_.size());
    enter_stage("learning: powers");
    in_blocks(first_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) power_[i] = std::norm(first_[i]);
    });
    if (several) add_later_frames(frames, *runner);
    exclude_conjugates();
  }

  int exponent() const noexcept override { return exponent_; }
  std::vector<double> power_sums() const override { return sums_over_cells(power_); }
  std::vector<double> change_sums() const override { return sums_over_cells(change_); }

  double power_at_rank(std::int64_t rank) const override {
    return rank == 1 ? *std::max_element(power_.begin(), power_.end())
                     : PowerRanks({power_.begin(), power_.size()}).at(rank);
  }

  std::vector<RankedPower> largest(std::int64_t first, std::int64_t count) const override {
    const std::span<const double> powers =
        std::span<const double>(power_.begin(), power_.size()).subspan(static_cast<std::size_t>(first));
    const double level = PowerRanks(powers).at(count);
    const auto larger =
        std::count_if(powers.begin(), powers.end(), [level](double power) { return power > level; });
    std::int64_t ties = count - larger;  // the first ones win
    std::vector<RankedPower> found;
    found.reserve(static_cast<std::size_t>(count));
    in_blocks(powers.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!(powers[i] >= level)) continue;
        if (powers[i] > level || ties-- > 0)
          found.push_back({first + static_cast<std::int64_t>(i), powers[i]});
      }
    });
    return found;
  }

  std::int64_t count_with_energy(double energy) const override {
    const double each = layout().real ? 2 : 1;
    return PowerRanks(std::span<const double>(power_.begin(), power_.size()).subspan(1))
        .count_with_sum(energy / each);
  }

  std::vector<RankedPower> above(std::int64_t first, double level) const override {
    std::vector<RankedPower> found;
    in_blocks(power_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = std::max(begin, static_cast<std::size_t>(first)); i < end; ++i) {
        if (power_[i] > level) found.push_back({static_cast<std::int64_t>(i), power_[i]});
      }
    });
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
  void add_later_frames(std::span<const SignalView> frames, PassRunner& runner) {
    Spectrum spectrum(first_.size());
    change_ = cpu::LargeArray<double>(first_.size());
    std::fill(change_.begin(), change_.end(), 0.0);
    for (std::size_t t = 1; t < frames.size(); ++t) {
      forward(frames[t], runner, spectrum);
      check_finite(spectrum[0], t);
      in_blocks(spectrum.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          power_[i] += std::norm(spectrum[i]);
          change_[i] += std::norm(spectrum[i] - first_[i]);
        }
      });
    }
    for (double& p : power_) p /= static_cast<double>(frames.size());
    for (double& c : change_) c /= static_cast<double>(frames.size() - 1);
  }

  static bool ordinary(const Spectrum& spectrum) {
    double largest = 0;
    bool finite = true;
    for (const std::complex<double>& x : spectrum) {
      largest = std::max({largest, std::fabs(x.real()), std::fabs(x.imag())});
      finite = finite && std::isfinite(x.real()) && std::isfinite(x.imag());
    }
    return finite && largest > kSmallest && largest < kLargest;
  }

  /// The frame's spectrum times 2^-exponent_.
  void forward(const SignalView& frame, PassRunner& runner, Spectrum& spectrum) const {
    if (exponent_ != 0) {
      runner.first(scaled_samples(frame, exponent_).data(), frame.type());
    } else if (frame.contiguous()) {
      runner.first(frame.data(), frame.type());
    } else {
      CountedVector<std::byte> copy(frame.bytes());
      copy_elements(frame, copy.data());
      runner.first(copy.data(), frame.type());
    }
    runner.store(spectrum.begin());
  }

  /// Calls action(i) for the stored elements of the columns f_D = 0 and f_D = n_D/2 of a real signal.
  template <class Action>
  void over_conjugate_columns(const Action& action) const {
    const std::int64_t last = layout().shape[layout().shape.rank() - 1];
    for (std::int64_t start = 0; layout().real && start < layout().points(); start += layout().row_points()) {
      action(start);
      if (last % 2 == 0) action(start + last / 2);
    }
  }

  void exclude_conjugates() {
    over_conjugate_columns([&](std::int64_t i) {
      if (!layout().representative(i)) power_[static_cast<std::size_t>(i)] = kExcluded;
    });
  }

  /// Works row by row, because cells are runs of columns.
  std::vector<double> sums_over_cells(const cpu::LargeArray<double>& values) const {
    const CellGrid grid(layout().shape);
    std::vector<double> sums(grid.cells(), 0.0);
    const int last = layout().shape.rank() - 1;
    const std::vector<AxisRun> runs = axis_runs(layout().shape[last], layout().real);
    const std::int64_t row_points = layout().row_points();
    const double each = layout().real ? 2 : 1;
    for (std::int64_t start = 0; start < layout().points(); start += row_points) {
      const std::size_t row_cell = grid.cell(coordinates(layout().shape, layout().linear_index(start)));
      for (const AxisRun& run : runs) {
        poll_stop();
        const auto at = static_cast<std::size_t>(start + run.first);
        const auto count = static_cast<std::size_t>(run.end - run.first);
        sums[row_cell + static_cast<std::size_t>(run.cell)] +=
            each * sum_present(&values[at], &power_[at], count);
      }
    }
    // Elements that are their own conjugates count once.
    over_conjugate_columns([&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      if (layout().multiplicity(i) == 1 && !(power_[at] < 0))
        sums[grid.cell(coordinates(layout().shape, layout().linear_index(i)))] -= values[at];
    });
    return sums;
  }

  int exponent_ = 0;
  Spectrum first_;  ///< the first frame's spectrum
  cpu::LargeArray<double> power_, change_;
};

}  // namespace

int scale_exponent(std::span<const SignalView> frames) {
  double largest = 0;
  for (const SignalView& frame : frames) {
    for (const double x : scaled_samples(frame, 0)) largest = std::max(largest, std::fabs(x));
  }
  constexpr int kMax = 1000;
  return std::isfinite(largest) && largest > 0 ? std::clamp(std::ilogb(largest), -kMax, kMax) : 0;
}

CountedVector<double> scaled_samples(const SignalView& frame, int exponent) {
  CountedVector<double> samples(frame.bytes() / sizeof(double));
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
  if (frames.size() == 1 && largest_k(options) > 0)
    return learn_largest(frames[0], largest_k(options), options.threads);
  return select_from(*stored_spectrum(frames, options.threads), frames.size() > 1, options, bound);
}

}  // namespace sfft::detail
