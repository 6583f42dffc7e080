// SPDX-License-Identifier: Apache-2.0
// Groups the dimensions of a transform into steps, each one trip of the array, so that every step's pieces
// fit the device and the host's caches.
#pragma once

#include <functional>
#include <vector>

#include "kernels/dense/out_of_core/round.hpp"

namespace sfft::detail {

/// Complex signals, one behind the other. Of each stored row, `row_pitch` values long, the first shape[last]
/// are transformed.
struct OutOfCoreGrid {
  OutOfCoreGrid(const Shape& extents, std::int64_t signals = 1,
                std::int64_t pitch = 0)  // NOLINT: the usual case
      : shape(extents), batch(signals), row_pitch(pitch == 0 ? extents[extents.rank() - 1] : pitch) {}
  /// Real signals in rows that begin `samples_pitch` apart, and half spectra without gaps.
  static OutOfCoreGrid of_real(const Shape& extents, std::int64_t signals, std::int64_t samples_pitch) {
    OutOfCoreGrid grid(extents, signals, extents[extents.rank() - 1] / 2 + 1);
    grid.real_pitch = samples_pitch;
    return grid;
  }
  /// A real line of 2·pairs samples without gaps, whose half spectrum has a value more than this grid.
  static OutOfCoreGrid of_real_line(std::int64_t pairs) {
    OutOfCoreGrid grid{Shape(pairs)};
    grid.real_line = true;
    return grid;
  }
  bool real() const noexcept { return real_pitch > 0; }
  std::int64_t row_points() const noexcept { return shape[shape.rank() - 1]; }
  std::int64_t rows() const noexcept { return batch * (shape.points() / row_points()); }
  /// Complex values, of real signals those of half spectra.
  std::int64_t signal_points() const noexcept { return shape.points() / row_points() * row_pitch; }
  std::int64_t points() const noexcept { return batch * signal_points(); }

  Shape shape;
  std::int64_t batch, row_pitch;
  std::int64_t real_pitch = 0;  ///< 0: complex
  bool real_line = false;       ///< calls are never in place
};

/// One trip of the array: FFTs across slabs, the same with transposed results in another array (turned), FFTs
/// of rows with transposed results where the data were (exchanged), FFTs of slabs, or, by the host alone, a
/// transposition of array.slabs rows of array.slab = (columns, values of an element).
struct Step {
  enum class Kind { columns, transposed, exchanged, slabs, transposition };
  enum class Calls { all, in_place, apart };
  Kind kind;
  std::int64_t repeats, stride;  ///< arrays, and values from the start of one to the next
  DeviceArray array;
  Calls calls = Calls::all;  ///< which calls take this step

  bool taken(bool in_place) const noexcept {
    return calls == Calls::all || in_place == (calls == Calls::in_place);
  }
};

template <class Real>
std::unique_ptr<Round<Real>> make_round(Step::Kind kind, const DeviceArray& array) {
  if (kind == Step::Kind::slabs)
    return array.real_points > 0 ? make_real_slab_round<Real>(array) : make_slab_round<Real>(array);
  if (kind == Step::Kind::exchanged) return make_exchanged_round<Real>(array);
  if (array.real_line) return make_mirrored_round<Real>(array, kind == Step::Kind::transposed);
  return kind == Step::Kind::transposed ? make_transposed_round<Real>(array) : make_column_round<Real>(array);
}

struct GroupingLimits {
  /// Values of the longest line that one thread or one piece transforms. Lines with prime factors above 13
  /// may have an eighth: they need more memory.
  std::int64_t longest_line = std::int64_t{1} << 22;
  std::function<bool(const Step&)> fits;  ///< on the device
  bool exchanges = false;                 ///< the device transposes in place, not the host
  bool in_place = false;                  ///< of no interest are calls with another array for the results
};

/// Slabs as large as they fit, columns across what is left, and lines that are too long, or that lie alone,
/// as two dimensions with twiddles and a transposition between (the four steps of Bailey, 1990). Where it is
/// the first step that does so, calls with another array for the results transpose on the device. Throws
/// Error: out_of_memory for a step that does not fit and cannot be divided, backend_unavailable for a line
/// that is too long and has no two factors that are not.
std::vector<Step> group_steps(const OutOfCoreGrid& grid, const GroupingLimits& limits);

}  // namespace sfft::detail
