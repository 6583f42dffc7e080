// SPDX-License-Identifier: Apache-2.0
// Recovery weights per lane of the small FFTs. A lane carries one delay of a complex frame, or two delays of
// a real one.
#pragma once

#include <complex>

namespace sfft::detail {

/// Weights on a lane Z: w_2l Y_2l + w_2l+1 Y_2l+1 = α Z[b] + β conj(Z[−b]), since a real frame's delays are
/// packed into the real and imaginary parts of Z: Y_2l[b] = (Z[b] + conj Z[−b])/2, Y_2l+1[b] = (Z[b] − conj
/// Z[−b])/(2i).
struct LaneWeights {
  std::complex<double> alpha, beta;
};

inline LaneWeights real_lane_weights(std::complex<double> even, std::complex<double> odd) {
  const std::complex<double> turned{-odd.imag(), odd.real()};  // times i
  return {0.5 * (even - turned), 0.5 * (even + turned)};
}

}  // namespace sfft::detail
