// Dense FFTs of 1D, 2D and 3D signals of any size, behind one plan.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sfft/export.hpp"
#include "sfft/types.hpp"

namespace sfft::dense {

/// Which library computes. `automatic` is the built-in engine, which measured faster than FFTW at nearly
/// every size on every instruction set (docs/benchmarks.md); FFTW is there where the build found it, for
/// those who ask for it.
enum class Engine : std::uint8_t { automatic, built_in, fftw };
/// How much time planning may take. `measure` times candidates (FFTW_MEASURE).
enum class Planning : std::uint8_t { estimate, measure };
enum class Direction : std::uint8_t { forward, inverse };
/// Forward transforms are never scaled; inverse ones by 1/N or not at all.
enum class Normalization : std::uint8_t { none, inverse_by_n };

struct Options {
  Engine engine = Engine::automatic;
  Planning planning = Planning::estimate;
  Normalization normalization = Normalization::inverse_by_n;
  int threads = 1;  ///< 0 means one per core
};

SFFT_EXPORT const char* to_string(Engine engine) noexcept;
/// Whether this build has the engine.
SFFT_EXPORT bool available(Engine engine) noexcept;

namespace detail {
template <class Real>
class Impl;
}

/// One shape, real or complex samples. Layouts, all contiguous and row-major:
/// | signal  | forward input      | forward output                        |
/// |---------|--------------------|---------------------------------------|
/// | complex | (n1, …, nD)        | (n1, …, nD)                           |
/// | real    | (n1, …, nD)        | (n1, …, nD/2 + 1): half spectrum      |
/// Immutable; execution is thread-safe and allocates its scratch per call unless a workspace is given.
/// Throws backend_unavailable for an engine this build lacks.
template <class Real>
class SFFT_EXPORT Plan {
 public:
  Plan(const Shape& shape, bool real, const Options& options = {});

  std::size_t spectrum_points() const noexcept;  ///< of forward output
  std::size_t workspace_bytes() const noexcept;  ///< 64-byte aligned scratch of one execution

  /// Any element type; complex ones only for a complex plan. `spectrum` holds spectrum_points() values.
  void forward(const SignalView& signal, std::span<std::complex<Real>> spectrum,
               std::span<std::byte> workspace = {}) const;
  /// Complex plans: `signal` holds N complex values. `spectrum` and `signal` may be the same memory.
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal,
               std::span<std::byte> workspace = {}) const;
  /// Real plans: `signal` holds N values.
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal,
               std::span<std::byte> workspace = {}) const;

  const Shape& shape() const noexcept;
  bool is_real() const noexcept;
  Engine engine() const noexcept;   ///< the one that was chosen
  std::string engine_name() const;  ///< "FFTW 3.3.10 (measure)", "built-in AVX-512"

 private:
  std::shared_ptr<const detail::Impl<Real>> impl_;
};

extern template class Plan<float>;
extern template class Plan<double>;

}  // namespace sfft::dense
