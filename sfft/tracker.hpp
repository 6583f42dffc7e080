// SPDX-License-Identifier: Apache-2.0
// Tracker: transforms a stream of frames and keeps its template honest.
#pragma once

#include <cstdint>
#include <memory>
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
  /// calibrated; the first few come sooner (2, 5, 10, 18, … frames after a new plan), and so do those after a
  /// surprising comparison or a change in the level of errors. Nothing is compared where errors are
  /// negligible. 0: never, and no reference is taken or given up either.
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
};

template <class Real>
struct TrackedFrame {
  Spectrum<Real> spectrum;  ///< on the template in force after this frame
  TrackAction action = TrackAction::sparse;
  std::string reason;         ///< why, when action is not sparse
  bool differencing = false;  ///< the following frames are transformed as differences to a reference
  double calibration = 1;     ///< factor by which reported errors of sparse frames are multiplied
  std::int64_t index = 0;     ///< frames pushed before this one
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

  /// Transforms the next frame. The result stays valid until the next push. NaN frames are reported; they
  /// neither become a reference nor count as drift. Throws what Plan::execute() throws, and in_use when two
  /// threads push at once.
  const TrackedFrame<Real>& push(const SignalView& frame);

  const Template& current_template() const;
  const Plan<Real>& plan() const;
  std::int64_t refreshed() const noexcept;
  std::int64_t relearned() const noexcept;
  std::int64_t dense_fallbacks() const noexcept;
  std::int64_t calibrated() const noexcept;  ///< frames compared with a dense transform

 private:
  detail::TrackerImpl<Real>& impl() const;
  std::unique_ptr<detail::TrackerImpl<Real>> impl_;
};

extern template class Tracker<float>;
extern template class Tracker<double>;

}  // namespace sfft
