// SPDX-License-Identifier: Apache-2.0
// Aliases: oscillations faster than half the frame rate show at a lower frequency.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sfft::video {

/// The frequency at which an oscillation shows, in [0, rate/2].
double folded(double hz, double rate_hz);

/// The lowest frequencies above rate/2 that show at `hz`: rate - hz, rate + hz, 2 rate - hz …
std::vector<double> alias_candidates(double hz, double rate_hz, std::size_t count = 4);

struct KnownFrequency {
  double hz = 0, error_hz = 0;
  std::string name;  ///< "expected", "mains light": what a reader is told
};

struct Alias {
  double hz = 0;
  std::string reason;
};

/// What speaks for a peak being an alias. The frames alone cannot decide it; this names the likeliest, the
/// first of: a known frequency that folds to the peak, a multiple of another peak that does, and rate - hz
/// where the peak is close to half the frame rate. Nothing where a plain multiple of another peak explains
/// it. `error_hz` is the peak's standard error, `resolution_hz` the least tolerance.
std::optional<Alias> likely_alias(double hz, double error_hz, double resolution_hz, double rate_hz,
                                  std::span<const KnownFrequency> known,
                                  std::span<const KnownFrequency> stronger);

}  // namespace sfft::video
