// SPDX-License-Identifier: Apache-2.0
// Fits tones to the spectrum of one coarse grid, then compares each with the spectra of delayed grids.
#include "template/discovery/tone_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/base/math/smooth.hpp"
#include "template/data/template_data.hpp"
#include "template/discovery/leakage.hpp"
#include "template/discovery/round.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

/// Points of the coarse grid: enough to separate twenty tones, few compared with signals that are worth the
/// search.
constexpr double kCoarsePoints = 1024, kCoarsePointsOfVolume = 2048;
constexpr std::int64_t kShareOfSignal = 8;
/// The number of points along an axis may differ from the ideal by this factor.
constexpr double kSlack = 1.45;
/// Largest ratio of one delay to the previous one along an axis: phases are known to a fraction of a turn.
constexpr double kLadderStep = 16;
/// The strongest tone usually suffices; a second attempt fits several.
constexpr double kGood = 0.003;
constexpr ToneSearch kFirstSearch{.max_tones = 1, .max_failures = 2, .good = kGood};
constexpr ToneSearch kSecondSearch{.max_tones = 3, .max_failures = 8, .good = kGood};
/// Minimum distances of a frequency from the grid, in standard errors. If the coarse grid is not exact, tones
/// on the grid leak into each other's bins, which shifts them by more than a fit of one tone can detect. Such
/// grids therefore also require a minimum distance in bins.
constexpr double kOffGridErrors = 5, kOffGridInexact = 8, kMayBeOff = 2;
constexpr double kFarOff = 0.05, kFarOffOfPlane = 0.1, kFarOffBeside = 0.03;
/// Power that a tone may leave in a delayed spectrum, as a share of the power next to its peak there; and the
/// allowed difference between its value and the expected one, as a share of its magnitude and in standard
/// errors of the noise.
constexpr double kMayMisfit = 0.15, kMayDiffer = 0.25, kNoiseErrors = 3;

/// Leakage into more than this number times the square root of the signal's points is not sparse.
constexpr double kManyRoots = 8;

struct CoarseGrid {
  Shape shape{1};  ///< M_d points
  GridPoint points{1, 1, 1}, strides{1, 1, 1};
  bool exact = true;  ///< strides divide the extents: frequencies of the grid are bins
  std::vector<GridPoint> delays;
  struct Rung {
    std::size_t delay;
    std::int64_t step;
  };
  std::array<std::vector<Rung>, 3> rungs;
};

/// A smooth number of points near `target` that divides the extent or, with a stride, nearly covers it.
std::int64_t points_along(std::int64_t extent, double target) {
  constexpr std::int64_t kLargestPrime = 7;
  const auto fewest = static_cast<std::int64_t>(std::ceil(target / kSlack));
  const std::int64_t max = std::min(extent, static_cast<std::int64_t>(target * kSlack));
  std::int64_t best = 1;
  double best_score = std::numeric_limits<double>::infinity();
  for (std::int64_t points = std::max<std::int64_t>(1, fewest); points <= max; ++points) {
    const double left = static_cast<double>(extent % points) / static_cast<double>(extent);
    const double score =
        (left > 0 ? 1 + 20 * left : 0) + 0.3 * std::fabs(std::log2(static_cast<double>(points) / target));
    if (score >= best_score || !is_smooth(points, kLargestPrime)) continue;
    best_score = score;
    best = points;
  }
  return best;
}

CoarseGrid coarse_grid(const Shape& shape) {
  CoarseGrid grid;
  const int rank = shape.rank();
  double left = std::min(rank > 2 ? kCoarsePointsOfVolume : kCoarsePoints,
                         static_cast<double>(shape.points() / kShareOfSignal));
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return shape[a] < shape[b]; });
  grid.delays.push_back({0, 0, 0});
  for (int i = 0; i < rank; ++i) {
    const auto d = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
    const std::int64_t extent = shape[static_cast<int>(d)];
    const double target = std::max(1.0, std::pow(left, 1.0 / (rank - i)));
    grid.points[d] = points_along(extent, std::min(target, static_cast<double>(extent)));
    grid.strides[d] = extent / grid.points[d];
    grid.exact = grid.exact && extent % grid.points[d] == 0;
    left /= static_cast<double>(grid.points[d]);
    const auto stride = static_cast<double>(grid.strides[d]);
    const double rungs = std::ceil(std::log(stride) / std::log(kLadderStep));
    const auto ratio = static_cast<std::int64_t>(std::ceil(std::pow(stride, 1 / std::max(1.0, rungs))));
    std::int64_t step = 1;
    for (int rung = 0; rung < static_cast<int>(rungs) && step < grid.strides[d]; ++rung, step *= ratio) {
      grid.rungs[d].push_back({grid.delays.size(), step});
      grid.delays.push_back({0, 0, 0});
      grid.delays.back()[d] = step;
    }
  }
  // Delays along all axes at once, which only check the tones.
  const int checks = grid.exact ? 1 : 2;
  for (int i = 1; i <= checks; ++i) {
    constexpr double kGolden = 0.6180339887;
    GridPoint delay{0, 0, 0};
    for (std::size_t d = 0; d < 3; ++d) {
      const double share = kGolden * i - std::floor(kGolden * i);
      delay[d] = static_cast<std::int64_t>(share * static_cast<double>(grid.strides[d]));
    }
    grid.delays.push_back(delay);
  }
  std::vector<std::int64_t> extents(grid.points.begin(), grid.points.begin() + rank);
  grid.shape = Shape(std::span<const std::int64_t>(extents));
  return grid;
}

template <class Real>
class OffGridSearch {
 public:
  explicit OffGridSearch(DiscoverySampler<Real>& sampler)
      : sampler_(sampler), whole_(sampler.shape()), coarse_(coarse_grid(whole_)) {
    grid_.rank = whole_.rank();
    for (std::size_t d = 0; d < static_cast<std::size_t>(whole_.rank()); ++d) {
      grid_.points[d] = static_cast<double>(coarse_.points[d]);
      grid_.stride[d] = static_cast<double>(coarse_.strides[d]);
      grid_.extent[d] = static_cast<double>(whole_[static_cast<int>(d)]);
    }
  }

  OffGridFinding run(std::int64_t max_samples) {
    constexpr std::int64_t kFewest = 64;
    const std::int64_t points = coarse_.shape.points();
    if (points < kFewest || points * static_cast<std::int64_t>(coarse_.delays.size()) > max_samples)
      return {};
    read();
    const std::vector<KnownCoefficient> known = first_spectrum();
    if (known.empty()) return {};
    OffGridFinding finding;
    for (ToneSearch search : {kFirstSearch, kSecondSearch}) {
      search.any_frequency = !coarse_.exact;
      const auto fits = find_tones({coarse_.shape, sampler_.real(), known, 0}, grid_, search);
      std::vector<OffGridTone> tones;
      for (const ToneFit& fit : fits) {
        const std::optional<OffGridTone> tone = confirm(fit);
        if (!tone) continue;
        const double coefficients = leaked(*tone);
        if (coefficients > 1 || fit.tone.windowed()) tones.push_back(*tone);
        finding.everywhere =
            finding.everywhere ||
            coefficients * coefficients > kManyRoots * kManyRoots * static_cast<double>(whole_.points());
      }
      if (!tones.empty()) finding.tones = std::move(tones);
      if (finding.everywhere) break;
    }
    return finding;
  }

 private:
  void read() {
    const BucketValues<Real> values = sampler_.comb(coarse_.points, coarse_.delays);
    spectra_.resize(coarse_.delays.size());
    for (std::size_t j = 0; j < spectra_.size(); ++j) {
      spectra_[j].resize(static_cast<std::size_t>(values.buckets));
      for (std::int64_t b = 0; b < values.buckets; ++b)
        spectra_[j][static_cast<std::size_t>(b)] = values.at(b, static_cast<std::int64_t>(j));
    }
  }

  /// All coefficients of the grid without delay, one of each conjugate pair. Their noise is estimated from a
  /// low quantile and is at least that of rounding.
  std::vector<KnownCoefficient> first_spectrum() {
    constexpr double kQuantile = 0.3, kExponential = 0.357;  // the quantile of a unit exponential
    const std::vector<Complex>& first = spectra_.front();
    std::vector<double> power;
    power.reserve(first.size());
    double total = 0;
    for (const Complex& value : first) {
      power.push_back(std::norm(value));
      total += power.back();
    }
    if (!std::isfinite(total) || !(total > 0)) return {};
    const auto low =
        power.begin() + static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(power.size()));
    std::nth_element(power.begin(), low, power.end());
    const double rounding = kRoundingShare * std::numeric_limits<Real>::epsilon();
    noise_ = std::max(*low / kExponential, rounding * rounding * total);
    std::vector<KnownCoefficient> known;
    known.reserve(first.size());
    for (std::size_t f = 0; f < first.size(); ++f) {
      const auto flat = static_cast<std::int64_t>(f);
      if (!sampler_.real() || flat <= conjugate_index(coarse_.shape, flat))
        known.push_back({flat, first[f], noise_});
    }
    return known;
  }

  /// A tone as a delayed spectrum shows it, at its peak and next to it.
  struct Seen {
    Complex value;
    bool agrees = false;
  };

  /// A tone's kernels along every axis around its peak.
  struct Rows {
    int reach[3] = {0, 0, 0};
    Complex kernel[3][2 * kToneReach + 1];
  };
  void fill(Rows& rows, const ToneModel& tone, std::size_t d, std::int64_t peak, std::int64_t delay) const {
    rows.reach[d] = static_cast<int>(std::min<std::int64_t>(kToneReach, (coarse_.points[d] - 1) / 2));
    const double n = tone.extents[d];
    tone_kernels(kCosineWindow[static_cast<std::size_t>(tone.window[d])], tone.spacing[d],
                 tone.frequency[d] - static_cast<double>(peak), n, rows.reach[d], &rows.kernel[d][kToneReach],
                 tone.spacing[d] * static_cast<double>(delay) / (n * grid_.stride[d]));
  }

  Seen see(const Rows& rows, const GridPoint& peak, std::size_t delay) const {
    Complex product = 0;
    double kernel_power = 0, power = 0, sides = 0;
    int count = 0;
    const auto add = [&](int axis, int step) {
      Complex kernel = 1;
      std::int64_t flat = 0;
      for (int d = 0; d < grid_.rank; ++d) {
        const auto at = static_cast<std::size_t>(d);
        const int own = d == axis ? step : 0;
        kernel = times(kernel, rows.kernel[at][kToneReach + own]);
        flat = flat * coarse_.points[at] + floor_mod(peak[at] + own, coarse_.points[at]);
      }
      const Complex y = spectra_[delay][static_cast<std::size_t>(flat)];
      product += times_conj(y, kernel);
      kernel_power += std::norm(kernel);
      power += std::norm(y);
      sides += step != 0 ? std::norm(y) : 0;
      ++count;
    };
    add(0, 0);
    for (int d = 0; d < grid_.rank; ++d) {
      for (int step = 1; step <= rows.reach[static_cast<std::size_t>(d)]; ++step) {
        add(d, step);
        add(d, -step);
      }
    }
    Seen seen;
    seen.value = product / kernel_power;
    const double misfit = power - std::norm(product) / kernel_power;
    seen.agrees = misfit <= kMayMisfit * sides + 2 * count * noise_;
    return seen;
  }

  /// The tone with its frequency in the whole spectrum, if every delay shows it with the same size and
  /// leakage and with the phase of that frequency.
  std::optional<OffGridTone> confirm(const ToneFit& fit) const {
    GridPoint peak{0, 0, 0};
    for (std::size_t d = 0; d < 3; ++d) peak[d] = std::llround(fit.tone.frequency[d]);
    Rows whole;
    for (std::size_t d = 0; d < static_cast<std::size_t>(grid_.rank); ++d)
      fill(whole, fit.tone, d, peak[d], 0);
    std::vector<Complex> values;
    for (std::size_t j = 0; j < spectra_.size(); ++j) {
      Rows rows = whole;
      for (std::size_t d = 0; d < static_cast<std::size_t>(grid_.rank); ++d) {
        if (coarse_.delays[j][d] > 0 && fit.tone.window[d] > 0)
          fill(rows, fit.tone, d, peak[d], coarse_.delays[j][d]);
      }
      const Seen seen = see(rows, peak, j);
      values.push_back(seen.value);
      if (j > 0 && !seen.agrees) return std::nullopt;
    }
    OffGridTone tone;
    for (std::size_t d = 0; d < static_cast<std::size_t>(grid_.rank); ++d) {
      const double within = fit.tone.frequency[d] / grid_.points[d];  // turns from one point to the next
      double turns = 0;                                               // from one sample to the next
      const auto phase_at = [&](const CoarseGrid::Rung& rung) {
        const Complex z = times_conj(values[rung.delay], values.front());
        return std::atan2(z.imag(), z.real()) / (2 * std::numbers::pi);
      };
      for (const CoarseGrid::Rung& rung : coarse_.rungs[d]) {
        const auto step = static_cast<double>(rung.step);
        const double seen = phase_at(rung);
        turns = rung.step == 1 ? seen : (std::floor(step * turns - seen + 0.5) + seen) / step;
      }
      const double alias = std::floor(turns * grid_.stride[d] - within + 0.5);
      turns = (within + alias) / grid_.stride[d];
      tone.frequency[d] = (turns - std::floor(turns)) * grid_.extent[d];
      tone.standard_error[d] = fit.standard_error[d] * grid_.extent[d] / (grid_.stride[d] * grid_.points[d]);
    }
    const double size = std::abs(values.front());
    const double may_differ = kMayDiffer * size + kNoiseErrors * std::sqrt(noise_);
    for (std::size_t j = 1; j < values.size(); ++j) {
      double turns = 0;
      for (std::size_t d = 0; d < static_cast<std::size_t>(grid_.rank); ++d)
        turns += tone.frequency[d] / grid_.extent[d] * static_cast<double>(coarse_.delays[j][d]);
      const Complex expected = times(values.front(), root_of_turns(turns));
      if (!(std::abs(values[j] - expected) <= may_differ)) return std::nullopt;
    }
    tone.amplitude = fit.tone.value / static_cast<double>(coarse_.shape.points());
    return tone;
  }

  /// Approximate number of coefficients that the tone leaks into: the product of the extents of the axes
  /// along which it may lie between bins. 1 unless it certainly lies between bins along one axis.
  double leaked(const OffGridTone& tone) const {
    const double errors = coarse_.exact ? kOffGridErrors : kOffGridInexact;
    bool certain = false;
    double coefficients = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(grid_.rank); ++d) {
      const bool divides = grid_.stride[d] * grid_.points[d] == grid_.extent[d];
      const double far = coarse_.exact    ? 0
                         : divides        ? kFarOffBeside
                         : grid_.rank > 1 ? kFarOffOfPlane
                                          : kFarOff;
      const double off = std::fabs(tone.frequency[d] - std::floor(tone.frequency[d] + 0.5));
      certain = certain || off > std::max(far, errors * tone.standard_error[d]);
      if (off > kMayBeOff * tone.standard_error[d]) coefficients *= grid_.extent[d];
    }
    return certain ? coefficients : 1;
  }

  DiscoverySampler<Real>& sampler_;
  const Shape& whole_;
  CoarseGrid coarse_;
  ToneGrid grid_;
  std::vector<std::vector<Complex>> spectra_;  ///< one per delay
  double noise_ = 0;                           ///< E|X|² of noise at one bin
};

}  // namespace

template <class Real>
OffGridFinding find_off_grid_tones(DiscoverySampler<Real>& sampler, std::int64_t max_samples) {
  return OffGridSearch<Real>(sampler).run(max_samples);
}

template OffGridFinding find_off_grid_tones<float>(DiscoverySampler<float>&, std::int64_t);
template OffGridFinding find_off_grid_tones<double>(DiscoverySampler<double>&, std::int64_t);

}  // namespace sfft::detail
