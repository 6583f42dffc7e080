// SPDX-License-Identifier: Apache-2.0
// Orders the rounds: combs, then windows if combs do not work. Each round bounds the missed coefficients and
// shows when a dense transform would be cheaper.
#include "template/discovery/round.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/runtime/run_scope.hpp"
#include "template/discovery/discovery_driver.hpp"
#include "template/discovery/tone_fit.hpp"
#include "template/planning/cost_model.hpp"

namespace sfft::detail {

namespace {

/// Number of frequencies expected if the request gives none.
constexpr std::int64_t kGuess = 32;

}  // namespace

template <class Real>
DiscoveryResult DiscoveryDriver<Real>::run() {
  expected_ = request_.k > 0 ? request_.k : kGuess;
  result_.reason = "the shape has too few samples for its number of frequencies";
  if (request_.path != Path::flat_window) run_combs();
  confirm();
  const bool stuck = !result_.verified && result_.finite && !hopeless_;
  if (stuck && request_.path != Path::comb) {
    run_windows();
    confirm();
  }
  if (!result_.verified && result_.finite) leaks();
  double largest = 0;
  for (const DiscoveryComponent& component : result_.components)
    largest = std::max(largest, std::norm(component.value));
  result_.missed_bound +=
      2 * kMargin * kOwnRounding * std::numeric_limits<Real>::epsilon() * std::sqrt(largest);
  if (result_.verified) judge_count();
  result_.samples = sampler_.samples() + result_.check_samples;
  return std::move(result_);
}

template <class Real>
bool DiscoveryDriver<Real>::affordable(const CombGrid& grid, std::int64_t delays, Purpose purpose) {
  CombCost cost{};
  cost.points = shape_.points();
  cost.buckets = grid.count;
  cost.delays = delays;
  cost.samples = grid.count * delays;
  cost.lines = grid.count;
  cost.k = static_cast<std::int64_t>(result_.components.size());
  cost.real = sampler_.real();
  const auto reads = static_cast<double>(std::max<std::int64_t>(1, delays / 8));
  return afford(predict_comb_us(cost), reads, cost.samples, purpose);
}

template <class Real>
double DiscoveryDriver<Real>::limit_us(Purpose purpose) const {
  const double limit = purpose == Purpose::refine   ? request_.effort_us
                       : purpose == Purpose::search ? request_.search_us
                                                    : request_.patience_us;
  return limit > 0 ? limit : std::numeric_limits<double>::infinity();
}

template <class Real>
bool DiscoveryDriver<Real>::afford(double us, double reads, std::int64_t samples, Purpose purpose) {
  enter_stage("discovery: rounds");
  work_us_ += us;
  spent_us_ += us + reads * request_.read_us;
  const bool few = request_.max_samples == 0 || sampler_.samples() + samples <= request_.max_samples;
  if (result_.rounds == 0 || (few && spent_us_ <= limit_us(purpose))) return true;
  result_.reason = "not sparse enough to be worth looking further";
  hopeless_ = true;
  return false;
}

template <class Real>
void DiscoveryDriver<Real>::judge_prospects(const DiscoveryRound& round, std::int64_t open) {
  const auto found = static_cast<std::int64_t>(result_.components.size());
  promising_ = found > 0 && open <= found;
  if (!noisy_ || request_.k == 0) return;
  const std::int64_t seen = found + round.unresolved;
  promising_ = promising_ && 4 * seen <= 5 * expected_ + kSpare;
  if (seen <= max_seen()) return;
  result_.reason = "much more than k frequencies stand out of the noise";
  hopeless_ = true;
}

template <class Real>
bool DiscoveryDriver<Real>::leaks() {
  if (!request_.off_grid || looked_for_leakage_) return false;
  looked_for_leakage_ = true;
  const std::int64_t max = request_.max_samples > 0 ? request_.max_samples - sampler_.samples()
                                                    : std::numeric_limits<std::int64_t>::max();
  OffGridFinding finding = find_off_grid_tones(sampler_, max);
  result_.off_grid_tones = std::move(finding.tones);
  if (!finding.everywhere) return false;
  result_.reason = "tones between bins leak into all of the spectrum";
  hopeless_ = true;
  return true;
}

template <class Real>
bool DiscoveryDriver<Real>::accept(const DiscoveryRound& round, double tail_per_noise) {
  if (!round.finite || !(round.total_energy > 0)) {
    result_.finite = round.finite;
    result_.reason = round.finite ? "every sample that was read is zero" : kNotFinite;
    hopeless_ = true;
    return false;
  }
  noisy_ = round.noise > 4 * round.rounding;
  if (noisy_ && request_.exact_only) {
    result_.reason = "the signal is not exactly sparse";
    hopeless_ = true;
    return false;
  }
  result_.tail_energy = round.noise * tail_per_noise;
  total_energy_ = round.total_energy;
  result_.missed_bound = kMargin * std::sqrt(round.missed_power);
  // Frequencies that could not be separated may have any power.
  if (round.unresolved > 0 || round.crowded)
    result_.missed_bound = std::max(result_.missed_bound, everything());
  return true;
}

#define SFFT_INSTANTIATE(Real)                                                               \
  template bool DiscoveryDriver<Real>::affordable(const CombGrid&, std::int64_t, Purpose);   \
  template bool DiscoveryDriver<Real>::afford(double, double, std::int64_t, Purpose);        \
  template double DiscoveryDriver<Real>::limit_us(Purpose) const;                            \
  template void DiscoveryDriver<Real>::judge_prospects(const DiscoveryRound&, std::int64_t); \
  template bool DiscoveryDriver<Real>::leaks();                                              \
  template bool DiscoveryDriver<Real>::accept(const DiscoveryRound&, double);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)
#undef SFFT_INSTANTIATE

template <class Real>
DiscoveryResult DiscoveryDriver<Real>::until_stopped() {
  result_.verified = false;
  result_.reason = "stopped on request before it was complete";
  result_.samples = sampler_.samples() + result_.check_samples;
  return std::move(result_);
}

template <class Real>
DiscoveryResult run_discovery(SampleReader& signal, const Shape& shape, const DiscoveryRequest& request,
                              DiscoveryResult* until_stopped) {
  DiscoveryDriver<Real> driver(signal, shape, request);
  try {
    return driver.run();
  } catch (const Stopped&) {
    if (until_stopped != nullptr) *until_stopped = driver.until_stopped();
    throw;
  }
}

template DiscoveryResult run_discovery<float>(SampleReader&, const Shape&, const DiscoveryRequest&,
                                              DiscoveryResult*);
template DiscoveryResult run_discovery<double>(SampleReader&, const Shape&, const DiscoveryRequest&,
                                               DiscoveryResult*);

}  // namespace sfft::detail
