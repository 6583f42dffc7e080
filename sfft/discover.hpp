// SPDX-License-Identifier: Apache-2.0
// Blind discovery: support and values of a signal of which nothing is known, from far fewer than N samples.
#pragma once

#include <cstdint>

#include "kernels/base/export.hpp"
#include "kernels/base/types.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft {

/// Which samples have the last word on what discovery found.
enum class Check : std::uint8_t {
  automatic,   ///< `everything` up to 2^16 points of host memory, where it costs little; `scattered` beyond
  scattered,   ///< about a thousand at random positions: the work does not grow with the signal
  everything,  ///< these, and the energy of all samples, each read once; of GPU memory as `scattered`
};

struct DiscoverOptions {
  /// Frequencies wanted, the largest; a conjugate pair of a real signal counts once. Fewer are returned where
  /// the signal has no more. 0: unknown, all that stand out of the noise.
  std::int64_t k = 0;
  Fallback fallback = Fallback::dense;
  std::uint64_t seed = 1;  ///< of all random choices: same signal, options and seed, same answer
  /// Noisy signals are read until the values are this good: a relative L2 error of the support, or a standard
  /// error of so many times a dense transform's, whichever comes first. A sample in noise_gain² is read.
  double accuracy = 1e-6;
  double noise_gain = 2.6;
  /// automatic, or only comb or flat_window; dense skips discovery.
  Path path = Path::automatic;
  int threads = 1;  ///< of a dense transform
  /// Scattered check samples are so many that a disturbance of one position in forty, wherever these are, is
  /// missed with no more than this probability (docs/accuracy.md, Discovery). In (0, 1).
  double confidence = 1e-9;
  Check check = Check::automatic;
};

/// A spectrum whose support was found. `verified` (see Spectrum) says that fresh samples, which had no part
/// in finding it, are explained by it but for noise, some of them at positions drawn at random;
/// `missed_bound` that no coefficient outside the support is larger, whether it was not found or not asked
/// for; `tail_energy` what is left. What happens only between the samples that were read is not seen: see
/// `shortest_burst`.
struct Discovery : Spectrum<double> {
  std::int64_t samples = 0;  ///< read, N of them when transformed densely; the pass of energy_checked aside
  std::int64_t check_samples = 0;  ///< of those, the ones at random positions that have the last word
  /// A disturbance of so many samples or more, together or apart, is seen but for
  /// DiscoverOptions::confidence. A shorter one (a click, a NaN) may not be. 1 of a dense transform, 0 where
  /// nothing was compared.
  std::int64_t shortest_burst = 0;
  /// All samples were read, and their energy is that of this spectrum and its tail: no click of any length
  /// that holds more than about 5e-7 of the energy (single precision; 1e-14 double) over that of chance.
  bool energy_checked = false;
  /// `k` cut through coefficients of one size: others outside the support are as large as the least in it.
  bool tie_at_k = false;
  int rounds = 0;             ///< of discovery
  double search_seconds = 0;  ///< wall time of discovery, without the dense transform that may follow
};

/// Finds the frequencies of a 1D, 2D or 3D signal of any size and element type. Signals of float and integers
/// are worked on in single precision, double in double. Of an exactly sparse signal it reads about 50 samples
/// a frequency where the size divides well, 200 to 400 in several dimensions, 2000 at a prime size; of a
/// noisy one a sample in noise_gain² and fewer. Rounds, checks and their sources: docs/concepts.md.
///
/// A short signal, or a k near its size, is transformed densely at once, and so is any signal whose discovery
/// is not verified (Fallback::dense). That costs less than a tenth of the dense transform's time from about a
/// million points on; of smaller signals that look sparse at first, photographs for one, up to half of it.
/// The number of rounds is bounded. Plans of the small FFTs are shared by all calls of the process; nothing
/// else is. Thread-safe.
///
/// Samples may have any finite size: they are scaled by a power of two where their squares would leave the
/// range of their type. Of doubles beyond 1e±150 `tail_energy`, a square, may itself be infinite or zero.
///
/// Throws invalid_argument for k < 0, k larger than the number of distinct frequencies, a path that cannot
/// discover, accuracy < 0, noise_gain < 1 or a confidence outside (0, 1), and where the dense transform meets
/// NaN or infinities or a coefficient is too large for a double.
SFFT_EXPORT Discovery discover(const SignalView& signal, const DiscoverOptions& options = {});

/// A contiguous, row-major signal that a GPU holds; it owns nothing.
struct DeviceSignal {
  const void* data;  ///< shape.points() elements in memory of `device`, managed, or page-locked on the host
  ElementType type;
  Shape shape;
  int device = 0;                 ///< as the driver counts them
  CUstream_st* stream = nullptr;  ///< a cudaStream_t of `device`; null is its legacy default stream
};

/// The same of a signal in GPU memory, reading as few of its samples: kernels pick those of a round and write
/// them to page-locked host memory, where all else runs; the answer is that of the host's discover() on the
/// same samples. A round costs a launch and a wait whatever the signal's size, so that this pays for large
/// ones (docs/concepts.md). The dense transform that follows an unverified discovery runs on the GPU, in
/// double precision, and needs about 40 bytes of its memory a complex sample, 28 a real one; discovery gives
/// up sooner than on the CPU, as that transform is faster. `threads` has no part in it.
///
/// Work is ordered in `stream` after what was queued there; the call blocks until the answer is known, and
/// the stream must not be under capture. The process keeps a few blocks of page-locked memory from call to
/// call. Thread-safe.
///
/// Throws what discover() of host memory throws; invalid_argument for a null pointer or one that the GPU
/// cannot read, and for an unknown element type; backend_unavailable where the build has no GPU backend or
/// the machine no such device; out_of_memory; device when the GPU fails.
SFFT_EXPORT Discovery discover(const DeviceSignal& signal, const DiscoverOptions& options = {});

}  // namespace sfft
