// SPDX-License-Identifier: Apache-2.0
// Groups the dimensions of a transform into steps. Each step is one pass over the array, whose pieces fit the
// device and the host's caches.
#pragma once

#include <functional>
#include <vector>

#include "kernels/dense/out_of_core/round.hpp"

namespace sfft::detail {

/// Contiguous complex signals. Stored rows are `row_pitch` values long, and the first shape[last] values of
/// each are transformed.
struct OutOfCoreGrid {
  OutOfCoreGrid(const Shape& extents, std::int64_t signals = 1,
                std::int64_t pitch = 0)  // NOLINT: the usual case
      : shape(extents), batch(signals), row_pitch(pitch == 0 ? extents[extents.rank() - 1] : pitch) {}
  /// Real signals whose rows begin `samples_pitch` samples apart, and half spectra without gaps.
  static OutOfCoreGrid of_real(const Shape& extents, std::int64_t signals, std::int64_t samples_pitch) {
    OutOfCoreGrid grid(extents, signals, extents[extents.rank() - 1] / 2 + 1);
    grid.real_pitch = samples_pitch;
    return grid;
  }
  /// A real line of 2·pairs samples without gaps. Its half spectrum has one value more than this grid.
  static OutOfCoreGrid of_real_line(std::int64_t pairs) {
    OutOfCoreGrid grid{Shape(pairs)};
    grid.real_line = true;
    return grid;
  }
  bool real() const noexcept { return real_pitch > 0; }
  std::int64_t row_points() const noexcept { return shape[shape.rank() - 1]; }
  std::int64_t rows() const noexcept { return batch * (shape.points() / row_points()); }
  /// Complex values; for real signals, values of the half spectra.
  std::int64_t signal_points() const noexcept { return shape.points() / row_points() * row_pitch; }
  std::int64_t points() const noexcept { return batch * signal_points(); }

  Shape shape;
  std::int64_t batch, row_pitch;
  std::int64_t real_pitch = 0;  ///< 0: complex
  bool real_line = false;       ///< calls for such grids are never in place
};

/// One pass over the array. The kinds are: FFTs across slabs (columns), the same with transposed results in
/// another array (transposed), FFTs of rows with transposed results in the same array (exchanged), FFTs of
/// slabs (slabs), or a transposition of array.slabs rows of array.slab = (columns, values of an element),
/// which the host does alone (transposition).
struct Step {
  enum class Kind { columns, transposed, exchanged, slabs, transposition };
  enum class Calls { all, in_place, apart };
  Kind kind;
  std::int64_t repeats, stride;  ///< number of arrays, and their distance in values
  DeviceArray array;
  Calls calls = Calls::all;  ///< which calls take this step

  bool taken(bool in_place) const noexcept {
    return calls == Calls::all || in_place == (calls == Calls::in_place);
  }
};

inline std::unique_ptr<Round> make_round(const Step& step, std::int64_t value_bytes) {
  if (step.kind == Step::Kind::slabs) return make_slab_round(step.array, value_bytes);
  if (step.kind == Step::Kind::exchanged) return make_exchanged_round(step.array, value_bytes);
  const bool transposes = step.kind == Step::Kind::transposed;
  return step.array.real_line ? make_mirrored_round(step.array, value_bytes, transposes)
                              : make_column_round(step.array, value_bytes, transposes);
}

struct GroupingLimits {
  /// Maximum length of a line that one thread or one piece transforms. For lines with prime factors above 13,
  /// which need more memory, it is an eighth of this.
  std::int64_t longest_line = std::int64_t{1} << 22;
  std::function<bool(const Step&)> fits;  ///< whether a step fits the device
  bool exchanges = false;                 ///< true: the device transposes in place, not the host
  bool in_place = false;                  ///< true: only in-place calls matter
};

/// Makes slabs as large as fit, and FFTs of columns for the other dimensions. A line that is too long, a
/// single line, or one of fewer than 16 long lines becomes two dimensions with twiddles and a transposition
/// between them (the four-step method of Bailey, 1990). If the first step is such a line, out-of-place calls
/// transpose on the device. Throws Error: out_of_memory for a step that does not fit and cannot be divided,
/// backend_unavailable for a line that is too long and has no two factors that are short enough.
std::vector<Step> group_steps(const OutOfCoreGrid& grid, const GroupingLimits& limits);

}  // namespace sfft::detail
