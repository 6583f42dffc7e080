// SPDX-License-Identifier: Apache-2.0
// Every engine transforms the first frame twice, from integers and from floats, and uses the faster input
// from then on. The reference spectrum is computed in single precision: its rounding is about 1e-7 of the
// values compared, and it takes a quarter of the time of double precision.
#include "video/pipeline/dense_check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "kernels/runtime/elapsed.hpp"
#include "video/sources/samples.hpp"

namespace sfft::video {

double DenseTimer::time(const SignalView& frame, const SignalView& converted) {
  const auto timed = [this](const SignalView& input) {
    const auto start = std::chrono::steady_clock::now();
    plan_.forward(input, spectrum_, workspace_.span());
    return detail::us_since(start);
  };
  if (warm_) return timed(from_converted_ ? converted : frame);
  warm_ = true;  // the first timed call warms up the caches; its input was just written
  const double converted_us = timed(converted), us = timed(frame);
  from_converted_ = converted_us < us;
  return std::min(us, converted_us);
}

DenseCheck::Exact::Exact(const Shape& shape, std::span<const std::int64_t> support, int threads)
    : plan(Template::from_support(shape, Domain::real, support),
           {.device = Device::cpu(), .path = Path::dense, .threads = threads}),
      workspace(plan.make_workspace()),
      spectrum(plan.make_spectrum()) {}

DenseCheck::DenseCheck(const Shape& shape, int threads)
    : shape_(shape), threads_(threads), samples_(static_cast<std::size_t>(shape.points())) {
  for (const dense::Engine engine : {dense::Engine::built_in, dense::Engine::fftw})
    if (dense::availability(engine)) timers_.emplace_back(shape, engine, threads);
}

namespace {

void convert(const SignalView& frame, std::span<float> to) {
  with_samples(frame, [&](const auto* samples) {
    std::transform(samples, samples + to.size(), to.begin(),
                   [](auto sample) { return static_cast<float>(sample); });
  });
}

}  // namespace

void DenseCheck::time(const SignalView& frame, std::vector<RunReport::DenseTimes>& times) {
  if (std::ranges::any_of(timers_, &DenseTimer::takes_converted)) convert(frame, samples_);
  const SignalView converted(samples_, shape_);
  for (DenseTimer& timer : timers_) {
    auto of_engine = std::ranges::find(times, timer.engine(), &RunReport::DenseTimes::engine);
    if (of_engine == times.end()) of_engine = times.insert(times.end(), {.engine = timer.engine(), .us = {}});
    of_engine->us.push_back(timer.time(frame, converted));
  }
}

TrackedFrame::ErrorCheck DenseCheck::verify(const SignalView& frame, const Spectrum<float>& spectrum) {
  if (support_ != spectrum.support) {
    exact_.emplace(shape_, *spectrum.support, threads_);
    support_ = spectrum.support;
  }
  exact_->plan.execute(frame, exact_->spectrum, exact_->workspace);
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < support_->size(); ++i) {
    if ((*support_)[i] == 0) continue;
    const std::complex<double> truth(exact_->spectrum.values[i]);
    error += std::norm(std::complex<double>(spectrum.values[i]) - truth);
    norm += std::norm(truth);
  }
  return {std::sqrt(error), std::sqrt(norm), 0};
}

void note(const TrackedFrame::ErrorCheck& check, FrameRecord& record) {
  record.us -= check.us;  // the check is not part of the transform
  record.true_error = check.norm_l2 > 0 ? check.error_l2 / check.norm_l2 : 0;
  // Exact results report no error, and float rounding is not a failure of the error estimate.
  constexpr double kRounding = 1e-6;
  record.covered = check.error_l2 <= 2 * record.error_l2 + kRounding * check.norm_l2;
}

bool timed_densely(std::int64_t index, const std::vector<double>& times_us) {
  constexpr std::size_t kMin = 3;
  constexpr std::size_t kMax = 9;
  constexpr double kEnoughUs = 1000;
  if (times_us.size() >= kMax) return false;
  if (times_us.size() >= kMin && std::accumulate(times_us.begin(), times_us.end(), 0.0) > kEnoughUs)
    return false;
  return index < 4 || index % 10 == 0;
}

}  // namespace sfft::video
