// SPDX-License-Identifier: Apache-2.0
// The thread copies the frame first, so that its memory is soon free for another.
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
  if (question.held < question.better_below * outcome.fresh_held) {
    outcome.plan.emplace(fresh, question.plan);
    outcome.exact.emplace(fresh, question.exact);
  }
  outcome.question = std::move(question);
  return outcome;
}

}  // namespace

template <class Real>
void LearnBeside<Real>::begin(const SignalView& frame, Question question) {
  if (under_way()) return;
  const std::int64_t due = question.frame + kDelay;
  auto copied = std::make_shared<std::promise<void>>();
  std::future<void> done = copied->get_future();
  try {
    outcome_ = std::async(std::launch::async, [frame, copied, question = std::move(question)]() mutable {
      std::vector<std::byte> samples;
      try {
        samples.resize(frame.bytes());
        copy_elements(frame, samples.data());
        copied->set_value();
      } catch (...) {
        copied->set_value();
        throw;
      }
      const SignalView copy(samples.data(), static_cast<std::size_t>(frame.shape().points()), frame.type(),
                            frame.shape());
      return answer<Real>(copy, std::move(question));
    });
  } catch (const std::exception&) {
    return;
  }
  copied_ = std::move(done);
  due_ = due;
}

template <class Real>
void LearnBeside<Real>::release_frame() noexcept {
  if (copied_.valid()) copied_.wait();
  copied_ = {};
}

template <class Real>
auto LearnBeside<Real>::take() noexcept -> std::optional<Outcome> {
  release_frame();
  try {
    return outcome_.get();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

template class LearnBeside<float>;
template class LearnBeside<double>;

}  // namespace sfft::detail
