// SPDX-License-Identifier: Apache-2.0
// What is transformed, how, and what counts as right.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace sfft::technologies {

/// Why a technology, a device or a size gives no numbers: a sentence for its row.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Complex transforms of powers of two in single precision, forward unnormalised, inverse with 1/N.
struct Problem {
  int bits = 0;            ///< log2 of a transform's length; in 2D of either extent
  int rank = 1;            ///< 1 or 2
  std::int64_t batch = 1;  ///< transforms behind each other; 1 in 2D
  bool inverse = false;

  std::int64_t length() const { return std::int64_t{1} << bits; }
  std::int64_t points() const { return rank == 2 ? length() * length() : length() * batch; }
  std::string name() const;  ///< "2^20", "4096x4096", "256 times 2^10"
  /// Bound on the relative L2 error: 1e-6 log2 N / 8, with N the points of one transform.
  double bound() const { return 1e-6 * bits * rank / 8; }
};

/// What is tuned for a device.
struct Setting {
  int threads = 256;             ///< per work-group, a power of two
  int tile = 32;                 ///< edge of the transposition's tile
  bool built_in_sincos = false;  ///< twiddles from the language's sine and cosine
};

}  // namespace sfft::technologies
