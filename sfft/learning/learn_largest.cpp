// SPDX-License-Identifier: Apache-2.0
// Transforms one frame in double precision and selects its k largest frequencies on the way, on any number of
// threads. The result does not depend on that number.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/math/region.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/learning/pass_runner.hpp"
#include "template/data/envelope.hpp"

namespace sfft::detail {

namespace {

/// Powers of this size, and sums of such powers, are safely in range.
constexpr double kLargestPower = 1e280;
constexpr double kSmallestPower = 1e-240;
/// Maximum number of parts of the second pass that share a level. The first groups of parts are smaller,
/// because they set it.
constexpr std::int64_t kMaxTogether = 32;

/// If parts are alike (`suggest`), the part processed first suggests a level for all others. That part lies a
/// third of the way in, because the first ones hold the harmonics of periods that divide the length.
LargestElements select_largest(PassRunner& runner, const Shape& shape, std::int64_t k, const void* samples,
                               ElementType type, bool suggest) {
  runner.first(samples, type);
  LargestElements largest(CellGrid(shape).cells(), k);
  const std::int64_t parts = runner.second_parts();
  const std::int64_t sampled = suggest ? parts / 3 : 0;
  for (std::int64_t done = 0, together = 1; done < parts; done += together) {
    if (done > 0) together = std::min({done, kMaxTogether, parts - done});
    std::vector<PartialSelection> partial(static_cast<std::size_t>(together), largest.begin_part());
    runner.select(
        together,
        [&](std::int64_t i) {
          const std::int64_t turn = done + i;
          return turn == 0 ? sampled : turn - (turn <= sampled ? 1 : 0);
        },
        [&](std::int64_t i) -> PartialSelection& { return partial[static_cast<std::size_t>(i)]; });
    for (PartialSelection& part : partial) largest.take(std::move(part));
    if (done == 0 && suggest) {
      largest.suggest_level(1 / static_cast<double>(parts));
    } else {
      largest.raise_level();
    }
  }
  largest.finish();
  return largest;
}

LargestElements select_largest(PassRunner& runner, const Shape& shape, std::int64_t k, const void* samples,
                               ElementType type) {
  LargestElements largest = select_largest(runner, shape, k, samples, type, runner.parts_are_alike());
  return largest.level_was_too_high() ? select_largest(runner, shape, k, samples, type, false) : largest;
}

/// Whether all powers and sums of powers are within the range of double precision.
bool ordinary(const LargestElements& largest) {
  double top = 0;
  double sum = std::accumulate(largest.sums().begin(), largest.sums().end(), 0.0);
  for (const SpectrumElement& element : largest.largest()) {
    top = std::max(top, element.power);
    sum += element.power;
  }
  return std::isfinite(sum) && top > kSmallestPower && top < kLargestPower;
}

}  // namespace

Learned learn_largest(const SignalView& frame, std::int64_t k, int threads) {
  const bool real = !is_complex(frame.type());
  Learned learned;
  learned.layout = {frame.shape(), real};
  PassRunner runner(frame.shape(), real, threads);
  CountedVector<std::byte> copy;
  const void* samples = frame.data();
  if (!frame.contiguous()) {
    copy.resize(frame.bytes());
    copy_elements(frame, copy.data());
    samples = copy.data();
  }
  LargestElements largest = select_largest(runner, frame.shape(), k, samples, frame.type());
  const bool twice = frame.type() == ElementType::f64 || frame.type() == ElementType::c128;
  // All-zero frames need no scale, and are rare enough to scan twice.
  if (twice && !ordinary(largest)) {
    learned.exponent = scale_exponent({&frame, 1});
    if (learned.exponent != 0) {
      const CountedVector<double> scaled = scaled_samples(frame, learned.exponent);
      largest = select_largest(runner, frame.shape(), k, scaled.data(), frame.type());
    }
  }
  check_finite(largest.mean(), 0);
  learned.chosen.reserve(largest.largest().size());
  learned.values.reserve(largest.largest().size());
  for (const SpectrumElement& element : largest.largest()) {
    learned.chosen.push_back({element.index, element.power});
    learned.values.push_back(element.value);
  }
  learned.tail = largest.sums();
  learned.largest_outside = largest.largest_outside();
  return learned;
}

}  // namespace sfft::detail
