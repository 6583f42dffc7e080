// SPDX-License-Identifier: Apache-2.0
// A sweep chooses the setting for the problems of similar size. Every row is validated before it is timed.
#include "bench/technologies/measure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <optional>

#include "bench/technologies/clock.hpp"
#include "bench/technologies/row.hpp"
#include "kernels/base/math/quantiles.hpp"

namespace sfft::technologies {

namespace {

using detail::quantile;

/// The reason of the exception in flight.
std::string reason() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown error";
  }
}

class Session {
 public:
  Session(const Entry& entry, const Material& material, const Course& course, const Listener& listener)
      : entry_(entry), material_(material), course_(course), listener_(listener) {}

  void run(Position start) {
    for (int device = start.device;; ++device) {
      position_ = {device, device == start.device ? start.problem : 0};
      listener_.begins(position_, "opening");
      try {
        if (!open()) return;
      } catch (...) {
        listener_.facts(missing(entry_, nullptr, reason()));
        return;
      }
      best_.clear();
      for (; position_.problem < material_.problems().size(); ++position_.problem) problem();
      if (!course_.all_devices) return;
    }
  }

 private:
  bool open() {
    technology_.reset();
    technology_ = entry_.open(position_.device);
    if (technology_ == nullptr) return false;
    if (!told_.count(position_.device)) listener_.facts(to_json(entry_, technology_->facts()));
    told_[position_.device] = true;
    reserve();
    return true;
  }

  void reserve() {
    std::int64_t max = 0;
    for (const Problem& problem : material_.problems()) max = std::max(max, problem.points());
    try {
      technology_->reserve(max);
    } catch (const std::exception&) {  // a problem that does not fit will report why
    }
  }

  const Problem& current() const { return material_.problems()[position_.problem]; }

  void problem() {
    listener_.begins(position_, current().name());
    if (!technology_->tunable()) {
      add(measured("time", current(), {}));
      return;
    }
    const Setting best = course_.swept[position_.problem] ? sweep() : nearest();
    add(measured("time", current(), best));
    if (technology_->inverts() && current().points() <= course_.inverse_points) {
      Problem inverse = current();
      inverse.inverse = true;
      add(measured("inverse", inverse, best));
    }
    if (current().rank == 1 && current().points() == course_.sincos_points) {
      Setting setting = best;
      setting.built_in_sincos = true;
      add(measured("sincos", current(), setting));
    }
  }

  /// Tries all numbers of threads with a usual tile, then in 2D all tiles with the best number of threads.
  Setting sweep() {
    std::optional<Row> best;
    const auto compare = [&](const Setting& setting) {
      const Row row = measured("sweep", current(), setting);
      add(row);
      if (row.passed() && (!best || row.us() < best->us())) best = row;
    };
    for (const int threads : course_.threads) compare({threads, 16, false});
    if (current().rank == 2 && best) {
      const int threads = best->setting.threads;
      for (const int tile : course_.tiles) {
        if (tile != 16) compare({threads, tile, false});
      }
    }
    const Setting chosen = best ? best->setting : Setting{64, 16, false};
    best_[{current().rank, current().batch > 1, current().bits}] = chosen;
    return chosen;
  }

  Setting nearest() const {
    Setting setting{64, 16, false};
    int distance = 1000;
    for (const auto& [key, chosen] : best_) {
      const auto& [rank, batched, bits] = key;
      if (rank != current().rank || batched != (current().batch > 1)) continue;
      if (std::abs(bits - current().bits) >= distance) continue;
      distance = std::abs(bits - current().bits);
      setting = chosen;
    }
    return setting;
  }

  void add(const Row& row) const { listener_.row(to_json(entry_, technology_->facts(), row)); }

  Row measured(const std::string& kind, const Problem& problem, const Setting& setting) {
    Row row;
    row.kind = kind;
    row.problem = problem;
    row.setting = setting;
    row.tunable = technology_->tunable();
    bool ran = false;
    try {
      const Stopwatch watch;
      technology_->prepare(problem, setting);
      row.prepare_ms = 1e-3 * watch.us();
      row.launches = technology_->launches();
      row.traffic_bytes = technology_->traffic();
      ran = true;
      validate_and_time(row);
    } catch (...) {
      row.skipped = reason();
    }
    // A lost context stays lost, so the next problem gets a new one.
    if (ran && !row.skipped.empty()) reopen(row);
    return row;
  }

  void reopen(Row& row) {
    try {
      if (open()) return;
    } catch (...) {
      row.skipped += "; and then: " + reason();
    }
    if (technology_ == nullptr) technology_ = std::make_unique<Gone>();
  }

  /// Stands in for a technology that could not be opened again.
  struct Gone final : Technology {
    const Facts& facts() const override { return nothing; }
    void prepare(const Problem&, const Setting&) override { throw Failure("the device did not come back"); }
    void upload(const Complex*) override {}
    Sample run() override { return {}; }
    void download(Complex*) override {}
    Facts nothing;
  };

  void validate_and_time(Row& row) {
    constexpr double kSlowUs = 5e5;  // if one run after the first takes this long, it is not repeated
    constexpr std::size_t kFewest = 5, kMax = 200;
    technology_->upload(material_.signal());
    spectrum_.assign(static_cast<std::size_t>(row.problem.points()), Complex(kMarker, kMarker));
    const Sample first = technology_->run();
    technology_->download(spectrum_.data());
    row.relative_l2 = material_.error(position_.problem, row.problem.inverse, spectrum_.data());
    row.runs = 1;
    row.median = first;
    row.wall_p90_us = first.wall_us;
    if (row.kind == "inverse") return;
    std::vector<double> wall, device, submit;
    const Stopwatch watch;
    while (wall.empty() || (watch.us() < kSlowUs && wall.size() < kFewest) ||
           (watch.us() < 1e6 * course_.row_seconds && wall.size() < kMax)) {
      const Sample sample = technology_->run();
      wall.push_back(sample.wall_us);
      if (std::isfinite(sample.device_us)) device.push_back(sample.device_us);
      if (std::isfinite(sample.submit_us)) submit.push_back(sample.submit_us);
    }
    row.runs = static_cast<int>(wall.size());
    row.median = {quantile(wall, 0.5), quantile(device, 0.5), quantile(submit, 0.5)};
    row.wall_p90_us = quantile(wall, 0.9);
  }

  static constexpr float kMarker = 1e30F;  // reveals elements that no kernel has written
  const Entry& entry_;
  const Material& material_;
  const Course& course_;
  const Listener& listener_;
  Position position_;
  std::unique_ptr<Technology> technology_;
  std::map<int, bool> told_;
  std::map<std::tuple<int, bool, int>, Setting> best_;
  std::vector<Complex> spectrum_;
};

}  // namespace

Course make_course(const std::vector<Problem>& problems, bool quick) {
  Course course;
  course.threads = quick ? std::vector<int>{64, 256} : std::vector<int>{32, 64, 128, 256, 512, 1024};
  course.tiles = quick ? std::vector<int>{16, 32} : std::vector<int>{16, 32, 64};
  course.row_seconds = quick ? 0.005 : 0.05;
  course.sincos_points = quick ? 1 << 10 : 1 << 20;
  // Every small problem and batch is swept, because its number of launches depends on the threads. Large
  // problems are swept only at some distance from each other; those between take the nearest setting.
  std::map<std::pair<int, bool>, int> last;
  for (const Problem& problem : problems) {
    const auto key = std::make_pair(problem.rank, problem.batch > 1);
    const bool small = problem.batch > 1 || problem.points() < 1 << 21;
    const int distance = quick ? 6 : small ? 1 : problem.rank == 2 ? 2 : 4;
    const bool swept = !last.count(key) || problem.bits - last[key] >= distance;
    if (swept) last[key] = problem.bits;
    course.swept.push_back(swept);
  }
  return course;
}

void run_session(const Entry& entry, const Material& material, const Course& course, Position start,
                 const Listener& listener) {
  Session(entry, material, course, listener).run(start);
}

}  // namespace sfft::technologies
