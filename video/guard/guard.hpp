// SPDX-License-Identifier: Apache-2.0
// The guard of one camera: takes its frames, tells what has happened to it.
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
#include "video/guard/replay.hpp"

namespace sfft::video {

struct GuardOptions {
  int k = 1000;            ///< about this many coefficients per frame
  double max_samples = 0;  ///< share of the pixels that may be read; 0: automatic
  int learn_frames = 8;
  double sensitivity = 1;  ///< 2: half the thresholds, 0.5: twice
  double settle_s = 120;   ///< a moved picture becomes the scene after this many seconds
  std::string source{};    ///< for the events
  int presets = 0;         ///< views of a camera on patrol that are learned; moves between them are none
  Thresholds thresholds{};
};

/// What became of the latest frame.
struct GuardFrame {
  std::optional<Observation> seen;  ///< none while the guard learns, and of frames that it leaves out
  Findings findings{};
  std::vector<std::pair<EventPhase, Event>> events;  ///< those that began or ended with this frame
};

/// Frames of one size in order, of which about kMaxJudgedRate are judged per second; throws
/// Error(shape_mismatch) for others. Memory is bounded. One guard per stream, one thread at a time; copies
/// continue independently. Frames have 8 or 16 bits.
class Guard {
 public:
  explicit Guard(const GuardOptions& options);
  Guard(const Guard& other);
  Guard(Guard&&) noexcept = default;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  /// Takes the next frame, shown `seconds` after the first one. Valid until the next call. The scene is
  /// followed through frames that the decoder has `made_up` in parts, but for a while they bring no events.
  const GuardFrame& push(const SignalView& frame, double seconds, bool made_up = false);
  /// Frames are missing before the next: a camera that is back may show what it showed before, which is no
  /// replay.
  void gap() {
    if (replay_) replay_.emplace(full_);
  }
  /// What comes next is another scene, perhaps of another size: events that last end, and the guard learns
  /// again.
  const GuardFrame& restart(double seconds);
  /// No frames have come since `silent_since`; the event ends with the next frame.
  const GuardFrame& offline(double silent_since, const std::string& why = {});
  /// Events that still last. Those of a stream that has ended have no end.
  const std::vector<Event>& open_events() const noexcept { return open_; }

  bool learned() const noexcept { return observer_ != nullptr; }
  std::int64_t frames() const noexcept { return frames_; }
  const Learned* scene() const noexcept { return observer_ ? &observer_->learned() : nullptr; }

 private:
  /// An event goes on down to this part of the threshold that it began at.
  static constexpr double kRelease = 0.7;

  SignalView region_of(const SignalView& frame) const;
  /// A frame that was judged.
  struct Moment {
    std::int64_t frame = 0;
    double seconds = 0;
  };

  /// A view that the camera comes back to.
  struct Preset {
    std::unique_ptr<Observer> observer;
    Judge judge;
    MoveCheck check;
  };

  void start(const SignalView& frame);
  /// Whether the camera is on its way between presets, so that what is seen brings no event.
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
  /// What is seen is the scene: events of the picture end, and the next frames are learned from.
  void begin_again();
  /// The frame since which something is so, by the number of judged frames since then, with the latest.
  const Moment& since(std::int64_t judged_frames) const;
  int frames(double seconds, int min = 1) const { return frames_in(seconds, pace_.interval(), min); }
  void begin(EventKind kind, std::int64_t frame, double seconds);
  void finish(EventKind kind, std::int64_t frame, double seconds);
  /// Rejects a move that most of the picture has not made.
  void check_move(const SignalView& region);
  void adapt(const SignalView& region);
  void follow();
  /// Before the latest frame, if the pace of those before was another.
  double missed_seconds() const;
  bool hidden() const;
  /// Takes what a scene has drifted while it was not seen for no move.
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
  double interval_s_ = 0.04;    ///< usual one, before the latest frame
  std::int64_t judged_ = 0;     ///< frames that were not left out
  std::deque<Moment> moments_;  ///< of the latest of them
  std::optional<Replay> replay_;
  std::vector<Preset> presets_;  ///< but the present one
  int since_jump_ = 1 << 20;     ///< frames since the light was switched
  int since_relit_ = 1 << 20;    ///< frames since most tiles became brighter or darker
  int switched_ = 0;             ///< frames that are out of focus since it was
  int away_ = 0;                 ///< frames since the view is not the present preset's
  int resting_ = 0;              ///< of these, the latest in a row in which the picture stood
  double usual_activity_ = 0;    ///< median of the tiles, while the camera stands
  GuardFrame latest_;
  int quiet_ = 0;        ///< frames in a row without anything
  int made_up_ = 0;      ///< frames in a row that the decoder has made up in parts
  double missed_s_ = 0;  ///< time in which frames were missed, or hid the scene, since it was last seen
  std::optional<MoveCheck> check_;
  int unchecked_ = 0;  ///< frames since the check has taken one
  int denied_ = 0;     ///< frames in a row with the same move that is none
  Pose denied_pose_;
};

}  // namespace sfft::video
