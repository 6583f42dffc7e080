// SPDX-License-Identifier: Apache-2.0
// Fits tones to the peaks, strongest first, each to the residual of the earlier ones; then refits each to the
// residual of all others (RELAX: Li and Stoica, IEEE Transactions on Signal Processing 44, 1996).
#include "template/discovery/leakage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "template/data/template_data.hpp"
#include "template/discovery/tone_fit.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

/// Range of the limit on tones. The limit grows with the signal, so that the search takes little time
/// compared with a transform.
constexpr std::int64_t kFewestTones = 2, kMaxTones = 24;
constexpr std::int64_t kPointsPerTone = 16384;
/// Limits on the peaks that turn out not to be tones after a fit, and on the peaks examined.
constexpr int kMaxFailures = 8;
constexpr std::size_t kMaxPeaks = 128;
/// Minimum ratio of a peak's power to the noise; a weaker peak cannot have evident neighbours.
constexpr double kMinPeak = 30;
/// Share of the power next to the peak that a tone may leave unexplained; kMayLeaveOfFew if at most kFew
/// coefficients stand out there.
constexpr double kMayLeave = 0.04;
constexpr double kMayLeaveOfFew = 0.01;
constexpr int kFew = 3;
/// Minimum ratio of the power next to the peak to the noise of one coefficient.
constexpr double kEvident = 60;
/// Minimum distance of a tone's frequency from the grid, in standard errors.
constexpr double kOffGrid = 5;
/// A peak is explained if less than this share of its power is left: two models of one tone differ by less.
constexpr double kExplained = 0.04;

class LeakageSearch {
 public:
  LeakageSearch(const KnownSpectrum& spectrum, const ToneGrid& grid, const ToneSearch& search)
      : spectrum_(spectrum), shape_(spectrum.shape), grid_(grid), search_(search) {
    std::int64_t points = 1;
    for (int d = shape_.rank() - 1; d >= 0; --d) {
      strides_[static_cast<std::size_t>(d)] = points;
      points *= shape_[d];
    }
  }

  std::vector<ToneFit> run() {
    if (!has_neighbours()) return {};
    rest_.reserve(spectrum_.known.size());
    for (const KnownCoefficient& one : spectrum_.known) rest_.push_back(one.value);
    look_at_peaks();
    if (tones_.size() > 1) refit();
    std::stable_sort(tones_.begin(), tones_.end(), [](const ToneFit& a, const ToneFit& b) {
      return std::norm(a.tone.value) > std::norm(b.tone.value);
    });
    return std::move(tones_);
  }

 private:
  static constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

  /// Whether any two known coefficients are next to each other along an axis.
  bool has_neighbours() const {
    for (int d = 0; d < shape_.rank(); ++d) {
      const std::int64_t stride = strides_[static_cast<std::size_t>(d)];
      if (shape_[d] < 3) continue;
      if (has_pair_apart(stride) || has_pair_apart((shape_[d] - 1) * stride)) return true;
    }
    return false;
  }
  bool has_pair_apart(std::int64_t distance) const {
    const auto& known = spectrum_.known;
    std::size_t ahead = 0;
    for (const KnownCoefficient& one : known) {
      while (ahead < known.size() && known[ahead].flat < one.flat + distance) ++ahead;
      if (ahead == known.size()) return false;
      if (known[ahead].flat == one.flat + distance) return true;
    }
    return false;
  }

  std::size_t place(std::int64_t flat) const {
    const auto at =
        std::lower_bound(spectrum_.known.begin(), spectrum_.known.end(), flat,
                         [](const KnownCoefficient& one, std::int64_t f) { return one.flat < f; });
    return at != spectrum_.known.end() && at->flat == flat
               ? static_cast<std::size_t>(at - spectrum_.known.begin())
               : kUnknown;
  }

  ToneBins cross(std::size_t peak) const {
    ToneBins bins;
    const std::int64_t flat = spectrum_.known[peak].flat;
    bins.peak = coordinates(shape_, flat);
    bins.bound = spectrum_.bound;
    bins.bin[0] = {0, 0, true, rest_[peak], spectrum_.known[peak].variance};
    bins.count = 1;
    for (int d = 0; d < shape_.rank(); ++d) {
      const std::int64_t reach = std::min<std::int64_t>(kToneReach, (shape_[d] - 1) / 2);
      const std::int64_t at = bins.peak[static_cast<std::size_t>(d)];
      for (std::int64_t step = -reach; step <= reach; ++step) {
        if (step == 0) continue;
        ToneBin& bin = bins.bin[static_cast<std::size_t>(bins.count++)];
        bin.axis = d;
        bin.step = static_cast<int>(step);
        const std::int64_t moved = floor_mod(at + step, shape_[d]);
        const std::int64_t other = flat + (moved - at) * strides_[static_cast<std::size_t>(d)];
        std::size_t index = place(other);
        const bool mirrored = index == kUnknown && spectrum_.real;
        if (mirrored) index = place(conjugate_index(shape_, other));
        if (index == kUnknown) continue;
        bin.known = true;
        bin.value = mirrored ? std::conj(rest_[index]) : rest_[index];
        bin.variance = spectrum_.known[index].variance;
      }
    }
    return bins;
  }

  static bool is_peak(const ToneBins& bins) {
    for (int i = 1; i < bins.count; ++i) {
      const ToneBin& bin = bins.bin[static_cast<std::size_t>(i)];
      if (bin.known && std::norm(bin.value) > std::norm(bins.bin[0].value)) return false;
    }
    return true;
  }

  /// Whether enough power lies next to the peak for a fit.
  bool is_evident(const ToneBins& bins) const {
    double neighbour_power = 0, noise = 0;
    int known = 0;
    for (int i = 1; i < bins.count; ++i) {
      const ToneBin& bin = bins.bin[static_cast<std::size_t>(i)];
      if (!bin.known) continue;
      ++known;
      neighbour_power += std::norm(bin.value);
      noise = std::max(noise, bin.variance);
    }
    return known >= 2 && neighbour_power > kEvident * noise && neighbour_power > 0;
  }

  bool is_tone(const ToneFit& fit) const {
    if (fit.significant < 2) return false;
    const double share = fit.significant > kFew ? kMayLeave : kMayLeaveOfFew;
    if (!(fit.misfit <= share * fit.sides + 2 * fit.noise)) return false;
    if (search_.any_frequency || fit.tone.windowed()) return true;
    for (int d = 0; d < fit.tone.rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      const double off = fit.tone.frequency[at] - std::floor(fit.tone.frequency[at] + 0.5);
      if (std::fabs(off) > kOffGrid * fit.standard_error[at]) return true;
    }
    return false;
  }

  /// A trend over a real signal looks like a tone of less than one period.
  bool is_trend(std::int64_t flat) const { return spectrum_.real && flat == 0; }

  void look_at_peaks() {
    std::vector<std::size_t> order(rest_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t looked = std::min(kMaxPeaks, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(looked), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        const double pa = std::norm(rest_[a]), pb = std::norm(rest_[b]);
                        return pa != pb ? pa > pb : a < b;
                      });
    int failures = 0;
    for (std::size_t i = 0; i < looked && failures < search_.max_failures &&
                            static_cast<std::int64_t>(tones_.size()) < search_.max_tones;
         ++i) {
      const std::size_t peak = order[i];
      const KnownCoefficient& own = spectrum_.known[peak];
      if (std::norm(own.value) < kMinPeak * own.variance) break;
      if (is_trend(own.flat) || std::norm(rest_[peak]) < kExplained * std::norm(own.value)) continue;
      const ToneBins bins = cross(peak);
      if (!is_peak(bins) || !is_evident(bins)) continue;
      const std::optional<ToneFit> fit = fit_tone(grid_, spectrum_.real, bins, search_.good);
      if (!fit || !is_tone(*fit)) {
        failures += fit ? 1 : 0;
        continue;
      }
      tones_.push_back(*fit);
      peaks_.push_back(peak);
      if (search_.max_tones > 1) add(fit->tone, -1);
    }
  }

  void refit() {
    for (std::size_t i = 0; i < tones_.size(); ++i) {
      add(tones_[i].tone, 1);
      const std::optional<ToneFit> fit = fit_tone(grid_, spectrum_.real, cross(peaks_[i]), search_.good);
      if (fit && fit->misfit <= tones_[i].misfit) tones_[i] = *fit;
      add(tones_[i].tone, -1);
    }
  }

  /// Approximate maximum of the kernel's magnitude at this distance along one axis.
  static double falloff(const ToneModel& tone, std::size_t axis, double x) {
    const double n = tone.extents[axis];
    const double apart = std::fabs(x - n * std::floor(x / n + 0.5));
    if (tone.window[axis] == 0) return 1 / std::max(1.0, 2 * apart);
    // Beyond the main lobes of Hann, Hamming and Blackman-Harris windows.
    constexpr double kSideLobes[] = {1, 0.03, 0.03, 1e-3};
    return apart > kToneReach ? kSideLobes[tone.window[axis]] / apart : 1;
  }

  /// Does the same as add() if most of a spectrum is known, with kernels that are products of one row per
  /// axis.
  void add_everywhere(const ToneModel& tone, double sign) {
    std::vector<Complex> rows[2][3];
    for (int side = 0; side <= (tone.real ? 1 : 0); ++side) {
      for (std::size_t d = 0; d < 3; ++d) {
        const double frequency = side == 0 ? tone.frequency[d] : -tone.frequency[d];
        rows[side][d] = tone_kernel_line(kCosineWindow[static_cast<std::size_t>(tone.window[d])],
                                         tone.spacing[d], frequency, std::llround(tone.extents[d]));
      }
    }
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const GridPoint f = coordinates(shape_, spectrum_.known[i].flat);
      Complex product = sign * tone.value, mirrored = std::conj(product);
      for (std::size_t d = 0; d < 3; ++d) {
        const auto at = static_cast<std::size_t>(f[d]);
        product = times(product, rows[0][d][at]);
        if (tone.real) mirrored = times(mirrored, rows[1][d][at]);
      }
      rest_[i] += tone.real ? product + mirrored : product;
    }
  }

  /// Adds `sign` times the tone to the residual, where it makes a difference.
  void add(const ToneModel& tone, double sign) {
    if (2 * static_cast<std::int64_t>(rest_.size()) >= shape_.points()) return add_everywhere(tone, sign);
    constexpr double kMatters = 0.01;
    const double size = std::abs(tone.value);
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const GridPoint f = coordinates(shape_, spectrum_.known[i].flat);
      double largest = size;   // approximate magnitude of the tone there
      double mirrored = size;  // and of its conjugate
      for (int d = 0; d < shape_.rank(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        largest *= falloff(tone, at, tone.frequency[at] - static_cast<double>(f[at]));
        mirrored *= falloff(tone, at, tone.frequency[at] + static_cast<double>(f[at]));
      }
      const double matters = kMatters * std::abs(rest_[i]);
      const bool with_conjugate = spectrum_.real && mirrored >= matters;
      if (largest >= matters || with_conjugate) rest_[i] += sign * tone.at(f, with_conjugate);
    }
  }

  const KnownSpectrum& spectrum_;
  const Shape& shape_;
  const ToneGrid& grid_;
  const ToneSearch search_;
  GridPoint strides_{0, 0, 0};
  std::vector<Complex> rest_;  ///< the known coefficients minus the tones
  std::vector<ToneFit> tones_;
  std::vector<std::size_t> peaks_;  ///< the tones' peaks, as indices of known coefficients
};

}  // namespace

std::vector<ToneFit> find_tones(const KnownSpectrum& spectrum, const ToneGrid& grid,
                                const ToneSearch& search) {
  return LeakageSearch(spectrum, grid, search).run();
}

std::vector<OffGridTone> suspect_leakage(const KnownSpectrum& spectrum) {
  const auto points = static_cast<double>(spectrum.shape.points());
  const std::int64_t max_tones =
      std::clamp(spectrum.shape.points() / kPointsPerTone, kFewestTones, kMaxTones);
  std::vector<OffGridTone> found;
  for (const ToneFit& fit :
       find_tones(spectrum, ToneGrid::whole(spectrum.shape), {max_tones, kMaxFailures})) {
    OffGridTone& tone = found.emplace_back();
    for (std::size_t d = 0; d < static_cast<std::size_t>(spectrum.shape.rank()); ++d) {
      const double n = fit.tone.extents[d];
      tone.frequency[d] = fit.tone.frequency[d] - n * std::floor(fit.tone.frequency[d] / n);
      tone.standard_error[d] = fit.standard_error[d];
    }
    tone.amplitude = fit.tone.value / points;
  }
  return found;
}

}  // namespace sfft::detail
