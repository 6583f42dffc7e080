// SPDX-License-Identifier: Apache-2.0
// Contenders that compute full FFTs: FFTW at every setting of the run, and the library's dense engine. They
// do not search for a support, so their rows give the error over the true one.
#include <optional>

#include "contender.hpp"
#include "fftw_plan.hpp"
#include "sfft/dense.hpp"

namespace sfft::apps {

namespace {

template <class Values>
Answer values_at_support(const SparseCase& problem, const Values& values, std::string detail) {
  Answer answer;
  for (const std::int64_t f : problem.truth.support) {
    answer.tones.push_back({f, std::complex<double>(values[static_cast<std::size_t>(f)])});
  }
  answer.samples_read = problem.points;
  answer.detail = std::move(detail);
  return answer;
}

#if SFFT_BENCH_FFTW
class FftwContender final : public Contender {
 public:
  explicit FftwContender(const FftwSetting& setting) : setting_(setting) {}
  std::string name() const override { return setting_.name(); }
  int threads() const override { return setting_.threads; }
  std::string planner() const override { return setting_.planner_name(); }
  bool ready(const SparseCase& problem) const override {
    return plan_ && plan_->output().size() == static_cast<std::size_t>(problem.points);
  }
  void plan(const SparseCase& problem) override {
    plan_.reset();
    plan_.emplace(Shape{problem.points}, false, setting_);
  }
  void execute(const SparseCase& problem) override { plan_->execute(problem.signal.data()); }
  Answer answer(const SparseCase& problem) const override {
    return values_at_support(problem, plan_->output(), FftwPlan::describe(setting_));
  }

 private:
  FftwSetting setting_;
  std::optional<FftwPlan> plan_;
};
#endif

class DenseContender final : public Contender {
 public:
  explicit DenseContender(int threads) : threads_(threads) {}
  std::string name() const override { return with_threads("sfft dense", threads_); }
  int threads() const override { return threads_; }
  bool ready(const SparseCase& problem) const override {
    return plan_ && spectrum_.size() == static_cast<std::size_t>(problem.points);
  }
  void plan(const SparseCase& problem) override {
    plan_.emplace(Shape{problem.points}, Domain::complex,
                  dense::Options{.engine = dense::Engine::built_in, .threads = threads_});
    spectrum_.assign(static_cast<std::size_t>(problem.points), {});
    workspace_.assign(plan_->workspace_bytes() / sizeof(Line) + 1, {});
  }
  void execute(const SparseCase& problem) override {
    plan_->forward(SignalView(problem.signal, Shape{problem.points}), spectrum_,
                   std::as_writable_bytes(std::span(workspace_)).first(plan_->workspace_bytes()));
  }
  Answer answer(const SparseCase& problem) const override {
    return values_at_support(problem, spectrum_, "float, " + plan_->engine_name());
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  int threads_;
  std::optional<dense::Plan<float>> plan_;
  std::vector<std::complex<float>> spectrum_;
  std::vector<Line> workspace_;
};

}  // namespace

void add_dense_contenders(const Lineup& lineup, std::vector<std::unique_ptr<Contender>>& contenders) {
#if SFFT_BENCH_FFTW
  for (const FftwSetting& setting : lineup.fftw()) {
    contenders.push_back(std::make_unique<FftwContender>(setting));
  }
#endif
  for (const int threads : lineup.threads) contenders.push_back(std::make_unique<DenseContender>(threads));
}

}  // namespace sfft::apps
