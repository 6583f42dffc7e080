// SPDX-License-Identifier: Apache-2.0
// dense::ConvolutionPlan: finds a short pattern in a long recording by correlation.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> recording(200'000), pattern(1000);
  for (float& value : recording) value = normal(random);
  for (float& value : pattern) value = normal(random);
  constexpr std::size_t place = 123'456;
  for (std::size_t i = 0; i < pattern.size(); ++i) recording[place + i] += 0.5F * pattern[i];

  using Plan = sfft::dense::ConvolutionPlan<float>;
  const Plan plan = Plan::correlation(sfft::Shape(recording.size()), sfft::Domain::real,
                                      sfft::SignalView::line(pattern), Plan::Extent::valid);
  std::vector<float> likeness(plan.result_points());
  plan.forward(recording, likeness);
  const auto found = std::max_element(likeness.begin(), likeness.end()) - likeness.begin();
  std::printf("the pattern begins at sample %td\n", found);
  return static_cast<std::size_t>(found) == place ? 0 : 1;
}
