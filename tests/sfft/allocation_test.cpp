// SPDX-License-Identifier: Apache-2.0
// Tests that execute() allocates nothing after the first call with a workspace and a spectrum.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/region.hpp"

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto step = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (bytes + step - 1) / step * step)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace sfft {
namespace {

TEST(Execute, AllocatesNothing) {
  for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
    for (const int threads : {1, 2}) {
      const Shape shape{path == Path::flat_window ? 1021 : 1024};
      const auto signal = test::SparseSignal::random(shape, false, 6, 1);
      const auto x = signal.as<std::complex<float>>();
      const Plan<float> plan(Template::from_support(shape, Domain::complex, signal.support),
                             {.path = path, .threads = threads});
      auto workspace = plan.make_workspace();
      auto spectrum = plan.make_spectrum();
      std::vector<Spectrum<float>> spectra(3, spectrum);
      const SignalView frame = SignalView::line(x);
      const std::vector<SignalView> frames(3, frame);
      plan.execute(frame, spectrum, workspace);
      plan.execute(frames, spectra, workspace);
      const long before = allocations;
      ASSERT_GT(before, 0);
      for (int i = 0; i < 5; ++i) {
        plan.execute(frame, spectrum, workspace);
        plan.execute(frames, spectra, workspace);
      }
      EXPECT_EQ(allocations - before, 0) << to_string(path) << ", " << threads << " threads";
    }
  }
}

TEST(Execute, AllocatesNothingForRegions) {
  for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
    const Shape shape{path == Path::flat_window ? 31 : 32, 37};
    const auto signal = test::SparseSignal::random(shape, false, 6, 1);
    const auto x = signal.as<std::complex<float>>();
    const test::Region<std::complex<float>> region(x, shape);
    const Plan<float> plan(Template::from_support(shape, Domain::complex, signal.support), {.path = path});
    auto workspace = plan.make_workspace();
    auto spectrum = plan.make_spectrum();
    const SignalView frame = region.view();
    plan.execute(frame, spectrum, workspace);
    const long before = allocations;
    for (int i = 0; i < 5; ++i) plan.execute(frame, spectrum, workspace);
    EXPECT_EQ(allocations - before, 0) << to_string(path);
  }
}

}  // namespace
}  // namespace sfft
