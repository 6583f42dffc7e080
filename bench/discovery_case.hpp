// SPDX-License-Identifier: Apache-2.0
// The signals of bench_discovery, and the scores of an answer to one of them.
#pragma once

#include <benchmark/benchmark.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/peers/peer.hpp"
#include "bench/signals.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

/// A kind of signal: k random frequencies with coefficients of modulus N and random phase, and white noise.
struct DiscoveryCase {
  std::string name;
  Shape shape;
  std::int64_t k;
  double snr_db = std::numeric_limits<double>::infinity();  ///< total signal power over total noise power

  bool noisy() const { return snr_db < std::numeric_limits<double>::infinity(); }
  std::string label() const;  ///< "exact/N:4194304/k:50"
};

struct DiscoverySignal {
  SparseSpectrum truth;
  std::vector<std::complex<float>> samples;

  DiscoverySignal(const DiscoveryCase& kind, std::uint64_t seed);
};

/// Medians of time, accuracy and number of coefficients found, over a case's signals.
class DiscoveryTally {
 public:
  explicit DiscoveryTally(const DiscoveryCase& kind) : kind_(kind) {}

  /// `tones` are in any order. `vouched` means that the candidate claims that they are complete.
  void compare(const DiscoverySignal& signal, const std::vector<peers::Tone>& tones, double samples,
               bool vouched);
  void add_times(double warm_seconds, double cold_seconds);
  /// Sets the iteration's time, the warm median, and the counters.
  void report(benchmark::State& state) const;

 private:
  DiscoveryCase kind_;
  std::vector<double> warm_, cold_, relative_l2_, samples_;
  std::int64_t missed_ = 0;  ///< number of coefficients
  std::int64_t complete_ = 0, vouched_ = 0, silent_ = 0;
  double absolute_error_ = 0;
};

}  // namespace sfft::bench
