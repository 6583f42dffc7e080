// SPDX-License-Identifier: Apache-2.0
// The caller copies the frame: that takes less time than to wake up the thread, for which it would wait.
#include "sfft/tracking/learn_beside.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/base/region.hpp"
#include "sfft/tracking/held_energy.hpp"

namespace sfft::detail {

namespace {

/// Points per frequency of a signal that is sparse enough, whatever its criterion.
constexpr std::int64_t kSparsePoints = 64;

/// A frame of zeros, or of noise alone, may have no frequency that meets the criterion.
std::optional<Template> learned_from(const SignalView& frame, const LearnOptions& options) {
  try {
    return learn(frame, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return std::nullopt;
  }
}

}  // namespace

template <class Real>
LearnAnswer<Real> learn_better(const SignalView& frame, const LearnQuestion<Real>& question) {
  LearnAnswer<Real> answer;
  const auto take = [&](Template fresh) {
    answer.fresh_held = held_energy(fresh, fresh.values());
    answer.plan.reset();
    if (worth_replacing(question.held, question.all, question.better_below, question.outside_below, fresh))
      answer.plan.emplace(fresh, question.plan);
    answer.fresh = std::move(fresh);
  };
  std::optional<Template> fresh = learned_from(frame, question.learn);
  if (!fresh) return answer;
  take(std::move(*fresh));
  // A tone between two bins may put more frequencies above a threshold than a sparse transform is good for.
  const auto dense = [&] { return answer.plan && answer.plan->info().path == Path::dense; };
  if (!dense() || !question.sparse || question.learn.k > 0) return answer;
  const LearnAnswer<Real> all = answer;
  LearnOptions largest = question.learn;
  largest.energy = largest.threshold_sigma = 0;
  largest.k = question.old->shape.points() / kSparsePoints;
  for (const std::int64_t k = question.old->k(); dense() && largest.k > k;) {
    largest.k = std::max(k, std::min(largest.k, answer.fresh->k() / 4));
    take(learn(frame, largest));
  }
  return answer.plan && !dense() ? answer : all;
}

template <class Real>
void LearnBeside<Real>::prepare(std::size_t frame_bytes) {
  samples_.resize(frame_bytes);
  try {
    worker_.wake();
  } catch (const std::system_error&) {  // begin() tries again
  }
}

template <class Real>
void LearnBeside<Real>::begin(const SignalView& frame, LearnQuestion<Real> question,
                              const PlanOptions& exact) noexcept {
  if (under_way()) return;
  const std::int64_t due = question.frame + kDelay;
  try {
    samples_.resize(frame.bytes());
    copy_elements(frame, samples_.data());
    const SignalView copy = copied(frame, samples_.data());
    outcome_ = worker_.ask([copy, exact, question = std::move(question)]() mutable {
      Outcome outcome{{}, learn_better(copy, question), {}};
      if (outcome.answer.plan) outcome.exact.emplace(*outcome.answer.fresh, exact);
      outcome.question = std::move(question);
      return outcome;
    });
    due_ = due;
  } catch (const std::exception&) {  // no memory, or no thread
  }
}

template <class Real>
auto LearnBeside<Real>::take() noexcept -> std::optional<Outcome> {
  try {
    return outcome_.get();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

template LearnAnswer<float> learn_better(const SignalView&, const LearnQuestion<float>&);
template LearnAnswer<double> learn_better(const SignalView&, const LearnQuestion<double>&);
template class LearnBeside<float>;
template class LearnBeside<double>;

}  // namespace sfft::detail
