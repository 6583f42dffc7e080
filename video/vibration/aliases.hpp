// SPDX-License-Identifier: Apache-2.0
// Finds aliases: oscillations faster than half the frame rate appear at a lower frequency.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sfft::video {

/// The frequency at which an oscillation appears, in [0, rate/2].
double folded(double hz, double rate_hz);

/// The lowest frequencies above rate/2 that appear at `hz`: rate - hz, rate + hz, 2 rate - hz …
std::vector<double> alias_candidates(double hz, double rate_hz, std::size_t count = 4);

struct KnownFrequency {
  double hz = 0, error_hz = 0;
  std::string name;  ///< as shown to readers, such as "the expected 50 Hz"
};

struct Alias {
  double hz = 0;
  std::string reason;
};

/// The most likely true frequency of a peak that may be an alias; frames alone cannot decide this. The
/// candidates, in order, are a known frequency that folds to the peak, a multiple of another peak that does,
/// and rate - hz if the peak is close to half the frame rate. Returns nothing if an unfolded multiple of
/// another peak explains the peak. `error_hz`: its standard error. `resolution_hz`: the minimum tolerance.
std::optional<Alias> likely_alias(double hz, double error_hz, double resolution_hz, double rate_hz,
                                  std::span<const KnownFrequency> known,
                                  std::span<const KnownFrequency> stronger);

}  // namespace sfft::video
