// SPDX-License-Identifier: Apache-2.0
// The inputs of a dense transform, and its expected output.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/cuda/dense/case.hpp"
#include "bench/cuda/device_memory.hpp"

namespace sfft::bench {

/// Random values of zero mean, or bytes in 0..255. For an inverse real transform, the spectrum of such a
/// signal.
class DenseInput {
 public:
  explicit DenseInput(const DenseCase& what);

  const void* of_library() const { return samples_.data(); }
  /// The same values as floats or doubles, as the problem requires.
  const void* of_peers() const { return floats_.data() == nullptr ? samples_.data() : floats_.data(); }
  /// The same values, scaled to be so small that a transform repeated in place stays finite; see
  /// repetitions_in_place().
  const void* tiny() const { return tiny_.data(); }

 private:
  DeviceBuffer samples_, floats_, tiny_;
};

/// How often an in-place transform may be repeated, starting from tiny().
int repetitions_in_place(const PeerProblem& problem);

/// The errors of a result.
struct Accuracy {
  double relative_l2 = 0;  ///< error of the whole output relative to cuFFT in double
  double largest = 0;      ///< largest difference from cuFFT in double, divided by its root mean square
  double direct = 0;       ///< relative L2 at a few outputs, against direct sums in double (no FFT involved)
  /// Also false for NaN.
  bool within(double tolerance) const { return relative_l2 <= tolerance && direct <= 4 * tolerance; }
};

/// The reference output in double.
class Reference {
 public:
  Reference(const PeerProblem& problem, const DenseInput& input);

  Accuracy accuracy(const Peer& peer) const { return accuracy(peer.result(), peer.result_pitch()); }
  /// The accuracy of a result in device memory whose rows are `pitch` real numbers apart.
  Accuracy accuracy(const void* result, std::int64_t pitch) const;
  double direct_error() const;  ///< error of the reference itself
  static double tolerance(const PeerProblem& problem);

 private:
  template <class Real>
  double direct_error(const Real* result, std::int64_t pitch) const;

  PeerProblem problem_;
  std::unique_ptr<Peer> exact_;
  DeviceBuffer widened_;
  std::vector<std::int64_t> positions_;
  std::vector<std::complex<double>> sums_;
};

}  // namespace sfft::bench
