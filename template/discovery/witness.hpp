// SPDX-License-Identifier: Apache-2.0
// The final check of discovery: samples at scattered positions, compared one by one with the components'
// prediction. Combs and lattice lines share periods and runs with structured signals (pulses, steps,
// textures); positions drawn at random share none with a signal that existed before the draw.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "template/discovery/pattern.hpp"
#include "template/discovery/round.hpp"
#include "template/discovery/sample_reader.hpp"

namespace sfft::detail {

/// Discovery's claims about the signal.
struct WitnessClaim {
  double tail_energy = 0;  ///< Σ|X|² outside the components
  bool noisy = false;      ///< the tail is noise, not an upper bound of rounding
};

struct WitnessReport {
  bool agrees = false;
  bool finite = true;
  std::int64_t samples = 0;   ///< samples compared
  double unseen_share = 1;    ///< a disturbance of a smaller share of all positions may be missed
  bool whole_agrees = false;  ///< all samples were read, and their sums agree as well
  double tail_energy = 0;     ///< Σ|X|² outside the components, estimated from these samples, or from all
  double excess = 0;          ///< Σ|x|² of the residual beyond the claim, if all samples were read
  const char* reason = "";    ///< why it does not agree
};

/// Number of samples to compare so that a disturbance of kDisturbedShare of the positions, wherever they are,
/// is missed with a probability below `confidence`.
std::int64_t witness_samples(double confidence);
/// The share of positions whose disturbance `samples` positions miss with at most that probability.
double witness_share(double confidence, std::int64_t samples);
/// 1/40, because pulses of 2 in 64 samples cover 1/32.
inline constexpr double kDisturbedShare = 0.025;
/// Positions are sums of an anchor and an offset, drawn independently. Any two are independent, but not all
/// together: misses are more likely than with independent positions, by less than this factor
/// (docs/accuracy.md).
inline constexpr double kWitnessDependence = 180;

/// Signals of at most this number of points are compared at every point.
inline constexpr std::int64_t kWitnessAll = 2048;

template <class Real>
class DiscoveryWitness {
 public:
  /// Keeps references.
  DiscoveryWitness(SampleReader& signal, const Shape& shape) : signal_(signal), shape_(shape) {}

  /// Compares `samples` or a few more, or all of a short signal. `everything`: also reads the whole signal
  /// for its sums, if the reader supports that.
  WitnessReport examine(const std::vector<DiscoveryComponent>& components, const WitnessClaim& claim,
                        std::int64_t samples, double confidence, bool everything, DiscoveryRandom& random);

 private:
  /// Coordinates of a set of positions, dimension by dimension.
  struct Positions {
    std::vector<double> at[3];
    std::int64_t count = 0;
  };

  void draw(std::int64_t samples, DiscoveryRandom& random);
  void read();
  void predict(const std::vector<DiscoveryComponent>& components);
  WitnessReport judge(const std::vector<DiscoveryComponent>& components, const WitnessClaim& claim) const;
  void compare_whole(const std::vector<DiscoveryComponent>& components, const WitnessClaim& claim,
                     DiscoveryRandom& random, WitnessReport& report);
  bool real() const noexcept { return !is_complex(signal_.type()); }

  SampleReader& signal_;
  const Shape& shape_;
  bool all_ = false;  ///< every position of the signal is among those drawn
  Positions anchors_, offsets_;
  std::vector<Real> seen_re_, seen_im_;              ///< in the reader's order
  std::vector<double> predicted_re_, predicted_im_;  ///< at [anchor*offsets + offset]
};

extern template class DiscoveryWitness<float>;
extern template class DiscoveryWitness<double>;

}  // namespace sfft::detail
