// SPDX-License-Identifier: Apache-2.0
// Remembers a frame that a tracker has transformed densely, to see whether frames repeat.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "kernels/base/types.hpp"

namespace sfft::detail {

class StreamMemory {
 public:
  bool empty() const noexcept { return frame_.empty(); }
  /// Keeps a copy of the samples and of the exact coefficients at the support.
  void keep(const SignalView& frame, std::span<const std::complex<double>> values);
  void forget() { frame_.clear(); }

  struct Change {
    double support = 0;  ///< Σ|ΔX|² over the support, both halves of a real signal's
    double outside = 0;  ///< Σ|ΔX|² over the rest of the spectrum
  };
  /// The change from the kept frame to this one, whose exact coefficients are `values`; `multiplicity` is 2
  /// where the spectrum holds a distinct conjugate. The frames have one shape; if their types differ,
  /// everything counts as changed.
  Change change(const SignalView& frame, std::span<const std::complex<double>> values,
                std::span<const double> multiplicity) const;

 private:
  ElementType type_ = ElementType::u8;
  std::vector<std::byte> frame_;
  std::vector<std::complex<double>> values_;
};

}  // namespace sfft::detail
