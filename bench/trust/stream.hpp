// SPDX-License-Identifier: Apache-2.0
// The streams of frames that the measuring programs feed to trackers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::trust {

/// Streams are seeded and endless, except recordings. The view stays valid until the next call.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual SignalView next() = 0;
  /// Whether next() may be called: false after a recording's last frame.
  virtual bool more() { return true; }
};

/// A stream of the population before it is made: making one may cost several dense transforms.
struct StreamRecipe {
  std::string family;      ///< "still", "pan", "phases advance"
  std::string parameters;  ///< "240x320 u8, sigma 2"
  std::int64_t k = 0;      ///< coefficients to learn; 0 means as many as sfft-video chooses
  std::function<std::unique_ptr<Stream>()> make;
};

}  // namespace sfft::trust
