// SPDX-License-Identifier: Apache-2.0
// Blind discovery: finds support and values of an unknown signal from far fewer than N samples.
#pragma once

#include <cstdint>

#include "kernels/base/export.hpp"
#include "kernels/base/types.hpp"
#include "sfft/device_signal.hpp"

namespace sfft {

/// The samples by which the result of discovery is verified at the end.
enum class Check : std::uint8_t {
  automatic,   ///< `everything` up to 2^16 points in host memory, where it costs little; else `scattered`
  scattered,   ///< about a thousand at random positions: the work does not grow with the signal
  everything,  ///< also the energy of all samples, each read once; in GPU memory the same as `scattered`
};

struct DiscoverOptions {
  /// Number of frequencies wanted, the largest ones; a conjugate pair of a real signal counts once. Fewer are
  /// returned when the signal has no more. 0: unknown, return all that stand out of the noise.
  std::int64_t k = 0;
  Fallback fallback = Fallback::dense;
  std::uint64_t seed = 1;  ///< seed of all random choices: same signal, options and seed, same answer
  /// Noisy signals are read until the values are this good: a relative L2 error of the support, or a standard
  /// error of noise_gain times that of a dense transform, whichever comes first. For the latter one sample in
  /// noise_gain² is read.
  double accuracy = 1e-6;
  double noise_gain = 2.6;
  /// automatic, comb or flat_window; dense skips discovery.
  Path path = Path::automatic;
  int threads = 1;  ///< threads of a dense transform
  /// There are enough scattered check samples that a disturbance of one position in forty, wherever they are,
  /// is missed with at most this probability (docs/accuracy.md, Discovery). In (0, 1).
  double confidence = 1e-9;
  Check check = Check::automatic;
};

/// A spectrum whose support was found. `verified` (see Spectrum) says that it explains, up to noise, fresh
/// samples that had no part in finding it, some of them at positions drawn at random. No coefficient outside
/// the support exceeds `missed_bound`, whether it was not found or not asked for; `tail_energy` is what
/// remains. Discovery cannot see what happens only between the samples that it read: see `shortest_burst`.
struct Discovery : Spectrum<double> {
  std::int64_t samples = 0;  ///< samples read, N when transformed densely; without the pass of energy_checked
  std::int64_t check_samples = 0;  ///< those at random positions, read to verify the result
  /// A disturbance of at least this many samples, together or apart, is missed at most with the probability
  /// DiscoverOptions::confidence. A shorter one (a click, a NaN) may be missed. 1 for a dense transform, 0
  /// when nothing was compared.
  std::int64_t shortest_burst = 0;
  /// All samples were read. Their energy is that of this spectrum and its tail, and their transform at a
  /// random frequency between those of the grid is what this spectrum leaks there: no click of any length is
  /// larger than rounding or, under noise, chance and missed_bound explain (docs/accuracy.md, Discovery).
  bool energy_checked = false;
  /// `k` cut through coefficients of equal size: others outside the support are as large as the smallest in
  /// it.
  bool tie_at_k = false;
  int rounds = 0;             ///< rounds of discovery
  double search_seconds = 0;  ///< wall time of discovery, without the dense transform that may follow
};

/// Finds the frequencies of a 1D, 2D or 3D signal of any size and element type. Float and integer signals are
/// processed in single precision, double in double. For an exactly sparse signal it reads about 50 samples
/// per frequency when the size divides well, 200 to 400 in several dimensions and 2000 at a prime size; for a
/// noisy one at most one sample in noise_gain². Rounds, checks and their sources: docs/concepts.md.
///
/// A short signal, or one with k near its size, is transformed densely at once. So is any signal whose
/// discovery is not verified (Fallback::dense); the failed search costs less than a tenth of the dense
/// transform's time from about a million points on, and up to half of it for smaller signals that look sparse
/// at first, such as photographs. The number of rounds is bounded. Plans of the small FFTs are shared by all
/// calls of the process; nothing else is. Thread-safe.
///
/// Samples may have any finite size: they are scaled by a power of two where their squares would leave the
/// range of their type. For doubles beyond 1e±150 `tail_energy`, a square, may itself be infinite or zero.
///
/// Throws invalid_argument for k < 0, k larger than the number of distinct frequencies, a path that cannot
/// discover, accuracy < 0, noise_gain < 1 or a confidence outside (0, 1), and where the dense transform meets
/// NaN or infinities or a coefficient is too large for a double.
SFFT_EXPORT Discovery discover(const SignalView& signal, const DiscoverOptions& options = {});

/// The same for a signal in GPU memory, reading just as few of its samples: kernels pick those of a round and
/// write them to page-locked host memory, and everything else runs on the host; the answer is that of the
/// host's discover() on the same samples. A round costs a launch and a wait whatever the signal's size, so
/// this pays for large ones (docs/concepts.md). The dense transform that follows an unverified discovery runs
/// on the GPU, in double precision, and needs up to 40 bytes of GPU memory per complex sample, 28 per real
/// one; discovery gives up sooner than on the CPU because that transform is faster. `threads` is ignored.
///
/// Work is ordered in `stream` after what was queued there; the call blocks until the answer is known, and
/// the stream must not be under capture. The process keeps a few blocks of page-locked memory from call to
/// call. Thread-safe.
///
/// Throws what discover() on host memory throws; invalid_argument for a null pointer or one that the GPU
/// cannot read, and for an unknown element type; backend_unavailable where the build has no GPU backend or
/// the machine no such device; out_of_memory; device when the GPU fails.
SFFT_EXPORT Discovery discover(const DeviceSignal& signal, const DiscoverOptions& options = {});

}  // namespace sfft
