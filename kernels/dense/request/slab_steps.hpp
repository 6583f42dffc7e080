// SPDX-License-Identifier: Apache-2.0
// The kernels of volumes in slabs, dimension by dimension: of real ones for the lines across planes only.
// Rows that stay on their GPU are transformed on their way to where they belong, the others in the planes
// before they are sent.
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

  /// Rows whose lines across planes kernels take together: parts of slabs consist of whole blocks of so many.
  static std::int64_t rows_together(const SlabGrid& grid) noexcept;

  /// For one GPU, whatever places of the list it has. `planes`: of complex volumes. Throws
  /// Error(backend_unavailable).
  SlabSteps(const SlabFft<Real>& fft, int device, bool planes, bool measure);

  bool has_planes() const noexcept { return has_planes_; }

  /// Columns of `count` planes, along the second dimension.
  void columns(const Value* from, Value* to, std::int64_t count, bool inverse, cuda::Stream stream) const;
  /// Rows of `count` planes that others will have; in place where the arrays are the same.
  void rows_for_others(int place, const Value* from, Value* to, std::int64_t count, double scale,
                       cuda::Stream stream) const;
  /// In place: `count` rows from a first one on, in all planes of others.
  void rows_of_others(int place, Value* rows, std::int64_t count, double scale, cuda::Stream stream) const;
  /// Lines across all planes, of `count` rows from a first one on.
  void lines(int place, const Value* from, Value* to, std::int64_t count, bool inverse,
             cuda::Stream stream) const;
  /// Rows of a piece, on their way.
  void rows(const SlabPiece<Real>& piece, double scale, bool inverse, cuda::Stream stream) const;

  std::string name() const;

 private:
  std::size_t find(const tuned::Lines& kind) const;
  tuned::Lines columns_of(bool inverse) const;
  tuned::Lines lines_of(int place, bool inverse) const;
  /// `rows` rows of each of some planes.
  tuned::Lines rows_of(std::int64_t rows, std::int64_t from_pitch, std::int64_t to_pitch, bool inverse) const;

  SlabGrid grid_;
  std::int64_t together_;
  bool has_planes_;
  std::vector<tuned::Lines> kinds_;
  std::unique_ptr<const tuned::LineKernels> kernels_;
};

}  // namespace sfft::detail
