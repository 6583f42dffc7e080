// SPDX-License-Identifier: Apache-2.0
// Contenders with this library on the CPU: one knows the support, the other only k.
#include <optional>

#include "contender.hpp"
#include "sfft/sfft.hpp"

namespace sfft::apps {

namespace {

template <class Real>
Answer answer_of(const Spectrum<Real>& spectrum, std::int64_t samples, std::string detail) {
  Answer answer;
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    answer.tones.push_back({(*spectrum.support)[i], std::complex<double>(spectrum.values[i])});
  }
  answer.samples_read = samples;
  answer.detail = std::move(detail);
  return answer;
}

class KnownSupport final : public Contender {
 public:
  KnownSupport(PlanEffort effort, int threads) : effort_(effort), threads_(threads) {}
  std::string name() const override {
    return with_threads(with_effort("sfft known support", effort_), threads_);
  }
  std::string planner() const override { return word(effort_); }
  int threads() const override { return threads_; }
  bool ready(const SparseCase&) const override { return false; }  // every signal has a different support
  void plan(const SparseCase& problem) override {
    const Template known = known_template(problem, Device::cpu(), threads_);
    learn_seconds_ = problem.earlier.empty() ? kUnknown : known.learn_seconds();
    plan_.emplace(known, PlanOptions{.device = Device::cpu(), .effort = effort_, .threads = threads_});
    workspace_ = plan_->make_workspace();
    spectrum_ = plan_->make_spectrum();
  }
  void execute(const SparseCase& problem) override {
    plan_->execute(SignalView(problem.signal, Shape{problem.points}), spectrum_, workspace_);
  }
  double learn_seconds() const override { return learn_seconds_; }
  Answer answer(const SparseCase&) const override {
    return answer_of(spectrum_, plan_->info().samples, to_string(plan_->info().path));
  }

 private:
  PlanEffort effort_;
  int threads_;
  double learn_seconds_ = kUnknown;
  std::optional<Plan<float>> plan_;
  Workspace workspace_;
  Spectrum<float> spectrum_;
};

/// Calls discover() with only k, as much as the published algorithms know.
class DiscoveryContender final : public Contender {
 public:
  std::string name() const override { return "sfft discovery"; }
  bool ready(const SparseCase&) const override { return true; }  // there is no plan
  void plan(const SparseCase&) override {}
  void execute(const SparseCase& problem) override {
    discovery_ = discover(SignalView(problem.signal, Shape{problem.points}), {.k = problem.k});
  }
  Answer answer(const SparseCase&) const override {
    return answer_of(discovery_.spectrum, discovery_.samples, to_string(discovery_.spectrum.path));
  }

 private:
  Discovery discovery_;
};

}  // namespace

Template known_template(const SparseCase& problem, const Device& device, int threads) {
  const Shape shape{problem.points};
  if (problem.earlier.empty()) return Template::from_support(shape, Domain::complex, problem.truth.support);
  return learn(SignalView(problem.earlier, shape),
               {.keep = Largest{problem.k}, .device = device, .threads = threads});
}

void add_sfft_contenders(const Lineup& lineup, std::vector<std::unique_ptr<Contender>>& contenders) {
  for (const int threads : lineup.threads) {
    for (const PlanEffort effort : lineup.efforts) {
      contenders.push_back(std::make_unique<KnownSupport>(effort, threads));
    }
  }
  contenders.push_back(std::make_unique<DiscoveryContender>());
}

}  // namespace sfft::apps
