// SPDX-License-Identifier: Apache-2.0
// Tracker: transforms a stream of frames and keeps its template up to date.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "sfft/export.hpp"
#include "sfft/plan.hpp"
#include "sfft/template.hpp"
#include "sfft/types.hpp"

namespace sfft {

namespace detail {
struct TrackerState;
}

/// When a tracker renews its template, and how it checks itself.
struct TrackerOptions {
  /// Options of the plans for sparse frames. `use_reference` is ignored (see `reference`), and so is `effort`
  /// with `refine`. Plans are made for plan.accuracy if it is not 0; frames are judged by `accuracy`.
  PlanOptions plan{};
  /// How to relearn. `reference` and `threads` are ignored. `device` is independent of plan.device: automatic
  /// relearns on the CPU. If `keep` is not set: the share or the number of standard deviations that the
  /// template was learned with, else its own k().
  LearnOptions learn{};
  /// Transform differences to a reference frame where that helps: from the start if the template holds one,
  /// otherwise once frames are seen to repeat and until they stop. False: never. Recordings of a fixed camera
  /// repeat; tones whose phases advance do not.
  bool reference = true;
  /// Largest acceptable reported relative error; a frame above it is transformed again densely. If a plan
  /// made for it misses it narrowly, a plan for smaller errors replaces it. 0: one half, beyond which a
  /// spectrum is useless.
  double accuracy = 0;
  /// Frames between comparisons with a dense transform, from which reported errors are calibrated.
  /// The first few come sooner (2, 5, 10, 18, … frames after a new plan), as do those after a
  /// surprising comparison, a change in the level of errors or another kind of change between frames.
  /// A reported error above 0.25 is compared at once if nothing like it was before. Negligible errors are not
  /// compared. 0: only frames with an unacceptable error, which alone may then change the reference.
  int calibrate = 256;
  /// A frame is stale when its reported error is above `drift` times the median of the first frames after
  /// the last refresh, for `patience` frames in a row.
  double drift = 3;
  /// See drift.
  int patience = 3;
  /// A refresh relearns the support if it holds less than this share of the energy that the same number of
  /// freshly chosen frequencies would hold.
  double relearn_below = 0.95;
  /// Frames after a refresh before the next one is considered (hysteresis). Doubles while refreshes do not
  /// help, so a signal that is not sparse settles on dense transforms.
  int hold = 8;
  /// Start with a quick plan (PlanEffort::quick), search for a thorough one on another thread, and switch
  /// between two pushes once it is found and better; the same after relearning. Which frame first uses the
  /// better plan then depends on the machine's load. plan.effort is ignored.
  bool refine = false;
  /// Relearn on another thread and continue with the old template while it is good enough. The tracker still
  /// learns at once if a frame's error is too large for any use, if the support holds a tenth less of its
  /// energy than it used to, or while frames are dense because sparse ones missed the accuracy. A better
  /// template takes over 32 frames after the frame it was learned from; `relearned` marks that frame.
  bool background_learning = false;
  /// Compute the similarity of every frame, not only of renewals. Each frame is then also transformed
  /// densely, which takes longer than everything else (TrackedFrame::Similarity::us).
  bool similarity = false;
  /// Whether the true error of a frame, counted from 0, is wanted (TrackedFrame::check). Such a frame is
  /// compared with a dense transform, which calibrates reported errors like any other comparison, but its
  /// result and report are those from before the comparison. Empty: no frame.
  std::function<bool(std::int64_t)> check{};
};

/// What the tracker did with a frame, and what it found about it. Tracker::Frame adds the spectrum.
struct TrackedFrame {
  /// What push() did with a frame.
  enum class Action : std::uint8_t {
    sparse,     ///< transformed by the plan; all is well
    refreshed,  ///< transformed densely; becomes the new reference, the support stays
    relearned,  ///< transformed densely; a new template was learned from it
    dense,      ///< transformed densely; the template stays (not sparse, or not worth replacing)
    /// Transformed both ways, to compare the reported error with the true one; the result is the exact one.
    calibrated,
  };
  /// How similar a frame's spectrum is to the template in force before it. Chen and Li (LCPC 2014) learn from
  /// one frame because the spectra of a recording are similar, but give no measure; these three are this
  /// library's. S is the old support, k its size, and L the k largest coefficients of the new frame (as
  /// learn() chooses them). X_new is the new frame's exact spectrum. X_old is that of the frame that last
  /// renewed the template or its reference, at S, and 0 elsewhere:
  ///
  ///     overlap     = |S ∩ L| / k
  ///     correlation = |Σ X_old[f] conj(X_new[f])| / sqrt(Σ |X_old[f]|² · Σ |X_new[f]|²), f in S ∪ L, f ≠ 0
  ///     energy      = Σ_{f in S, f ≠ 0} |X_new[f]|² / Σ_{f ≠ 0} |X_new[f]|²
  ///
  /// Sums over a real signal's spectrum take both of each conjugate pair; S ∩ L counts a pair once. All three
  /// lie in [0, 1]. A moving scene keeps its overlap and energy and loses its correlation. NaN where
  /// undefined: the correlation of a template without values, and correlation and energy of a constant frame.
  struct Similarity {
    /// Share of the old support among the new largest coefficients.
    double overlap = std::numeric_limits<double>::quiet_NaN();
    /// Normalised correlation of the two spectra.
    double correlation = std::numeric_limits<double>::quiet_NaN();
    /// Share of the new energy at the old support.
    double energy = std::numeric_limits<double>::quiet_NaN();
    double us = 0;  ///< microseconds spent on this beyond what the frame needed anyway
  };
  /// How far a frame's spectrum is from a dense transform's, over the support without f = 0.
  struct ErrorCheck {
    double error_l2 = 0;  ///< ‖X̂ − X‖₂; 0 if the result itself came from a dense transform
    double norm_l2 = 0;   ///< ‖X‖₂
    double us = 0;        ///< microseconds spent on this beyond what the frame needed anyway
  };

  /// What the tracker did with the frame.
  Action action = Action::sparse;
  std::string reason;         ///< why, when action is not sparse
  bool differencing = false;  ///< the next frames are transformed as differences to a reference
  double calibration = 1;     ///< factor by which reported errors of sparse frames are multiplied
  std::int64_t index = 0;     ///< frames pushed before this one
  /// Microseconds that the frame took: its share of the transforms it went through with others, those before
  /// the push included, and all that it alone caused.
  double us = 0;
  /// Similarity to the template before this frame, for frames that are refreshed or relearned, or for all if
  /// TrackerOptions::similarity is set. None for a frame with NaN or infinities, nor for a renewal in the
  /// background if the GPU failed to compute it.
  std::optional<Similarity> similarity;
  /// For frames that TrackerOptions::check asks for; none for a frame with NaN or infinities.
  std::optional<ErrorCheck> check;
};
SFFT_EXPORT const char* to_string(TrackedFrame::Action action) noexcept;

namespace detail {
/// What a tracker says about itself, for either precision.
class AnyTracker {
 public:
  /// Leaves the other one moved from.
  AnyTracker(AnyTracker&&) noexcept = default;
  /// Leaves the other one moved from.
  AnyTracker& operator=(AnyTracker&&) noexcept = default;

  /// The template in force.
  SFFT_EXPORT const Template& current_template() const;
  /// Frames whose action is `refreshed`, and first references.
  std::int64_t refreshed() const noexcept { return counts().refreshed; }
  /// Templates learned since the start.
  std::int64_t relearned() const noexcept { return counts().relearned; }
  /// Frames transformed densely, renewals included and mere comparisons not.
  std::int64_t dense_fallbacks() const noexcept { return counts().dense; }
  std::int64_t calibrated() const noexcept {
    return counts().calibrated;
  }  ///< frames compared with a dense transform
  std::int64_t refined() const noexcept { return counts().refined; }  ///< better plans that took over
  /// The outcome of the latest search for a better plan, in words; empty without TrackerOptions::refine.
  SFFT_EXPORT const std::string& refinement() const;

  /// @cond
 protected:
  struct Counts {
    std::int64_t refreshed = 0, relearned = 0, dense = 0, calibrated = 0, refined = 0;
  };
  friend struct TrackerState;

  AnyTracker(const Template& tmpl, const TrackerOptions& options, bool single)
      : state_(make(tmpl, options, single)) {}
  SFFT_EXPORT Counts counts() const noexcept;

  std::shared_ptr<TrackerState> state_;  ///< not shared: its type is incomplete here

 private:
  SFFT_EXPORT static std::shared_ptr<TrackerState> make(const Template& tmpl, const TrackerOptions& options,
                                                        bool single);
  /// @endcond
};
}  // namespace detail

/// Takes frames in order. Not thread-safe: use one tracker per stream. Blocks; may allocate when it relearns.
/// In a moved-from tracker the counters are 0 and every other function throws invalid_argument.
template <class Real>
class Tracker : public detail::AnyTracker {
 public:
  /// The result of one frame.
  struct Frame : TrackedFrame {
    Spectrum<Real> spectrum;  ///< on the template in force after this frame
  };

  /// Starts with a template. Throws as the constructor of Plan.
  explicit Tracker(const Template& tmpl, const TrackerOptions& options = {})
      : AnyTracker(tmpl, options, std::is_same_v<Real, float>) {}

  /// Does, for frames like this one, work that the first push would otherwise do: on a
  /// GPU, allocates memory, loads kernels, and makes the dense plan for comparisons.
  /// Decides nothing and does not count the frame. May run on another thread until the
  /// first push. Throws as push() does.
  SFFT_EXPORT void prepare(const SignalView& like);

  /// Transforms the next frame. The result stays valid until the next push. Frames with NaN are reported;
  /// they neither become a reference nor count as drift. Throws as Plan::execute() does, and in_use if two
  /// threads push at once.
  SFFT_EXPORT const Frame& push(const SignalView& frame);

  /// Transforms the next frames and decides about each as if it had been pushed alone, after those before it.
  /// Frames not known to need a dense transform go through the plan together, which shares the cost of a
  /// GPU's launches, copies and waits, and keeps the threads of a CPU plan busy. Where a decision changes the
  /// plan, the frames after it are transformed again. On the CPU, results have the same bits as those of
  /// single pushes (exceptions: docs/promises.md). They stay valid until the next push of several frames.
  /// Throws as the push of a single frame does: frames before the failing one are done, with their results in
  /// results(); it and those after it are not counted.
  ///
  /// `coming`: the frames that the next push will begin with, as far as they are available;
  /// `frames` may be empty. A GPU copies and transforms some of them while the caller does
  /// something else, so copies and the rest overlap. They are decided about in their turn, and the
  /// results do not change. Their samples must not change until the next push of any frames, or the
  /// tracker's destructor, has returned.
  SFFT_EXPORT std::span<const Frame> push(std::span<const SignalView> frames,
                                          std::span<const SignalView> coming = {});
  /// Results of the latest push of several frames: one per frame, unless it threw.
  SFFT_EXPORT std::span<const Frame> results() const;

  /// The plan in force.
  SFFT_EXPORT const Plan<Real>& plan() const;
};

}  // namespace sfft
