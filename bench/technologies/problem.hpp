// SPDX-License-Identifier: Apache-2.0
// Describes what is transformed, with which settings, and which errors count as right.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace sfft::technologies {

/// Why a technology, a device or a size gives no numbers, as a sentence for its row.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Complex transforms of power-of-two sizes in single precision. Forward is unnormalised; inverse has 1/N.
struct Problem {
  int bits = 0;            ///< log2 of a transform's length, or in 2D of each extent
  int rank = 1;            ///< 1 or 2
  std::int64_t batch = 1;  ///< transforms one after another in memory; 1 in 2D
  bool inverse = false;

  std::int64_t length() const { return std::int64_t{1} << bits; }
  std::int64_t points() const { return rank == 2 ? length() * length() : length() * batch; }
  std::string name() const;  ///< "2^20", "4096x4096", "256 times 2^10"
  /// Bound on the relative L2 error: 1e-6 log2 N / 8, where N is the number of points of one transform.
  double bound() const { return 1e-6 * bits * rank / 8; }
};

/// Parameters that are tuned for a device.
struct Setting {
  int threads = 256;             ///< per work-group, a power of two
  int tile = 32;                 ///< edge of the transposition's tile
  bool built_in_sincos = false;  ///< twiddles from the language's sine and cosine
};

}  // namespace sfft::technologies
