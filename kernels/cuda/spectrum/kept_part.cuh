// SPDX-License-Identifier: Apache-2.0
// The part of its spectra that a forward transform keeps; shared by host and kernels.
#pragma once

namespace sfft::device {

/// power: every element's |X|² is stored instead of X.
enum class Keep { all, power, above, at };

/// Spectra of a batch are contiguous; element numbers run through all of them.
struct KeptPart {
  double min_power;           ///< above: elements with more |X|² are kept
  long long capacity;         ///< above: room in indices and values
  unsigned long long* count;  ///< above: number of such elements, including those that find no room
  long long* indices;         ///< above: their numbers, in no particular order
  void* values;  ///< power: real; otherwise complex; at: those of a spectrum in ascending order of element
  const unsigned* chosen;  ///< at: bit e % 32 of word e / 32 for element e of a spectrum
  const int* before;       ///< at: chosen elements before each word
  long long kept;          ///< at: elements per spectrum
  long long first;         ///< number of the first element that a launch writes
};

}  // namespace sfft::device
