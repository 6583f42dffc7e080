// SPDX-License-Identifier: Apache-2.0
// Draws candidates of the requested kind relative to a random frequency of the support, until one is free or
// the attempts run out.
#include "bench/trust/tone_places.hpp"

#include <algorithm>

namespace sfft::trust {

const char* to_string(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::random:
      return "random";
    case PlaceKind::power_alias:
      return "alias, B = 2^j";
    case PlaceKind::divisor_alias:
      return "alias, B | N";
    case PlaceKind::conjugate:
      return "conjugate";
    case PlaceKind::neighbour:
      return "neighbour";
    case PlaceKind::harmonic:
      return "harmonic";
    case PlaceKind::midpoint:
      return "midpoint";
  }
  return "unknown";
}

Places::Places(const Shape& shape, bool real, std::int64_t k, bool runs, Random& random)
    : shape_(shape), real_(real) {
  while (static_cast<std::int64_t>(support_.size()) < k) {
    std::int64_t flat = random.below(shape_.points());
    const std::int64_t run = runs ? 8 : 1;
    for (std::int64_t i = 0; i < run && static_cast<std::int64_t>(support_.size()) < k; ++i) {
      if (free(flat)) take(flat);
      flat = (flat + 1) % shape_.points();
    }
  }
  std::sort(support_.begin(), support_.end());
}

Places::Index Places::split(std::int64_t flat) const {
  Index index{};
  for (int d = shape_.rank() - 1; d >= 0; --d) {
    index[static_cast<std::size_t>(d)] = flat % shape_[d];
    flat /= shape_[d];
  }
  return index;
}

std::int64_t Places::join(const Index& index) const {
  std::int64_t flat = 0;
  for (int d = 0; d < shape_.rank(); ++d) {
    const std::int64_t folded = (index[static_cast<std::size_t>(d)] % shape_[d] + shape_[d]) % shape_[d];
    flat = flat * shape_[d] + folded;
  }
  return flat;
}

std::int64_t Places::mirror(std::int64_t flat) const {
  Index index = split(flat);
  for (std::int64_t& i : index) i = -i;
  return join(index);
}

bool Places::free(std::int64_t flat) const {
  return flat != 0 && mirror(flat) != flat && !taken_.contains(flat);
}

void Places::take(std::int64_t flat) {
  support_.push_back(flat);
  taken_.insert(flat);
  if (real_) taken_.insert(mirror(flat));
}

std::int64_t Places::draw(PlaceKind kind, Random& random) const {
  constexpr int kAttempts = 50;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::int64_t flat = candidate(kind, random);
    if (flat >= 0 && free(flat)) return flat;
  }
  return -1;
}

std::int64_t Places::candidate(PlaceKind kind, Random& random) const {
  const auto chosen = [&] {
    return support_[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(support_.size())))];
  };
  const std::int64_t flat = chosen();
  Index index = split(flat);
  const auto d = static_cast<std::size_t>(random.below(shape_.rank()));
  switch (kind) {
    case PlaceKind::random:
      return random.below(shape_.points());
    case PlaceKind::power_alias:
      return alias(flat, true, random);
    case PlaceKind::divisor_alias:
      return alias(flat, false, random);
    case PlaceKind::conjugate:
      // A real signal's frequency includes its conjugate, so for real signals the place is the mirror image
      // in only one dimension.
      if (!real_) return mirror(flat);
      index[d] = -index[d];
      return join(index);
    case PlaceKind::neighbour:
      index[d] += random.chance(0.5) ? 1 : -1;
      return join(index);
    case PlaceKind::harmonic: {
      const std::int64_t order = random.integer(2, 5);
      for (std::int64_t& i : index) i *= order;
      return join(index);
    }
    case PlaceKind::midpoint: {
      const Index other = split(chosen());
      for (std::size_t i = 0; i < index.size(); ++i) index[i] = (index[i] + other[i]) / 2;
      return join(index);
    }
  }
  return -1;
}

/// A place that combs of B buckets in each dimension fold into the same bucket as a frequency: f + m·B has
/// the residue of f modulo B, and f + m·N/B is the pattern that a comb of N/B buckets folds. Both are drawn.
std::int64_t Places::alias(std::int64_t flat, bool powers_of_two, Random& random) const {
  Index index = split(flat);
  bool moved = false;
  for (int d = 0; d < shape_.rank(); ++d) {
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 2; step < shape_[d]; ++step) {
      if (shape_[d] % step != 0) continue;
      const std::int64_t buckets = shape_[d] / step;
      const bool power = (step & (step - 1)) == 0 || (buckets & (buckets - 1)) == 0;
      if (power || !powers_of_two) steps.push_back(step);
    }
    if (steps.empty() || (shape_.rank() > 1 && random.chance(0.3))) continue;
    const std::int64_t step =
        steps[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(steps.size())))];
    const std::int64_t multiples = shape_[d] / step;
    index[static_cast<std::size_t>(d)] += step * (multiples > 1 ? random.integer(1, multiples - 1) : 1);
    moved = true;
  }
  return moved ? join(index) : -1;
}

}  // namespace sfft::trust
