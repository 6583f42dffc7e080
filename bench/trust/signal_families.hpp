// SPDX-License-Identifier: Apache-2.0
// A population of signals in families with stated distributions. A signal depends only on its number and the
// seed.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/recording.hpp"
#include "sfft/types.hpp"

namespace sfft::bench {

/// The random numbers of one signal (SplitMix64), as many as it needs and the same every time.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()();
  std::int64_t below(std::int64_t limit);                    ///< 0 … limit−1
  std::int64_t between(std::int64_t min, std::int64_t max);  ///< both included
  double unit();                                             ///< [0, 1)
  double between(double min, double max) { return min + (max - min) * unit(); }
  double log_between(double min, double max);
  bool one_in(std::int64_t n) { return below(n) == 0; }
  std::complex<double> normal();  ///< E|z|² = 1
  std::complex<double> phase();

 private:
  std::uint64_t state_;
};

struct PopulationSignal {
  std::string family;
  Shape shape{1};
  bool real = false;
  std::vector<std::complex<double>> x;
  std::int64_t tones = 0;  ///< frequencies put in on purpose, a conjugate pair once; 0 if not countable
  std::int64_t disturbed =
      0;  ///< samples that a click or burst changed, if the signal is sparse apart from these
};

/// Makes signal `number` of a population, without its element type and the options of the question.
class Population {
 public:
  /// Recordings (may be none) join the family of rows and frames.
  Population(std::uint64_t seed, std::vector<std::shared_ptr<Recording>> recordings)
      : seed_(seed), recordings_(std::move(recordings)) {}

  static const std::vector<std::string>& families();
  Draw draw(std::int64_t number) const;
  PopulationSignal make(const std::string& family, Draw& draw) const;

 private:
  std::uint64_t seed_;
  std::vector<std::shared_ptr<Recording>> recordings_;
};

/// Full complex transform by the dense engine in double precision: forward unnormalised, inverse with 1/N.
/// Every thread keeps its plans.
void transform_in_place(const Shape& shape, std::vector<std::complex<double>>& x, bool inverse);

}  // namespace sfft::bench
