// SPDX-License-Identifier: Apache-2.0
// Frequencies of templates, and places outside them where a new tone may appear.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "bench/trust/random.hpp"
#include "sfft/types.hpp"

namespace sfft::trust {

/// Where to put a tone: anywhere, or where the structure of the template's frequencies or of the grid
/// suggests that it could hide.
enum class PlaceKind : std::uint8_t {
  random,
  power_alias,
  divisor_alias,
  conjugate,
  neighbour,
  harmonic,
  midpoint
};
inline constexpr std::array kAdversarialKinds{PlaceKind::power_alias, PlaceKind::divisor_alias,
                                              PlaceKind::conjugate,   PlaceKind::neighbour,
                                              PlaceKind::harmonic,    PlaceKind::midpoint};
const char* to_string(PlaceKind kind);

/// k distinct frequencies of a grid, none of which is 0 or its own conjugate, and the places outside these.
class Places {
 public:
  /// Scattered over the grid, or in runs of eight neighbours.
  Places(const Shape& shape, bool real, std::int64_t k, bool runs, Random& random);

  const std::vector<std::int64_t>& support() const { return support_; }
  /// Linear index of a frequency outside the support (for a real signal its mirror image is outside as well);
  /// -1 if the kind offers none.
  std::int64_t draw(PlaceKind kind, Random& random) const;

 private:
  using Index = std::array<std::int64_t, 3>;
  Index split(std::int64_t flat) const;
  std::int64_t join(const Index& index) const;  ///< modulo the extents
  std::int64_t mirror(std::int64_t flat) const;
  bool free(std::int64_t flat) const;
  void take(std::int64_t flat);
  std::int64_t candidate(PlaceKind kind, Random& random) const;
  std::int64_t alias(std::int64_t flat, bool powers_of_two, Random& random) const;

  Shape shape_;
  bool real_;
  std::vector<std::int64_t> support_;
  std::unordered_set<std::int64_t> taken_;
};

}  // namespace sfft::trust
