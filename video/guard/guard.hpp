// SPDX-License-Identifier: Apache-2.0
// The guard of one camera: takes its frames and reports what has happened to it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "video/events/event.hpp"
#include "video/events/hysteresis.hpp"
#include "video/events/pace.hpp"
#include "video/events/thresholds.hpp"
#include "video/guard/judge.hpp"
#include "video/guard/move_check.hpp"
#include "video/guard/observer.hpp"
#include "video/guard/padding.hpp"
#include "video/guard/replay.hpp"

namespace sfft::video {

struct GuardOptions {
  int k = 1000;            ///< about this many coefficients per frame
  double max_samples = 0;  ///< share of the pixels that may be read; 0: automatic
  int learn_frames = 8;
  double sensitivity = 1;  ///< 2: half the thresholds, 0.5: twice
  double settle_s = 120;   ///< a moved picture becomes the scene after this many seconds
  std::string source{};    ///< name of the source in events
  int presets = 0;         ///< views to learn of a camera on patrol; moves between them are not events
  Thresholds thresholds{};
};

/// Result for the latest frame.
struct GuardFrame {
  std::optional<Observation> seen;  ///< none while the guard learns, and for frames that it skips
  Findings findings{};
  std::vector<std::pair<EventPhase, Event>> events;  ///< events that began or ended with this frame
};

/// Takes frames of one size in order, and judges about kMaxJudgedRate of them per second. Frames have 8 or 16
/// bits; others throw Error(type_mismatch), and a change of size or depth throws Error(shape_mismatch).
/// Memory is bounded. Use one guard per stream, from one thread at a time; copies continue independently.
class Guard {
 public:
  explicit Guard(const GuardOptions& options);
  Guard(const Guard& other);
  Guard(Guard&&) noexcept = default;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  /// Takes the next frame, shown `seconds` after the first one. The result is valid until the next call.
  /// `made_up`: the decoder has concealed damage in parts of the frame. The guard follows the scene through
  /// such frames, but for a while they cause no events.
  const GuardFrame& push(const SignalView& frame, double seconds, bool made_up = false);
  /// Call this if frames are missing before the next one. A camera that comes back may show what it showed
  /// before, and that is not a replay.
  void gap() {
    if (replay_) replay_.emplace(full_);
  }
  /// Call this if the next frame shows another scene, perhaps of another size. Open events end, except
  /// `offline`, which ends with the next frame; the guard learns again.
  const GuardFrame& restart(double seconds);
  /// Call this if no frames have come since `silent_since`. Begins the event `offline`, with `why` as its
  /// detail; it ends with the next frame.
  const GuardFrame& offline(double silent_since, const std::string& why = {});
  /// Events that have not ended. When the stream ends, they stay open.
  const std::vector<Event>& open_events() const noexcept { return open_; }

  bool learned() const noexcept { return observer_ != nullptr; }
  std::int64_t frames() const noexcept { return frames_; }
  const Learned* scene() const noexcept { return observer_ ? &observer_->learned() : nullptr; }

 private:
  /// An event continues down to this part of the threshold at which it began.
  static constexpr double kRelease = 0.7;

  SignalView region_of(const SignalView& frame) const;
  /// A frame that was judged.
  struct Moment {
    std::int64_t frame = 0;
    double seconds = 0;
  };

  /// A view that the camera returns to.
  struct Preset {
    std::unique_ptr<Observer> observer;
    Judge judge;
    MoveCheck check;
  };

  void start(const SignalView& frame);
  /// Whether the camera is moving between presets, so that no events begin.
  bool patrols(const SignalView& region);
  bool return_to_preset(const SignalView& region);
  void keep_preset();
  void arrive();
  void learn(const SignalView& region);
  void watch(const SignalView& region, bool doubtful);
  void set_pace();
  void update_events();
  /// Whether the picture is out of focus because the light was switched.
  bool other_light(double strength);
  /// Whether something hides the scene only because the light was switched, as a spider's web in infrared
  /// light.
  bool lit_cover(double strength);
  /// Whether a net has come before the scene, such as a spider's web.
  bool net_cover(double strength);
  /// Accepts the present picture as the scene: events of the picture end, and the guard learns from the next
  /// frames.
  void begin_again();
  /// The frame in which a condition began that has lasted for this number of judged frames, including the
  /// latest.
  const Moment& since(std::int64_t judged_frames) const;
  int frames(double seconds, int min = 1) const { return frames_in(seconds, pace_.interval(), min); }
  void begin(EventKind kind, std::int64_t frame, double seconds);
  void finish(EventKind kind, std::int64_t frame, double seconds);
  /// Rejects a move that most of the picture has not made.
  void check_move(const SignalView& region);
  void adapt(const SignalView& region);
  void follow();
  /// Seconds without a frame before the latest one; 0 if that is the usual interval.
  double missed_seconds() const;
  bool hidden() const;
  /// Does not count a drift of the scene as a move if it happened while the scene was not seen.
  void follow_missed();
  GuardOptions options_;
  std::optional<Shape> shape_;
  ElementType type_ = ElementType::u8;
  double full_ = 255;
  Region region_;
  std::int64_t frames_ = 0, ids_ = 0;
  std::optional<Learning> learning_;
  std::unique_ptr<Observer> observer_;
  std::optional<Judge> judge_;
  std::array<Hysteresis, kEventKinds> conditions_;
  std::vector<Event> open_;
  Pace pace_;
  SparsePicture pixels_{};  ///< of the latest frame
  Padding padding_;
  double interval_s_ = 0.04;    ///< usual interval before the latest frame
  std::int64_t judged_ = 0;     ///< frames judged so far
  std::deque<Moment> moments_;  ///< the latest judged frames
  std::optional<Replay> replay_;
  std::vector<Preset> presets_;     ///< all except the present one
  int since_jump_ = 1 << 20;        ///< frames since the light was switched
  int since_relit_ = 1 << 20;       ///< frames since most tiles became brighter or darker
  int since_relit_most_ = 1 << 20;  ///< frames since three quarters of them did
  int switched_ = 0;                ///< frames out of focus since the light was switched
  bool uncovered_ = true;           ///< nothing hid the scene in the frame before
  int netted_ = 0;                  ///< frames in which a net is before the scene
  int lit_ = 0;                     ///< frames in which something is in front of the scene since then
  int away_ = 0;                    ///< frames since the view left the present preset
  int resting_ = 0;                 ///< successive latest ones of these in which the picture stood still
  double usual_activity_ = 0;       ///< median over the tiles while the camera rests
  GuardFrame latest_;
  int quiet_ = 0;        ///< successive frames without events
  int made_up_ = 0;      ///< successive frames that the decoder has concealed in parts
  double missed_s_ = 0;  ///< seconds since the scene was last seen: frames were missing, or did not show it
  std::optional<MoveCheck> check_;
  int unchecked_ = 0;  ///< frames since the move check last kept one
  int denied_ = 0;     ///< successive frames with the same rejected move
  Pose denied_pose_;
};

}  // namespace sfft::video
