// SPDX-License-Identifier: Apache-2.0
// Tracker: transforms a stream of frames and keeps its template honest.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernels/base/export.hpp"
#include "kernels/base/types.hpp"
#include "sfft/plan.hpp"
#include "sfft/template.hpp"

namespace sfft {

namespace detail {
template <class Real>
class TrackerImpl;
}

/// What push() did with a frame.
enum class TrackAction : std::uint8_t {
  sparse,     ///< transformed by the plan; all is well
  refreshed,  ///< transformed densely; becomes the new reference, the support stays
  relearned,  ///< transformed densely; a new template was learned from it
  dense,      ///< transformed densely; the template stays (not sparse, or not worth replacing)
  /// Transformed both ways, to compare the reported error with the true one; the result is the exact one.
  calibrated,
};
SFFT_EXPORT const char* to_string(TrackAction action) noexcept;

/// How much a frame's spectrum is like the template that was in force before it. Chen and Li (LCPC 2014)
/// learn from one frame because the spectra of a recording are similar; they give no measure of that, so
/// these three are this library's. With S the old support, k its size, L the k largest coefficients of the
/// new frame (as learn() chooses them for a given k), X_new the exact spectrum of the new frame, and X_old
/// that of the frame which the template or its reference was last renewed from, at S, and 0 elsewhere:
///
///     overlap     = |S ∩ L| / k
///     correlation = |Σ X_old[f] conj(X_new[f])| / sqrt(Σ |X_old[f]|² · Σ |X_new[f]|²), f in S ∪ L, f ≠ 0
///     energy      = Σ_{f in S, f ≠ 0} |X_new[f]|² / Σ_{f ≠ 0} |X_new[f]|²
///
/// Sums over a real signal's spectrum take both of each conjugate pair, and S ∩ L counts the pair once. All
/// three lie in [0, 1]. A scene that moves keeps its overlap and its energy, and loses its correlation. NaN
/// where undefined: the correlation of a template without values, and both shares of a constant frame.
struct Similarity {
  double overlap = std::numeric_limits<double>::quiet_NaN();
  double correlation = std::numeric_limits<double>::quiet_NaN();
  double energy = std::numeric_limits<double>::quiet_NaN();
  double us = 0;  ///< microseconds spent on this beyond what the frame needed anyway
};

/// How far a frame's spectrum is from that of a dense transform, over the support without f = 0.
struct ErrorCheck {
  double error_l2 = 0;  ///< ‖X̂ − X‖₂; 0 where the result itself is that of a dense transform
  double norm_l2 = 0;   ///< ‖X‖₂
  double us = 0;        ///< microseconds spent on this beyond what the frame needed anyway
};

struct TrackerOptions {
  PlanOptions plan{};
  LearnOptions learn{};  ///< for relearning; all zero: the template's own k
  /// Transform differences to a reference frame where that helps: from the start when the template holds one,
  /// otherwise from when frames are seen to repeat until they no longer do. False: never. Recordings of a
  /// fixed camera repeat; tones whose phases advance do not.
  bool reference = true;
  /// Largest reported relative error that is accepted; a frame above it is transformed again densely. 0: one
  /// half, beyond which a spectrum is of no use.
  double accuracy = 0;
  /// Frames between comparisons with a dense transform in the long run, from which reported errors are
  /// calibrated. The first few come sooner (2, 5, 10, 18, … frames after a new plan), and so do those after a
  /// surprising comparison or a change in the level of errors; at once where more than 0.25 is reported and
  /// nothing like it was compared. Nothing is compared where errors are negligible. 0: never, and no
  /// reference is taken or given up either.
  int calibrate = 256;
  /// A frame is stale when its reported error is above `drift` times the median of the first frames after
  /// the last refresh, for `patience` frames in a row.
  double drift = 3;
  int patience = 3;
  /// After a refresh the support is relearned when it holds less than this share of the energy that the
  /// same number of freshly chosen frequencies would hold.
  double relearn_below = 0.95;
  /// Frames after a refresh before the next one is considered (hysteresis); doubles while refreshes do not
  /// help, so a signal that is not sparse settles on dense transforms.
  int hold = 8;
  /// Start with a quick plan (PlanEffort::quick), search for a thorough one on one more thread, and change to
  /// it between two pushes once it is found and better; the same after relearning. Which frame is the first
  /// of the better plan then depends on the machine's load. plan.effort is ignored.
  bool refine = false;
  /// Learn again on one more thread, and go on by the old template meanwhile where that is good enough: a
  /// frame whose error was too large for any use is still learned from at once. A template that is better
  /// takes over 64 frames after the one that it was learned from, whatever the machine's load, and that frame
  /// is then the one that was relearned.
  bool learn_beside = false;
  /// Work out the similarity of every frame, not of renewals alone. Each frame is then also transformed
  /// densely, which takes longer than all the rest (Similarity::us).
  bool similarity = false;
  /// Says of a frame, counted from 0, whether its true error is wanted (TrackedFrame::check). Such a frame is
  /// compared with a dense transform, from which reported errors are calibrated as from any other comparison,
  /// and is answered as if it had not been. Its report is made before the comparison. Empty: of none.
  std::function<bool(std::int64_t)> check{};
};

template <class Real>
struct TrackedFrame {
  Spectrum<Real> spectrum;  ///< on the template in force after this frame
  TrackAction action = TrackAction::sparse;
  std::string reason;         ///< why, when action is not sparse
  bool differencing = false;  ///< the following frames are transformed as differences to a reference
  double calibration = 1;     ///< factor by which reported errors of sparse frames are multiplied
  std::int64_t index = 0;     ///< frames pushed before this one
  /// Microseconds that the frame took: its share of the transforms that it went through with others, and all
  /// that it alone gave rise to. Those of a push add up to the time of the push.
  double us = 0;
  /// To the template before this frame: of frames that are refreshed or relearned, and of all when
  /// TrackerOptions::similarity is set; none for a frame that holds NaN or infinities, nor for a renewal
  /// beside whose frame the GPU failed to find it out.
  std::optional<Similarity> similarity;
  /// Of frames that TrackerOptions::check asks for; none for a frame that holds NaN or infinities.
  std::optional<ErrorCheck> check;
};

/// Takes frames in order. Not thread-safe: use one tracker per stream. Blocks; may allocate when it relearns.
/// After a move from it a tracker's counters are 0 and every other function throws invalid_argument.
template <class Real>
class SFFT_EXPORT Tracker {
 public:
  explicit Tracker(const Template& tmpl, const TrackerOptions& options = {});
  ~Tracker();
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;

  /// Does for frames like this one what the first ones would otherwise wait for: on a GPU, allocates memory,
  /// loads kernels, and makes the dense plan of comparisons. Decides nothing, and the frame is not counted.
  /// May run on another thread while the first frames are awaited, until the first push. Throws what push()
  /// throws.
  void prepare(const SignalView& like);

  /// Transforms the next frame. The result stays valid until the next push. NaN frames are reported; they
  /// neither become a reference nor count as drift. Throws what Plan::execute() throws, and in_use when two
  /// threads push at once.
  const TrackedFrame<Real>& push(const SignalView& frame);

  /// Transforms the next frames: decides about each as if it had been pushed by itself, after those before
  /// it. Frames that are not known to need a dense transform go through the plan together, which shares the
  /// cost of a GPU's launches, copies and waits, and keeps the threads of a CPU plan busy. Where a decision
  /// changes the plan, the frames after it are transformed anew. Plans on one thread give the same bits as
  /// single pushes, others the same up to rounding. The results stay valid until the next push of several
  /// frames. Throws what the push of a single frame throws: the frames before the one that failed are done
  /// then and their results are in results(), that frame and those after it are not counted.
  ///
  /// `coming`: the frames that the next push will begin with, as far as they are there already; there may be
  /// none in `frames`. A GPU copies and transforms some of them while the caller does something else, so that
  /// a stream takes the time of the copies or of the rest, not of both. They are decided about in their turn
  /// and the results are those of a push without this. Their samples may not change until the next push of
  /// whatever frames, or the tracker's end, has returned.
  std::span<const TrackedFrame<Real>> push(std::span<const SignalView> frames,
                                           std::span<const SignalView> coming = {});
  /// What the latest push of several frames has done: one result for each frame, unless it threw.
  std::span<const TrackedFrame<Real>> results() const;

  const Template& current_template() const;
  const Plan<Real>& plan() const;
  std::int64_t refreshed() const noexcept;
  std::int64_t relearned() const noexcept;
  std::int64_t dense_fallbacks() const noexcept;
  std::int64_t calibrated() const noexcept;  ///< frames compared with a dense transform
  std::int64_t refined() const noexcept;     ///< better plans that took over
  /// What became of the latest search for a better plan, in words; empty without TrackerOptions::refine.
  const std::string& refinement() const;

 private:
  detail::TrackerImpl<Real>& impl() const;
  std::unique_ptr<detail::TrackerImpl<Real>> impl_;
};

extern template class Tracker<float>;
extern template class Tracker<double>;

}  // namespace sfft
