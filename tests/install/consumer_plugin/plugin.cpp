// SPDX-License-Identifier: Apache-2.0
// A plug-in that uses sfft and exports one function. It lets the errors of sfft pass.
#include <cstdint>
#include <vector>

#include "sfft/sfft.hpp"

/// The most powerful frequency of n samples. sfft throws if there are none.
extern "C" __attribute__((visibility("default"))) std::int64_t strongest(const float* samples, int n) {
  const std::vector<float> copy(samples, samples + n);
  const auto signal = sfft::SignalView::line(copy);
  const sfft::Template tmpl = sfft::learn(signal, {.keep = sfft::Largest{1}});
  return sfft::Plan<float>(tmpl).source().support()[0];
}
