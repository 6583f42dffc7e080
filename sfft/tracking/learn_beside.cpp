// SPDX-License-Identifier: Apache-2.0
// The caller copies the frame: that takes less time than to wake up the thread, for which it would wait.
#include "sfft/tracking/learn_beside.hpp"

#include <exception>
#include <utility>

#include "kernels/base/region.hpp"
#include "sfft/tracking/held_energy.hpp"

namespace sfft::detail {

namespace {

template <class Real>
typename LearnBeside<Real>::Outcome answer(const SignalView& frame,
                                           typename LearnBeside<Real>::Question question) {
  typename LearnBeside<Real>::Outcome outcome;
  const Template fresh = learn(frame, question.learn);
  outcome.fresh_held = held_energy(fresh, fresh.values());
  if (worth_replacing(question.held, question.all, question.better_below, fresh)) {
    outcome.plan.emplace(fresh, question.plan);
    outcome.exact.emplace(fresh, question.exact);
  }
  outcome.question = std::move(question);
  return outcome;
}

}  // namespace

template <class Real>
void LearnBeside<Real>::prepare(std::size_t frame_bytes) {
  samples_.resize(frame_bytes);
  worker_.wake();
}

template <class Real>
void LearnBeside<Real>::begin(const SignalView& frame, Question question) noexcept {
  if (under_way()) return;
  const std::int64_t due = question.frame + kDelay;
  try {
    samples_.resize(frame.bytes());
    copy_elements(frame, samples_.data());
    const SignalView copy = copied(frame, samples_.data());
    outcome_ = worker_.ask(
        [copy, question = std::move(question)]() mutable { return answer<Real>(copy, std::move(question)); });
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

template class LearnBeside<float>;
template class LearnBeside<double>;

}  // namespace sfft::detail
