// SPDX-License-Identifier: Apache-2.0
// The witness of a plan on the CPU: compares scattered samples with what the coefficients predict there.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/math/region.hpp"
#include "kernels/base/tables/witness_data.hpp"
#include "sfft/types.hpp"

namespace sfft::detail::cpu {

/// Immutable, thread-safe; allocates nothing after construction. Costs 2k vector multiply-adds and a read of
/// each sample.
template <class Real>
class Witness {
 public:
  Witness() = default;
  explicit Witness(const WitnessData& data);

  bool empty() const noexcept { return samples_.empty(); }

  /// The number of reals that read() writes.
  std::size_t reals() const noexcept { return blocks_ * kWitnessReals; }
  /// Reads the witness's samples of a frame in the order of compare()'s reference.
  void read(FrameData frame, ElementType type, Real* samples) const noexcept;

  struct Seen {
    double residue = 0;  ///< mean |x − x̂|² per sample, real or complex; trimmed if the plan says so
    double all = 0;      ///< the same of all samples
    double samples = 0;  ///< mean |x|²
  };
  /// Compares the samples of a frame with what `values` predict. `reference` is what read() wrote for a
  /// reference frame, or null. With a reference, `values` and the result belong to the difference between the
  /// frame and the reference.
  Seen compare(FrameData frame, ElementType type, const Real* reference,
               std::span<const std::complex<Real>> values) const noexcept;

 private:
  void read_block(FrameData frame, ElementType type, std::size_t block, Real* samples) const noexcept;

  bool complex_ = false, trimmed_ = false;
  std::size_t blocks_ = 0;
  std::vector<std::int64_t> samples_;
  std::vector<Real> columns_;  ///< of each block, 2k × kWitnessReals
};

extern template class Witness<float>;
extern template class Witness<double>;

}  // namespace sfft::detail::cpu
