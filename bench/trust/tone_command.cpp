// SPDX-License-Identifier: Apache-2.0
// Known support: measures whether a tone outside the template is noticed wherever it appears.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>

#include "bench/timing.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/error_ratios.hpp"
#include "bench/trust/tone_case.hpp"

namespace sfft::trust {

namespace {

enum class Question : std::uint8_t { same_size, adversarial, small, missing };
constexpr std::array kQuestions{Question::same_size, Question::adversarial, Question::small,
                                Question::missing};

const char* title(Question question) {
  switch (question) {
    case Question::same_size:
      return "a tone of the template's typical amplitude at a random place";
    case Question::adversarial:
      return "the same tone where structure could hide it";
    case Question::small:
      return "a tone of 1e-3 of the template's norm at a random place";
    case Question::missing:
      return "a tenth of the frequencies is missing from the template";
  }
  return "";
}

/// Keeps enough of a long list of values for quantiles: first every value, then every second, every fourth, …
class Values {
 public:
  void add(double value) {
    if (seen_++ % stride_ != 0) return;
    values_.push_back(static_cast<float>(value));
    if (values_.size() < kMax) return;
    for (std::size_t i = 0; 2 * i < kMax; ++i) values_[i] = values_[2 * i];
    values_.resize(kMax / 2);
    stride_ *= 2;
  }
  /// Returns NaN if there are no values.
  double quantile(double share) const { return bench::lower_quantile(values_, share, std::nanf("")); }

 private:
  static constexpr std::size_t kMax = 1 << 16;
  std::vector<float> values_;
  std::uint64_t seen_ = 0, stride_ = 1;
};

/// Results of one cell of a table.
struct Tally {
  std::int64_t places = 0, silent = 0, unseen = 0, unnoticed = 0;
  Values true_errors, reported, ratios;

  void add(const ToneResult& result) {
    ++places;
    silent += result.silent();
    unseen += !result.seen();
    unnoticed += !result.noticed();
    true_errors.add(result.true_l2 / result.norm);
    reported.add(result.reported_l2 / result.norm);
    if (!result.harmless()) ratios.add(result.reported_l2 / result.true_l2);
  }
};

struct Grid {
  Shape shape;
  bool real;
  double weight;  ///< number of places relative to the other cells, because long signals take longer
};

std::vector<Grid> grids(bool quick) {
  if (quick)
    return {{Shape{1 << 12}, false, 1},
            {Shape{10007}, false, 1},
            {Shape{1 << 13}, true, 1},
            {Shape{96, 64}, true, 1}};
  return {{Shape{1 << 12}, false, 1},      {Shape{1 << 16}, false, 1}, {Shape{1536 * 64}, false, 0.5},
          {Shape{10007}, false, 1},        {Shape{1 << 14}, true, 1},  {Shape{256, 192}, true, 1},
          {Shape{32, 32, 64}, false, 0.5}, {Shape{99991}, false, 0.1}, {Shape{1 << 20}, false, 0.1}};
}

/// The settings that do not depend on the precision.
struct Cell {
  Grid grid;
  std::int64_t k;
  Origin origin;
  std::optional<double> snr_db;
};

std::vector<Cell> cells(bool quick) {
  std::vector<Cell> list;
  for (const Grid& grid : grids(quick)) {
    for (const std::int64_t k : {8, 64, 300}) {
      if (quick && k > 64) continue;
      for (const std::optional<double> snr_db :
           {std::optional<double>(), std::optional(60.0), std::optional(40.0)}) {
        for (const Origin origin : {Origin::learned, Origin::learned_noisy, Origin::support}) {
          if (origin == Origin::learned_noisy && !snr_db) continue;
          list.push_back({grid, k, origin, snr_db});
        }
      }
    }
  }
  return list;
}

class Run {
 public:
  explicit Run(const ToneOptions& options) : options_(options), random_(options.seed, 0) {}

  void run();
  void print() const;
  nlohmann::json json() const { return rows_; }
  std::int64_t places() const { return places_; }

 private:
  template <class Real>
  void run_cell(const Cell& cell, std::int64_t places);
  template <class Real>
  void ask(ToneCase<Real>& measured, Question question, std::int64_t places);
  void add(Question question, const char* kind, const ToneResult& result);

  ToneOptions options_;
  Random random_;
  std::vector<std::string> labels_;  ///< rows that the results of the current cell belong to
  std::map<Question, std::map<std::string, Tally>> tables_;
  std::map<Question, std::map<std::string, Tally>> cells_;
  std::string cell_name_;
  nlohmann::json rows_ = nlohmann::json::array();
  std::int64_t places_ = 0;
  std::size_t next_kind_ = 0;
};

void Run::add(Question question, const char* kind, const ToneResult& result) {
  ++places_;
  auto& table = tables_[question];
  for (const std::string& label : labels_) table[label].add(result);
  if (question == Question::adversarial) table[fmt::format("5 {}", kind)].add(result);
  cells_[question][cell_name_].add(result);
}

template <class Real>
void Run::ask(ToneCase<Real>& measured, Question question, std::int64_t places) {
  const double size = question == Question::small ? 1e-3 * measured.norm() : measured.typical_amplitude();
  const std::int64_t missing =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(measured.places().support().size()) / 9);
  std::vector<AddedTone> tones;
  for (std::int64_t i = 0; i < places; ++i) {
    PlaceKind kind = PlaceKind::random;
    if (question == Question::adversarial) {
      kind = kAdversarialKinds[next_kind_++ % kAdversarialKinds.size()];
    }
    tones.clear();
    const std::int64_t wanted = question == Question::missing ? missing : 1;
    while (static_cast<std::int64_t>(tones.size()) < wanted) {
      const std::int64_t flat = measured.places().draw(kind, random_);
      if (flat < 0) break;
      const auto same = [&](const AddedTone& tone) { return tone.flat == flat; };
      if (std::none_of(tones.begin(), tones.end(), same))
        tones.push_back({flat, std::polar(size, random_.phase())});
    }
    if (!tones.empty()) add(question, to_string(kind), measured.measure(tones));
  }
}

template <class Real>
void Run::run_cell(const Cell& cell, std::int64_t places) {
  const std::string precision = sizeof(Real) == sizeof(float) ? "float" : "double";
  const std::string noise = cell.snr_db ? fmt::format("{:.0f} dB", *cell.snr_db) : "no noise";
  const std::string grid = cell.grid.shape.to_string() + (cell.grid.real ? " real" : "");
  cell_name_ = fmt::format("{}, k {}, {}, {}, {}", grid, cell.k, to_string(cell.origin), noise, precision);
  if (cell_name_.find(options_.only) == std::string::npos) return;
  // A template costs as much as about a hundred places; two are the fewest that show a difference.
  const std::int64_t templates = std::clamp<std::int64_t>(places / 120, 2, 20);
  for (std::int64_t t = 0; t < templates; ++t) {
    ToneSettings settings{cell.grid.shape, cell.grid.real, cell.k,        cell.origin,
                          cell.snr_db,     t % 2 == 1,     random_.bits()};
    ToneCase<Real> measured(settings);
    labels_ = {"0 all",
               "1 " + noise,
               fmt::format("2 {}", to_string(cell.origin)),
               "3 " + grid,
               fmt::format("4 k = {}, {}", cell.k, precision),
               fmt::format("6 path {}", to_string(measured.plan().path))};
    if (t == 0) measured.check_reference(random_);
    for (const Question question : kQuestions) {
      const std::int64_t share =
          question == Question::same_size ? places : std::max<std::int64_t>(places / 10, 6);
      // Each template takes its share; the first ones take the remainder.
      ask(measured, question, share / templates + (t < share % templates ? 1 : 0));
    }
  }
}

void Run::run() {
  const std::vector<Cell> list = cells(options_.quick);
  double weights = 0;
  for (const Cell& cell : list) weights += 2 * cell.grid.weight;
  for (const Cell& cell : list) {
    const auto places = static_cast<std::int64_t>(
        std::ceil(cell.grid.weight / weights * static_cast<double>(options_.count)));
    run_cell<float>(cell, places);
    run_cell<double>(cell, places);
  }
  for (const auto& [question, table] : cells_) {
    for (const auto& [name, tally] : table) {
      rows_.push_back({{"question", title(question)},
                       {"configuration", name},
                       {"places", tally.places},
                       {"silent", tally.silent},
                       {"unseen", tally.unseen},
                       {"unnoticed", tally.unnoticed},
                       {"true_error", tally.true_errors.quantile(0.5)},
                       {"reported_error", tally.reported.quantile(0.5)}});
    }
  }
}

void Run::print() const {
  for (const auto& [question, table] : tables_) {
    fmt::print("\n{}\n{:<26} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}\n", title(question), "",
               "places", "silent", "unseen", "no tail", "true", "reported", "rep/true", "lowest 1%");
    for (const auto& [label, tally] : table) {
      const auto percent = [&](std::int64_t part) {
        return fmt::format("{:.3g}%", 100 * ErrorSummary::share(part, tally.places));
      };
      fmt::print("{:<26} {:>8} {:>8} {:>8} {:>8} {:>9.2g} {:>9.2g} {:>9.2g} {:>9.2g}\n", label.substr(2),
                 tally.places, percent(tally.silent), percent(tally.unseen), percent(tally.unnoticed),
                 tally.true_errors.quantile(0.5), tally.reported.quantile(0.5), tally.ratios.quantile(0.5),
                 tally.ratios.quantile(0.01));
    }
  }
}

}  // namespace

nlohmann::json run_tone(const ToneOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Run run(options);
  run.run();
  run.print();
  const double seconds = bench::seconds_since(start);
  fmt::print("\n{} places in {:.1f} s: {:.0f} per second\n", run.places(), seconds,
             static_cast<double>(run.places()) / seconds);
  return {{"configurations", run.json()}, {"places", run.places()}, {"seconds", seconds}};
}

}  // namespace sfft::trust
