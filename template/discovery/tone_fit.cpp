// SPDX-License-Identifier: Apache-2.0
// The kernels of all axes are tabulated once per step, because the coefficients of a cross share them.
#include "template/discovery/tone_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

constexpr int kSide = 2 * kToneReach + 1;
/// The first guesses are offsets from the peak, evenly spaced up to kFarthest bins.
constexpr int kGuesses = 25;
constexpr double kFarthest = 0.6;
constexpr int kMaxParameters = 5;
constexpr int kSteps = 12;
/// A step with less relative gain moves the frequency by only a small part of its standard error.
constexpr double kWorthwhile = 1e-3;
/// On longer axes, symmetric windows differ from periodic ones by less than the residual of a tone.
constexpr double kLongAxis = 1024;

double guess_at(int i) {
  return kFarthest * (2.0 * i / (kGuesses - 1) - 1);
}

double sinc(double x) {
  return std::fabs(x) < 1e-9 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

/// The kernels of long axes without their phase exp(iπx(n−1)/n), at all guesses.
struct GuessTable {
  double kernel[kCosineWindows][kGuesses][kSide];
  GuessTable() {
    for (std::size_t w = 0; w < kCosineWindows; ++w) {
      for (int g = 0; g < kGuesses; ++g) {
        for (int j = 0; j < kSide; ++j) {
          const double x = guess_at(g) - (j - kToneReach);
          double sum = kCosineWindow[w].a[0] * sinc(x);
          for (int q = 1; q < kCosineWindow[w].terms; ++q)
            sum += 0.5 * kCosineWindow[w].a[static_cast<std::size_t>(q)] * (sinc(x - q) + sinc(x + q));
          kernel[w][g][j] = sum;
        }
      }
    }
  }
};

/// exp(iπj(n−1)/n), which makes the kernel's values at x − j real up to a common phase.
Complex unturned(int step, double n) {
  return root_of_turns(0.5 * step * (n - 1) / n);
}

/// Chooses window and offset along one axis from the coefficients on its line.
void guess_axis(const ToneBins& bins, int axis, ToneModel& tone) {
  static const GuessTable table;
  const auto d = static_cast<std::size_t>(axis);
  std::array<Complex, kSide> y{};
  std::array<bool, kSide> known{};
  bool any = false;
  for (int i = 0; i < bins.count; ++i) {
    const ToneBin& bin = bins.bin[static_cast<std::size_t>(i)];
    if (bin.step != 0 && bin.axis != axis) continue;
    const auto j = static_cast<std::size_t>(bin.step + kToneReach);
    y[j] = bin.value * unturned(bin.step, tone.extents[d]);
    known[j] = bin.known;
    any = any || (bin.step != 0 && bin.known);
  }
  if (!any) return;
  double best = -1;
  for (int w = 0; w < kCosineWindows; ++w) {
    for (int g = 0; g < kGuesses; ++g) {
      Complex product = 0;
      double power = 0;
      for (std::size_t j = 0; j < kSide; ++j) {
        const double kernel = table.kernel[w][g][j];
        product += kernel * y[j];
        power += kernel * kernel;
      }
      const double explained = std::norm(product) / power;
      if (explained <= best) continue;
      best = explained;
      tone.window[d] = w;
      tone.frequency[d] = static_cast<double>(bins.peak[d]) + guess_at(g);
    }
  }
}

/// Kernels of every axis around the peak; `mirror` holds those of the conjugate tone.
struct Tables {
  Complex kernel[3][kSide], mirror[3][kSide];

  void fill_axis(const ToneModel& tone, const GridPoint& peak, int d, double frequency) {
    const auto at = static_cast<std::size_t>(d);
    const CosineWindow& window = kCosineWindow[static_cast<std::size_t>(tone.window[at])];
    const int reach = tone.extents[at] > 1 ? kToneReach : 0;
    const auto f = static_cast<double>(peak[at]);
    tone_kernels(window, tone.spacing[at], frequency - f, tone.extents[at], reach, &kernel[d][kToneReach]);
    if (tone.real)
      tone_kernels(window, tone.spacing[at], -frequency - f, tone.extents[at], reach, &mirror[d][kToneReach]);
  }
  void fill(const ToneModel& tone, const GridPoint& peak) {
    for (int d = 0; d < tone.rank; ++d) fill_axis(tone, peak, d, tone.frequency[static_cast<std::size_t>(d)]);
  }
  static Complex at(const Complex (&table)[3][kSide], const ToneBin& bin, int rank) {
    Complex product = 1;
    for (int d = 0; d < rank; ++d) product = times(product, table[d][place(bin, d)]);
    return product;
  }
  /// The same with the row of one axis, for example its derivative, from another table.
  static Complex at(const Complex (&table)[3][kSide], const ToneBin& bin, int rank,
                    const Complex (&other)[3][kSide], int axis) {
    Complex product = other[axis][place(bin, axis)];
    for (int d = 0; d < rank; ++d) {
      if (d != axis) product = times(product, table[d][place(bin, d)]);
    }
    return product;
  }
  static int place(const ToneBin& bin, int d) { return kToneReach + (d == bin.axis ? bin.step : 0); }
  /// Replaces one axis's kernels by their derivatives with respect to the frequency (central differences).
  void differentiate(const ToneModel& tone, const GridPoint& peak, int d, double frequency) {
    constexpr double kStep = 1e-4;
    Tables below;
    fill_axis(tone, peak, d, frequency + kStep);
    below.fill_axis(tone, peak, d, frequency - kStep);
    for (int j = 0; j < kSide; ++j) {
      kernel[d][j] = (kernel[d][j] - below.kernel[d][j]) / (2 * kStep);
      mirror[d][j] = (mirror[d][j] - below.mirror[d][j]) / (2 * kStep);
    }
  }
};

/// Inverts a small matrix in place by elimination with pivoting. False if it is singular.
bool invert(int n, double (&a)[kMaxParameters][kMaxParameters]) {
  double inverse[kMaxParameters][kMaxParameters] = {};
  for (int i = 0; i < n; ++i) inverse[i][i] = 1;
  for (int i = 0; i < n; ++i) {
    int pivot = i;
    for (int r = i + 1; r < n; ++r) pivot = std::fabs(a[r][i]) > std::fabs(a[pivot][i]) ? r : pivot;
    if (!(std::fabs(a[pivot][i]) > 0)) return false;
    std::swap_ranges(a[i], a[i] + n, a[pivot]);
    std::swap_ranges(inverse[i], inverse[i] + n, inverse[pivot]);
    const double scale = 1 / a[i][i];
    for (int c = 0; c < n; ++c) {
      a[i][c] *= scale;
      inverse[i][c] *= scale;
    }
    for (int r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = a[r][i];
      for (int c = 0; c < n; ++c) {
        a[r][c] -= factor * a[i][c];
        inverse[r][c] -= factor * inverse[i][c];
      }
    }
  }
  for (int r = 0; r < n; ++r) std::copy_n(inverse[r], n, a[r]);
  return true;
}

class Fitter {
 public:
  Fitter(const ToneBins& bins, ToneModel tone) : bins_(bins), tone_(tone) {
    std::array<bool, 3> seen{};
    for (int i = 0; i < bins_.count; ++i) {
      const ToneBin& bin = bins_.bin[static_cast<std::size_t>(i)];
      if (!bin.known) continue;
      ++known_;
      if (bin.step != 0) seen[static_cast<std::size_t>(bin.axis)] = true;
    }
    for (int d = 0; d < tone_.rank; ++d) {
      if (seen[static_cast<std::size_t>(d)]) axis_[free_axes_++] = d;
    }
  }

  std::optional<ToneFit> run() {
    tables_.fill(tone_, bins_.peak);
    tone_.value = first_value();
    double before = cost();
    for (int step = 0; step < kSteps; ++step) {
      double normal[kMaxParameters][kMaxParameters] = {};
      double right[kMaxParameters] = {};
      accumulate(normal, right);
      const int n = 2 + free_axes_;
      for (int i = 0; i < n; ++i) normal[i][i] *= 1 + 1e-12;
      if (!invert(n, normal)) return std::nullopt;
      double move[kMaxParameters] = {};
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) move[r] += normal[r][c] * right[c];
      }
      double gain = 0;
      for (int r = 0; r < n; ++r) gain += move[r] * right[r];
      if (!(gain > kWorthwhile * before)) break;
      const ToneModel old = tone_;
      double scale = 1;
      for (int d = 0; d < free_axes_; ++d)
        scale = std::min(scale, 0.25 / std::max(1e-300, std::fabs(move[2 + d])));
      double after = 0;
      for (int halving = 0; halving < 4; ++halving, scale *= 0.5) {
        tone_ = old;
        tone_.value += scale * std::abs(old.value) * Complex(move[0], move[1]);
        for (int d = 0; d < free_axes_; ++d)
          tone_.frequency[static_cast<std::size_t>(axis_[d])] += scale * move[2 + d];
        tables_.fill(tone_, bins_.peak);
        after = cost();
        if (after <= before) break;
      }
      if (!(after <= before)) {
        tone_ = old;
        tables_.fill(tone_, bins_.peak);
      }
      if (!(after < before * (1 - kWorthwhile))) break;
      before = after;
    }
    for (int d = 0; d < tone_.rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      if (!(std::fabs(tone_.frequency[at] - static_cast<double>(bins_.peak[at])) < 1)) return std::nullopt;
    }
    return judge();
  }

 private:
  Complex model(const ToneBin& bin) const {
    Complex sum = times(tone_.value, Tables::at(tables_.kernel, bin, tone_.rank));
    if (tone_.real) sum += times(std::conj(tone_.value), Tables::at(tables_.mirror, bin, tone_.rank));
    return sum;
  }

  Complex first_value() const {
    Complex product = 0;
    double power = 0;
    for (int i = 0; i < bins_.count; ++i) {
      const ToneBin& bin = bins_.bin[static_cast<std::size_t>(i)];
      if (!bin.known) continue;
      const Complex kernel = Tables::at(tables_.kernel, bin, tone_.rank);
      product += times_conj(bin.value, kernel);
      power += std::norm(kernel);
    }
    return power > 0 ? product / power : Complex(0);
  }

  /// The amount by which the model's value at an unknown coefficient exceeds the bound.
  double excess(const Complex& at) const { return std::max(0.0, std::abs(at) - bins_.bound); }

  double cost() const {
    double sum = 0;
    for (int i = 0; i < bins_.count; ++i) {
      const ToneBin& bin = bins_.bin[static_cast<std::size_t>(i)];
      const Complex at = model(bin);
      sum += bin.known ? std::norm(bin.value - at) : excess(at) * excess(at);
    }
    return sum;
  }

  /// Normal equations for the steps of Re a and Im a, relative to |a|, and of the frequencies.
  void accumulate(double (&normal)[kMaxParameters][kMaxParameters], double (&right)[kMaxParameters]) {
    Tables slope;
    for (int p = 0; p < free_axes_; ++p)
      slope.differentiate(tone_, bins_.peak, axis_[p], tone_.frequency[static_cast<std::size_t>(axis_[p])]);
    const int n = 2 + free_axes_;
    for (int i = 0; i < bins_.count; ++i) {
      const ToneBin& bin = bins_.bin[static_cast<std::size_t>(i)];
      const Complex at = model(bin);
      Complex rest = bin.value - at;
      if (!bin.known) {
        if (excess(at) == 0) continue;
        rest = -at * (excess(at) / std::abs(at));
      }
      Complex derivative[kMaxParameters];
      const Complex kernel = Tables::at(tables_.kernel, bin, tone_.rank);
      const Complex mirror = tone_.real ? Tables::at(tables_.mirror, bin, tone_.rank) : Complex(0);
      const double size = std::abs(tone_.value);
      derivative[0] = size * (kernel + mirror);
      derivative[1] = Complex(0, size) * (kernel - mirror);
      for (int p = 0; p < free_axes_; ++p) {
        derivative[2 + p] =
            times(tone_.value, Tables::at(tables_.kernel, bin, tone_.rank, slope.kernel, axis_[p]));
        if (tone_.real) {
          derivative[2 + p] += times(std::conj(tone_.value),
                                     Tables::at(tables_.mirror, bin, tone_.rank, slope.mirror, axis_[p]));
        }
      }
      for (int r = 0; r < n; ++r) {
        right[r] += times_conj(rest, derivative[r]).real();
        for (int c = 0; c < n; ++c) normal[r][c] += times_conj(derivative[r], derivative[c]).real();
      }
    }
  }

  std::optional<ToneFit> judge() {
    ToneFit fit;
    fit.tone = tone_;
    constexpr double kStandsOut = 25;
    for (int i = 0; i < bins_.count; ++i) {
      const ToneBin& bin = bins_.bin[static_cast<std::size_t>(i)];
      const Complex at = model(bin);
      fit.misfit += bin.known ? std::norm(bin.value - at) : excess(at) * excess(at);
      if (!bin.known) continue;
      fit.noise += bin.variance;
      if (i == 0) continue;
      fit.sides += std::norm(bin.value);
      fit.significant += std::norm(bin.value) > kStandsOut * bin.variance ? 1 : 0;
    }
    double normal[kMaxParameters][kMaxParameters] = {};
    double right[kMaxParameters] = {};
    accumulate(normal, right);
    const int n = 2 + free_axes_;
    if (!invert(n, normal)) return std::nullopt;
    // Variance per real number. The misfit counts as noise, because other tones leak in.
    const double variance = std::max(fit.noise / (2 * known_), fit.misfit / std::max(1, 2 * known_ - n));
    // Along an axis without known neighbours, their bound limits the tone's distance from the grid.
    for (int d = 0; d < tone_.rank; ++d) {
      if (tone_.extents[static_cast<std::size_t>(d)] > 1)
        fit.standard_error[static_cast<std::size_t>(d)] =
            std::min(0.5, bins_.bound / std::abs(bins_.bin[0].value));
    }
    for (int p = 0; p < free_axes_; ++p) {
      if (!(normal[2 + p][2 + p] > 0)) return std::nullopt;
      fit.standard_error[static_cast<std::size_t>(axis_[p])] = std::sqrt(variance * normal[2 + p][2 + p]);
    }
    return fit;
  }

  const ToneBins& bins_;
  ToneModel tone_;
  Tables tables_{};
  std::array<int, 3> axis_{0, 0, 0};  ///< axes along which the frequency is free
  int free_axes_ = 0;
  int known_ = 0;
};

/// Next to the peak of a tone all coefficients are real multiples of it once the kernel's phase is removed;
/// those of unrelated tones are not. Near its own mirror image a real tone need not show this.
bool has_phases_of_tone(const ToneModel& tone, const ToneBins& bins) {
  constexpr double kNear = 16;
  constexpr double kLargestShare = 0.1;
  if (tone.real) {
    bool near = true;
    for (int d = 0; d < tone.rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      const double twice = 2 * static_cast<double>(bins.peak[at]);
      const double apart = std::fabs(twice - tone.extents[at] * std::floor(twice / tone.extents[at] + 0.5));
      near = near && apart < 2 * kNear;
    }
    if (near) return true;
  }
  double all = 0, turned = 0, noise = 0;
  const double peak = std::norm(bins.bin[0].value);
  for (int i = 1; i < bins.count; ++i) {
    const ToneBin& bin = bins.bin[static_cast<std::size_t>(i)];
    if (!bin.known) continue;
    const Complex y = bin.value * unturned(bin.step, tone.extents[static_cast<std::size_t>(bin.axis)]);
    const double across = times_conj(y, bins.bin[0].value).imag();
    all += std::norm(bin.value);
    turned += across * across / peak;
    noise += bin.variance;
  }
  return turned <= kLargestShare * all + noise;
}

}  // namespace

Complex ToneModel::at(const GridPoint& f, bool with_conjugate) const noexcept {
  const bool both = real && with_conjugate;
  Complex product = value, mirrored = std::conj(value);
  for (int d = 0; d < rank; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const CosineWindow& own = kCosineWindow[static_cast<std::size_t>(window[i])];
    const auto bin = static_cast<double>(f[i]);
    product = times(product, tone_kernel(own, spacing[i], frequency[i] - bin, extents[i]));
    if (both) mirrored = times(mirrored, tone_kernel(own, spacing[i], -frequency[i] - bin, extents[i]));
  }
  return both ? product + mirrored : product;
}

ToneGrid ToneGrid::whole(const Shape& shape) noexcept {
  ToneGrid grid;
  grid.rank = shape.rank();
  for (int d = 0; d < shape.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    grid.points[at] = grid.extent[at] = static_cast<double>(shape[d]);
  }
  return grid;
}

std::optional<ToneFit> fit_tone(const ToneGrid& grid, bool real, const ToneBins& bins, double good) {
  ToneModel tone;
  tone.rank = grid.rank;
  tone.real = real;
  tone.extents = grid.points;
  for (std::size_t d = 0; d < 3; ++d) {
    tone.frequency[d] = static_cast<double>(bins.peak[d]);
    tone.spacing[d] = grid.points[d] * grid.stride[d] / grid.extent[d];
  }
  if (!has_phases_of_tone(tone, bins)) return std::nullopt;
  for (int d = 0; d < grid.rank; ++d) guess_axis(bins, d, tone);
  std::optional<ToneFit> best = Fitter(bins, tone).run();
  if (!tone.windowed() || (best && best->misfit <= good * best->sides)) return best;
  const auto try_also = [&](const ToneModel& other) {
    std::optional<ToneFit> fit = Fitter(bins, other).run();
    if (fit && (!best || fit->misfit < best->misfit)) best = fit;
  };
  // Near its mirror image a real tone without a window can seem to have one.
  ToneModel plain = tone;
  plain.window = {0, 0, 0};
  if (real) try_also(plain);
  bool may_be_symmetric = false;
  ToneModel symmetric = tone;
  for (std::size_t d = 0; d < 3; ++d) {
    may_be_symmetric = may_be_symmetric || (tone.window[d] > 0 && grid.extent[d] <= kLongAxis);
    if (grid.extent[d] > 1) symmetric.spacing[d] *= grid.extent[d] / (grid.extent[d] - 1);
  }
  if (may_be_symmetric) try_also(symmetric);
  return best;
}

}  // namespace sfft::detail
