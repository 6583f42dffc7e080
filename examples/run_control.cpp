// SPDX-License-Identifier: Apache-2.0
// run_with_control(): progress of a long call, and how another thread stops it.
#include <chrono>
#include <complex>
#include <cstdio>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> noise;
  std::vector<std::complex<float>> x(1 << 22);
  for (auto& sample : x) sample = {noise(random), noise(random)};
  const sfft::SignalView signal = sfft::SignalView::line(x);

  std::stop_source source;
  std::thread impatient([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    source.request_stop();
  });
  const auto report = [](const char* stage, double share) {
    std::printf("%s, %.0f %%\n", stage, 100 * share);
    return true;  // false stops the call, too
  };
  bool stopped = false;
  try {
    sfft::run_with_control(source.get_token(), report, [&] {
      while (true) static_cast<void>(sfft::learn(signal, {.keep = sfft::Largest{100}}));
    });
  } catch (const sfft::Error& error) {
    stopped = error.code() == sfft::ErrorCode::stopped;
    std::printf("%s\n", error.what());
  }
  impatient.join();
  return stopped ? 0 : 1;
}
