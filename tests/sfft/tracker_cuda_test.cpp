// SPDX-License-Identifier: Apache-2.0
// Tests pushes of several frames to a tracker on the GPU, with and without views of the following frames.
// Actions equal those of single pushes, and spectra agree with a dense transform on the CPU within the
// reported errors. Frames are in page-locked memory or in other memory.
#include "sfft/tracker.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/page_locked.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::tracker_cuda_test {
namespace {

class TrackerCuda : public test::GpuTest {};

constexpr std::int64_t kRows = 120, kColumns = 160;
const Shape kShape{kRows, kColumns};

/// Two scenes, with a damaged frame in the first if the sample type allows it.
template <class T>
std::vector<std::vector<T>> film(int frames) {
  std::vector<std::vector<T>> out;
  for (int t = 0; t < frames; ++t) {
    const auto frame = test::film_frame(kRows, kColumns, t, t < 2 * frames / 3 ? 1 : 2);
    out.emplace_back(frame.begin(), frame.end());
  }
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    auto& broken = out[static_cast<std::size_t>(frames / 2)];
    std::fill(broken.begin(), broken.end(), std::numeric_limits<T>::quiet_NaN());
  }
  return out;
}

/// Relative error over the support without f = 0.
template <class Real>
double error_of(const Spectrum<Real>& spectrum, const Template& tmpl, const SignalView& frame) {
  const auto truth = Plan<double>(tmpl, {.device = Device::cpu(), .path = Path::dense}).execute(frame);
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < truth.values.size(); ++i) {
    if ((*truth.support)[i] == 0) continue;
    error += std::norm(std::complex<double>(spectrum.values[i]) - truth.values[i]);
    norm += std::norm(truth.values[i]);
  }
  return std::sqrt(error / norm);
}

template <class Real, class T>
void compare(const std::vector<std::vector<T>>& frames, bool page_locked, Path path, int batch,
             PlanOptions::Transfer transfer) {
  const std::size_t bytes = frames[0].size() * sizeof(T);
  std::shared_ptr<std::byte> memory;
  if (page_locked) memory = allocate_page_locked(frames.size() * bytes);
  std::vector<SignalView> views;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const T* at = frames[i].data();
    if (page_locked) {
      auto* place = reinterpret_cast<T*>(memory.get() + i * bytes);
      std::copy(frames[i].begin(), frames[i].end(), place);
      at = place;
    }
    views.emplace_back(std::span<const T>(at, frames[i].size()), kShape);
  }
  const Template tmpl = learn(SignalView(frames[0], kShape), {.keep = Largest{100}, .reference = true});
  TrackerOptions options;
  options.plan.device = options.learn.device = Device::gpu();
  options.plan.path = path;
  options.plan.batch = batch;
  options.plan.transfer = transfer;
  // If comparisons follow each other closely, several dense transforms are in flight.
  if (batch > 1) options.calibrate = 6;
  Tracker<Real> single(tmpl, options), several(tmpl, options), ahead(tmpl, options);
  ahead.prepare(views[0]);
  std::mt19937 random(7);
  for (std::size_t at = 0; at < views.size();) {
    const std::size_t count = std::min<std::size_t>(views.size() - at, 1 + random() % 40);
    const auto all = std::span<const SignalView>(views);
    const auto results = several.push(all.subspan(at, count));
    ASSERT_EQ(results.size(), count);
    // Announced frames may come or not, and may be announced in several steps.
    const auto rest = all.subspan(at + count);
    if (random() % 3 == 0) ahead.push({}, all.subspan(at, std::min<std::size_t>(count, 8)));
    if (random() % 3 == 0) ahead.push({}, all.subspan(at, count));
    if (random() % 5 == 0) ahead.push({}, all.first(at));
    const auto others = ahead.push(all.subspan(at, count), rest.first(random() % (rest.size() + 1)));
    ASSERT_EQ(others.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& expected = single.push(views[at + i]);
      const Spectrum<Real>& got = results[i].spectrum;
      ASSERT_EQ(results[i].action, expected.action)
          << at + i << ": " << results[i].reason << " / " << expected.reason;
      EXPECT_EQ(results[i].index, expected.index);
      ASSERT_EQ(others[i].action, expected.action)
          << at + i << ": " << others[i].reason << " / " << expected.reason;
      EXPECT_EQ(others[i].index, expected.index);
      EXPECT_EQ(got.quality.finite, expected.spectrum.quality.finite);
      ASSERT_EQ(*got.support, *expected.spectrum.support);
      if (!got.quality.finite) continue;
      const std::vector<std::complex<double>> values(expected.spectrum.values.begin(),
                                                     expected.spectrum.values.end());
      EXPECT_LE(test::relative_l2(got.values, values), 1e-5) << at + i;
      EXPECT_NEAR(got.quality.relative_error, expected.spectrum.quality.relative_error,
                  1e-3 * expected.spectrum.quality.relative_error + 1e-6);
      EXPECT_LE(test::relative_l2(others[i].spectrum.values, values), 1e-5) << at + i;
      EXPECT_NEAR(others[i].spectrum.quality.relative_error, expected.spectrum.quality.relative_error,
                  1e-3 * expected.spectrum.quality.relative_error + 1e-6);
    }
    // The current template is that of the last frame.
    const auto& last = results.back();
    if (last.spectrum.quality.finite) {
      EXPECT_LE(error_of(last.spectrum, several.current_template(), views[at + count - 1]),
                4 * last.spectrum.quality.relative_error + 1e-5)
          << at + count - 1;
    }
    at += count;
  }
  EXPECT_EQ(several.relearned(), single.relearned());
  EXPECT_EQ(several.calibrated(), single.calibrated());
  EXPECT_EQ(several.dense_fallbacks(), single.dense_fallbacks());
  if (path == Path::comb) {
    EXPECT_GE(several.calibrated(), 5) << "decisions that end a run";
  }
}

TEST_F(TrackerCuda, SeveralFramesAreOneAfterAnother) {
  const auto bytes = film<std::uint8_t>(130);
  const auto floats = film<float>(130);
  for (const int batch : {1, 32}) {
    for (const bool page_locked : {false, true}) {
      compare<float>(bytes, page_locked, Path::comb, batch, PlanOptions::Transfer::automatic);
      compare<double>(floats, page_locked, Path::comb, batch, PlanOptions::Transfer::automatic);
      compare<float>(bytes, page_locked, Path::dense, batch, PlanOptions::Transfer::automatic);
      if (HasFatalFailure()) return;
    }
    for (const PlanOptions::Transfer transfer :
         {PlanOptions::Transfer::whole, PlanOptions::Transfer::gather, PlanOptions::Transfer::mapped,
          PlanOptions::Transfer::rows}) {
      compare<float>(bytes, true, Path::comb, batch, transfer);
      compare<float>(floats, true, Path::comb, batch, transfer);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(TrackerCuda, AFrameThatFailsLeavesTheResultsBeforeIt) {
  const auto bytes = film<std::uint8_t>(12);
  std::vector<SignalView> views;
  for (const auto& frame : bytes) views.emplace_back(frame, kShape);
  const std::vector<std::uint8_t> small(16);
  views[7] = SignalView(small, Shape{4, 4});
  TrackerOptions options;
  options.plan.device = Device::gpu();
  options.plan.batch = 32;
  Tracker<float> tracker(learn(views[0], {.keep = Largest{50}, .reference = true}), options);
  EXPECT_EQ(test::code_of([&] { tracker.push(views); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(tracker.results().size(), 7u);
  EXPECT_EQ(tracker.push(std::span(views).subspan(8)).size(), 4u);
  EXPECT_EQ(tracker.results().back().index, 10);
}

TEST_F(TrackerCuda, MemoryThatRunsOutCostsNoFrame) {
  namespace cuda = detail::cuda;
  const auto bytes = film<std::uint8_t>(60);
  std::vector<SignalView> views;
  for (const auto& frame : bytes) views.emplace_back(frame, kShape);
  TrackerOptions options;
  options.plan.device = options.learn.device = Device::gpu();
  options.plan.batch = 32;
  const Template tmpl = learn(views[0], {.keep = Largest{50}, .reference = true});
  int failures = 0;
  for (int n = 1; n < 60; n += 3) {
    Tracker<float> tracker(tmpl, options);
    std::size_t done = 0;
    cuda::fail_allocation(n);
    const auto code = test::code_of([&] { tracker.push(views); });
    failures += cuda::fail_allocation(0) == 0;
    done = tracker.results().size();
    if (code) {  // without an error, frames were taken one by one
      EXPECT_EQ(*code, ErrorCode::out_of_memory);
      done += tracker.push(std::span(views).subspan(done)).size();
    }
    EXPECT_EQ(done, views.size());
    EXPECT_EQ(tracker.results().back().index, static_cast<std::int64_t>(views.size()) - 1);
  }
  EXPECT_GE(failures, 1);
}

TEST_F(TrackerCuda, FailuresWhileFramesAreUnderWayCostNone) {
  namespace cuda = detail::cuda;
  const auto bytes = film<std::uint8_t>(96);
  std::vector<SignalView> views;
  for (const auto& frame : bytes) views.emplace_back(frame, kShape);
  const auto all = std::span<const SignalView>(views);
  TrackerOptions options;
  options.plan.device = options.learn.device = Device::gpu();
  options.plan.batch = 32;
  const Template tmpl = learn(views[0], {.keep = Largest{50}, .reference = true});
  Tracker<float> undisturbed(tmpl, options);
  std::vector<TrackedFrame::Action> actions;
  for (const SignalView& view : views) actions.push_back(undisturbed.push(view).action);
  int failures = 0;
  for (int n = 1; n < 40; n += 2) {
    Tracker<float> tracker(tmpl, options);
    cuda::fail_allocation(n);
    bool failing = true, failed = false;
    std::size_t done = 0;
    for (int pushes = 0; done < views.size() && pushes < 100; ++pushes) {
      const std::size_t count = std::min<std::size_t>(views.size() - done, 20);
      const auto coming =
          all.subspan(done + count).first(std::min<std::size_t>(views.size() - done - count, 20));
      const auto code = test::code_of([&] {
        if (done % 3 == 0) tracker.push({}, all.subspan(done, count));
        tracker.push(all.subspan(done, count), coming);
      });
      failed = failed || code.has_value();
      if (failing && code) {
        failures += cuda::fail_allocation(0) == 0;
        failing = false;
        EXPECT_EQ(*code, ErrorCode::out_of_memory);
      }
      for (const Tracker<float>::Frame& frame : tracker.results()) {
        // The calibration has counted a frame twice if it failed and was pushed again.
        if (!failed) {
          EXPECT_EQ(frame.action, actions[done]) << done;
        }
        EXPECT_EQ(frame.index, static_cast<std::int64_t>(done));
        ++done;
      }
    }
    if (failing) failures += cuda::fail_allocation(0) == 0;
    EXPECT_EQ(done, views.size());
  }
  EXPECT_GE(failures, 1);
}

TEST_F(TrackerCuda, AnnouncedFramesMayBeFreed) {
  const std::size_t points = static_cast<std::size_t>(kShape.points());
  const auto bytes = film<std::uint8_t>(60);
  TrackerOptions options;
  options.plan.device = Device::gpu();
  options.plan.batch = 32;
  const Template tmpl = learn(SignalView(bytes[0], kShape), {.keep = Largest{50}, .reference = true});
  Tracker<float> tracker(tmpl, options), other(tmpl, options);
  {
    const std::shared_ptr<std::byte> memory = allocate_page_locked(bytes.size() * points);
    std::vector<SignalView> views;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      auto* place = reinterpret_cast<std::uint8_t*>(memory.get() + i * points);
      std::copy(bytes[i].begin(), bytes[i].end(), place);
      views.emplace_back(std::span<const std::uint8_t>(place, points), kShape);
    }
    const auto all = std::span<const SignalView>(views);
    tracker.push(all.first(20), all.subspan(20));
    tracker.push({}, {});  // from here on the caller may free the memory
    Tracker<float> ends(tmpl, options);
    ends.push({}, all);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const SignalView view(bytes[i], kShape);
    const TrackedFrame::Action expected = other.push(view).action;
    if (i < 20) continue;
    const Tracker<float>::Frame& got = tracker.push(view);
    EXPECT_EQ(got.action, expected);
    EXPECT_EQ(got.index, static_cast<std::int64_t>(i));
  }
}

TEST_F(TrackerCuda, PageLockedMemoryIsReadInPlace) {
  const std::shared_ptr<std::byte> memory = allocate_page_locked(4096);
  EXPECT_NE(detail::cuda::mapped_address(memory.get()), nullptr);
  EXPECT_NE(detail::cuda::mapped_address(memory.get() + 4095), nullptr);
  EXPECT_EQ(test::code_of([] { static_cast<void>(allocate_page_locked(16, 99)); }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(allocate_page_locked(0), nullptr);
}

}  // namespace
}  // namespace sfft::tracker_cuda_test
