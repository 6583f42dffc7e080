// SPDX-License-Identifier: Apache-2.0
// The vocabulary of sfft/dense.hpp: what can be asked of a dense FFT, and what comes back besides spectra.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "../../base/storage.hpp"  // relative: so they are found in installed headers, too
#include "../../base/types.hpp"

namespace sfft::dense {

/// Which code computes the transform.
/// | engine   | runs on | what it is                                                                |
/// |----------|---------|---------------------------------------------------------------------------|
/// | built_in | CPU     | this library's own FFT                                                    |
/// | fftw     | CPU     | FFTW, in builds with SFFT_WITH_FFTW=ON (GPL)                              |
/// | cufft    | GPU     | cuFFT, in every build with CUDA                                           |
/// | vkfft    | GPU     | VkFFT, where the build found its header; needs NVRTC when it runs         |
/// | tuned    | GPU     | this library's own kernels, generated for a size; needs NVRTC when it runs |
/// | tensor   | GPU     | split-half on tensor cores, complex floats: powers of two, 3 to 255 points |
/// `automatic`: the one that wisdom says is fastest for the size, else the one that measured fastest most
/// often: built_in, or cufft on a GPU.
enum class Engine : std::uint8_t { automatic, built_in, fftw, cufft, vkfft, tuned, tensor };
/// How much time planning may take. `estimate` follows rules and wisdom; `measure` times the engines and, for
/// `tuned`, the kernels for this size, and adds what it finds to the wisdom of the process.
enum class Planning : std::uint8_t { estimate, measure };
enum class Direction : std::uint8_t { forward, inverse };
/// Factors that multiply the sums. N is the number of points of one transform.
enum class Normalization : std::uint8_t {
  none,          ///< nothing: inverse(forward(x)) = N x
  inverse_by_n,  ///< inverse transforms by 1/N
  forward_by_n,  ///< forward transforms by 1/N
  unitary,       ///< both by 1/sqrt(N)
};

/// Where the elements of a batch of signals lie: signal b, element (i1, …, iD) is at b·batch + Σ i_d·dims[d]
/// elements from the start. All zero: contiguous and row-major, one signal after the other. Strides are
/// positive and no two elements overlap.
struct Strides {
  std::array<std::int64_t, 3> dims{0, 0, 0};  ///< of the dimensions, slowest first, as in Shape
  std::int64_t batch = 0;                     ///< from one signal's start to the next
};

struct Options {
  Engine engine = Engine::automatic;
  Planning planning = Planning::estimate;
  Normalization normalization = Normalization::inverse_by_n;
  int threads = 1;  ///< of the host, for CPU engines; 0: one per core. They share a batch or a transform
  Backend backend = Backend::cpu;  ///< cuda for a GPU; a named engine overrides this
  int device = 0;                  ///< GPU, as the driver counts them
  /// Several GPUs of this machine: they share a batch, or else the slabs of one 2D or 3D transform. Not
  /// empty: the plan runs on them and `device` does not count. Plan takes host memory then, SlabPlan memory
  /// of the GPUs. A GPU may be named several times, which is for tests (docs/dense.md).
  std::vector<int> devices{};
  std::int64_t batch = 1;  ///< transforms per call
  Strides signal{};        ///< of what forward reads and inverse writes; spectra are contiguous
  /// For plans on a GPU: bytes of its memory that a call may use; 0: all that is free. If signal and spectrum
  /// together need more (0: more than the GPU has), the transform goes through the GPU in pieces, from and to
  /// host memory (docs/dense.md): needs a build with CUDA, others throw backend_unavailable.
  std::int64_t device_memory = 0;
  /// What the host's threads do of such a transform, 0 to 1; negative: what the load model or a measurement
  /// says. A share of 1 needs no GPU. If it is not negative, the transform goes through the GPU in pieces
  /// even if it would fit.
  double host_share = -1;
};

/// What one of several GPUs holds of the signals, or of the spectra, of a SlabPlan: whole signals of a batch,
/// or part of one. Row-major and contiguous: signals, then dimensions as in Shape.
struct Slab {
  int device = 0;
  std::int64_t first_signal = 0, signals = 1;   ///< of the batch
  std::array<std::int64_t, 3> begin{0, 0, 0};   ///< first index in each dimension; 0 beyond the rank
  std::array<std::int64_t, 3> extent{1, 1, 1};  ///< indices in each dimension; 1 beyond the rank

  std::int64_t points() const noexcept { return signals * extent[0] * extent[1] * extent[2]; }
  friend bool operator==(const Slab&, const Slab&) = default;
};

/// What a CompactPlan stores. Strides have to be 0: its signals are contiguous.
struct CompactOptions {
  Storage signal = Storage::f16;    ///< what forward() reads and inverse() writes
  Storage spectrum = Storage::f16;  ///< what forward() writes and inverse() reads
  /// What the kernels of a transform in several steps leave in a GPU's memory for each other: 16 bits make it
  /// faster, and add an error as large as the results' own. Only the engine `tuned` follows it.
  Storage between = Storage::f32;
  /// For GPUs: the largest real or imaginary part that is stored in what a transform reads; larger ones may
  /// overflow. 0: 65504 for f16; for other formats the transform reads its input once more to find it
  /// (CompactPlan::finds_exponents()).
  double signal_peak = 0, spectrum_peak = 0;
  Options dense{};  ///< engine, backend, batch, normalization
};

/// How the stored values of one transform are to be read, and how good they are.
struct CompactScale {
  int exponent = 0;  ///< a value is what is stored times 2^exponent
  /// Predicted: ‖x̂ − x‖₂/‖x‖₂ of the values, root mean square. A transform adds its own part to what its
  /// input had. Infinite if `finite` is false.
  double relative_error = 0;
  bool finite = true;  ///< no value is infinite or NaN
};

/// Exponents of a batch in GPU memory, one for each transform.
struct CompactExponents {
  const int* input = nullptr;  ///< of what is transformed; null: all are 0
  int* output = nullptr;       ///< where those of the results go; null: nowhere
};

SFFT_EXPORT const char* to_string(Engine engine) noexcept;
SFFT_EXPORT const char* to_string(Storage storage) noexcept;
/// Whether this build has the engine. GPU engines may still find no GPU: then plans throw.
SFFT_EXPORT bool available(Engine engine) noexcept;

/// The result of reading a wisdom file or text.
struct WisdomReport {
  int taken = 0;       ///< entries added
  int ignored = 0;     ///< entries left out
  std::string reason;  ///< why entries, or the whole file, were ignored; empty when none was
};
/// Coefficients of the spectra of a batch: element e of spectrum b has the index b·S + e, where S is the
/// number of elements of one spectrum (for real signals of a half spectrum, as Plan lays it out).
template <class Real>
struct Coefficients {
  std::vector<std::int64_t> indices;  ///< ascending
  std::vector<std::complex<Real>> values;
};

/// The same in device memory, in no particular order.
template <class Real>
struct DeviceCoefficients {
  std::int64_t* indices = nullptr;       ///< [capacity]
  std::complex<Real>* values = nullptr;  ///< [capacity]
  std::uint64_t* count = nullptr;        ///< [1], how many there are; those above the capacity are left out
  std::int64_t capacity = 0;
};

}  // namespace sfft::dense
