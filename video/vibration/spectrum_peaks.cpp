// SPDX-License-Identifier: Apache-2.0
// Removes the highest line from the series, and repeats this with the residual. At the end each line is
// fitted again with all others removed.
#include "video/vibration/spectrum_peaks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "kernels/base/math/quantiles.hpp"
#include "sfft/dense.hpp"
#include "video/vibration/line_fit.hpp"

namespace sfft::video {

namespace {

using Complex = std::complex<double>;
using Channels = std::vector<std::vector<double>>;

class Search {
 public:
  Search(std::span<const std::vector<double>> channels, const PeakOptions& options)
      : options_(options),
        left_(channels.begin(), channels.end()),
        n_(channels[0].size()),
        length_(std::bit_ceil(4 * n_)),
        padding_(static_cast<double>(length_) / static_cast<double>(n_)),
        taper_(n_, options.present),
        plan_(Shape(static_cast<std::int64_t>(length_)), Domain::real) {
    first_ = static_cast<std::size_t>(std::ceil(options.min_periods * padding_));
    last_ = length_ / 2 - static_cast<std::size_t>(0.5 * padding_);
    const double bins = static_cast<double>(last_ - first_) / static_cast<double>(length_);
    band_ = {static_cast<int>(channels.size()), bins * taper_.effective_samples()};
  }

  PeakSearch run() {
    transform();
    describe();
    masked_.assign(length_ / 2 + 1, false);
    while (lines_.size() < options_.max && (take_highest() || take_expected())) transform();
    refine();
    transform();  // spectra of the residual, for the noise near the lines
    for (std::size_t i = 0; i < lines_.size(); ++i) report(i);
    std::ranges::stable_sort(result_.peaks, std::ranges::greater{}, &Peak::height);
    return std::move(result_);
  }

 private:
  double omega(std::size_t bin) const {
    return 2 * std::numbers::pi * static_cast<double>(bin) / static_cast<double>(length_);
  }

  /// Computes spectra and noise floors of the residual.
  void transform() {
    spectra_.assign(left_.size(), {});
    powers_.assign(left_.size(), {});
    floors_.clear();
    std::vector<double> tapered(length_);
    for (std::size_t c = 0; c < left_.size(); ++c) {
      for (std::size_t i = 0; i < n_; ++i) tapered[i] = left_[c][i] * taper_.weight[i];
      std::fill(tapered.begin() + static_cast<std::ptrdiff_t>(n_), tapered.end(), 0.0);
      spectra_[c].resize(plan_.spectrum_points());
      plan_.forward(SignalView::line(tapered), spectra_[c]);
      for (const Complex& value : spectra_[c]) powers_[c].push_back(std::norm(value) / taper_.squares);
      floors_.push_back(noise_floor(powers_[c], padding_, first_, last_));
      for (double& power : floors_.back().power)
        power = std::max(power, options_.min_noise * options_.min_noise);
    }
  }

  double height(std::size_t bin) const {
    double sum = 0;
    for (std::size_t c = 0; c < left_.size(); ++c) {
      if (floors_[c].power[bin] > 0) sum += powers_[c][bin] / floors_[c].power[bin];
    }
    return sum;
  }

  /// The channels' floors are independent estimates, so their degrees of freedom add up.
  double degrees(std::size_t bin) const {
    double sum = 0;
    for (const NoiseFloor& floor : floors_) sum += floor.degrees[bin];
    return sum;
  }

  /// Stores what the summary and the plots need about the original series.
  void describe() {
    result_.searched = true;
    result_.lowest_hz = options_.rate_hz * static_cast<double>(first_) / static_cast<double>(length_);
    result_.resolution_hz = kApart * options_.rate_hz / static_cast<double>(n_);
    const double to_amplitude = 2 / taper_.sum;
    for (std::size_t bin = 0; bin <= length_ / 2; ++bin)
      result_.frequency_hz.push_back(options_.rate_hz * static_cast<double>(bin) /
                                     static_cast<double>(length_));
    for (std::size_t c = 0; c < left_.size(); ++c) {
      auto& amplitude = result_.amplitude.emplace_back(spectra_[c]);
      for (Complex& value : amplitude) value *= to_amplitude;
      auto& noise = result_.noise_amplitude.emplace_back();
      for (const double power : floors_[c].power)
        noise.push_back(std::sqrt(power * taper_.squares) * to_amplitude);
    }
    std::vector<double> squares, limits;
    for (std::size_t bin = first_; bin <= last_; ++bin) {
      double sum = 0;
      for (const auto& noise : result_.noise_amplitude) sum += noise[bin] * noise[bin];
      squares.push_back(sum);
    }
    result_.noise = std::sqrt(detail::median(std::move(squares), 0));
    const double b = degrees((first_ + last_) / 2);
    result_.detectable = result_.noise / std::sqrt(static_cast<double>(left_.size())) *
                         std::sqrt(significant_height(options_.false_alarm_probability, b, band_));
  }

  /// Whether `bin` is only in the skirt of a removed line. It is closer than lines can be separated, or it is
  /// near and much weaker, like the residual of an oscillation that is not quite steady.
  bool in_a_skirt(std::size_t bin) const {
    for (const Oscillation& line : lines_) {
      const double apart =
          std::abs(omega(bin) - line.omega) * static_cast<double>(n_) / (2 * std::numbers::pi);
      if (apart < kApart) return true;
      if (apart > kSkirt) continue;
      double strong = 0;
      double weak = 0;
      for (std::size_t c = 0; c < left_.size(); ++c) {
        strong += std::norm(line.amplitude[c]);
        weak += powers_[c][bin] * taper_.squares * 4 / (taper_.sum * taper_.sum);
      }
      if (weak < 0.01 * strong) return true;
    }
    return false;
  }

  bool take_highest() {
    const std::size_t best = highest(first_, last_);
    if (best == 0) return false;
    const double probability = false_alarm_probability(height(best), degrees(best), band_);
    if (!(probability <= options_.false_alarm_probability)) return false;
    take(best, probability);
    return true;
  }

  /// Removes the highest line near one of the expected frequencies, if there is one.
  bool take_expected() {
    const auto number = static_cast<double>(options_.expected_hz.size());
    const auto reach = static_cast<std::size_t>(std::ceil(kExpectedReach * padding_));
    const double bins = 2 * static_cast<double>(reach) / static_cast<double>(length_);
    const SearchedBand band{band_.channels, bins * taper_.effective_samples()};
    for (const double hz : options_.expected_hz) {
      const double at = hz / options_.rate_hz * static_cast<double>(length_);
      if (!(at > 1 && at < static_cast<double>(length_ / 2))) continue;
      const auto bin = static_cast<std::size_t>(std::lround(at));
      const std::size_t low = std::max(first_, bin - std::min(bin, reach + 1));
      const std::size_t best = low < last_ ? highest(low, std::min(last_, bin + reach + 1)) : 0;
      if (best == 0) continue;
      const double probability =
          std::min(1.0, number * false_alarm_probability(height(best), degrees(best), band));
      if (!(probability <= options_.false_alarm_probability)) continue;
      take(best, probability);
      return true;
    }
    return false;
  }

  /// The highest local maximum between two bins that does not belong to a removed line; 0 if there is none. A
  /// maximum at an end does not count: it is the slope of something outside.
  std::size_t highest(std::size_t low, std::size_t high) const {
    std::size_t best = 0;
    double max = 0;
    double before = height(low);
    double here = height(low + 1);
    for (std::size_t bin = low + 1; bin < high; ++bin) {
      const double after = height(bin + 1);
      if (here > max && here >= before && here >= after && !masked_[bin] && !in_a_skirt(bin)) {
        max = here;
        best = bin;
      }
      before = here;
      here = after;
    }
    return best;
  }

  void take(std::size_t bin, double probability) {
    const std::vector<double> noise = floor_at(bin);
    const double natural = 2 * std::numbers::pi / static_cast<double>(n_);
    heights_.push_back(height(bin));
    bins_.push_back(bin);
    probabilities_.push_back(probability);
    lines_.push_back(best_oscillation(omega(bin), natural, left_, noise, taper_));
    add(lines_.back(), -1, left_);
    const auto near = static_cast<std::size_t>(kApart * padding_ / 2);
    for (std::size_t i = bin - std::min(bin, near); i <= std::min(bin + near, last_); ++i) masked_[i] = true;
  }

  std::vector<double> floor_at(std::size_t bin) const {
    std::vector<double> noise;
    for (const NoiseFloor& floor : floors_) noise.push_back(std::max(floor.power[bin], kMinPower));
    return noise;
  }

  /// Fits each line again with all others removed. With each sweep the others disturb it less.
  void refine() {
    const double natural = 2 * std::numbers::pi / static_cast<double>(n_);
    constexpr int kSweeps = 2;
    for (int sweep = 0; sweep < kSweeps && lines_.size() > 1; ++sweep) {
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        add(lines_[i], 1, left_);
        lines_[i] = best_oscillation(lines_[i].omega, 0.5 * natural, left_, floor_at(bins_[i]), taper_);
        add(lines_[i], -1, left_);
      }
    }
  }

  double floor_ratio(std::size_t bin) const {
    double sum = 0;
    for (const auto& noise : result_.noise_amplitude) sum += noise[bin] * noise[bin];
    return result_.noise > 0 ? std::sqrt(sum) / result_.noise : 1;
  }

  /// Noise power per channel for the errors of a line at `bin`. An unsteady line leaves a residual at its
  /// frequency and around it, which counts as noise. The fit of a steady line also removes the noise at its
  /// frequency, so the mean around it is used if that is larger. The mean of few bins is uncertain: errors
  /// relative to it follow Student's t, whose variance is degrees / (degrees - 2).
  std::vector<double> noise_around(std::size_t bin) const {
    const auto reach = static_cast<std::size_t>(kSkirt / 2 * padding_);
    const auto taken = static_cast<std::size_t>(kApart / 2 * padding_);
    const std::size_t low = std::max(first_, bin - std::min(bin, reach));
    const std::size_t high = std::min(last_, bin + reach);
    std::vector<double> noise = floor_at(bin);
    for (std::size_t c = 0; c < left_.size(); ++c) {
      double everywhere = 0;
      double around = 0;
      double count = 0;
      for (std::size_t i = low; i <= high; ++i) {
        everywhere += powers_[c][i];
        if (i + taken > bin && i < bin + taken) continue;
        around += powers_[c][i];
        ++count;
      }
      if (count == 0) continue;
      const double mean = std::max(everywhere / static_cast<double>(high - low + 1), around / count);
      const double degrees = std::max(3.0, 2 * count / padding_ / kHannCost);
      noise[c] = std::max(noise[c], mean * degrees / (degrees - 2));
    }
    return noise;
  }

  void report(std::size_t index) {
    const Oscillation& line = lines_[index];
    const std::size_t bin = bins_[index];
    Peak peak;
    const std::vector<double> noise = noise_around(bin);
    const double hz = options_.rate_hz / (2 * std::numbers::pi);
    peak.frequency_hz = line.omega * hz;
    peak.frequency_error_hz = omega_error(line, noise, taper_) * hz;
    peak.amplitude = line.amplitude;
    for (const double power : noise) peak.amplitude_error.push_back(amplitude_error(power, taper_));
    peak.height = heights_[index];
    peak.false_alarm_probability = probabilities_[index];
    peak.floor_ratio = floor_ratio(bin);
    result_.peaks.push_back(std::move(peak));
  }

  static constexpr double kMinPower = 1e-300;
  static constexpr double kApart = 3;            ///< width of a tapered line in 1/T
  static constexpr double kSkirt = 12;           ///< reach of the skirts of a line in 1/T
  static constexpr double kExpectedReach = 1.5;  ///< max. distance from an expected frequency, in 1/T

  const PeakOptions& options_;
  Channels left_;
  std::size_t n_, length_;
  double padding_;
  Taper taper_;
  dense::Plan<double> plan_;
  std::size_t first_ = 0, last_ = 0;
  SearchedBand band_;
  std::vector<std::vector<Complex>> spectra_;
  std::vector<std::vector<double>> powers_;
  std::vector<NoiseFloor> floors_;
  std::vector<bool> masked_;
  std::vector<Oscillation> lines_;
  std::vector<double> heights_, probabilities_;
  std::vector<std::size_t> bins_;
  PeakSearch result_;
};

}  // namespace

PeakSearch find_peaks(std::span<const std::vector<double>> channels, const PeakOptions& options) {
  if (channels.empty() || channels[0].size() < kMinSamples) return {};
  return Search(channels, options).run();
}

}  // namespace sfft::video
