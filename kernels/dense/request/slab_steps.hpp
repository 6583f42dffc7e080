// SPDX-License-Identifier: Apache-2.0
// The kernels of volumes in slabs, dimension by dimension; for real volumes, only those of lines across
// planes. In a forward transform, rows that stay on their GPU are transformed while they are moved; other
// rows are transformed in their planes before they are sent.
#pragma once

#include <string>
#include <vector>

#include "kernels/dense/slabs/slab_fft.hpp"
#include "kernels/dense/tuned/line_kernels.hpp"

namespace sfft::detail {

template <class Real>
class SlabSteps {
 public:
  using Value = std::complex<Real>;

  /// The number of rows whose lines across planes are transformed together. Parts of slabs are whole blocks
  /// of this size.
  static std::int64_t rows_together(const SlabGrid& grid) noexcept;

  /// Makes the kernels of one GPU, which may have several places in the list. If `planes`, also makes those
  /// of planes, which must be complex. Throws Error(backend_unavailable).
  SlabSteps(const SlabFft<Real>& fft, int device, bool planes, bool measure);

  bool has_planes() const noexcept { return has_planes_; }

  /// Transforms columns of `count` planes, along the second dimension.
  void columns(const Value* from, Value* to, std::int64_t count, bool inverse, cuda::Stream stream) const;
  /// Transforms the rows of `count` planes that will be sent to other GPUs; in place if the arrays are the
  /// same.
  void rows_for_others(int place, const Value* from, Value* to, std::int64_t count, double scale,
                       cuda::Stream stream) const;
  /// Transforms `count` rows, the first at `rows`, in all planes of other GPUs, in place.
  void rows_of_others(int place, Value* rows, std::int64_t count, double scale, cuda::Stream stream) const;
  /// Transforms lines across all planes, for `count` rows that begin at `from`.
  void lines(int place, const Value* from, Value* to, std::int64_t count, bool inverse,
             cuda::Stream stream) const;
  /// Transforms the rows of a piece while moving them.
  void rows(const SlabPiece<Real>& piece, double scale, bool inverse, cuda::Stream stream) const;

  std::string name() const;

 private:
  std::size_t find(const tuned::Lines& kind) const;
  tuned::Lines columns_of(bool inverse) const;
  tuned::Lines lines_of(int place, bool inverse) const;
  /// The kind of lines for `rows` rows of each plane in a group.
  tuned::Lines rows_of(std::int64_t rows, std::int64_t from_pitch, std::int64_t to_pitch, bool inverse) const;

  SlabGrid grid_;
  std::int64_t together_;
  bool has_planes_;
  std::vector<tuned::Lines> kinds_;
  std::unique_ptr<const tuned::LineKernels> kernels_;
};

}  // namespace sfft::detail
