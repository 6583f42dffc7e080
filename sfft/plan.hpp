// SPDX-License-Identifier: Apache-2.0
// Plans: everything about a known-support transform that does not depend on the frame, computed once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/export.hpp"
#include "kernels/base/types.hpp"
#include "sfft/template.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft {

namespace detail {
template <class Real>
class PlanImpl;
template <class Real>
struct WorkspaceImpl;
template <class Real>
class RunAhead;
}  // namespace detail

/// How samples of frames in host memory reach the GPU. `mapped` and `rows` need page-locked frames
/// (PageLockedMemory, cudaHostAlloc, cudaHostRegister); other frames and regions of larger arrays are
/// gathered.
enum class Transfer : std::uint8_t {
  automatic,  ///< rows or mapped where frames are page-locked, whichever is less work for the bus, else
              ///< gather
  whole,      ///< the whole frame is copied
  gather,     ///< host threads pick the samples that the plan reads, and those are copied
  mapped,     ///< kernels read the samples in place, over the bus
  rows,       ///< the rows of images that hold samples are copied; mapped for plans that do not read by rows
};

/// How a plan notices energy outside its template that its buckets cannot tell from the template's.
enum class Witness : std::uint8_t {
  /// About thirty samples scattered over the frame, which recovery does not use, are compared with what the
  /// coefficients predict there; what the coefficients do not explain raises the reported errors
  /// (docs/accuracy.md).
  scattered,
  none,  ///< no comparison: up to a third faster when k is small, but blind to energy that aliases exactly
};

struct PlanOptions {
  /// automatic: the CPU, or a GPU if there is one that is predicted to transform frames in host memory
  /// faster. enqueue() needs cuda.
  Backend backend = Backend::automatic;
  int device = 0;  ///< GPU of the cuda backend, numbered as by the driver
  /// Several GPUs, which share the frames of each execute() call, so that `batch` counts those of all of
  /// them. Not empty: the backend is cuda, and `device` does not count. The search looks at the first.
  /// enqueue() runs on the first, too. A GPU may be named several times, which is for tests.
  std::vector<int> devices{};
  /// Usual number of frames per execute() or enqueue() call: GPU plans for many frames give each its own part
  /// of the GPU, plans for one spread it over several multiprocessors. Workspaces are sized for this number.
  int batch = 1;
  /// Relative L2 error over the support without f = 0 that is good enough: the planner takes the cheapest
  /// plan predicted to reach it, or dense. 0: as good as max_samples and frames_in allow.
  double accuracy = 0;
  /// Largest share of a frame's N samples that may be read by a sparse path, in (0, 1]. 0: automatic, the
  /// smaller of N/12 and 28 samples per coefficient where the template has energy outside its support, and
  /// no limit where it has none. Three times as much where whole rows are transferred (frames_in).
  double max_samples = 0;
  Path path = Path::automatic;  ///< force one; throws not_sparse when it cannot work for this template
  bool use_reference = true;    ///< transform the difference to the template's reference, if it has one
  Witness witness = Witness::scattered;    ///< for comb and flat-window plans; the others read every sample
  PlanEffort effort = PlanEffort::normal;  ///< of the search for comb plans of templates with a known tail
  int threads = 1;  ///< host threads that planning and one execute() call may use; 0: one per core
  Transfer transfer = Transfer::automatic;  ///< GPU plans only
  /// page_locked: a GPU plan of images with a known tail counts the bytes on the bus beside its own time, and
  /// reads many samples in few rows instead of one here and there. Of frames that are elsewhere such a plan
  /// transforms every one, but more slowly than one that was made for them. CPU plans are the same for both.
  FramesIn frames_in = FramesIn::any;
  /// GPU plans of float for few frames at a time (`batch`): compile the kernel for this plan and for frames
  /// of this element type that enqueue() finds in device memory. Planning then takes about two seconds
  /// longer, and a frame that several multiprocessors share about a third less time (docs/benchmarks.md).
  /// Needs NVRTC (CUDA 12 or 13); PlanInfo::engine says whether it was done, or why not. Frames of other
  /// types and in host memory, and plans that use one multiprocessor for a frame, run the kernels that the
  /// library has.
  std::optional<ElementType> compiled_for = std::nullopt;
  std::uint64_t seed = 1;  ///< of the search for delays and permutations: same seed, same plan
  /// Start from the plan that the template keeps for these options, without a search (Plan::keep_in). It is
  /// used only where accuracy, max_samples, path, batch, seed, use_reference, backend, GPU, frames_in, Real
  /// and the version of the library are those that it was made with, and the effort no less; otherwise the
  /// plan is made anew, and PlanInfo::kept_note says why.
  bool use_kept = true;
};

/// A candidate that the planner did not take.
struct RejectedCandidate {
  std::string description;  ///< "comb 96x72, 3 delays"
  std::string reason;       ///< "predicted error 0.12 > 0.05"
};

/// What a plan does and what it promises.
struct PlanInfo {
  Path path = Path::automatic;
  Backend backend = Backend::cpu;
  std::array<std::int64_t, 3> buckets{1, 1, 1};  ///< B_d per dimension (comb); {1,1,B} for flat windows
  std::int64_t bucket_count = 0;                 ///< product of buckets
  std::int64_t delays = 0;   ///< r (comb) or sampled lines (flat window); 0 for direct and dense
  std::int64_t samples = 0;  ///< sample reads per frame, those of the witness included
  std::int64_t witness_samples = 0;
  double samples_fraction = 0;  ///< samples / N
  bool reference = false;       ///< transforms the difference to a reference frame
  double predicted_us = 0;      ///< by the cost model, on one core
  double predicted_dense_us = 0;
  /// Predicted relative L2 error (support without f = 0) for frames like the learning frames; with a
  /// reference, relative to the change since it (1: no better than repeating the reference).
  double predicted_error = 0;
  double noise_gain = 0;  ///< largest ‖row of the recovery matrix‖ times sqrt(r)
  double plan_seconds = 0;
  std::string engine;  ///< what runs: "built-in AVX-512", "NVIDIA H200, fused kernel, a block of 256 threads
                       ///< per frame"
  std::string reason;  ///< why this path
  std::vector<RejectedCandidate> rejected;  ///< best first, at most 16; none of a kept plan
  bool kept = false;  ///< the decisions were taken from the template; only tables were built
  /// Why a plan that the template keeps was not used, or its file's plans could not be read; empty where it
  /// was used or none is kept.
  std::string kept_note;
};

/// Consecutive frames in device memory (or in page-locked host memory, at its device address).
struct DeviceFrames {
  const void* data = nullptr;
  ElementType type = ElementType::f32;
  std::int64_t count = 1;
  std::int64_t pitch = 0;  ///< elements from one frame's start to the next's; 0: N
};

/// A spectrum's account of its errors, in device memory; fields as in Spectrum.
struct FrameAccount {
  double error_l2 = 0, relative_error = 0, tail_energy = 0, residual = 0;
  std::int64_t finite = 1;
};

/// Where results go in device memory, for `count` frames of k coefficients in support order.
template <class Real>
struct DeviceSpectra {
  std::complex<Real>* values = nullptr;  ///< count × k
  Real* standard_error = nullptr;        ///< count × k
  FrameAccount* accounts = nullptr;      ///< count
};

/// Scratch memory of one thread's executions. Made by Plan::make_workspace(); not shared between threads that
/// run at the same time, nor between streams. Owns the worker threads of plans with threads > 1, and a GPU
/// plan's stream, page-locked ring and device scratch. A call throws in_use when another thread is using its
/// workspace, and invalid_argument when the workspace was moved from. The workspace does not know about work
/// that enqueue() left on a stream.
template <class Real>
class SFFT_EXPORT Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  std::size_t bytes() const noexcept;  ///< 0 when moved from

  detail::WorkspaceImpl<Real>& impl() const;  ///< throws invalid_argument when moved from

 private:
  template <class>
  friend class Plan;
  std::unique_ptr<detail::WorkspaceImpl<Real>> impl_;
};

/// A transform of frames at a template's support: gather a few samples, small FFTs, one small matrix.
/// Real is float or double, the arithmetic of execution; planning is in double. Immutable and shareable
/// between threads; copies share, and moving is copying: there is no empty plan. Sources: Chen and Li (LCPC
/// 2014) for the flat-window path, docs/concepts.md for the comb path.
template <class Real>
class SFFT_EXPORT Plan {
 public:
  explicit Plan(const Template& tmpl, const PlanOptions& options = {});
  Plan(const Plan&) noexcept = default;  // declared, so that nothing is ever moved from
  Plan& operator=(const Plan&) noexcept = default;

  /// Transforms frames[i] into spectra[i]; host memory, blocks until done. Frames have the template's shape,
  /// any element type (complex only for a complex template), and may be regions of larger arrays: sparse and
  /// direct plans read those in place, dense plans copy them into the workspace, GPU plans gather or copy
  /// them. After the first call with a given workspace and spectra nothing is allocated. Throws
  /// shape_mismatch, type_mismatch, invalid_argument, in_use before anything is written; NaN and infinities
  /// in a frame are reported in that frame's spectrum (finite = false) alone.
  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
               Workspace<Real>& workspace) const;
  void execute(const SignalView& frame, Spectrum<Real>& spectrum, Workspace<Real>& workspace) const;
  /// Convenience: allocates workspace and result.
  Spectrum<Real> execute(const SignalView& frame) const;

  /// Transforms frames in device memory; for plans on the cuda backend. Work is ordered in `stream` (a
  /// cudaStream_t; null is the legacy default stream); the call returns at once, never allocates or
  /// synchronises, and can be captured into a graph. One plan serves any number of streams, each with a
  /// workspace from make_workspace(). Throws invalid_argument, type_mismatch, backend_unavailable (a CPU
  /// plan) and device (the launch failed) before anything runs, in_use while another thread is in a call with
  /// the workspace; a fault while it runs shows at the stream's next synchronisation.
  void enqueue(const DeviceFrames& frames, const DeviceSpectra<Real>& spectra, Workspace<Real>& workspace,
               CUstream_st* stream) const;

  Workspace<Real> make_workspace() const;
  Spectrum<Real> make_spectrum() const;  ///< has the right size, so that execute() need not allocate

  /// The same plan with another reference frame; `coefficients` are its exact X at the support. Costs r·B
  /// reads and no planning, and a copy of a frame that is a region.
  Plan with_reference(const SignalView& frame, std::span<const std::complex<double>> coefficients) const;
  Plan without_reference() const;

  /// A copy of `tmpl` that keeps this plan: a Plan made from the copy, or from the file that it is saved to,
  /// with the same options does not search. Kept are the decisions that took a search (path, buckets,
  /// delays), some hundred bytes. Weights and errors are built from the template again, so the plan is the
  /// same to the bit on the same machine, and no number of a file is believed. A template keeps plans for any
  /// number of options and backends, up to 64; one for the same options is replaced. With Backend::automatic
  /// the CPU's plan is kept beside that of a GPU. Throws invalid_argument when `tmpl` is not the template
  /// that the plan was made from, apart from its reference frame and its kept plans.
  Template keep_in(const Template& tmpl) const;

  const Template& source() const noexcept;
  const PlanInfo& info() const noexcept;
  std::string explain() const;  ///< several lines: path, buckets, delays, samples, cost, error, rejections

 private:
  friend class detail::RunAhead<Real>;
  explicit Plan(std::shared_ptr<const detail::PlanImpl<Real>> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const detail::PlanImpl<Real>> impl_;
};

extern template class Plan<float>;
extern template class Plan<double>;
extern template class Workspace<float>;
extern template class Workspace<double>;

}  // namespace sfft
