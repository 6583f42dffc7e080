// SPDX-License-Identifier: Apache-2.0
// Selects the strongest elements of a power array in device memory: step by step, or the k largest with their
// values and the cell sums of the rest, with all work queued at once. Results do not depend on thread order.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/cell_sums.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// Elements [first, count) that are not negative.
struct Candidates {
  const double* power;
  std::int64_t first, count;
};

/// Takes the elements above a level, and those equal to it up to an index.
struct Cut {
  double level;
  std::int64_t last_tie = -1;
};

/// The rank-th largest power; rank in [1, number of candidates]. Uses radix selection, which reads the array
/// six times, for 11 bits each.
double power_at_rank(const Candidates& candidates, std::int64_t rank, Stream stream);
/// The cut that takes exactly the `rank` largest, ties in ascending order of index.
Cut cut_at_rank(const Candidates& candidates, std::int64_t rank, Stream stream);
/// How many elements a cut takes.
std::int64_t count_taken(const Candidates& candidates, const Cut& cut, Stream stream);
/// The indices of the `taken` elements that a cut takes, ascending, as std::int64_t in device memory.
DeviceBuffer take(const Candidates& candidates, const Cut& cut, std::int64_t taken, Stream stream);

/// Results in host memory.
struct LargestOfSpectrum {
  std::complex<double> mean;          ///< X at f = 0
  double largest_outside;             ///< the largest power that was not chosen; 0 if all were chosen
  std::vector<std::int64_t> indices;  ///< of stored elements, ascending
  std::vector<double> power;
  std::vector<std::complex<double>> values;
  std::vector<double> sums;  ///< as from cell_sums(), without the chosen elements
};

/// Finds the k largest powers of a stored spectrum, their values, and the cell sums of the rest, with all
/// work queued at once. The functions above and those of cell_sums.hpp wait for the GPU some ten times.
class SelectLargest {
 public:
  /// How many digits of the powers are counted. `few` counts the exponent and 11 bits of the mantissa, then
  /// lists the powers that agree with the k-th largest in those. That is faster, but works only if few powers
  /// agree (settled()).
  enum class Digits { few, all };

  /// Precondition: k >= 1, and at least `k` elements are not excluded.
  SelectLargest(const SpectrumExtents& extents, std::int64_t k);

  /// Bytes of 256-byte aligned device memory.
  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Bytes of host memory from which tables and to which results are copied; if it is page-locked, no copy
  /// blocks.
  std::size_t host_bytes() const noexcept { return upload_bytes_ + result_bytes_; }
  /// Copies and clears what enqueue() needs in the workspace. Best queued before the powers are computed.
  void prepare(std::byte* workspace, std::byte* host, Stream stream) const;
  /// Selects by `power` among elements that are not negative; ties go to the smaller index. Selected elements
  /// become kExcluded. A NaN power counts as the largest. Stream-ordered; `host` is in use until the caller
  /// has waited for the stream. Results do not depend on thread order. Throws Error(device).
  void enqueue(const std::complex<double>* spectrum, double* power, std::byte* workspace, std::byte* host,
               Digits digits, Stream stream) const;
  /// Whether the digits sufficed; call it after waiting for the stream. If not, nothing was selected; call
  /// prepare() and enqueue() again for all digits.
  bool settled(const std::byte* host) const;
  /// The results; call it once settled() is true.
  LargestOfSpectrum results(const std::byte* host) const;

 private:
  SpectrumExtents extents_;
  std::int64_t k_;
  CellSums sums_;
  std::size_t upload_bytes_, result_bytes_, workspace_bytes_;
};

}  // namespace sfft::detail::cuda
