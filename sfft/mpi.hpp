// SPDX-License-Identifier: Apache-2.0
// Dense FFTs of 2D and 3D signals spread over the processes of an MPI communicator: the optional library
// sfft-mpi (CMake: find_package(sfft COMPONENTS mpi), sfft::mpi; pkg-config: sfft-mpi).
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sfft/dense.hpp"
#include "sfft/device.hpp"
#include "sfft/error.hpp"
#include "sfft/export.hpp"
#include "sfft/types.hpp"

namespace sfft::mpi {

namespace detail {
class Comm;
struct CommunicatorAccess;
template <class Real>
class Impl;
}  // namespace detail

/// Which code computes the transform.
/// | engine   | what it is                                                                             |
/// |----------|----------------------------------------------------------------------------------------|
/// | built_in | this library's dense FFTs in each process, and messages between them: slabs and pencils |
/// | fftw     | FFTW's MPI transforms, in builds with SFFT_WITH_FFTW=ON that find them (GPL): slabs     |
/// | cufftmp  | cuFFTMp on a GPU per process, in builds with CUDA where its library is found: slabs     |
enum class Engine : std::uint8_t { automatic, built_in, fftw, cufftmp };
/// How the signal is distributed over P processes. `automatic`: slabs where every process gets part of both
/// signal and spectrum, otherwise pencils for 3D.
/// | shape        | decomposition | signal                       | spectrum                    |
/// |--------------|---------------|------------------------------|-----------------------------|
/// | (n1, n2[, n3]) | slabs       | n1 shared by P               | second dimension shared by P |
/// | (n1, n2, n3) | pencils, p×q  | n1 shared by p, n2 by q      | n2 shared by p, last by q   |
/// n elements shared by P: process r holds those from r·⌈n/P⌉ on; the last ones may hold fewer, or none. The
/// spectrum of a real signal has the dimensions n1, …, nD/2 + 1.
enum class Decomposition : std::uint8_t { automatic, slabs, pencils };

SFFT_EXPORT const char* to_string(Engine engine) noexcept;
SFFT_EXPORT const char* to_string(Decomposition decomposition) noexcept;
/// Whether this build has the engine.
SFFT_EXPORT Availability availability(Engine engine);

/// Part of a global array, stored contiguously and row-major. Dimensions as in Shape; beyond its rank, begin
/// is 0 and extent is 1. A process that holds nothing has an extent of 0.
struct Box {
  /// First index in each dimension.
  std::array<std::int64_t, 3> begin{0, 0, 0};
  /// Indices in each dimension.
  std::array<std::int64_t, 3> extent{1, 1, 1};

  /// Elements of the part.
  std::int64_t points() const noexcept { return extent[0] * extent[1] * extent[2]; }
  /// Equal in all members.
  friend bool operator==(const Box&, const Box&) = default;
};

/// Every process passes the same values, except for `threads`.
struct Options {
  /// The code that computes the transform.
  Engine engine = Engine::automatic;
  /// How signal and spectrum are distributed.
  Decomposition decomposition = Decomposition::automatic;
  std::array<int, 2> grid{0, 0};  ///< pencils: p and q, with p·q processes; 0: chosen by the plan
  /// Factors of forward and inverse transforms.
  dense::Options::Normalization normalization = dense::Options::Normalization::inverse_by_n;
  /// `measure`: times every engine and decomposition that is not given, and takes the fastest.
  dense::Options::Planning planning = dense::Options::Planning::estimate;
  int threads = 1;  ///< per process, or kAllCores
  /// How long a call waits for another process before it throws Error(communication). 0: for ever.
  double timeout_seconds = 300;
};

/// A duplicate of an MPI communicator, so that messages never mix with the caller's; copies share it. This
/// header includes no MPI header, so that other interfaces can include it. Communicators therefore come as
/// Fortran handles, which are an int in every implementation: Communicator(MPI_Comm_c2f(comm)).
///
/// Collective, like all functions of this header that say so: every process of the communicator calls them,
/// in the same order. MPI must be initialised and is called from the calling thread alone. Destroy the last
/// copy before MPI_Finalize().
class SFFT_EXPORT Communicator {
 public:
  /// Throws invalid_argument if MPI is not initialised or the handle is invalid.
  explicit Communicator(int fortran_handle, double timeout_seconds = 300);
  static Communicator world();  ///< of MPI_COMM_WORLD

  /// Rank of this process, 0 to size() − 1.
  int rank() const noexcept;
  /// Number of processes.
  int size() const noexcept;

  /// Handles errors of the caller's own steps as collective calls do. It returns if every process passes an
  /// empty message; otherwise every process throws Error(code, "rank N: message") of the lowest rank that had
  /// one. Throws Error(communication) if a process does not join.
  void agree(ErrorCode code, const std::string& message) const;

 private:
  friend struct detail::CommunicatorAccess;
  std::shared_ptr<detail::Comm> comm_;
};

/// Moves parts of a global array: each process passes `from` and receives `to`. Collective. The boxes of
/// `from` must not overlap and must cover those of `to`, which may overlap. T: float, double or complex.
template <class T>
SFFT_EXPORT void redistribute(const Communicator& communicator, std::span<const T> values, const Box& from,
                              std::span<T> result, const Box& to);

/// Transforms of one shape, real or complex, in host memory. The constructor and every member function that
/// moves or transforms data are collective. If one process fails, even in its local work, all throw the same
/// code and text. If a process dies or stays away, the others throw Error(communication) after
/// Options::timeout_seconds, and so does every later call of this plan at once; a program should then call
/// MPI_Abort(), because MPI_Finalize() may wait. FFTW's own messages have no timeout: with the engine fftw
/// this holds only before and after each transform.
///
/// One call at a time: a plan keeps its scratch, four times this process's part of the spectrum (fftw: twice;
/// cufftmp: once, in GPU memory).
template <class Real>
class SFFT_EXPORT Plan {
 public:
  /// Throws invalid_argument (1D, pencils of 2D, a grid that does not fit, processes that disagree) and
  /// backend_unavailable.
  Plan(const Communicator& communicator, const Shape& shape, Domain domain, const Options& options = {});
  /// Shares the data; never throws.
  Plan(const Plan&) noexcept = default;
  /// Shares the data; never throws.
  Plan& operator=(const Plan&) noexcept = default;

  Box signal_box() const;  ///< the part of this process
  /// The part of another process.
  Box signal_box(int rank) const;
  /// The part of this process.
  Box spectrum_box() const;
  /// The part of another process.
  Box spectrum_box(int rank) const;

  /// Each process passes its box of the signal and receives its box of the spectrum, or the reverse. Input
  /// and output must not overlap. For complex plans.
  void forward(std::span<const std::complex<Real>> signal, std::span<std::complex<Real>> spectrum) const;
  /// The inverse for complex plans.
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal) const;
  /// For real plans.
  void forward(std::span<const Real> signal, std::span<std::complex<Real>> spectrum) const;
  /// The inverse for real plans.
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal) const;

  /// Distributes the whole array of process `root`, row-major, to all processes; the others pass an empty
  /// span as the whole.
  void scatter_signal(std::span<const std::complex<Real>> whole, std::span<std::complex<Real>> part,
                      int root = 0) const;
  /// The same for real plans.
  void scatter_signal(std::span<const Real> whole, std::span<Real> part, int root = 0) const;
  /// The same for spectra.
  void scatter_spectrum(std::span<const std::complex<Real>> whole, std::span<std::complex<Real>> part,
                        int root = 0) const;
  /// The reverse.
  void gather_signal(std::span<const std::complex<Real>> part, std::span<std::complex<Real>> whole,
                     int root = 0) const;
  /// The same for real plans.
  void gather_signal(std::span<const Real> part, std::span<Real> whole, int root = 0) const;
  /// The same for spectra.
  void gather_spectrum(std::span<const std::complex<Real>> part, std::span<std::complex<Real>> whole,
                       int root = 0) const;

  /// Extents of one transform.
  const Shape& shape() const noexcept;
  /// What the samples of signals are.
  Domain domain() const noexcept;
  /// The options of the constructor.
  const Options& options() const noexcept;
  Engine engine() const noexcept;                ///< the engine in use
  Decomposition decomposition() const noexcept;  ///< slabs or pencils
  std::array<int, 2> grid() const noexcept;      ///< of processes: P and 1 for slabs
  std::string reason() const;                    ///< why this engine and grid, in one sentence
  std::string explain() const;  ///< the reason, what was measured, the parts, the messages; local

 private:
  std::shared_ptr<const detail::Impl<Real>> impl_;
};

extern template class Plan<float>;
extern template class Plan<double>;

}  // namespace sfft::mpi
