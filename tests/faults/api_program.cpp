// SPDX-License-Identifier: Apache-2.0
// Small uses of the whole public API, in which any allocation may fail: every call returns or throws
// sfft::Error or std::bad_alloc, and existing objects continue to work.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "sfft/sfft.hpp"

namespace {

std::string folder;  // NOLINT: where files are written

std::vector<std::uint8_t> frame(int t) {
  std::vector<std::uint8_t> samples(32 * 48);
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 48; ++x)
      samples[static_cast<std::size_t>(48 * y + x)] =
          static_cast<std::uint8_t>(120 + 50 * std::sin(0.3 * x + 0.1 * t) * std::cos(0.2 * y));
  }
  return samples;
}

void templates() {
  const auto samples = frame(0);
  const sfft::Shape shape{32, 48};
  const sfft::Template tmpl = sfft::learn(sfft::SignalView(samples, shape), {.keep = sfft::Largest{12}});
  tmpl.save(folder + "/template");
  const sfft::Template again = sfft::Template::load(folder + "/template");
  const sfft::Plan<float> plan(again, {.threads = 2});
  auto workspace = plan.make_workspace();
  auto spectrum = plan.make_spectrum();
  const auto next = frame(1);
  plan.execute(sfft::SignalView(next, shape), spectrum, workspace);
  static_cast<void>(plan.explain());
}

void tracking() {
  const auto first = frame(0);
  const sfft::Shape shape{32, 48};
  sfft::Tracker<float> tracker(sfft::learn(sfft::SignalView(first, shape), {.keep = sfft::Largest{12}}));
  for (int t = 1; t < 5; ++t) {
    const auto samples = frame(20 * t);
    static_cast<void>(tracker.push(sfft::SignalView(samples, shape)));
  }
}

void dense() {
  const sfft::Shape shape{12, 35};
  std::vector<std::complex<double>> signal(static_cast<std::size_t>(shape.points()), 1.0),
      spectrum(signal.size());
  const sfft::dense::Plan<double> plan(shape, sfft::Domain::complex, {.threads = 2});
  plan.forward(sfft::SignalView(signal, shape), spectrum);
  plan.inverse(spectrum, signal);
  sfft::dense::save_wisdom(folder + "/json");
  static_cast<void>(sfft::dense::load_wisdom(folder + "/json"));
}

void discovering() {
  std::vector<std::complex<float>> signal(1 << 14);
  for (std::size_t t = 0; t < signal.size(); ++t)
    signal[t] =
        std::polar(1.0F, static_cast<float>(2 * 3.14159265 * static_cast<double>(t * 77 % signal.size()) /
                                            static_cast<double>(signal.size())));
  static_cast<void>(sfft::transform(sfft::SignalView::line(signal), sfft::Largest{4}));
}

}  // namespace

int main(int, char** arguments) {
  int failures = 0;
  try {
    folder = arguments[1];
  } catch (const std::bad_alloc&) {
    return 3;
  }
  for (void (*use)() : {&templates, &tracking, &dense, &discovering}) {
    for (int attempt = 0; attempt < 2;
         ++attempt) {  // once more after a failure: one allocation fails, not all
      try {
        use();
        break;
      } catch (const sfft::Error& error) {
        if (error.code() != sfft::ErrorCode::out_of_memory) std::fprintf(stderr, "error: %s\n", error.what());
        ++failures;
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      if (attempt == 1) return 99;
    }
  }
  return failures == 0 ? 0 : 3;
}
