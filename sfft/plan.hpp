// SPDX-License-Identifier: Apache-2.0
// Plans: everything about a known-support transform that does not depend on the frame, computed once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sfft/device.hpp"
#include "sfft/export.hpp"
#include "sfft/template.hpp"
#include "sfft/types.hpp"
#include "sfft/workspace.hpp"

namespace sfft {

namespace detail {
class PlanState;
template <class Real>
struct PlanAccess;
}  // namespace detail

/// Where a plan runs, how exact it is, and how long planning may take.
struct PlanOptions {
  /// How samples of frames in host memory reach the GPU. `mapped` and `rows` need page-locked frames
  /// (allocate_page_locked(), cudaHostAlloc, cudaHostRegister); other frames, and regions of larger arrays,
  /// are gathered.
  enum class Transfer : std::uint8_t {
    automatic,  ///< rows or mapped if frames are page-locked, whichever loads
                ///< the bus less, else gather
    whole,      ///< the whole frame is copied
    gather,     ///< host threads pick the samples that the plan reads, and those are copied
    mapped,     ///< kernels read the samples in place, over the bus
    rows,       ///< copies the image rows that hold samples; mapped if a plan does not read by rows
  };

  /// How a plan notices energy outside its template that aliases onto the template's buckets.
  enum class Witness : std::uint8_t {
    /// Compares about thirty scattered samples, which recovery does not use, with
    /// what the coefficients predict there. The difference raises the reported
    /// errors (docs/accuracy.md).
    scattered,
    none,  ///< no comparison: up to a third faster when k is small, but cannot see energy that aliases
           ///< exactly
  };

  /// Where frames are transformed; automatic: on the CPU, or on the GPU if it is predicted to transform
  /// frames in host memory faster. enqueue() needs a GPU. Several GPUs share the frames of each execute()
  /// call, and `batch` counts the frames of all; the planner optimises for the first, and enqueue() runs on
  /// it.
  Device device = Device::automatic();
  /// Typical number of frames per execute() or enqueue() call. GPU plans for many frames process each on one
  /// multiprocessor; plans for one frame spread it over several. Workspaces are sized for this number.
  int batch = 1;
  /// Relative L2 error over the support without f = 0 that is good enough: the planner takes the cheapest
  /// plan predicted to reach it, or dense. 0: as good as max_samples and page_locked_frames allow.
  double accuracy = 0;
  /// Largest share of a frame's N samples that a sparse path may read, in (0, 1]. Not set: 28 per
  /// coefficient, at most N/12 (short frames: 256 and N/4), if the template has energy outside its support;
  /// no limit if it has none. Three times as much where whole rows are transferred (page_locked_frames).
  /// The samples of the witness come in addition.
  std::optional<double> max_samples = std::nullopt;
  Path path = Path::automatic;  ///< force one; throws not_sparse when it cannot work for this template
  bool use_reference = true;    ///< transform the difference to the template's reference, if it has one
  Witness witness = Witness::scattered;  ///< for comb and flat-window plans; the others read every sample
  /// Share of a frame's samples, in (0, 1). A plan misses a disturbance of this share, wherever it is, with a
  /// probability of at most `burst_miss`. Its witness takes the samples that this needs, 688 for 0.01 and
  /// 1e-3, and comparing them costs time. A plan that becomes slower than a dense transform is dense. 0: no
  /// more samples; PlanInfo::shortest_burst says what the plan sees.
  double burst = 0;
  double burst_miss = 1e-3;  ///< in (0, 1): the probability that goes with `burst` and shortest_burst
  PlanEffort effort = PlanEffort::normal;  ///< of the search for comb plans of templates with a known tail
  int threads = 1;  ///< host threads that planning and one execute() call may use, or kAllCores
  Transfer transfer = Transfer::automatic;  ///< GPU plans only
  /// Frames are adjacent in page-locked host memory: a GPU plan of images with a known tail counts bytes on
  /// the bus besides its own time, and reads many samples in few rows rather than scattered ones. Such a plan
  /// also transforms frames elsewhere, but more slowly than a plan made for them. CPU plans do not depend on
  /// it.
  bool page_locked_frames = false;
  /// For float GPU plans with few frames per call (`batch`): compile the kernel for this plan and for
  /// frames of this element type that enqueue() finds in device memory. Planning takes about two seconds
  /// longer; a frame that several multiprocessors share takes about a third less time
  /// (docs/benchmarks.md). Needs NVRTC (CUDA 12 or 13); PlanInfo::engine says whether it was done, or why
  /// not. Frames of other types or in host memory, and plans with one multiprocessor per frame, run the
  /// library's precompiled kernels.
  std::optional<ElementType> compiled_for = std::nullopt;
  std::uint64_t seed = 1;  ///< of the search for delays and permutations: same seed, same plan
  /// Start from the plan that the template keeps for these options, without a search (Plan::keep_in). It is
  /// used only if accuracy, max_samples, path, batch, seed, use_reference, device, page_locked_frames, Real,
  /// burst (with burst_miss) and the library version are those it was made with, and its effort is no less.
  /// Otherwise a new plan is made, and PlanInfo::kept_note says why.
  bool use_kept = true;
};

/// What a plan does and what it promises.
struct PlanInfo {
  /// A candidate that the planner did not take.
  struct Rejected {
    std::string description;  ///< "comb 96x72, 3 delays"
    std::string reason;       ///< "predicted error 0.12 > 0.05"
  };

  /// The path taken.
  Path path = Path::automatic;
  /// Where the plan runs.
  Backend backend = Backend::cpu;
  std::array<std::int64_t, 3> buckets{1, 1, 1};  ///< B_d per dimension (comb); {1,1,B} for flat windows
  std::int64_t bucket_count = 0;                 ///< product of buckets
  std::int64_t delays = 0;   ///< r (comb) or sampled lines (flat window); 0 for direct and dense
  std::int64_t samples = 0;  ///< sample reads per frame, those of the witness included
  /// Samples that only check the result.
  std::int64_t witness_samples = 0;
  /// The number of samples from which on a disturbance raises the reported errors: a stretch in memory order,
  /// several stretches, or single samples, at random places. The probability of a miss is at most
  /// `burst_miss`. A shorter one (a click) may fall between the samples that are read. 1 for plans that read
  /// every sample.
  std::int64_t shortest_burst = 1;
  double burst_miss = 0;        ///< PlanOptions::burst_miss; 0 for plans that read every sample
  double samples_fraction = 0;  ///< samples / N
  bool reference = false;       ///< transforms the difference to a reference frame
  double predicted_us = 0;      ///< by the cost model, on one core
  /// The same for a dense transform.
  double predicted_dense_us = 0;
  /// Predicted relative L2 error (support without f = 0) for frames like the learning frames. With a
  /// reference it is relative to the change since the reference (1: no better than repeating it).
  double predicted_error = 0;
  double noise_gain = 0;  ///< largest ‖row of the recovery matrix‖ times sqrt(r)
  /// Wall time of planning.
  double plan_seconds = 0;
  std::string engine;  ///< what runs: "built-in AVX-512", "NVIDIA H200, fused kernel, a block of 256 threads
                       ///< per frame"
  std::string reason;  ///< why this path
  std::vector<Rejected> rejected;  ///< best first, at most 16; empty for a kept plan
  bool kept = false;               ///< the template supplied the decisions; only tables were built
  /// Why a plan kept in the template was not used, or why the plans of its file could not be read;
  /// otherwise empty.
  std::string kept_note;
};

namespace detail {
/// What a plan says about itself, for either precision. Copies share their data, and a move is a copy.
class AnyPlan {
 public:
  /// Shares the data; never throws.
  AnyPlan(const AnyPlan&) noexcept = default;  // declared, so that a move is a copy
  /// Shares the data; never throws.
  AnyPlan& operator=(const AnyPlan&) noexcept = default;

  /// Scratch for one thread or stream. Throws out_of_memory, device.
  SFFT_EXPORT Workspace make_workspace() const;

  /// A copy of `tmpl` that keeps this plan. A Plan with the same options, made from the copy or from a file
  /// it was saved to, does not search. The template keeps the decisions of the search (path, buckets,
  /// delays), some hundred bytes. Weights and errors are rebuilt from the template, so the plan is identical
  /// to the bit on the same machine, and no number in a file is trusted. A template keeps up to 64 plans, one
  /// per set of options; a new one replaces the old. With Device::automatic() the CPU's plan is kept in
  /// addition to a GPU's. Throws invalid_argument if the plan was not made from `tmpl`; its reference frame
  /// and kept plans may differ.
  SFFT_EXPORT Template keep_in(const Template& tmpl) const;

  /// The template that the plan was made from.
  SFFT_EXPORT const Template& source() const noexcept;
  /// Extents of the frames.
  const Shape& shape() const noexcept { return source().shape(); }
  /// What the samples of frames are.
  Domain domain() const noexcept { return source().domain(); }
  /// The options of the constructor, with `device` as chosen: never automatic.
  SFFT_EXPORT const PlanOptions& options() const noexcept;
  /// What runs, as in PlanInfo.
  const std::string& engine_name() const noexcept { return info().engine; }
  /// Why this path, in one sentence.
  const std::string& reason() const noexcept { return info().reason; }
  /// What the plan does and promises.
  SFFT_EXPORT const PlanInfo& info() const noexcept;
  SFFT_EXPORT std::string explain()
      const;  ///< several lines: path, buckets, delays, samples, cost, error, rejections

  /// @cond
 protected:
  using State = std::shared_ptr<const PlanState>;

  AnyPlan(const Template& tmpl, const PlanOptions& options, bool single)
      : state_(make(tmpl, options, single)) {}
  explicit AnyPlan(State state) noexcept : state_(std::move(state)) {}
  SFFT_EXPORT State state_with_reference(const SignalView& frame,
                                         std::span<const std::complex<double>> coefficients) const;
  SFFT_EXPORT State state_without_reference() const;

  State state_;

 private:
  SFFT_EXPORT static State make(const Template& tmpl, const PlanOptions& options, bool single);
  /// @endcond
};
}  // namespace detail

/// A transform of frames at a template's support: gather a few samples, small FFTs, one small matrix. Real
/// (float or double) is the arithmetic of execution; planning is in double. Immutable and shareable between
/// threads; copies share their data, and a move is a copy, so no plan is ever empty. Sources: Chen and Li
/// (LCPC 2014) for the flat-window path, docs/concepts.md for the comb path.
template <class Real>
class Plan : public detail::AnyPlan {
 public:
  /// Where results go in device memory, for `count` frames of k coefficients in support order.
  struct DeviceSpectra {
    std::complex<Real>* values = nullptr;  ///< count × k
    Real* standard_error = nullptr;        ///< count × k
    Quality* errors = nullptr;             ///< count
  };

  /// Plans transforms at the support of `tmpl`. Throws invalid_argument, not_sparse, backend_unavailable,
  /// out_of_memory, device.
  explicit Plan(const Template& tmpl, const PlanOptions& options = {})
      : AnyPlan(tmpl, options, std::is_same_v<Real, float>) {}

  /// Transforms frames[i] into spectra[i] in host memory; blocks until done. Frames have the template's shape
  /// and any element type (complex only for a complex template). They may be regions of larger arrays: sparse
  /// and direct plans read those in place, dense plans copy them into the workspace, GPU plans gather or copy
  /// them. After the first call with the same workspace and spectra nothing is allocated. Throws
  /// shape_mismatch, type_mismatch, invalid_argument, in_use before anything is written. NaN and infinities
  /// mark only their own frame's spectrum (`quality.finite` is 0).
  SFFT_EXPORT void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                           Workspace& workspace) const;
  /// The same for a single frame.
  void execute(const SignalView& frame, Spectrum<Real>& spectrum, Workspace& workspace) const {
    execute(std::span<const SignalView>(&frame, 1), std::span<Spectrum<Real>>(&spectrum, 1), workspace);
  }
  /// Convenience: allocates workspace and result.
  Spectrum<Real> execute(const SignalView& frame) const {
    Workspace workspace;
    Spectrum<Real> spectrum;
    execute(frame, spectrum, workspace);
    return spectrum;
  }

  /// Transforms frames in device memory, for plans on a GPU. `frames` has the template's shape. Work is
  /// ordered in `stream` (a cudaStream_t; null is the legacy default stream). The call returns at once, never
  /// allocates or synchronises, and can be captured into a graph. One plan serves any number of streams, each
  /// with a workspace from make_workspace(). Throws invalid_argument, type_mismatch, backend_unavailable (a
  /// CPU plan), shape_mismatch and device (the launch failed) before anything runs, and in_use while another
  /// thread uses the workspace. A fault while it runs shows at the stream's next synchronisation.
  SFFT_EXPORT void enqueue(const DeviceView& frames, const DeviceSpectra& spectra, Workspace& workspace,
                           CUstream_st* stream) const;

  SFFT_EXPORT Spectrum<Real> make_spectrum()
      const;  ///< has the right size, so that execute() need not allocate

  /// The same plan with another reference frame; `coefficients` are that frame's exact X at the support. A
  /// plan with a witness checks them: if its samples of the frame contradict them more than they contradict
  /// the plan's result without a reference, the difference is added to the reported errors of all later
  /// frames. It does not notice an error that is small compared with the frame's energy outside the template.
  /// Costs one execution and no planning; a frame that is a region is copied. Throws invalid_argument for
  /// coefficients that are not finite.
  Plan with_reference(const SignalView& frame, std::span<const std::complex<double>> coefficients) const {
    return Plan(state_with_reference(frame, coefficients));
  }
  /// The same plan without a reference: frames are transformed as they are.
  Plan without_reference() const { return Plan(state_without_reference()); }

 private:
  friend struct detail::PlanAccess<Real>;
  explicit Plan(State state) : AnyPlan(std::move(state)) {}
};

}  // namespace sfft
