// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine: xoshiro256++ and the distributions that streams need.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

namespace sfft::trust {

/// The standard library fixes its generators but not its distributions, and its normal one is slow. Streams
/// need both: the same frames everywhere, and a frame of noise in about a millisecond.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = split_mix(seed);
  }
  /// An independent generator for part `index` of whatever `seed` describes.
  Random(std::uint64_t seed, std::uint64_t index) : Random(seed * 0x9e3779b97f4a7c15U + index) {}

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  ///< in [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(count));
  }
  std::int64_t integer(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(double probability) { return uniform() < probability; }
  double phase() { return uniform(0, 2 * std::numbers::pi); }
  /// Real and imaginary part have variance 1 each (Box and Muller).
  std::complex<double> normal_pair() { return std::polar(std::sqrt(-2 * std::log(1 - uniform())), phase()); }
  double normal() {
    if (kept_) {
      kept_ = false;
      return spare_;
    }
    const std::complex<double> pair = normal_pair();
    spare_ = pair.imag();
    kept_ = true;
    return pair.real();
  }

 private:
  static std::uint64_t split_mix(std::uint64_t& seed) {
    std::uint64_t z = seed += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool kept_ = false;
};

}  // namespace sfft::trust
