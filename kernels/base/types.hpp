// SPDX-License-Identifier: Apache-2.0
// The vocabulary of the API: shapes, views of signals, results. Only results allocate memory.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "export.hpp"  // in the same folder, so that installed headers find it

namespace sfft {

/// Extents of a row-major grid of 1 to 3 dimensions, slowest first: {rows, columns} for an image. Every
/// extent is at least 1 and the number of points is below 2^62; anything else throws
/// ErrorCode::invalid_argument or ErrorCode::size_overflow.
class SFFT_EXPORT Shape {
 public:
  /// One to three extents, slowest first.
  Shape(std::initializer_list<std::int64_t> extents);
  /// The same from an array of one to three extents.
  explicit Shape(std::span<const std::int64_t> extents);
  /// A 1D shape.
  explicit Shape(std::int64_t points) : Shape({points}) {}

  /// Number of dimensions, 1 to 3.
  int rank() const noexcept { return rank_; }
  /// Extent of a dimension; 1 beyond the rank.
  std::int64_t operator[](int dimension) const noexcept {
    return extents_[static_cast<std::size_t>(dimension)];
  }
  /// Product of the extents.
  std::int64_t points() const noexcept { return points_; }
  /// One extent per dimension, slowest first.
  std::span<const std::int64_t> extents() const noexcept {
    return {extents_.data(), static_cast<std::size_t>(rank_)};
  }
  std::string to_string() const;  ///< "1080x1920"
  /// Equal in rank and extents.
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, 3> extents_{1, 1, 1};
  int rank_ = 1;
  std::int64_t points_ = 1;
};

/// Element types that a signal may have. Unsigned integers are taken at face value (0..255, 0..65535).
enum class ElementType : std::uint8_t { u8, u16, f32, f64, c64, c128 };

constexpr bool is_complex(ElementType type) noexcept {
  return type >= ElementType::c64;
}
SFFT_EXPORT std::size_t element_bytes(ElementType type) noexcept;
SFFT_EXPORT const char* to_string(ElementType type) noexcept;

/// The ElementType of a C++ type, as `value`; defined for the six types that samples may have.
template <class T>
struct element_type_of;
/// @cond
template <>
struct element_type_of<std::uint8_t> {
  static constexpr auto value = ElementType::u8;
};
template <>
struct element_type_of<std::uint16_t> {
  static constexpr auto value = ElementType::u16;
};
template <>
struct element_type_of<float> {
  static constexpr auto value = ElementType::f32;
};
template <>
struct element_type_of<double> {
  static constexpr auto value = ElementType::f64;
};
template <>
struct element_type_of<std::complex<float>> {
  static constexpr auto value = ElementType::c64;
};
template <>
struct element_type_of<std::complex<double>> {
  static constexpr auto value = ElementType::c128;
};
/// @endcond

/// A type that samples may have.
template <class T>
concept Sample = requires {
  element_type_of<T>::value;
};

/// A non-owning view of one row-major signal in host memory. The signal is contiguous, or a region of a
/// larger array whose row pitch exceeds the row length.
///
/// The constructors of a contiguous signal check that the span holds exactly shape.points() elements
/// (ErrorCode::shape_mismatch) and is not null. A vector does not know its rows and columns: pass the shape,
/// or use line() for a 1D signal.
class SFFT_EXPORT SignalView {
 public:
  /// shape.points() contiguous samples, row-major. Throws shape_mismatch, invalid_argument.
  template <Sample T>
  SignalView(std::span<const T> samples, const Shape& shape)
      : SignalView(samples.data(), samples.size(), element_type_of<T>::value, shape) {}
  /// The same.
  template <Sample T>
  SignalView(std::span<T> samples, const Shape& shape) : SignalView(std::span<const T>(samples), shape) {}
  /// The same. The vector must outlive the view.
  template <Sample T>
  SignalView(const std::vector<T>& samples, const Shape& shape)
      : SignalView(std::span<const T>(samples), shape) {}
  /// `count` elements of `type` at `data`.
  SignalView(const void* data, std::size_t count, ElementType type, const Shape& shape);

  /// A 1D signal as long as the samples.
  template <Sample T>
  static SignalView line(std::span<const T> samples) {
    return {samples, Shape(static_cast<std::int64_t>(samples.size()))};
  }
  /// The same.
  template <Sample T>
  static SignalView line(std::span<T> samples) {
    return line(std::span<const T>(samples));
  }
  /// The same. The vector must outlive the view.
  template <Sample T>
  static SignalView line(const std::vector<T>& samples) {
    return line(std::span<const T>(samples));
  }
  /// Deleted: write SignalView(samples, Shape{rows, columns}), or SignalView::line(samples) for a 1D signal.
  /// An image in a vector would silently become one long line.
  template <Sample T>
  SignalView(const std::vector<T>& samples) = delete;  // NOLINT: stands for the implicit conversion

  /// A region of a larger array that begins at `first`. `row_pitch` is the number of elements from one row's
  /// start to the next, `plane_pitch` from one plane's start to the next (0: as many rows as the shape has).
  /// For an OpenCV matrix of bytes, whole or a region: rows(m.ptr<std::uint8_t>(), {m.rows, m.cols},
  /// m.step1()). Throws the same errors as the next constructor.
  template <Sample T>
  static SignalView rows(const T* first, const Shape& shape, std::int64_t row_pitch,
                         std::int64_t plane_pitch = 0) {
    const std::int64_t plane = plane_pitch != 0 || shape.rank() < 3 ? plane_pitch : shape[1] * row_pitch;
    const std::array<std::int64_t, 3> strides{plane, row_pitch, 1};
    return {first, element_type_of<T>::value, shape,
            std::span(strides).last(static_cast<std::size_t>(shape.rank()))};
  }
  /// The same with a stride in elements per dimension, slowest first; the last is 1. Strides of dimensions
  /// with a single element are ignored. Throws invalid_argument for a null pointer and for rows or planes
  /// that overlap, size_overflow for a region that cannot be addressed. The library cannot check that the
  /// memory exists: it reads every element of the region and nothing between its rows.
  SignalView(const void* first, ElementType type, const Shape& shape, std::span<const std::int64_t> strides);

  const void* data() const noexcept { return data_; }  ///< the first element
  /// Extents in elements.
  const Shape& shape() const noexcept { return shape_; }
  /// Type of one element.
  ElementType type() const noexcept { return type_; }
  /// Elements from one index of the dimension to the next.
  std::int64_t stride(int dimension) const noexcept { return strides_[static_cast<std::size_t>(dimension)]; }
  /// Whether no gaps lie between rows and planes.
  bool contiguous() const noexcept { return contiguous_; }
  /// Size of the elements, without the gaps between the rows of a region.
  std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(shape_.points()) * element_bytes(type_);
  }

 private:
  const void* data_;
  Shape shape_;
  ElementType type_;
  bool contiguous_ = true;
  std::array<std::int64_t, 3> strides_{1, 1, 1};
};

/// Where a plan runs. The options that contain a Backend say what `automatic` means.
enum class Backend : std::uint8_t { automatic, cpu, cuda };

/// How a spectrum is computed (docs/concepts.md).
enum class Path : std::uint8_t {
  automatic,    ///< only in options: let the planner choose
  direct,       ///< a sum over every sample at each frequency: exact, for tiny N·k
  comb,         ///< subsampled grids at several delays, small FFTs, a k×r recovery
  flat_window,  ///< permuted samples through a narrow filter; any N, also prime
  dense,        ///< a full FFT, then the template's frequencies are picked
};

/// How long a planner searches (docs/tuning.md lists costs and gains).
enum class PlanEffort : std::uint8_t {
  quick,     ///< a third to a half of the time, for a plan whose error is often some per cent larger
  normal,    ///< milliseconds for a thousand coefficients
  thorough,  ///< three to six times as long, for a plan whose error is often some per cent smaller
};

/// Where the frames of a plan are; the planner may rely on it.
enum class FramesIn : std::uint8_t {
  any,  ///< anywhere: a sample costs the same wherever it is in the frame
  /// Adjacent in page-locked host memory (PageLockedMemory): image rows cross the bus whole, so GPU plans
  /// read many samples in few rows.
  page_locked,
};

/// What to do when discovery cannot vouch for its answer.
enum class Fallback : std::uint8_t {
  dense,  ///< transform the signal densely
  none,   ///< return what was found, with `verified` false; above 2^17 points fewer than N samples are read
};

SFFT_EXPORT const char* to_string(Backend backend) noexcept;
SFFT_EXPORT const char* to_string(Path path) noexcept;

/// A tone a·exp(2 pi i sum_d f_d t_d / n_d) whose frequency need not be an integer.
struct OffGridTone {
  std::array<double, 3> frequency{0, 0, 0};       ///< f in bins, 0 <= f_d < n_d; unused dimensions 0
  std::array<double, 3> standard_error{0, 0, 0};  ///< of the frequency, in bins
  std::complex<double> amplitude;  ///< a, without the effect of a window that spread it. A real signal
                                   ///< contains 2 Re of the tone
};

/// The transform of one signal at k frequencies, X[f] = sum_t x[t] exp(-2 pi i sum_d f_d t_d / n_d),
/// unnormalised, with an estimate of its own error.
template <class Real>
struct Spectrum {
  /// Linear row-major frequency indices, ascending, in [0, N); one of each conjugate pair for a real signal.
  /// Shared with the template, so copying a spectrum does not copy it.
  std::shared_ptr<const std::vector<std::int64_t>> support;
  std::vector<std::complex<Real>> values;  ///< X at the support
  std::vector<Real> standard_error;  ///< root mean square of |X̂[f] − X[f]|, real and imaginary parts together
  double error_l2 = 0;               ///< estimated ‖X̂ − X‖₂ over the support without f = 0
  double relative_error = 0;  ///< error_l2 / ‖X̂‖₂ over the support without f = 0 (0 when that norm is 0)
  /// Estimated energy outside the template (with a reference: what changed there since), Σ|X[f]|² over f not
  /// in the support; both halves of a real signal's spectrum count.
  double tail_energy = 0;
  double residual = 0;  ///< sqrt(tail_energy / (tail_energy + Σ|X̂[f]|² without f = 0, both halves))
  /// The path that computed the values.
  Path path = Path::automatic;
  /// Where they were computed.
  Backend backend = Backend::automatic;
  bool finite = true;  ///< false: a sample that was read is NaN or infinite, and the values mean nothing
  /// False only if discovery found the support and fresh samples did not confirm it (or could not tell its
  /// k-th frequency from the noise): frequencies may be missing or wrong.
  bool verified = true;
  /// For a discovered support: a bound on the coefficients outside it, as far as fresh samples can tell.
  double missed_bound = 0;
  std::int64_t transferred_bytes =
      0;  ///< bytes of the frame that were copied to the GPU, or that the GPU read from the host
  /// Microseconds to gather and copy those bytes, as this frame's share of its batch; 0 if the GPU reads host
  /// memory directly.
  double transfer_us = 0;
  bool support_learned_densely = false;  ///< the support was found by a full FFT of this very signal
  /// For a discovered support: neighbouring coefficients look like one tone that lies between them, or that a
  /// window spread. `reason` names the strongest such tone; Discovery::off_grid_tones lists all.
  bool leakage_suspected = false;
  std::string reason;  ///< why this path, in one sentence
};

}  // namespace sfft
