// SPDX-License-Identifier: Apache-2.0
// The vocabulary of the API: shapes, views of signals, results. Only results allocate memory.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "sfft needs C++20: compile with -std=c++20, or set CMAKE_CXX_STANDARD to 20"
#include <sfft/needs_cpp20>  // no such file: compilers stop at a missing file, not at an #error
#endif

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sfft/export.hpp"

namespace sfft {

/// Extents of a row-major grid of 1 to 3 dimensions, slowest first: {rows, columns} for an image. Every
/// extent is at least 1 and the number of points is below 2^62; anything else throws
/// ErrorCode::invalid_argument or ErrorCode::size_overflow.
class Shape {
 public:
  /// One to three extents of any integer types, slowest first; a single one is not converted implicitly.
  template <std::integral... Integers>
  requires(sizeof...(Integers) > 0 && (!std::same_as<Integers, bool> &&
                                       ...)) explicit(sizeof...(Integers) == 1) Shape(Integers... extents)
      : Shape(std::span<const std::int64_t>(
            std::array<std::int64_t, sizeof...(Integers)>{static_cast<std::int64_t>(extents)...})) {
    static_assert(sizeof...(Integers) <= 3, "a shape has one to three dimensions");
  }
  /// The same from an array of one to three extents.
  explicit Shape(std::span<const std::int64_t> extents) { set(extents); }

  /// Number of dimensions, 1 to 3.
  int rank() const noexcept { return rank_; }
  /// Extent of a dimension, 0 to 2; 1 beyond the rank. Not checked.
  std::int64_t operator[](int dimension) const noexcept {
    return extents_[static_cast<std::size_t>(dimension)];
  }
  /// Product of the extents.
  std::int64_t points() const noexcept { return points_; }
  /// One extent per dimension, slowest first.
  std::span<const std::int64_t> extents() const noexcept {
    return {extents_.data(), static_cast<std::size_t>(rank_)};
  }
  SFFT_EXPORT std::string to_string() const;  ///< "1080x1920"
  /// Equal in rank and extents.
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  SFFT_EXPORT void set(std::span<const std::int64_t> extents);

  std::array<std::int64_t, 3> extents_{1, 1, 1};
  int rank_ = 1;
  std::int64_t points_ = 1;
};

/// Element types that a signal may have, real and complex. Complex elements are pairs, the real part first
/// (I/Q). Integers are taken at face value: a u8 is 0..255, an s16 −32768..32767. GPUs read u8, u16 and
/// floating point; the others are for the CPU.
enum class ElementType : std::uint8_t {
  u8,
  u16,
  f32,
  f64,
  c64,
  c128,
  s8,
  s16,
  s32,   ///< floats keep 24 of its bits: plans in double keep all
  cs8,   ///< two s8
  cs16,  ///< two s16
  cu8,   ///< two bytes, each for its value less 127.5, as from RTL-SDR; has no C++ type
};

/// What the samples of a signal are. The spectrum of a real signal has conjugate symmetry, X[−f] = conj X[f]:
/// supports name one frequency of each pair, and dense transforms store half a spectrum.
enum class Domain : std::uint8_t { real, complex };

constexpr bool is_complex(ElementType type) noexcept {
  return type >= ElementType::cs8 || type == ElementType::c64 || type == ElementType::c128;
}
/// The domain of samples of a type.
constexpr Domain domain_of(ElementType type) noexcept {
  return is_complex(type) ? Domain::complex : Domain::real;
}
SFFT_EXPORT const char* to_string(Domain domain) noexcept;
SFFT_EXPORT std::size_t element_bytes(ElementType type) noexcept;
SFFT_EXPORT const char* to_string(ElementType type) noexcept;

/// The ElementType of a C++ type, as `value`; defined for the types that samples may have.
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
template <>
struct element_type_of<std::int8_t> {
  static constexpr auto value = ElementType::s8;
};
template <>
struct element_type_of<std::int16_t> {
  static constexpr auto value = ElementType::s16;
};
template <>
struct element_type_of<std::int32_t> {
  static constexpr auto value = ElementType::s32;
};
template <>
struct element_type_of<std::complex<std::int8_t>> {
  static constexpr auto value = ElementType::cs8;
};
template <>
struct element_type_of<std::complex<std::int16_t>> {
  static constexpr auto value = ElementType::cs16;
};
/// @endcond

/// A type that samples may have.
template <class T>
concept Sample = requires {
  element_type_of<T>::value;
};

/// @cond
namespace detail {
/// A contiguous range of elements: a vector, a span, an array.
template <class R>
concept Elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;
template <class R>
using Element = std::remove_cv_t<std::ranges::range_value_t<R>>;
/// Instantiated to say which types samples may have.
template <class T>
constexpr void refuse_elements() {
  static_assert(Sample<T>,
                "sfft takes samples of std::uint8_t, std::uint16_t, std::int8_t, std::int16_t, std::int32_t, "
                "float and double, and std::complex of std::int8_t, std::int16_t, float and double: convert "
                "others");
}
}  // namespace detail
/// @endcond

/// A non-owning view of one row-major signal in host memory. The signal is contiguous, or a region of a
/// larger array whose row pitch exceeds the row length.
///
/// The constructors of a contiguous signal check that the span holds exactly shape.points() elements
/// (ErrorCode::shape_mismatch) and is not null. A vector does not know its rows and columns: pass the shape,
/// or use line() for a 1D signal.
class SignalView {
 public:
  /// shape.points() contiguous samples, row-major: a vector, a span, an array, which must outlive the view. A
  /// temporary does so within one expression only.
  /// Throws shape_mismatch, invalid_argument.
  template <detail::Elements R>
  requires Sample<detail::Element<R>> SignalView(const R& samples, const Shape& shape)
      : SignalView(std::ranges::data(samples), std::ranges::size(samples),
                   element_type_of<detail::Element<R>>::value, shape) {}
  /// `count` elements of `type` at `data`.
  SignalView(const void* data, std::size_t count, ElementType type, const Shape& shape)
      : data_(data), shape_(shape), type_(type) {
    set_count(count);
  }

  /// A 1D signal as long as the samples: a vector, a span, an array, which must outlive the view. A temporary
  /// does so within one expression only.
  template <detail::Elements R>
  requires Sample<detail::Element<R>>
  static SignalView line(const R& samples) { return {samples, Shape(std::ranges::size(samples))}; }
  /// Deleted: write SignalView(samples, Shape{rows, columns}), or SignalView::line(samples) for a 1D signal.
  /// An image in a vector would silently become one long line.
  template <Sample T>
  SignalView(const std::vector<T>& samples) = delete;  // NOLINT: stands for the implicit conversion
  /// @cond
  template <detail::Elements R>
  requires(!Sample<detail::Element<R>>) SignalView(const R& samples, const Shape& shape)
      : SignalView(nullptr, 0, ElementType::u8, shape) {
    static_cast<void>(samples);
    detail::refuse_elements<detail::Element<R>>();
  }
  template <detail::Elements R>
  requires(!Sample<detail::Element<R>>) static SignalView line(const R& samples) {
    return {samples, Shape(1)};
  }
  /// @endcond

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
  SignalView(const void* first, ElementType type, const Shape& shape, std::span<const std::int64_t> strides)
      : data_(first), shape_(shape), type_(type) {
    set_strides(strides);
  }

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
  SFFT_EXPORT void set_count(std::size_t count);
  SFFT_EXPORT void set_strides(std::span<const std::int64_t> strides);

  const void* data_;
  Shape shape_;
  ElementType type_;
  bool contiguous_ = true;
  std::array<std::int64_t, 3> strides_{1, 1, 1};
};

/// In options for threads: one thread per core that the process may use.
inline constexpr int kAllCores = 0;

/// What a plan runs on: see Device.
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
  quick,     ///< 0.2 to 0.4 of the time, for a plan whose error is often some per cent larger
  normal,    ///< milliseconds for a thousand coefficients
  thorough,  ///< three to six times as long, for a plan whose error is often some per cent smaller
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

/// How wrong a spectrum may be, by its own estimate. All sums but `tail_energy` are over the support without
/// f = 0.
struct Quality {
  double error_l2 = 0;  ///< estimated ‖X̂ − X‖₂
  /// error_l2 / ‖X‖₂ (0 when that norm is 0). ‖X‖₂² is ‖X̂‖₂² less the noise that the estimate finds in it,
  /// and at least ‖X̂‖₂²/16; a Discovery subtracts nothing.
  double relative_error = 0;
  /// Estimated energy outside the template (with a reference: what changed there since), Σ|X[f]|² over f not
  /// in the support; both halves of a real signal's spectrum count.
  double tail_energy = 0;
  double residual = 0;      ///< sqrt(tail_energy / (tail_energy + Σ|X̂[f]|² of both halves))
  std::int64_t finite = 1;  ///< 0: a sample that was read is NaN or infinite, and the values mean nothing
};

/// @cond
namespace detail {
/// A coefficient of a spectrum of either precision: the i-th of `count` at the support.
struct Coefficient {
  const Shape& shape;
  Domain domain;
  const std::vector<std::int64_t>* support;
  std::size_t count, i;

  /// `single`: a 1D signal is expected.
  SFFT_EXPORT std::array<double, 3> frequency(std::span<const double> sample_rates, bool single) const;
  SFFT_EXPORT double amplitude_per_magnitude() const;
};
}  // namespace detail
/// @endcond

/// The transform of one signal at k frequencies, X[f] = sum_t x[t] exp(-2 pi i sum_d f_d t_d / n_d),
/// unnormalised, with an estimate of its own error.
template <class Real>
struct Spectrum {
  /// Linear row-major frequency indices, ascending, in [0, N); one of each conjugate pair for a real signal.
  /// Shared with the template, so copying a spectrum does not copy it.
  std::shared_ptr<const std::vector<std::int64_t>> support;
  std::vector<std::complex<Real>> values;  ///< X at the support
  std::vector<Real> standard_error;  ///< root mean square of |X̂[f] − X[f]|, real and imaginary parts together
  /// The error of the whole.
  Quality quality{};
  /// Extents of the signal.
  Shape shape{1};
  /// What its samples are.
  Domain domain = Domain::complex;
  /// The path that computed the values.
  Path path = Path::automatic;
  /// Where they were computed.
  Backend backend = Backend::automatic;
  std::int64_t transferred_bytes =
      0;  ///< bytes of the frame that were copied to the GPU, or that the GPU read from the host
  /// Microseconds to gather and copy those bytes, as this frame's share of its batch; 0 if the GPU reads host
  /// memory directly.
  double transfer_us = 0;

  /// The frequency of values[i] in the unit of `sample_rate`, in [−rate/2, rate/2): Hz for samples per
  /// second. n/2 of an even extent is −rate/2, also for real signals. For 1D signals; throws invalid_argument
  /// for others and for i out of range.
  double frequency(std::size_t i, double sample_rate) const {
    return coefficient(i).frequency(std::span<const double>(&sample_rate, 1), true)[0];
  }
  /// The same per dimension, slowest first; throws shape_mismatch unless there are as many rates as
  /// dimensions.
  std::array<double, 3> frequency(std::size_t i, std::span<const double> sample_rates) const {
    return coefficient(i).frequency(sample_rates, false);
  }
  /// The amplitude of the tone at values[i]: |X|/N of a complex one, and of a real one A in
  /// A cos(2πft + φ), 2|X|/N, where the conjugate counts; f = 0 and frequencies that are their own conjugates
  /// count once. Throws invalid_argument for i out of range.
  double amplitude(std::size_t i) const {
    const double scale = coefficient(i).amplitude_per_magnitude();
    return scale * std::abs(std::complex<double>(values[i]));
  }

 private:
  detail::Coefficient coefficient(std::size_t i) const noexcept {
    return {shape, domain, support.get(), values.size(), i};
  }
};

}  // namespace sfft
