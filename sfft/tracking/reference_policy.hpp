// SPDX-License-Identifier: Apache-2.0
// Decides when frames are worth transforming as differences to a reference.
#pragma once

#include <cstdint>

#include "sfft/tracking/stream_memory.hpp"

namespace sfft::detail {

/// Follows the changes between frames that were transformed densely. `tail`: energy of such a frame outside
/// the support. `error`: relative error of its sparse transform. `frame`: its number.
class ReferencePolicy {
 public:
  /// A smaller relative error leaves nothing to gain.
  static constexpr double kExact = 1e-5;
  /// Frames from one decision about the reference to the next, given the last such interval.
  static int next_step(int step) noexcept;

  /// Whether frames are still compared to find out if they repeat.
  bool testing_repetition() const noexcept { return tests_ < 2; }
  /// Whether a comparison may change the reference again.
  bool may_decide(std::int64_t frame) const noexcept { return frame >= next_decision_; }
  /// First frame whose comparison may change the reference, and the interval after it.
  std::int64_t next_decision() const noexcept { return next_decision_; }
  int decision_step() const noexcept { return decision_step_; }
  /// Call after a decision: each doubles the wait for the next, up to 256 frames.
  void decided(std::int64_t frame) noexcept;

  /// Counts a comparison of a frame that has no reference. True: the frame may become the reference, if it
  /// repeats.
  bool may_take(std::int64_t frame, double error) noexcept;
  /// Whether so little changed between two frames, outside the support and in it, that differences are
  /// worthwhile.
  static bool repeats(const StreamMemory::Change& change, double tail) noexcept;

  /// Call for a frame with a reference. True: the frame is unlike the reference.
  bool departs(const StreamMemory::Change& change, double tail) noexcept;
  /// Whether the last decision found a frame unlike the reference.
  bool departing() const noexcept { return departures_ > 0; }
  /// Whether three decisions in a row did, so that the reference is of no use. One departure may be a cut,
  /// after which frames repeat again. Two may be an object that passed and became the reference.
  bool departed() const noexcept { return departures_ >= kDepartures; }
  /// Whether an error is large enough to be caused by the differences themselves.
  static bool large(double error) noexcept;
  /// Call for a frame with a reference. True: on three recent frames, differences caused errors that
  /// transforms without a reference would not have. Another reference is then not taken for a while.
  bool differences_fail(const StreamMemory::Change& change, double tail, double error,
                        std::int64_t frame) noexcept;
  /// Call when the reference is given up.
  void given_up() noexcept { departures_ = failures_ = 0; }
  /// Call when a new template, and with it perhaps a new reference, is in force.
  void learned() noexcept { departures_ = 0; }

 private:
  static constexpr int kDepartures = 3;

  int tests_ = 0;                    ///< frames compared to find out whether frames repeat
  int departures_ = 0;               ///< decisions in a row that found a frame unlike its reference
  int failures_ = 0;                 ///< frames in close succession for which differences failed
  std::int64_t failed_at_ = 0;       ///< the last of these frames
  std::int64_t next_reference_ = 0;  ///< first frame that may become another reference
  std::int64_t next_decision_ = 0;
  int decision_step_ = 1;
};

}  // namespace sfft::detail
