// Blind discovery: support and values of a signal of which nothing is known, from far fewer than N samples.
#pragma once

#include <cstdint>

#include "sfft/export.hpp"
#include "sfft/types.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft {

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
};

/// A spectrum whose support was found. `verified` (see Spectrum) says that fresh samples, which had no part
/// in finding it, are explained by it but for noise; `missed_bound` what size of coefficient they could hide
/// and `tail_energy` what is left. Both hold for signals whose remainder is spread over time: what happens
/// only between the samples that were read, a click or a NaN, is not seen.
struct Discovery : Spectrum<double> {
  std::int64_t samples = 0;   ///< read, N of them when transformed densely
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
/// Throws invalid_argument for k < 0, k larger than the number of distinct frequencies, a path that cannot
/// discover, accuracy < 0 or noise_gain < 1, and where the dense transform meets NaN or infinities.
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
