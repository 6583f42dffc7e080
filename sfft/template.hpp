// SPDX-License-Identifier: Apache-2.0
// Templates: the frequencies of a signal that matter, learned once from one frame or several.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/export.hpp"
#include "kernels/base/types.hpp"
#include "sfft/device_signal.hpp"

namespace sfft {

namespace detail {
struct TemplateData;
}

/// How the frequencies are found.
enum class LearnMethod : std::uint8_t {
  dense,  ///< by a dense transform
  /// by discover(), from a fraction of the samples; k only, one frame only, f = 0 like any other. It runs on
  /// the CPU; `backend` is that of the dense transform that follows when the result is not verified.
  blind,
  /// blind where the frame proves to be exactly sparse, else dense. Discovery is tried where that takes a few
  /// per cent of a dense transform's time: on the CPU, for k of one frame of floating-point samples, without
  /// a reference. Its result counts if it is verified, also against the sums of all samples, nothing but
  /// rounding is left outside, and k cuts through no coefficients of one size. Template::learned_by() says
  /// which way was taken, and why_learned_so() why.
  automatic,
};

/// How many frequencies to keep: set exactly one of k, energy, threshold_sigma.
struct LearnOptions {
  std::int64_t k = 0;          ///< the k largest; for a real signal a conjugate pair counts once
  double energy = 0;           ///< in (0, 1]: the fewest that hold this share of the energy without f = 0
  double threshold_sigma = 0;  ///< > 0: all above this many standard deviations of a robust noise floor
  /// Keep the (first) frame's samples in the template, so that plans transform the difference to it. Right
  /// for cameras, whose frames share their background; wrong for signals whose coefficients change freely.
  bool reference = false;
  Backend backend = Backend::automatic;  ///< cuda: transform and select on the GPU; automatic is the CPU
  int device = 0;                        ///< GPU of the cuda backend
  int threads = 1;                       ///< on the CPU, 0: one per core; the result is the same for any
  LearnMethod method = LearnMethod::dense;
  /// What a blind method does when discovery is not verified; `none` throws not_sparse.
  Fallback fallback = Fallback::dense;
  std::uint64_t seed = 1;  ///< seed of blind discovery
};

/// The support S of a signal (k flat indices), its shape, whether the signal is real, and what learning found
/// out about amplitudes: values at S, power outside S as a smooth envelope, optionally a reference frame.
/// Immutable; copies share their data, and one template may be used from many threads. Moving is copying:
/// there is no empty template.
class SFFT_EXPORT Template {
 public:
  Template(const Template&) noexcept = default;  // declared, so that nothing is ever moved from
  Template& operator=(const Template&) noexcept = default;

  /// A template from known frequencies: `support` holds distinct flat row-major indices in [0, N), in any
  /// order. For `real`, at most one of each conjugate pair (ErrorCode::invalid_support otherwise). Nothing is
  /// known about amplitudes: plans assume an exactly sparse signal.
  static Template from_support(const Shape& shape, bool real, std::span<const std::int64_t> support);

  /// Reads a template file. Every damaged, truncated or foreign file is an Error (file_unreadable,
  /// file_corrupt, file_version), but for damage to the plans kept in it: these are then left out, and
  /// kept_plans_problem() says why. Format: docs/file-formats.md.
  static Template load(const std::string& path);
  /// Writes beside `path` and renames: an existing file is replaced whole or not at all.
  void save(const std::string& path) const;

  const Shape& shape() const noexcept;
  bool is_real() const noexcept;
  std::int64_t k() const noexcept;
  std::span<const std::int64_t> support() const noexcept;  ///< ascending
  std::span<const std::complex<double>> values()
      const noexcept;  ///< X of the first learning frame at S; empty if unknown
  /// Mean power E|X[f]|² at S over the learning frames; empty if unknown.
  std::span<const double> power() const noexcept;
  double energy_captured()
      const noexcept;                   ///< share of the energy without f = 0 that S holds; NaN if unknown
  double tail_energy() const noexcept;  ///< Σ|X[f]|² outside S (both halves), mean over frames; 0 if unknown
  bool has_reference() const noexcept;
  double learn_seconds() const noexcept;  ///< wall time that learning took; not saved
  /// The way that learning took: blind, or dense; dense also where it is not known. Not saved.
  LearnMethod learned_by() const noexcept;
  std::string_view why_learned_so() const noexcept;  ///< in one sentence; empty if not known, not saved
  /// The plans that are kept with the template (Plan::keep_in), a line each: "float on the cpu: comb 24x32,
  /// 6 delays".
  std::vector<std::string> kept_plans() const;
  /// Why plans of the file that this was loaded from could not be read; empty if they could, or there were
  /// none. The template is whole all the same.
  const std::string& kept_plans_problem() const noexcept;

  const std::shared_ptr<const detail::TemplateData>& data() const noexcept { return data_; }
  explicit Template(std::shared_ptr<const detail::TemplateData> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const detail::TemplateData> data_;
};

/// Learns a template from one frame by a dense double-precision FFT, on the CPU or, if options.backend is
/// cuda, on a GPU; both give the same template within rounding, and each gives the same bits every time.
/// Equal magnitudes are ordered by ascending index; f = 0 competes like any other frequency under `k` and is
/// always kept under `energy` and `threshold_sigma` when it is not zero. Throws invalid_argument for k < 1, a
/// k above the number of distinct frequencies, no criterion or more than one, a frame with NaN or infinities
/// or whose power overflows double, and an all-zero frame under `energy` or `threshold_sigma`;
/// backend_unavailable, device and out_of_memory for a GPU that is missing, fails or is full.
///
/// Where discovery was verified (LearnMethod::blind and automatic), the template may hold fewer than k
/// frequencies, where an exactly sparse frame has no more, and its envelopes are flat: discovery knows how
/// much lies outside the support, not where.
SFFT_EXPORT Template learn(const SignalView& first_frame, const LearnOptions& options);
/// The same from the mean power of several frames of one shape and type; values and reference come from the
/// first, and the frame-to-frame variance sharpens the error prediction.
SFFT_EXPORT Template learn(std::span<const SignalView> frames, const LearnOptions& options);
/// The same from one frame in GPU memory, on the GPU that holds it: only the template comes to the host, and
/// the frame too with options.reference. The k largest of a frame of up to 2^24 points, whose dimensions are
/// products of primes up to 127 and fit shared memory (some 6000 points), take one allocation and one wait;
/// other shapes and criteria take several of both. LearnMethod::automatic is `dense` here, and `blind` is
/// discover(DeviceSignal). options.device and `threads` are ignored.
///
/// Work is ordered in frame.stream after what was queued there; the call blocks until the template is known,
/// and the stream must not be under capture. Thread-safe. Throws what learn() of a frame in host memory
/// throws; invalid_argument for a null pointer or one that the GPU cannot read, an unknown element type, a
/// stream under capture and Backend::cpu.
SFFT_EXPORT Template learn(const DeviceSignal& frame, const LearnOptions& options);

}  // namespace sfft
