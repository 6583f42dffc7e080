// SPDX-License-Identifier: Apache-2.0
// Every engine takes a frame twice, as it came and converted to float, and the better time counts. The truth
// is computed in single precision, of the frame without its mean: rounding is then some 1e-7 of what is
// compared, and takes a quarter of the time of double precision.
#include "video/pipeline/dense_check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace sfft::video {

namespace {
using Clock = std::chrono::steady_clock;
}

double DenseTimer::time(const SignalView& frame, const SignalView& converted) {
  if (!warm_) plan_.forward(converted, spectrum_, workspace_.aligned());
  warm_ = true;
  double best = 0;
  for (const SignalView* input : {&frame, &converted}) {
    const auto start = Clock::now();
    plan_.forward(*input, spectrum_, workspace_.aligned());
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    best = best == 0 ? us : std::min(best, us);
  }
  return best;
}

DenseCheck::DenseCheck(const Shape& shape, int threads)
    : shape_(shape),
      exact_(shape, true),
      samples_(static_cast<std::size_t>(shape.points())),
      exact_spectrum_(exact_.spectrum_points()),
      exact_workspace_(exact_.workspace_bytes()) {
  for (const dense::Engine engine : {dense::Engine::built_in, dense::Engine::fftw})
    if (dense::available(engine)) timers_.emplace_back(shape, engine, threads);
}

void DenseCheck::time(const SignalView& frame, std::vector<RunReport::DenseTimes>& times) {
  convert(frame);
  const SignalView converted(samples_, shape_);
  times.resize(timers_.size());
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    times[i].engine = timers_[i].engine();
    times[i].us.push_back(timers_[i].time(frame, converted));
  }
}

void DenseCheck::verify(const SignalView& frame, const Spectrum<float>& spectrum, FrameRecord& record) {
  convert(frame, mean_of(frame));
  exact_.forward(SignalView(samples_, shape_), exact_spectrum_, exact_workspace_.aligned());
  const std::int64_t columns = shape_[1];
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < spectrum.support->size(); ++i) {
    const std::int64_t f = (*spectrum.support)[i];
    if (f == 0) continue;
    std::int64_t row = f / columns;
    std::int64_t column = f % columns;
    const bool stored = column <= columns / 2;
    if (!stored) {
      row = row == 0 ? 0 : shape_[0] - row;
      column = columns - column;
    }
    const std::complex<double> kept =
        exact_spectrum_[static_cast<std::size_t>(row * (columns / 2 + 1) + column)];
    const std::complex<double> truth = stored ? kept : std::conj(kept);
    error += std::norm(std::complex<double>(spectrum.values[i]) - truth);
    norm += std::norm(truth);
  }
  record.true_error = norm > 0 ? std::sqrt(error / norm) : 0;
  // Exact results report no error; float rounding does not count as a failure of the account.
  constexpr double kRounding = 1e-6;
  record.covered = std::sqrt(error) <= 2 * spectrum.error_l2 + kRounding * std::sqrt(norm);
}

namespace {

/// Calls `action` with the frame's samples, of the type that they have.
template <class Action>
auto with_samples(const SignalView& frame, std::size_t count, const Action& action) {
  if (frame.type() == ElementType::u8)
    return action(std::span(static_cast<const std::uint8_t*>(frame.data()), count));
  return action(std::span(static_cast<const std::uint16_t*>(frame.data()), count));
}

}  // namespace

float DenseCheck::mean_of(const SignalView& frame) const {
  return with_samples(frame, samples_.size(), [](const auto& samples) {
    const auto sum = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
    return static_cast<float>(static_cast<double>(sum) / static_cast<double>(samples.size()));
  });
}

void DenseCheck::convert(const SignalView& frame, float subtracted) {
  with_samples(frame, samples_.size(), [this, subtracted](const auto& samples) {
    std::transform(samples.begin(), samples.end(), samples_.begin(),
                   [subtracted](auto sample) { return static_cast<float>(sample) - subtracted; });
  });
}

bool timed_densely(std::int64_t index, const std::vector<double>& times_us) {
  constexpr std::size_t kLeast = 3;
  constexpr std::size_t kMost = 9;
  constexpr double kEnoughUs = 20000;
  if (times_us.size() >= kMost) return false;
  if (times_us.size() >= kLeast && std::accumulate(times_us.begin(), times_us.end(), 0.0) > kEnoughUs)
    return false;
  return index < 4 || index % 10 == 0;
}

}  // namespace sfft::video
