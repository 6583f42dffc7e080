// SPDX-License-Identifier: Apache-2.0
// The library's methods: a tracker, or one plan for the whole recording. Both learn from the first frame and
// read samples of the others. Their error is over the template's support only.
#include "frame_transform.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sfft/sfft.hpp"

namespace sfft::apps {

namespace {

class SparseFrames : public FrameTransform {
 public:
  SparseFrames(std::int64_t k, PlanEffort effort, int threads, std::unique_ptr<FrameStore> store)
      : effort_(effort), threads_(threads), k_(k), store_(std::move(store)) {}
  std::string device() const override { return store_ ? "cuda" : "cpu"; }
  std::string frames_in() const override { return store_ ? "page-locked" : "memory"; }
  int threads() const override { return threads_; }
  std::string planner() const override { return word(effort_); }
  void load(const FrameBuffer& frame) override {
    if (store_) store_->load(frame.frame);
  }
  void make_cold() override { store_ ? store_->make_cold() : evict_caches(); }
  std::int64_t k() const override { return k_; }
  Preparation prepare(const FrameBuffer& first) override {
    Preparation spent;
    std::optional<Template> learned;
    spent.learn = seconds_of([&] {
      learned = learn(view(first),
                      {.keep = Largest{k_}, .reference = true, .device = where(), .threads = threads_});
    });
    spent.plan = seconds_of([&] { start(*learned); });
    return spent;
  }

 protected:
  virtual void start(const Template& learned) = 0;
  Device where() const { return store_ ? Device::gpu() : Device::cpu(); }
  SignalView view(const FrameBuffer& frame) const { return store_ ? store_->view() : frame.frame.view(); }
  std::string called(const char* what) const {
    return with_threads(fmt::format("{}, k = {}", with_effort(what, effort_), k_), store_ ? 1 : threads_);
  }

  PlanEffort effort_;
  int threads_;

 private:
  std::int64_t k_;
  std::unique_ptr<FrameStore> store_;
};

class TrackedFrames final : public SparseFrames {
 public:
  using SparseFrames::SparseFrames;
  std::string name() const override { return called("sfft"); }
  void start(const Template& learned) override {
    tracker_.emplace(
        learned,
        TrackerOptions{
            .plan = {.device = where(), .effort = effort_, .threads = threads_, .page_locked_frames = true},
            .learn = {.device = where(), .threads = threads_}});
    plan_.reset();
  }
  void push(const FrameBuffer& frame) override { latest_ = &tracker_->push(view(frame)); }
  bool routine() const override { return latest_->action == TrackedFrame::Action::sparse; }
  void settle() override {
    plan_.emplace(tracker_->plan());
    workspace_.emplace(plan_->make_workspace());
    spectrum_ = plan_->make_spectrum();
  }
  void repeat(const FrameBuffer& frame) override { plan_->execute(view(frame), spectrum_, *workspace_); }
  double error(const std::vector<std::complex<double>>& exact) const override {
    return support_error(tracker_->current_template(), latest_->spectrum.values, exact);
  }
  double samples_read() const override { return static_cast<double>(tracker_->plan().info().samples); }
  std::string detail() const override {
    return fmt::format("{}, {} refreshed, {} relearned, {} dense, {} compared",
                       to_string(tracker_->plan().info().path), tracker_->refreshed(), tracker_->relearned(),
                       tracker_->dense_fallbacks(), tracker_->calibrated());
  }

 private:
  std::optional<Tracker<float>> tracker_;
  const Tracker<float>::Frame* latest_ = nullptr;
  std::optional<Plan<float>> plan_;
  std::optional<Workspace> workspace_;
  Spectrum<float> spectrum_;
};

/// Uses the template of the first frame for all frames, whatever they show.
class PlannedFrames final : public SparseFrames {
 public:
  using SparseFrames::SparseFrames;
  std::string name() const override { return called("sfft plan"); }
  void start(const Template& learned) override {
    plan_.emplace(learned, PlanOptions{.device = where(), .effort = effort_, .threads = threads_});
    workspace_.emplace(plan_->make_workspace());
    spectrum_ = plan_->make_spectrum();
  }
  void push(const FrameBuffer& frame) override { plan_->execute(view(frame), spectrum_, *workspace_); }
  void repeat(const FrameBuffer& frame) override { push(frame); }
  double error(const std::vector<std::complex<double>>& exact) const override {
    return support_error(plan_->source(), spectrum_.values, exact);
  }
  double samples_read() const override { return static_cast<double>(plan_->info().samples); }
  std::string detail() const override {
    return fmt::format("{}, one template for all frames", to_string(plan_->info().path));
  }

 private:
  std::optional<Plan<float>> plan_;
  std::optional<Workspace> workspace_;
  Spectrum<float> spectrum_;
};

}  // namespace

double relative_error(std::span<const std::complex<float>> a, const std::vector<std::complex<double>>& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 1; i < b.size(); ++i) {
    error += std::norm(std::complex<double>(a[i]) - b[i]);
    norm += std::norm(b[i]);
  }
  return std::sqrt(error / norm);
}

double support_error(const Template& tmpl, std::span<const std::complex<float>> values,
                     const std::vector<std::complex<double>>& exact) {
  const std::int64_t rows = tmpl.shape()[0], columns = tmpl.shape()[1];
  const auto support = tmpl.support();
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < support.size(); ++i) {
    if (support[i] == 0) continue;
    // The template keeps one of each conjugate pair, from either half of the spectrum.
    std::int64_t row = support[i] / columns, column = support[i] % columns;
    const bool mirrored = column > columns / 2;
    if (mirrored) {
      row = (rows - row) % rows;
      column = columns - column;
    }
    const auto at = static_cast<std::size_t>(row * (columns / 2 + 1) + column);
    const std::complex<double> truth = mirrored ? std::conj(exact[at]) : exact[at];
    error += std::norm(std::complex<double>(values[i]) - truth);
    norm += std::norm(truth);
  }
  return std::sqrt(error / norm);
}

std::unique_ptr<FrameTransform> make_tracked_frames(std::int64_t k, PlanEffort effort,
                                                    std::unique_ptr<FrameStore> store) {
  return std::make_unique<TrackedFrames>(k, effort, 0,
                                         std::move(store));  // the host's threads plan for the GPU
}

void add_sfft_frames(const std::vector<std::int64_t>& ks, const Lineup& lineup, FrameTransforms& all) {
  for (const int threads : lineup.threads) {
    for (const PlanEffort effort : lineup.efforts) {
      for (const std::int64_t k : ks) {
        all.push_back(std::make_unique<TrackedFrames>(k, effort, threads, nullptr));
        all.push_back(std::make_unique<PlannedFrames>(k, effort, threads, nullptr));
      }
    }
  }
}

}  // namespace sfft::apps
