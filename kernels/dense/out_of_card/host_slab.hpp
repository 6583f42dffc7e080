// SPDX-License-Identifier: Apache-2.0
// The host's transform of one slab of an out-of-card array, on one thread.
#pragma once

#include <memory>
#include <vector>

#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Slabs are stored in a shape of which the first `row_points` of every row are transformed. The others are
/// neither used nor kept.
template <class Real>
class HostSlab {
 public:
  HostSlab(const Shape& stored, std::int64_t row_points);

  /// Scratch of one thread, a multiple of 64 bytes.
  std::size_t scratch_bytes() const noexcept;
  /// The arrays may be the same.
  void transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse, Real scale,
                 std::byte* scratch) const;

 private:
  /// A dimension other than the last: `outer` grids of `points` values.
  struct Columns {
    ColumnStage<Real> stage;
    std::int64_t outer, points;
  };

  Shape stored_;
  std::int64_t row_points_;
  std::unique_ptr<const DenseEngine<Real>> engine_;  ///< of slabs without gaps
  std::unique_ptr<const RowStage<Real>> row_;        ///< of others
  std::vector<Columns> columns_;
};

extern template class HostSlab<float>;
extern template class HostSlab<double>;

}  // namespace sfft::detail
