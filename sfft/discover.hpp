// SPDX-License-Identifier: Apache-2.0
// Discovery: finds the support and values of an unknown signal from far fewer than N samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfft/device.hpp"
#include "sfft/export.hpp"
#include "sfft/types.hpp"

namespace sfft {

struct Discovery;

/// What discover() looks for, and how carefully.
struct DiscoverOptions {
  /// The samples that verify the result of discovery.
  enum class Check : std::uint8_t {
    automatic,   ///< `everything` up to 2^16 points in host memory, where it costs little; else `scattered`
    scattered,   ///< about a thousand at random positions: the work does not grow with the signal
    everything,  ///< also reads all samples once, for sums; the same as `scattered` in GPU memory
  };

  /// Number of largest frequencies wanted, at least 1; a conjugate pair of a real signal counts once. A
  /// signal with fewer frequencies returns fewer. Not set: all that stand out of the noise.
  std::optional<std::int64_t> k = std::nullopt;
  /// Transforms the signal densely if discovery is not verified. False: returns what was found, with
  /// `verified` false; above 2^17 points fewer than N samples are read then.
  bool dense_fallback = true;
  std::uint64_t seed = 1;  ///< seed of all random choices: same signal, options and seed, same answer
  /// A noisy signal is read until the values are this good: a relative L2 error over the support, or a
  /// standard error of noise_gain times a dense transform's, whichever comes first. The latter takes one
  /// sample in noise_gain².
  double accuracy = 1e-6;
  /// See accuracy; at least 1.
  double noise_gain = 2.6;
  /// automatic, comb or flat_window; dense skips discovery.
  Path path = Path::automatic;
  int threads = 1;  ///< of a dense transform that may follow, or kAllCores
  /// Sets the number of scattered check samples: a disturbance of one position in forty, wherever it is, goes
  /// unnoticed with at most this probability (docs/accuracy.md, Discovery). In (0, 1).
  double confidence = 1e-9;
  /// The samples that verify the answer.
  Check check = Check::automatic;
  /// If run_with_control() stops the call, this receives what was found until then, with `verified` false and
  /// an infinite `missed_bound`: after a stop during the search, the frequencies of the rounds until then;
  /// after a stop during the dense transform, what the search had found. Unspecified if the call returns.
  Discovery* until_stopped = nullptr;
};

/// The result of discovery: a spectrum at the support that was found, and how it was checked. `verified` says
/// that it explains, up to noise, fresh samples that had no part in finding it, some at random positions. No
/// coefficient outside the support exceeds `missed_bound`, whether it was missed or not requested;
/// `tail_energy` (Quality) is all that lies outside. Discovery cannot see what happens only between the
/// samples that it read: see `shortest_burst`. `reason` says which share of the samples that is.
struct Discovery {
  /// X at the support that was found, with standard errors.
  Spectrum<double> spectrum;
  /// False if fresh samples did not confirm the support, or could not tell its k-th frequency from the noise:
  /// frequencies may be missing or wrong.
  bool verified = true;
  /// A bound on the coefficients outside the support, as far as fresh samples can tell.
  double missed_bound = 0;
  /// The support was found by a full FFT of this very signal.
  bool support_learned_densely = false;
  /// Neighbouring coefficients look like one tone that lies between them, or that a window spread. `reason`
  /// names the strongest such tone; off_grid_tones lists all.
  bool leakage_suspected = false;
  std::string reason;              ///< why this path, and what to know about the result
  std::int64_t samples = 0;        ///< samples read; N when transformed densely; energy check not counted
  std::int64_t check_samples = 0;  ///< read at random positions to verify the result
  /// A disturbance of at least this many samples, contiguous or scattered, goes unnoticed with at most the
  /// probability DiscoverOptions::confidence. A shorter one (a click, a NaN) may be missed. 1 for a dense
  /// transform and where energy_checked; 0 if nothing was compared.
  std::int64_t shortest_burst = 0;
  /// All samples were read, and all were finite. Their energy is that of the spectrum and its tail. Folded
  /// into about a hundred cells under random phases, what the spectrum does not explain has the energy of its
  /// tail. So no changed sample (a click, a flipped sign, a repeated value) exceeds what `tail_energy`,
  /// `standard_error` and `missed_bound` say (docs/accuracy.md, Discovery).
  bool energy_checked = false;
  /// `k` cut through coefficients of equal size: some outside the support are as large as the
  /// smallest inside.
  bool tie_at_k = false;
  /// The tones behind `leakage_suspected`, strongest first, at most 24. Their leakage fills the spectrum: k
  /// of its coefficients may all belong to one of them. Multiply by a window, or use off_grid_tones instead.
  /// An answer that is not verified lists at most three: those that a look at a coarse grid of samples is
  /// sure of.
  std::vector<OffGridTone> off_grid_tones;
  int rounds = 0;             ///< rounds of discovery
  double search_seconds = 0;  ///< wall time of discovery, without the dense transform that may follow
};

/// Finds the frequencies of a 1D, 2D or 3D signal of any size and element type. Works in single precision for
/// float and for integers up to 16 bits, in double for double and s32. An exactly sparse signal costs about
/// 50 samples per frequency if the size divides well, 200 to 400 in several dimensions and 2000 at a prime
/// size; a noisy one at most one sample in noise_gain². Rounds, checks and their sources: docs/concepts.md.
///
/// A short signal, or one with k near its size, is transformed densely at once. So is any signal whose
/// discovery is not verified (dense_fallback). The failed search mostly costs a few per cent of the dense
/// transform's time. For small signals that look sparse at first it is up to half, rarely more.
///
/// With dense_fallback = false a search that fails because tones lie between bins ends early and lists them.
/// Up to 2^16 points it takes a tenth of the time of discover() with Path::dense (median; nine signals in ten
/// need at most three tenths), at 2^20 points a hundredth (docs/accuracy.md, Tones between bins). Other
/// searches go on up to the predicted time of a dense transform, or 20 ms if that is longer; 20 ms is many
/// times the dense transform of a small signal. Signals of more than 2^17 points are read at fewer than N
/// samples; rounds of smaller ones may read some samples again.
///
/// The number of rounds is bounded. All calls of a process share the plans of small FFTs, and nothing else.
/// Thread-safe.
///
/// Samples may have any finite magnitude: they are scaled by a power of two where their squares would
/// overflow or underflow. For doubles beyond 1e±150 `tail_energy`, a square, may itself be infinite or zero.
///
/// Throws invalid_argument for k < 1, k above the number of distinct frequencies, a path that cannot
/// discover, accuracy < 0, noise_gain < 1, a confidence outside (0, 1), and where a dense transform meets
/// NaN, infinities or a coefficient too large for a double.
SFFT_EXPORT Discovery discover(const SignalView& signal, const DiscoverOptions& options = {});

/// Like discover() of a signal in host memory, for a signal in GPU memory. It reads as few samples. Kernels
/// gather the samples of a round into page-locked host memory; the rest runs on the host. The answer is the
/// same for the same `check`. A round costs a launch and a wait at any signal size, so this pays only for
/// large signals (docs/concepts.md). The dense transform after an unverified discovery runs on the GPU in
/// double precision and needs up to 40 bytes of GPU memory per complex sample, 28 per real one; being faster,
/// it makes discovery give up sooner than on the CPU. `threads` is ignored.
///
/// Work is ordered in `stream` (a cudaStream_t of the GPU; null is its legacy default stream) after what was
/// queued there. The call blocks until the answer is known, and the stream must not be under capture. The
/// process keeps a few blocks of page-locked memory between
/// calls. Thread-safe.
///
/// Throws as discover() of host memory does; also invalid_argument for a null pointer, memory that the GPU
/// cannot read, several signals and an unknown element type; backend_unavailable if the build has no GPU
/// backend or the machine no such device; out_of_memory; device if the GPU fails.
SFFT_EXPORT Discovery discover(const DeviceView& signal, const DiscoverOptions& options = {},
                               CUstream_st* stream = nullptr);

}  // namespace sfft
