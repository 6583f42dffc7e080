// SPDX-License-Identifier: Apache-2.0
// dense::TrigonometricPlan: the DCT of a picture, and the picture from a hundredth of its coefficients.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  constexpr std::size_t rows = 240, columns = 320;
  std::vector<float> picture(rows * columns), dct(picture.size()), restored(picture.size());
  for (std::size_t i = 0; i < picture.size(); ++i) {
    const auto y = static_cast<float>(i / columns), x = static_cast<float>(i % columns);
    picture[i] = 128 + 50 * std::sin(x / 40) * std::cos(y / 30) + 0.1F * x;
  }
  using Plan = sfft::dense::TrigonometricPlan<float>;
  const Plan plan(sfft::Shape{rows, columns}, Plan::Kind::dct2,
                  {.normalization = sfft::dense::Options::Normalization::unitary});
  plan.forward(picture, dct);

  std::vector<float> sizes(dct.size());
  std::transform(dct.begin(), dct.end(), sizes.begin(), [](float value) { return std::abs(value); });
  const auto limit = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 100);
  std::nth_element(sizes.begin(), limit, sizes.end(), std::greater<>());
  std::replace_if(
      dct.begin(), dct.end(), [least = *limit](float value) { return std::abs(value) <= least; }, 0.0F);

  plan.inverse(dct, restored);
  float worst = 0;
  for (std::size_t i = 0; i < picture.size(); ++i)
    worst = std::max(worst, std::abs(restored[i] - picture[i]));
  std::printf("1 %% of the coefficients: off by at most %.2f of 256 levels\n", static_cast<double>(worst));
  return worst < 4 ? 0 : 1;
}
