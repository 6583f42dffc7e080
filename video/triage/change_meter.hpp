// SPDX-License-Identifier: Apache-2.0
// How much each frame differs from what the scene usually looks like.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "video/events/thresholds.hpp"
#include "video/triage/background.hpp"
#include "video/triage/byte_archive.hpp"
#include "video/triage/small_view.hpp"
#include "video/triage/tile_search.hpp"

namespace sfft::video {

struct ChangeOptions {
  int k = 1000;            ///< about this many coefficients per frame
  double max_samples = 0;  ///< share of the pixels that may be read; 0: automatic
  double window_s = 60;    ///< the scene is what is seen for half of this time
  double settle_s = 3;     ///< what stays for about half of this time is no change any more
  Thresholds thresholds{};
};

/// The change of one frame.
struct Change {
  std::int64_t frame = 0;
  double seconds = 0;
  /// Root mean square deviation of the tile that differs most, in units of its usual spread.
  double score = 0;
  double x = 0, y = 0;  ///< the middle of that tile, in pixels of the frame

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(frame, seconds, score, x, y);
  }
};

/// Frames of one size in order. Half a window of small pictures is held, because a background comes from
/// frames before and after: changes come with that delay. Memory is bounded.
class ChangeMeter {
 public:
  /// `fps`: frames per second that will be pushed; 0: unknown.
  ChangeMeter(const ChangeOptions& options, double fps);
  ~ChangeMeter();

  /// Takes the next frame, shown at `seconds`. Appends the changes that are known now.
  void push(const SignalView& frame, double seconds, std::vector<Change>& out);
  /// Returns the changes of the remaining frames.
  void finish(std::vector<Change>& out);

  /// The first frame whose change is not known yet, for whoever wants to go on with it later; none before
  /// changes come one by one.
  std::optional<Change> next_unknown() const;
  /// State needed to go on with that frame.
  void save(ByteWriter& bytes);
  /// Goes on where another meter with the same options was saved. `first` is the frame that it began with.
  /// The next frame to push is `next`, and the changes are the same to the bit. Throws Error(file_corrupt).
  void resume(const SignalView& first, std::int64_t next, ByteReader& bytes);

  const SmallView* view() const noexcept { return view_ ? &*view_ : nullptr; }

 private:
  struct Pending {
    std::int64_t frame = 0;
    double seconds = 0;
    std::vector<float> picture{};

    template <class Archive>
    void archive(Archive& bytes) {
      bytes(frame, seconds, picture);
    }
  };
  void begin(const SignalView& first);
  void take_in(const std::vector<float>& picture);
  void look_around();
  void measure(std::vector<Change>& out);

  ChangeOptions options_;
  std::int64_t window_, recent_, around_;
  double interval_s_;
  float smoothing_;
  std::optional<SmallView> view_;
  std::optional<Background> background_;
  std::deque<Pending> pending_, past_;
  std::vector<std::vector<float>> spare_;
  std::int64_t frames_ = 0;
  std::int64_t averaged_ = 0;   ///< frames that average_ and the background have taken in
  std::vector<float> average_;  ///< of the last few frames, as they are
  Light light_;
  std::optional<TileSearch> search_;
  std::optional<Moments> moments_;
  std::optional<SwitchedLight> switched_;
  std::optional<BriefLight> brief_;
  std::vector<float> smooth_, deviation_, recent_deviation_, spread_;
};

}  // namespace sfft::video
