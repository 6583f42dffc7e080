// SPDX-License-Identifier: Apache-2.0
// Better plans for a stream that started with a quick one: starts their searches and switches to them between
// two frames.
#include <fmt/format.h>

#include <exception>

#include "kernels/runtime/log.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft::detail {

namespace {

/// Whether a plan is worth a switch: its error is smaller, or it is faster at the same error.
bool better(const PlanInfo& found, const PlanInfo& in_force) {
  if (found.path != in_force.path) return false;
  constexpr double kMargin = 0.02;
  if (found.predicted_error < (1 - kMargin) * in_force.predicted_error) return true;
  return found.predicted_error <= (1 + kMargin) * in_force.predicted_error &&
         found.predicted_us < (1 - kMargin) * in_force.predicted_us;
}

}  // namespace

template <class Real>
void TrackerImpl<Real>::begin_refinement() {
  if (!options_.refine || plan_.info().path != Path::comb) return;
  PlanOptions options = plan_options(differencing());
  options.effort = PlanEffort::thorough;
  refinement_.searched_for = data_of(plan_.source());
  try {
    refinement_.start(plan_.source(), options);
    refinement_.note = "a better plan is being searched for";
  } catch (const std::exception& error) {  // thread creation failed
    refinement_.note = fmt::format("no search for a better plan: {}", error.what());
  }
}

template <class Real>
void TrackerImpl<Real>::take_refined() {
  if (!options_.refine) return;
  const std::string before = Log::wanted() ? refinement_.note : std::string();
  take_outcome();
  if (refinement_.note != before) log_decision("tracker", [&] { return refinement_.note; });
}

template <class Real>
void TrackerImpl<Real>::take_outcome() {
  auto outcome = refinement_.poll();
  if (!outcome || outcome->source != refinement_.searched_for)
    return;  // no outcome, or for a template out of force
  if (!outcome->plan) {
    refinement_.note = fmt::format("the search for a better plan failed: {}", outcome->problem);
    return;
  }
  if (!better(outcome->plan->info(), plan_.info())) {
    refinement_.note = "the search found no better plan";
    return;
  }
  try {
    Plan<Real> plan = std::move(*outcome->plan);
    const Template current = plan_.source();
    const TemplateData& data = *data_of(current);
    if (data_of(current) !=
        refinement_.searched_for) {  // another frame has become the reference in the meantime
      const SignalView frame(data.reference.data(), static_cast<std::size_t>(data.shape.points()),
                             data.reference_type, data.shape);
      plan = PlanAccess<Real>::with_exact_reference(plan, frame, data.values);
    }
    const double before = plan_.info().predicted_error;
    replace(std::move(plan));
    ++counts.refined;
    refinement_.note =
        fmt::format("a better plan took over at frame {}: predicted error {:.3g}, before {:.3g}",
                    frame_.number, plan_.info().predicted_error, before);
  } catch (const std::exception& error) {
    refinement_.note = fmt::format("the better plan could not take over: {}", error.what());
  }
}

template void TrackerImpl<float>::begin_refinement();
template void TrackerImpl<double>::begin_refinement();
template void TrackerImpl<float>::take_refined();
template void TrackerImpl<double>::take_refined();

}  // namespace sfft::detail
