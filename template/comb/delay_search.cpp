// SPDX-License-Identifier: Apache-2.0
// Tries lattices, then random draws, then coordinate descent from the best. Each set of delays is judged by
// the error that the model predicts for a sample of the buckets.
#include "template/comb/comb_model.hpp"

#include <algorithm>
#include <limits>

#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

class Search {
 public:
  Search(CombModel& model, const Shape& shape, const DelaySearch& options)
      : model_(model),
        count_(options.count),
        row_sets_(options.row_sets),
        groups_(options.groups),
        random_(options.seed) {
    for (int d = 0; d < 3; ++d)
      range_[static_cast<std::size_t>(d)] = shape[d] / model.buckets()[static_cast<std::size_t>(d)];
    if (options.reach > 0) {
      range_ = {1, 1, 1};
      const auto last = static_cast<std::size_t>(shape.rank() - 1);
      range_[last] = std::min(options.reach, shape[shape.rank() - 1] / model.buckets()[last]);
    }
  }

  std::int64_t choices() const noexcept { return range_[0] * range_[1] * range_[2]; }

  Delay decode(std::int64_t code) const noexcept {
    return {code / (range_[1] * range_[2]), code / range_[2] % range_[1], code % range_[2]};
  }

  void consider(const std::vector<Delay>& delays) {
    poll_stop();
    const CombModel::Quality quality = model_.assess(delays, groups_);
    if (!quality.solvable) return;
    // Mirrored delays have equal errors up to rounding; the margin lets the first set win.
    const double error = score(quality);
    if (error < best_error_ * (1 - 1e-9)) {
      best_error_ = error;
      best_ = delays;
      best_quality_ = quality;
    }
  }

  void draw_random(int draws) {
    for (int n = 0; n < draws; ++n) {
      if (row_sets_ > 0) {
        consider_rows(some_rows(), n + 1);
        continue;
      }
      std::vector<Delay> delays;
      while (static_cast<std::int64_t>(delays.size()) < count_) {
        const Delay delay = decode(pick());
        if (std::find(delays.begin(), delays.end(), delay) == delays.end()) delays.push_back(delay);
      }
      consider(delays);
    }
  }

  /// Tries delays for an image: equidistant rows, with equidistant columns that take turns among the rows.
  void draw_rows() {
    constexpr std::int64_t kTurns[] = {0, 1, 2, 3, 5};
    std::vector<std::int64_t> rows;
    for (std::int64_t s = 0; s < row_sets_; ++s) rows.push_back(s * range_[0] / row_sets_);
    for (const std::int64_t turn : kTurns) {
      if (row_sets_ == 1 && turn > 0) break;
      consider_rows(rows, turn);
    }
  }

  /// Tries other positions for the rows of the best delays, one row at a time.
  void descend_rows(int sweeps) {
    constexpr int kTries = 4;
    for (int sweep = 0; sweep < sweeps && !best_.empty(); ++sweep) {
      const double before = best_error_;
      for (const std::int64_t row : rows_of(best_)) {
        for (int n = 0; row > 0 && n < kTries; ++n) {
          const std::int64_t other = below(range_[0]);
          const std::vector<std::int64_t> taken = rows_of(best_);
          if (std::find(taken.begin(), taken.end(), other) != taken.end()) continue;
          std::vector<Delay> changed = best_;
          for (Delay& delay : changed) delay[0] = delay[0] == row ? other : delay[0];
          consider(changed);
          if (best_ == changed) break;  // the row no longer exists
        }
      }
      if (best_error_ > 0.98 * before) break;
    }
  }

  /// Tries rank-1 lattices over the last dimension with more than one delay and the one before it. The union
  /// of the combs is then a finer or a quincunx grid. Generators g and r − g are mirror images; the tail is
  /// symmetric, the members are not. If `few`, tries only lattices whose nearest unresolved alias is far
  /// away.
  void draw_lattices(bool mirrored, bool few) {
    // In 1,076 combs, the error of an excluded lattice was never smaller by more than 4 %. If r is not a
    // power of two, the third lattice may have half the error of the first two.
    constexpr std::int64_t kFew = 3;
    constexpr double kNearer = 0.3;  // squared
    std::size_t fast = 2;
    while (fast > 0 && range_[fast] == 1) --fast;
    const std::size_t slow = fast == 0 ? 0 : fast - 1;
    const std::int64_t generators = slow == fast ? 1 : mirrored ? count_ : count_ / 2 + 1;
    std::vector<std::pair<double, std::int64_t>> order;
    for (std::int64_t g = 0; g < generators; ++g)
      order.emplace_back(few ? unresolved_distance(g, slow, fast) : 0, g);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::int64_t looked_at = 0;
    for (auto next = order.begin(); next != order.end(); ++next) {
      if (few && (looked_at == kFew || next->first < kNearer * order.front().first)) break;
      std::vector<Delay> delays;
      for (std::int64_t j = 0; j < count_; ++j) {
        Delay delay{0, 0, 0};
        if (slow != fast) delay[slow] = range_[slow] * (j * next->second % count_) / count_;
        delay[fast] = range_[fast] * j / count_;
        if (std::find(delays.begin(), delays.end(), delay) == delays.end()) delays.push_back(delay);
      }
      if (static_cast<std::int64_t>(delays.size()) != count_) continue;
      consider(delays);
      ++looked_at;
    }
  }

  void descend(int sweeps) {
    const std::int64_t tries = std::clamp<std::int64_t>(72 / count_, 4, 24);
    for (int sweep = 0; sweep < sweeps && !best_.empty(); ++sweep) {
      const double before = best_error_;
      for (std::size_t j = 1; j < best_.size(); ++j) {
        for (std::int64_t n = 0; n < std::min(tries, choices()); ++n) {
          const Delay delay = decode(choices() <= tries ? n : pick());
          if (std::find(best_.begin(), best_.end(), delay) != best_.end()) continue;
          std::vector<Delay> changed = best_;
          changed[j] = delay;
          consider(changed);
        }
      }
      if (best_error_ > 0.98 * before) break;
    }
  }

  std::vector<Delay>& best() noexcept { return best_; }
  const CombModel::Quality& best_quality() const noexcept { return best_quality_; }

 private:
  /// Squared distance to the nearest alias q∘B with the same phase in all delays of a lattice, that is with
  /// q_slow g + q_fast divisible by r; relative to the extents of the spectrum.
  double unresolved_distance(std::int64_t generator, std::size_t slow, std::size_t fast) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::int64_t q = 0; q <= count_; ++q) {
      const std::int64_t rest = q * generator % count_;
      // −rest and r − rest are the nearest possible values of q_fast.
      const std::int64_t other = q == 0 ? count_ : std::min(rest, count_ - rest);
      const double along = static_cast<double>(q) / static_cast<double>(range_[slow]),
                   across = static_cast<double>(other) / static_cast<double>(range_[fast]);
      nearest = std::min(nearest, along * along + across * across);
    }
    return nearest;
  }

  /// For least squares, error and mean noise gain rise together, so the largest gain decides between nearly
  /// equal errors.
  static double score(const CombModel::Quality& quality) {
    return quality.error * (1 + 1e-3 * quality.gain_max);
  }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }
  std::int64_t pick() { return below(choices()); }

  static std::vector<std::int64_t> rows_of(const std::vector<Delay>& delays) {
    std::vector<std::int64_t> rows;
    for (const Delay& delay : delays) {
      if (std::find(rows.begin(), rows.end(), delay[0]) == rows.end()) rows.push_back(delay[0]);
    }
    return rows;
  }

  std::vector<std::int64_t> some_rows() {
    std::vector<std::int64_t> rows{0};
    while (static_cast<std::int64_t>(rows.size()) < row_sets_) {
      const std::int64_t row = below(range_[0]);
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    return rows;
  }

  /// `turn` = 0 uses the same columns in every row.
  void consider_rows(const std::vector<std::int64_t>& rows, std::int64_t turn) {
    const std::int64_t in_a_row = (count_ + row_sets_ - 1) / row_sets_;
    std::vector<Delay> delays;
    for (std::int64_t j = 0; j < count_; ++j) {
      const std::int64_t row = turn == 0 ? j % row_sets_ : j * turn % count_ * row_sets_ / count_;
      const std::int64_t column = turn == 0 ? j / row_sets_ * range_[1] / in_a_row : j * range_[1] / count_;
      const Delay delay{rows[static_cast<std::size_t>(row)], column, 0};
      if (std::find(delays.begin(), delays.end(), delay) != delays.end()) return;
      delays.push_back(delay);
    }
    consider(delays);
  }

  CombModel& model_;
  std::int64_t count_, row_sets_;
  std::size_t groups_;
  std::mt19937_64 random_;
  std::array<std::int64_t, 3> range_{1, 1, 1};
  std::vector<Delay> best_;
  CombModel::Quality best_quality_;
  double best_error_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::optional<DelayChoice> search_delays(CombModel& model, const Shape& shape, const DelaySearch& options) {
  Search search(model, shape, options);
  if (search.choices() < options.count) return std::nullopt;
  if (options.row_sets > 0) {
    search.draw_rows();
    search.draw_random(options.draws);
    search.descend_rows(options.sweeps);
  } else {
    search.draw_lattices(options.mirrored, options.few_lattices);
    search.draw_random(options.draws);
    search.descend(options.sweeps);
  }
  if (search.best().empty()) return std::nullopt;
  // Ascending delays read memory forwards.
  std::sort(search.best().begin(), search.best().end());
  DelayChoice choice{std::move(search.best()), search.best_quality()};
  if (options.final_groups == options.groups) return choice;
  choice.quality = model.assess(choice.delays, options.final_groups);
  if (!choice.quality.solvable) return std::nullopt;
  return choice;
}

}  // namespace sfft::detail
