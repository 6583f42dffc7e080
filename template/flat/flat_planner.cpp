// SPDX-License-Identifier: Apache-2.0
// Lists numbers of lines and buckets in order of predicted time, draws lines for each in turn, and takes the
// first draw whose rows have low enough noise. Fixed limits on the work make the result reproducible.
#include "template/flat/flat_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "template/data/template_data.hpp"
#include "template/flat/flat_recovery.hpp"

namespace sfft::detail {

namespace {

/// Taps per bucket. Two keep nearly all information in the taps; three double the rows' noise gain.
constexpr std::int64_t kAliasing = 2;
/// Taps per frequency present, over all lines.
constexpr double kTapsPerMember[] = {6, 7, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr std::int64_t kDelays[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
/// More windowed lines make rows longer without benefit, unless the lines are too short to hold the
/// frequencies.
constexpr std::int64_t kMaxWindowedDelays = 4;
/// Limit on the frequencies in the range of a row, on average over the circle, per dimension of the row.
constexpr double kMaxLoad = 0.62;
/// Limits on the noise of rows, relative to the minimum for their number of samples: for each row and for the
/// mean.
constexpr double kMaxGain = 150;
constexpr double kMeanGain = 5;
/// Fewer probes than this do not determine the tail.
constexpr std::int64_t kMinProbes = 24;
/// A line that covers a whole period is transformed at its own length; longer ones than this do not pay off.
constexpr std::int64_t kLongestPeriod = 1 << 15;

struct Candidate {
  std::int64_t delays, buckets, taps, row_buckets;
  bool full_period;
  double us;
};

/// Fitted to medians of the stages over warm and cold frames on one core of an x86-64 server with AVX-512, N
/// = 2^16 to 2^24.
double cost_us(double points, bool real, double taps, double buckets, double lanes, double rows, double run) {
  const double frame_bytes = points * (real ? 1 : 8);
  // Cost of a sample in the L2 cache, the L3 cache or memory.
  const double tap_ns = 0.4 + (frame_bytes < 0.75e6 ? 0.1 : frame_bytes < 16e6 ? 2 : 5);
  const double fft_ns = 0.08 * buckets * lanes * std::log2(std::max(buckets, 2.0));
  // Rows are padded to whole vectors.
  const double row_ns = 1 + 0.07 * std::ceil(run / 16) * 16 * (real ? 2 : 1);
  return 1e-3 * (100 + taps * tap_ns + fft_ns + rows * row_ns);
}

/// The smallest n >= at_least with factors 2, 3, 5, 7 only; if n > 16, its odd part is at most 15.
std::int64_t fast_size(std::int64_t at_least) {
  for (std::int64_t n = at_least;; ++n) {
    std::int64_t odd = n;
    while (odd % 2 == 0) odd /= 2;
    if (n > 16 && odd > 15) continue;
    for (const std::int64_t prime : {3, 5, 7}) {
      while (odd % prime == 0) odd /= prime;
    }
    if (odd == 1) return n;
  }
}

class FlatSearch {
 public:
  FlatSearch(const Shape& shape, bool real, std::span<const std::int64_t> support, const FlatOptions& options)
      : shape_(shape),
        real_(real),
        options_(options),
        k_(static_cast<std::int64_t>(support.size())),
        kaiser_(KaiserWindow::for_leakage(options.leakage)),
        period_(line_period(shape)),
        source_(shape, options.seed) {
    for (std::int64_t i = 0; i < k_; ++i) {
      const std::int64_t flat = support[static_cast<std::size_t>(i)];
      members_.push_back({coordinates(shape, flat), i});
      if (!real) continue;
      const std::int64_t mirrored = conjugate_index(shape, flat);
      if (mirrored == flat) {
        self_conjugate_.push_back(i);
      } else {
        members_.push_back({coordinates(shape, mirrored), -1});
      }
    }
    row_buckets_ = 2 * static_cast<std::int64_t>(std::lround(1.17 * kaiser_.half_width / kAliasing));
  }

  FlatPlanResult plan() {
    list_candidates();
    FlatPlanResult result;
    if (candidates_.empty()) {
      result.reason = fmt::format("{} frequencies need more samples than {}", member_count(), max_samples());
      return result;
    }
    // Work is counted, not timed, because the same arguments must give the same plan.
    std::int64_t rows_left = 5000 + 4 * k_;
    int lines_tried = 0;
    for (const Candidate& candidate : candidates_) {
      // With many frequencies all draws of lines are alike.
      const int attempts = k_ < 100 ? 4 : 2;
      for (int attempt = 0; attempt < attempts && rows_left > 0; ++attempt) {
        ++lines_tried;
        if (take(draw(candidate), candidate, rows_left, result)) return result;
      }
    }
    result.reason = fmt::format("no line among {} separates the {} frequencies within {} samples",
                                lines_tried, member_count(), max_samples());
    return result;
  }

  FlatPlanResult rebuild(const FlatDecision& decision) {
    FlatPlanResult result;
    const std::int64_t taps = decision.full_period ? period_ : decision.buckets * kAliasing;
    const Candidate candidate{static_cast<std::int64_t>(decision.delays.size()), decision.buckets,     taps,
                              decision.full_period ? 1 : row_buckets_,           decision.full_period, 0};
    const bool fits = decision.full_period ? decision.buckets == period_ && period_ <= kLongestPeriod
                                           : decision.buckets >= min_buckets() && taps < period_;
    if (!fits || candidate.delays < 1 || candidate.delays > max_samples() / taps) {
      result.reason = "its lines are too long or too short";
      return result;
    }
    std::int64_t rows_left = k_;
    const FlatLines lines{decision.sigma, decision.delays,       candidate.buckets,
                          candidate.taps, candidate.row_buckets, candidate.full_period};
    if (!take(lines, candidate, rows_left, result))
      result.reason = "its lines do not separate the frequencies";
    return result;
  }

 private:
  /// True if these lines make a plan; `result` then holds it.
  bool take(const FlatLines& lines, const Candidate& candidate, std::int64_t& rows_left,
            FlatPlanResult& result) const {
    FlatRecovery recovery(shape_, members_, kaiser_, lines);
    if (!quiet(recovery, candidate, rows_left)) return false;
    result.data = build(recovery, candidate);
    if (result.data.probes() < min_probes()) return false;
    result.data.samples = count_samples(shape_, recovery.lines());
    result.ok = true;
    return true;
  }

  std::int64_t min_buckets() const {
    return std::max(row_buckets_ + 2, static_cast<std::int64_t>(1.25 * kaiser_.half_width));
  }
  std::int64_t member_count() const { return static_cast<std::int64_t>(members_.size()); }
  std::int64_t max_samples() const {
    return options_.max_samples > 0 ? options_.max_samples : std::numeric_limits<std::int64_t>::max();
  }
  /// A spectrum with few frequencies outside the template cannot have many independent probes.
  std::int64_t min_probes() const {
    return std::min(kMinProbes, (shape_.points() - member_count()) / (real_ ? 2 : 1));
  }
  std::int64_t wanted_probes() const { return std::clamp<std::int64_t>(k_ / 4, 32, 128); }

  void add(Candidate candidate) {
    const double taps = static_cast<double>(candidate.delays) * static_cast<double>(candidate.taps);
    if (taps > static_cast<double>(max_samples())) return;
    if (options_.total_gain > 0 && 2 * static_cast<double>(k_) / taps > options_.total_gain) return;
    const std::int64_t lanes = real_ ? (candidate.delays + 1) / 2 : candidate.delays;
    candidate.us =
        cost_us(static_cast<double>(shape_.points()), real_, taps, static_cast<double>(candidate.buckets),
                static_cast<double>(lanes), static_cast<double>(k_ + wanted_probes()),
                static_cast<double>(candidate.row_buckets * lanes));
    candidates_.push_back(candidate);
  }

  void list_candidates() {
    const auto present = static_cast<double>(member_count());
    const std::int64_t min = min_buckets();
    const double zone = static_cast<double>((row_buckets_ - 1) * kAliasing) + 2 * kaiser_.half_width;
    const bool long_enough = 12 * member_count() / kMaxWindowedDelays < period_;
    for (const std::int64_t delays : kDelays) {
      for (const double ratio : kTapsPerMember) {
        if (long_enough && delays > kMaxWindowedDelays) break;
        const double wanted =
            std::max(ratio * present / static_cast<double>(delays * kAliasing), static_cast<double>(min));
        if (wanted > static_cast<double>(period_)) break;
        const std::int64_t buckets = fast_size(static_cast<std::int64_t>(std::ceil(wanted)));
        if (buckets * kAliasing >= period_) break;
        const double load = 1 + present / static_cast<double>(buckets * kAliasing) * zone;
        if (load > kMaxLoad * static_cast<double>(row_buckets_ * delays)) continue;
        add({delays, buckets, buckets * kAliasing, row_buckets_, false, 0});
      }
      const std::int64_t cosets = shape_.points() / period_;
      if (period_ <= kLongestPeriod && delays <= cosets && delays * period_ >= member_count()) {
        add({delays, period_, period_, 1, true, 0});
      }
      if (period_ <= kLongestPeriod && cosets <= 64 && delays == 1)
        add({cosets, period_, period_, 1, true, 0});
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.us < b.us; });
  }

  FlatLines draw(const Candidate& candidate) {
    FlatLines lines{{}, {}, candidate.buckets, candidate.taps, candidate.row_buckets, candidate.full_period};
    source_.draw(candidate.delays, lines);
    return lines;
  }

  /// Whether the noise of each row, and of all together, stays below the limits.
  bool quiet(FlatRecovery& recovery, const Candidate& candidate, std::int64_t& rows_left) const {
    const double samples = static_cast<double>(candidate.delays) * static_cast<double>(candidate.taps);
    double budget = kMeanGain * static_cast<double>(k_) / samples;
    if (options_.total_gain > 0) budget = std::min(budget, options_.total_gain);
    double sum = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].coefficient < 0) continue;
      --rows_left;
      const double gain = recovery.gain(i);
      sum += gain;
      if (!(gain <= kMaxGain / samples && sum <= budget)) return false;
    }
    return true;
  }

  FlatPlanData build(FlatRecovery& recovery, const Candidate& candidate) const {
    FlatPlanData data;
    data.shape = shape_;
    data.real = real_;
    data.sigma = recovery.lines().sigma;
    data.delays = recovery.lines().delays;
    data.buckets = candidate.buckets;
    data.window = recovery.window();
    data.row_buckets = candidate.row_buckets;
    data.self_conjugate = self_conjugate_;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].coefficient >= 0) recovery.append_row(i, data);
    }
    add_probes(recovery, candidate, data);
    return data;
  }

  /// Spreads the probes around the circle; half of it suffices for a real frame.
  void add_probes(FlatRecovery& recovery, const Candidate& candidate, FlatPlanData& data) const {
    const bool half = real_ && candidate.buckets > 2 * candidate.row_buckets;
    const std::int64_t circle = half ? candidate.buckets / 2 + 1 : candidate.buckets;
    const std::int64_t runs = std::max<std::int64_t>(1, circle / candidate.row_buckets);
    std::int64_t wanted = wanted_probes();
    for (std::int64_t run = 0; run < runs && wanted > 0; ++run) {
      const std::int64_t share = (wanted + runs - run - 1) / (runs - run);
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(run);
      wanted -= recovery.append_probes(run * circle / runs, share, seed, data);
    }
  }

  const Shape& shape_;
  bool real_;
  const FlatOptions& options_;
  std::int64_t k_;
  KaiserWindow kaiser_;
  std::int64_t period_;
  FlatLineSource source_;
  std::int64_t row_buckets_ = 1;
  std::vector<FlatMember> members_;
  std::vector<std::int64_t> self_conjugate_;
  std::vector<Candidate> candidates_;
};

/// Returns a result with a reason if no plan can serve the arguments, otherwise one without a reason.
FlatPlanResult refuse(const Shape& shape, std::span<const std::int64_t> support, const FlatOptions& options) {
  FlatPlanResult result;
  for (const std::int64_t flat : support) {
    if (flat >= 0 && flat < shape.points()) continue;
    result.reason = fmt::format("frequency {} is outside the grid {}", flat, shape.to_string());
    return result;
  }
  if (support.empty()) {
    result.reason = "the support is empty";
    return result;
  }
  if (!(options.leakage >= 1e-16 && options.leakage <= 0.1)) {
    result.reason = fmt::format("leakage = {} is not between 1e-16 and 0.1", options.leakage);
  }
  return result;
}

}  // namespace

FlatPlanResult plan_flat_windows(const Shape& shape, bool real, std::span<const std::int64_t> support,
                                 const FlatOptions& options) {
  const FlatPlanResult refused = refuse(shape, support, options);
  return refused.reason.empty() ? FlatSearch(shape, real, support, options).plan() : refused;
}

FlatPlanResult rebuild_flat_windows(const Shape& shape, bool real, std::span<const std::int64_t> support,
                                    const FlatOptions& options, const FlatDecision& decision) {
  const FlatPlanResult refused = refuse(shape, support, options);
  return refused.reason.empty() ? FlatSearch(shape, real, support, options).rebuild(decision) : refused;
}

double predicted_us(const FlatPlanData& data) noexcept {
  const auto taps = static_cast<double>(data.taps() * data.delay_count());
  return cost_us(static_cast<double>(data.shape.points()), data.real, taps, static_cast<double>(data.buckets),
                 static_cast<double>(data.lanes()), static_cast<double>(data.rows()),
                 static_cast<double>(data.row_buckets * data.lanes()));
}

}  // namespace sfft::detail
