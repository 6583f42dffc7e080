// SPDX-License-Identifier: Apache-2.0
// Measures how much each frame differs from the usual scene.
#pragma once

#include <complex>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sfft/dense.hpp"
#include "sfft/plan.hpp"
#include "video/events/thresholds.hpp"
#include "video/sources/aligned_bytes.hpp"
#include "video/sources/source.hpp"
#include "video/triage/background.hpp"
#include "video/triage/byte_archive.hpp"
#include "video/triage/straight_path.hpp"
#include "video/triage/tile_search.hpp"

namespace sfft::video {

/// Reads frames of one size with a sparse plan for a block of the lowest frequencies. The planner learns from
/// the first frame what aliases. Use an object from one thread at a time.
class SmallView {
 public:
  /// `k`: approximate number of coefficients; `max_samples`: max. share of the pixels to read (0: automatic).
  /// Throws Error(invalid_argument) for pictures below 32 by 32 pixels, and Error(type_mismatch) if samples
  /// do not have 8 or 16 bits.
  SmallView(const SignalView& first_frame, int k, double max_samples);

  /// Size of the small picture in points, which are evenly spaced over the frame.
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  std::size_t points() const noexcept {
    return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  }
  /// Converts a coordinate of the small picture to pixels of the frame.
  double frame_x(double x) const noexcept;
  double frame_y(double y) const noexcept;

  /// Draws a frame: grey levels on a scale of 255, row-major. Throws Error(shape_mismatch) for a frame that
  /// differs from the first in size or type.
  void read(const SignalView& frame, std::vector<float>& picture);

 private:
  Shape shape_;
  ElementType type_;
  Region region_;
  double scale_ = 1;
  int width_ = 0, height_ = 0;
  std::optional<Plan<float>> plan_;
  std::optional<dense::Plan<float>> drawing_;
  Workspace workspace_;
  Spectrum<float> spectrum_;
  /// Where a coefficient goes in the small picture's half spectrum, and with which factor.
  struct Place {
    std::size_t at;
    std::ptrdiff_t mirrored;  ///< index of its conjugate; -1: not stored
    bool conjugate;
    float factor;
  };
  std::vector<Place> places_;
  std::vector<std::complex<float>> half_;
  AlignedBytes drawing_workspace_;
};

struct ChangeOptions {
  int k = 1000;            ///< approximate number of coefficients per frame
  double max_samples = 0;  ///< max. share of the pixels to read; 0: automatic
  double window_s = 60;    ///< what is visible for half of this time is the usual scene
  double settle_s = 3;     ///< what stays for about half of this time is no longer a change
  Thresholds thresholds{};
};

/// The change of one frame.
struct Change {
  std::int64_t frame = 0;
  double seconds = 0;
  /// Root mean square deviation of the tile that differs most, in units of its usual spread.
  double score = 0;
  double x = 0, y = 0;  ///< the middle of that tile, in pixels of the frame
  /// A lower score that holds for all of the last StraightPath::kSeconds, if that tile moved in a straight
  /// line; otherwise 0.
  double moving = 0;

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(frame, seconds, score, x, y, moving);
  }
};

/// Takes frames of one size in order. A background needs frames before and after, so the meter keeps half a
/// window of small pictures, and changes come with that delay (the first ones after a whole window). Memory
/// is bounded.
class ChangeMeter {
 public:
  /// `fps`: rate of the frames that will be pushed, per second; 0: unknown, 25 is assumed.
  ChangeMeter(const ChangeOptions& options, double fps);
  ~ChangeMeter();

  /// Takes the next frame, displayed at `seconds`. Appends the changes that are known now.
  void push(const SignalView& frame, double seconds, std::vector<Change>& out);
  /// Appends the changes of the remaining frames.
  void finish(std::vector<Change>& out);

  /// The first frame whose change is not known yet, where resume() can go on later; none until the first
  /// window is complete.
  std::optional<Change> next_unknown() const;
  /// Writes the state that resume() needs to go on with that frame.
  void save(ByteWriter& bytes);
  /// Goes on where a meter with the same options was saved. `first` is the frame with which that meter began.
  /// The next frame to push is number `next`. The changes are the same to the bit. Throws Error(file_corrupt)
  /// for damaged state and for pictures of another size.
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
  /// Returns the number of pictures before the next one.
  std::size_t look_around();
  void widen_spread();
  void measure(std::vector<Change>& out);

  ChangeOptions options_;
  struct Lengths {
    std::int64_t window = 0, recent = 0, around = 0;  ///< in frames
    double interval_s = 0;
    float smoothing = 0;  ///< share of a new picture in the average
  };
  Lengths lengths_;
  std::optional<SmallView> view_;
  std::optional<Background> background_;
  std::deque<Pending> pending_, past_;
  std::vector<std::vector<float>> spare_;
  std::int64_t frames_ = 0;
  std::int64_t averaged_ = 0;   ///< frames that are in average_ and in the background
  std::vector<float> average_;  ///< of the last few frames, each in its original light
  Light light_;
  std::optional<TileSearch> search_;
  std::optional<Moments> moments_;
  std::optional<SwitchedLight> switched_;
  std::optional<BriefLight> brief_;
  std::optional<StraightPath> path_;
  std::vector<float> smooth_, deviation_, recent_deviation_, spread_;
};

}  // namespace sfft::video
