// SPDX-License-Identifier: Apache-2.0
// Which part of its spectra a forward transform keeps; read by the host and by kernels.
#pragma once

namespace sfft::device {

/// power: every element's |X|² is stored instead of X.
enum class Keep { all, power, above, at };

/// The spectra of a batch lie one after the other; elements are numbered through all of them.
struct KeptPart {
  double least_power;         ///< above: elements with more |X|² are kept
  long long capacity;         ///< above: room in indices and values
  unsigned long long* count;  ///< above: number of such elements, including those without room
  long long* indices;         ///< above: their numbers, in no particular order
  void* values;  ///< power: real; otherwise complex; at: those of a spectrum in ascending order of element
  const unsigned* chosen;  ///< at: bit e % 32 of word e / 32 for element e of a spectrum
  const int* before;       ///< at: chosen elements before each word
  long long kept;          ///< at: elements per spectrum
  long long first;         ///< the number of the first element that a launch writes
};

}  // namespace sfft::device
