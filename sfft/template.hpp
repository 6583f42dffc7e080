// SPDX-License-Identifier: Apache-2.0
// Templates: the frequencies of a signal that matter, learned once from one frame or several.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfft/device.hpp"
#include "sfft/export.hpp"
#include "sfft/types.hpp"

namespace sfft {

namespace detail {
struct TemplateData;
struct TemplateAccess;
}  // namespace detail

/// Keeps the k largest frequencies; a conjugate pair of a real signal counts once. f = 0 competes like any
/// other.
struct Largest {
  std::int64_t k;  ///< at least 1
};
/// Keeps the fewest frequencies that hold a share of the energy without f = 0, and f = 0 if it is not zero.
struct Energy {
  double share;  ///< in (0, 1]
};
/// Keeps all frequencies above a robust noise floor, and f = 0 if it is not zero.
struct AboveNoise {
  double sigmas;  ///< standard deviations of the noise, > 0
};
/// Which frequencies to keep.
using Criterion = std::variant<Largest, Energy, AboveNoise>;

/// What learn() keeps, and how it finds it.
struct LearnOptions {
  /// How the frequencies are found.
  enum class Method : std::uint8_t {
    dense,  ///< by a dense transform
    /// by discover(), from a fraction of the samples. Needs Largest and a single frame; f = 0 competes like
    /// any other. Runs on the CPU; `device` is that of the dense transform after an unverified discovery.
    discovery,
    /// discovery if the frame proves exactly sparse, else dense. Discovery is tried only where it takes a few
    /// per cent of a dense transform's time: on the CPU, for the k largest of one frame of floating-point
    /// samples, without a reference. Its result counts if it is verified, also against the sums of all
    /// samples, if only rounding is left outside, and if k does not cut through coefficients of one size.
    /// Template::learned_by() says which method was used, why_learned_so() why.
    automatic,
  };

  /// Which frequencies to keep; learn() needs it.
  std::optional<Criterion> keep = std::nullopt;
  /// Keep the (first) frame's samples in the template, so that plans transform the difference to it. Right
  /// for cameras, whose frames share a background; wrong for signals whose coefficients change freely.
  bool reference = false;
  Device device = Device::automatic();  ///< a GPU transforms and selects there; automatic is the CPU
  int threads = 1;                      ///< CPU threads, or kAllCores; the result does not depend on it
  /// How the frequencies are found.
  Method method = Method::dense;
  /// Method::discovery transforms densely if discovery is not verified; false: throws not_sparse.
  /// Method::automatic always transforms densely then.
  bool dense_fallback = true;
  std::uint64_t seed = 1;  ///< seed of discovery
};

/// The support S of a signal (k linear indices), its shape, whether it is real, and what learning found about
/// amplitudes: values at S, power outside S as a smooth envelope, optionally a reference frame. Immutable;
/// copies share their data and may be used from many threads. A move is a copy, so no template is ever empty.
class SFFT_EXPORT Template {
 public:
  /// Shares the data; never throws.
  Template(const Template&) noexcept = default;  // declared, so that a move is a copy
  /// Shares the data; never throws.
  Template& operator=(const Template&) noexcept = default;

  /// Whether both share their data.
  friend bool operator==(const Template& a, const Template& b) noexcept { return a.data_ == b.data_; }

  /// A template of known frequencies: `support` holds distinct linear (row-major) indices in [0, N), in any
  /// order; for a real signal at most one of each conjugate pair (ErrorCode::invalid_support otherwise).
  /// Amplitudes are unknown: plans assume an exactly sparse signal.
  static Template from_support(const Shape& shape, Domain domain, std::span<const std::int64_t> support);

  /// Reads a template file. A damaged, truncated or foreign file throws Error (file_unreadable, file_corrupt,
  /// file_version). If only the plans kept in it are damaged, they are left out and kept_plans_problem() says
  /// why. Format: docs/file-formats.md.
  static Template load(const std::string& path);
  /// Writes a temporary file and renames it, so an existing file is replaced whole or not at all.
  void save(const std::string& path) const;

  /// Extents of the frames.
  const Shape& shape() const noexcept;
  /// What the samples of frames are.
  Domain domain() const noexcept;
  /// Number of frequencies; a conjugate pair counts once.
  std::int64_t k() const noexcept { return static_cast<std::int64_t>(support().size()); }
  std::span<const std::int64_t> support() const noexcept;  ///< ascending
  std::span<const std::complex<double>> values()
      const noexcept;  ///< X of the first learning frame at S; empty if unknown
  /// Mean power E|X[f]|² at S over the learning frames; empty if unknown.
  std::span<const double> power() const noexcept;
  double energy_captured()
      const noexcept;                   ///< share of the energy without f = 0 that S holds; NaN if unknown
  double tail_energy() const noexcept;  ///< Σ|X[f]|² outside S (both halves), mean over frames; 0 if unknown
  /// Whether it holds a reference frame.
  bool has_reference() const noexcept;
  double learn_seconds() const noexcept;  ///< wall time that learning took; not saved
  /// The method that learning used, discovery or dense; dense if unknown. Not saved.
  LearnOptions::Method learned_by() const noexcept;
  std::string_view why_learned_so() const noexcept;  ///< in one sentence; empty if unknown, not saved
  /// The plans kept with the template (Plan::keep_in), one line each: "float on the cpu: comb
  /// 24x32, 6 delays".
  std::vector<std::string> kept_plans() const;
  /// Why the plans in the file could not be read; empty if they could or the file has none. The rest of the
  /// template is intact either way.
  const std::string& kept_plans_problem() const noexcept;

 private:
  friend struct detail::TemplateAccess;
  explicit Template(std::shared_ptr<const detail::TemplateData> data) : data_(std::move(data)) {}
  std::shared_ptr<const detail::TemplateData> data_;
};

/// Learns a template from one frame, by a dense double-precision FFT unless Method says otherwise, on the CPU
/// or a GPU. Both give the same template within rounding, and each gives the same bits every time. Equal
/// magnitudes are ordered by ascending index. Throws invalid_argument for options without `keep`, k < 1 or
/// above the number of distinct frequencies, several GPUs, a frame with NaN, infinities or a power beyond
/// double, and an all-zero frame under Energy or AboveNoise; not_sparse (without dense_fallback); and
/// backend_unavailable, device and out_of_memory for a GPU that is missing, fails or is full.
///
/// After a verified discovery (LearnOptions::Method::discovery and automatic) the template holds fewer than k
/// frequencies if an exactly sparse frame has no more. Its envelopes are flat, because discovery knows how
/// much lies outside the support but not where.
SFFT_EXPORT Template learn(const SignalView& first_frame, const LearnOptions& options);
/// Learns from the mean power of several frames of one shape and type. Values and reference come from the
/// first frame; the frame-to-frame variance sharpens the error prediction. Also throws shape_mismatch and
/// type_mismatch for frames that differ, and invalid_argument for none.
SFFT_EXPORT Template learn(std::span<const SignalView> frames, const LearnOptions& options);
/// Learns from one frame in GPU memory, on the GPU that holds it. Only the template comes to the host, and
/// the frame if options.reference is set. The k largest of up to 2^24 points, in dimensions that factor into
/// primes up to 127 and fit shared memory (some 6000 points), take one allocation and one wait; other shapes
/// and criteria take several. LearnOptions::Method::automatic is `dense` here, and `discovery` is
/// discover(DeviceView). `threads` is ignored, and options.device is the frame's GPU or automatic.
///
/// Work is ordered in `stream` (a cudaStream_t of the GPU; null is its legacy default stream) after what was
/// queued there. The call blocks until the template is known, and the stream must not be under capture.
/// Thread-safe. Throws as learn() of host memory does; also invalid_argument for a null pointer, memory that
/// the GPU cannot read, an unknown element type, several frames, a stream under capture and Device::cpu().
SFFT_EXPORT Template learn(const DeviceView& frame, const LearnOptions& options,
                           CUstream_st* stream = nullptr);

}  // namespace sfft
