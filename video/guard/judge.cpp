// SPDX-License-Identifier: Apache-2.0
// A threshold is what a person sees at a glance, divided by the sensitivity, or several times what is usual
// in the scene, whichever is larger.
#include "video/guard/judge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace sfft::video {

namespace {

/// Strength of a condition that has to last before it counts.
constexpr double kNotYet = 0.95;
/// A cover comes at once if its strength was below kLow just before, or if it hides the part kSudden of what
/// was visible.
constexpr double kLow = 0.5;
constexpr double kSudden = 0.25;
/// At intervals above kFrameOfSudden_s, in seconds, that part grows in proportion, up to kAllAtOnce.
constexpr double kFrameOfSudden_s = 0.075;
constexpr double kAllAtOnce = 0.8;
/// At intervals above kFarApart_s, in seconds, a cover is gradual if the previous frame's growth was more
/// than the part kSteady of the present one.
constexpr double kFarApart_s = 0.06;
constexpr double kSteady = 0.5;
/// A cover is not passing by if what keeps still exceeds this part of its threshold.
constexpr double kHalfStill = 0.5;
/// Part of the scene's contrast below which nothing can be seen.
constexpr double kNoLight = 0.12;
/// Losses of sharpness and of detail that together mean defocus.
constexpr double kLostSharpness = 0.32;
constexpr double kLostDetail = 0.18;
/// Factor on the threshold for the landmarks' lost fine structure if the coefficients confirm the loss, and
/// the error below which the fine structure counts as known.
constexpr double kLostBoth = 0.65 / 0.75;
constexpr double kFineKnown = 0.1;
/// Share of landmarks as sharp as before above which nothing is out of focus.
constexpr double kCrispShare = 0.2;
/// Remaining fine structure below which landmarks cannot show a move.
constexpr double kBlurred = 0.35;
/// Loss of detail that suffices without the coefficients' evidence; loss that suffices whatever hides the
/// scene, if sharpness is below the part kSoftEverywhere of the usual; loss of sharpness that suffices alone.
constexpr double kLostAlone = 0.4;
constexpr double kLostEverywhere = 0.7;
constexpr double kSoftEverywhere = 0.8;
constexpr double kLostHalf = 0.5;
/// At intervals above this, in seconds, headlights may approach between two frames.
constexpr double kGlareBetween_s = 0.09;
/// Once hidden, much of the scene counts as hidden down to this part of the threshold.
constexpr double kReleased = 0.7;
/// Upper limits of the adaptive thresholds, as multiples of their minimum. Even in an unsteady scene they
/// stay below what a person sees at a glance.
constexpr double kMaxShift = 1.35;
constexpr double kMaxCovered = 1.0;
constexpr double kMaxLost = 1.5;
/// Share of the usual coherence below which nothing is left of the phases.
constexpr double kNoCoherence = 0.35;
/// With this many landmarks, phases alone do not prove a move.
constexpr int kManyLandmarks = 20;
/// Coherence above which phases alone do prove a move.
constexpr double kProvesMove = 0.5;
/// Pixels: standard error above which landmarks need the phases' confirmation.
constexpr double kInexactLandmarks = 0.1;
/// Difference by which the coherence for a move must exceed that for no move.
constexpr double kAgrees = 0.03;
/// Energy of coarse structure, relative to the reference's, above which most of it is not the scene's.
constexpr double kForeign = 3;
/// Share of the usual sharpness below which nothing is left of the amplitudes.
constexpr double kNoSharpness = 0.3;
/// A picture is plain if, of at least kFewLandmarks, more than the share kMaxLandmarks is lost, and less than
/// the part kPlain is left of the structure's energy that the light would leave.
constexpr int kFewLandmarks = 6;
constexpr double kMaxLandmarks = 0.6;
constexpr double kPlain = 0.15;
/// A scene was seen on its way out of the picture if it was more than kAway pixels from its place in
/// kOnItsWay recent frames.
constexpr double kAway = 5;
constexpr int kOnItsWay = 2;
/// Share of the picture that has changed when the scene has left: kLeftShare if it was seen on its way,
/// otherwise kLeftAtOnce, if less than kCalmPicture had changed just before.
constexpr double kLeftShare = 0.5;
constexpr double kLeftAtOnce = 0.6;
constexpr double kCalmPicture = 0.25;
/// Minimum structure and detail of another scene; an object close to the lens has less. A turning camera
/// blurs what it sees, so kBlurredScenery suffices then.
constexpr double kSceneryShare = 0.4;
constexpr double kSharpScenery = 0.6;
constexpr double kBlurredScenery = 0.25;
/// Differences of neighbouring pixels that are above the noise, as a share of the full range.
constexpr double kSharpTexture = 4 / 255.0;
/// Share of hidden landmarks above which the light is unknown.
constexpr double kHiddenLandmarks = 0.5;
/// Share of clipped pixels, beyond the usual, that hides detail.
constexpr double kClipped = 0.2;
/// Minimum number of frames until it is known what is usual.
constexpr int kMinWarmUp = 5;
/// Something that swings has gone kWays ways within kSwings_s, to one side and back, each time by at least
/// the part kWay of the present shift, and at least kAsFast times as fast as in the present way. It came from
/// the other side, or from no further than the part kBack of that shift from where the scene should be. A way
/// takes no longer than kSlowest_s. The present one ends within kLate times the duration of the one before,
/// or within kQuickest_s; otherwise what is seen has come to stay.
constexpr double kSwings_s = 8;
constexpr int kWays = 2;
constexpr double kWay = 0.5;
constexpr double kAsFast = 0.5;
constexpr double kBack = 0.25;
constexpr double kLate = 1.5;
constexpr double kQuickest_s = 0.6, kSlowest_s = 2.5;
/// A net hides landmarks here and there: LandmarkReport::clustered is below kScattered, and no more than
/// kNetted times the share of lost landmarks has changed. It has come gradually: nothing has hidden the part
/// kSudden of what was visible from one frame to the next for kNet_s.
constexpr double kScattered = 0.35;
constexpr double kNetted = 1.6;
constexpr double kNet_s = 0.6;
/// Frames whose strengths are all below this tell what is usual.
constexpr double kUsual = 0.6;
/// Number of spreads beyond the usual that still count as usual.
constexpr double kFarShift = 6;

/// Whether only the scene's own objects have moved, and the camera has not.
bool objects_moved(const Observation& seen) noexcept {
  return seen.rearranged && seen.landmarks.located;
}

}  // namespace

double confidence(double strength) noexcept {
  return strength <= 0 ? 0 : strength * strength / (1 + strength * strength);
}

void Usual::add(double value, double share) noexcept {
  const double off = value - level_;
  const double bounded = std::clamp(off, -2.5 * spread_, 2.5 * spread_);
  level_ += share * bounded;
  // Standard deviation over mean |off| is 1.25 for a normal distribution; 1.33 allows for the clamping.
  spread_ += share * (1.33 * std::abs(bounded) - spread_);
  spread_ = std::max(spread_, min_);
}

Judge::Judge(const JudgeOptions& options, double half_diagonal_px)
    : options_(options),
      limits_(options.thresholds),
      half_diagonal_(half_diagonal_px),
      shift_(0, 0.15, 0.03),
      turn_(0, 0.3, 0.1),
      changed_(0.02, 0.04, 0.01),
      still_(0.01, 0.03, 0.01),
      sharpness_(1, 0.03, 0.01),
      detail_(1, 0.03, 0.01),
      coherence_(0.9, 0.05, 0.01),
      clipped_(0, 0.05, 0.02),
      freeze_(options.sensitivity, options.thresholds) {}

void Judge::learn(const Observation& seen) {
  ++learned_;
  const double share = std::max(share_in(0.02, interval_s_), 1.0 / (learned_ + 1));
  const Registration& r = seen.registration;
  if (r.sure) shift_.add(std::hypot(r.x, r.y), share);
  if (r.inliers > 0.75) turn_.add(half_diagonal_ * std::hypot(r.rotation, r.zoom), share);
  coherence_.add(r.coherence, share);
  clipped_.add(seen.bright + seen.dark, share);
  changed_.add(seen.changed, share);
  still_.add(seen.struck, share);
  sharpness_.add(seen.sharpness, share);
  detail_.add(seen.detail, share);
}

bool Judge::usual(const Findings& findings, const Observation& seen) noexcept {
  // Learning goes on when objects have moved, because it shows which landmarks are real: walking people are
  // not, however many.
  const Finding& covered = findings[static_cast<std::size_t>(EventKind::covered)];
  return std::ranges::all_of(findings, [&](const Finding& finding) {
    return finding.strength < (&finding == &covered && objects_moved(seen) ? kNotYet : kUsual);
  });
}

void Judge::followed(const Pose& pose) {
  home_ = home_ + pose;
}

void Judge::resume(const Pose& pose) {
  followed(pose);
  places_.clear();
}

double Judge::limit(double min, double max, const Usual& usual) const {
  const double sensible = min / options_.sensitivity;
  return std::clamp(usual.level() + kFarShift * usual.spread(), sensible, max * sensible);
}

bool Judge::gone(const Observation& seen) const {
  return !seen.registration.sure && seen.registration.coherence < kNoCoherence * coherence_.level() &&
         seen.sharpness < std::max(kNoSharpness * sharpness_.level(), 3 * seen.sharpness_error);
}

bool Judge::another_scene(const Observation& seen) const {
  return gone(seen) && seen.richness > 0.4 && seen.detail > 0.5 && seen.changed > 0.85;
}

void Judge::look_for_leaving(const Observation& seen) {
  const Registration& r = seen.registration;
  const LandmarkReport& landmarks = seen.landmarks;
  const bool found = landmarks_know(seen) || phases_agree(seen);
  const double shift = std::hypot(r.x, r.y);
  ++since_displaced_;
  if (found && shift > kAway) {
    ++displaced_;
    since_displaced_ = 0;
  } else if (since_displaced_ > frames(limits_.on_its_way_s) ||
             (landmarks.located && shift < limits_.moved_px)) {
    displaced_ = 0;
  }
  since_calm_ = seen.changed < kCalmPicture ? 0 : since_calm_ + 1;
  const bool lost = !landmarks.located && landmarks.count >= kFewLandmarks && landmarks.lost > kMaxLandmarks;
  const bool scenery = seen.richness > kSceneryShare && !plain(seen);
  if (elsewhere_ > 0) {
    elsewhere_ = lost || (!r.sure && scenery) ? elsewhere_ + 1 : 0;
    return;
  }
  if (!lost || !scenery) return;
  seen_leaving_ = displaced_ >= kOnItsWay && seen.changed > kLeftShare && seen.detail > kBlurredScenery;
  const bool at_once = since_calm_ <= frames(limits_.sudden_s) && seen.changed > kLeftAtOnce &&
                       seen.detail > kSharpScenery && seen.texture > kSharpTexture;
  if (seen_leaving_ || at_once) elsewhere_ = 1;
}

bool Judge::blurred(const Observation& seen) const {
  const LandmarkReport& landmarks = seen.landmarks;
  return landmarks.located && landmarks.fine_error < kFineKnown &&
         landmarks.fine + 2 * landmarks.fine_error < kBlurred;
}

bool Judge::phases_agree(const Observation& seen) const {
  // In front of a plain scene, the phases of a richer object say where that object went. Where many landmarks
  // are visible, they decide.
  const Registration& r = seen.registration;
  return r.sure && r.coherence > r.still_coherence + std::max(kAgrees, kUnlikely * r.chance) &&
         r.coherence > kNoCoherence * coherence_.level() && seen.richness < kForeign &&
         (seen.landmarks.count < kManyLandmarks || r.coherence > kProvesMove);
}

bool Judge::landmarks_know(const Observation& seen) const {
  // Blurred landmarks, and those along edges, hardly distinguish places.
  const Registration& r = seen.registration;
  // A scene that was turned has no common phase.
  const bool exact = seen.landmarks.standard_error < kInexactLandmarks || r.coherence >= r.still_coherence ||
                     (r.turned && seen.landmarks.lost < kHiddenLandmarks);
  return seen.landmarks.located && exact && !blurred(seen) &&
         !phases_contradict(r.coherence, r.still_coherence, r.chance);
}

bool Judge::believes(const Observation& seen) const {
  const Registration& r = seen.registration;
  if (!r.sure) return false;
  return std::hypot(r.x, r.y) < limits_.moved_px / options_.sensitivity || landmarks_know(seen) ||
         phases_agree(seen);
}

Pose Judge::place(const Observation& seen) const noexcept {
  const Pose pose = seen.registration.pose();
  return home_ + (seen.landmarks.located ? seen.landmarks.pose : Pose{pose.x, pose.y});
}

bool Judge::swings(const Observation& seen, const Finding& move) const {
  if (!std::isfinite(move.shift_px)) return false;
  // Turns count by the shift of the corners.
  const auto vector = [this](const Pose& pose) {
    return std::array{pose.x, pose.y, half_diagonal_ * pose.rotation, half_diagonal_ * pose.zoom};
  };
  const Pose turn = seen.landmarks.located ? seen.landmarks.pose : Pose{};
  const auto way = vector({move.shift_x, move.shift_y, turn.rotation, turn.zoom});
  const double length = std::sqrt(std::inner_product(way.begin(), way.end(), way.begin(), 0.0));
  if (!(length > 0)) return false;
  std::vector<double> places;  // along the present shift
  for (const Pose& pose : swings_) {
    const auto here = vector(pose - home_);
    places.push_back(std::inner_product(way.begin(), way.end(), here.begin(), 0.0) / length);
  }
  const int count = static_cast<int>(places.size());
  const auto at = [&](int frame) { return places[static_cast<std::size_t>(frame)]; };
  // The frames in which the present way and the one before it began, and those with the lowest and the
  // highest place since.
  int last = 0;
  int before = 0;
  int low = 0;
  int high = 0;
  int direction = 0;
  int ways = 0;
  for (int i = 0; i < count; ++i) {
    if (at(i) <= at(low)) low = i;
    if (at(i) >= at(high)) high = i;
    const bool rises = direction <= 0 && at(i) >= at(low) + kWay * length;
    const bool falls = direction >= 0 && at(i) <= at(high) - kWay * length;
    if (!rises && !falls) continue;
    before = last;
    last = rises ? low : high;
    ++ways;
    direction = rises ? 1 : -1;
    low = high = i;
  }
  const auto fastest = [&](int from, int to) {
    double most = 0;
    for (int i = from + 1; i <= to; ++i) most = std::max(most, std::abs(at(i) - at(i - 1)));
    return most;
  };
  return ways >= kWays && std::min(at(last), at(before)) <= kBack * length &&
         fastest(before, last) >= kAsFast * fastest(last, count - 1) && last - before <= frames(kSlowest_s) &&
         count - 1 - last <= std::max(kLate * (last - before), static_cast<double>(frames(kQuickest_s)));
}

bool Judge::net(const Observation& seen) const noexcept {
  const LandmarkReport& landmarks = seen.landmarks;
  return landmarks.located && landmarks.count >= kManyLandmarks && landmarks.clustered < kScattered &&
         seen.changed < kNetted * landmarks.lost && since_leap_ > frames(kNet_s);
}

Finding Judge::moved(const Observation& seen) const {
  Finding finding;
  const Registration& r = seen.registration;
  if (another_scene(seen) || elsewhere_ > 0) {
    const bool yet = elsewhere_ == 0 || seen_leaving_ || elsewhere_ > frames(limits_.left_s);
    finding.strength = yet ? 1 + seen.changed : kNotYet;
    return finding;
  }
  const double shift = std::hypot(r.x, r.y);
  const double min = std::max(limit(limits_.moved_px, kMaxShift, shift_), 8 * r.standard_error);
  const bool by_landmarks = landmarks_know(seen);
  if (by_landmarks || phases_agree(seen)) {
    finding.strength = shift / min;
    finding.shift_x = r.x;
    finding.shift_y = r.y;
    if (!places_.empty()) {
      const Pose slow = home_ + r.pose() - places_.front();
      const double pixels =
          std::max(std::hypot(slow.x, slow.y), half_diagonal_ * std::hypot(slow.rotation, slow.zoom));
      const double strength = pixels / (limits_.drift_px / options_.sensitivity);
      if (strength > finding.strength && strength > 1) {
        finding.strength = strength;
        finding.shift_x = slow.x;
        finding.shift_y = slow.y;
      }
    }
    finding.shift_px = std::hypot(finding.shift_x, finding.shift_y);
  }
  // Landmarks show a turn. Without them, a turn is inferred if the scene has lost its common phase and the
  // small picture agrees with the turn.
  const bool seen_turn = by_landmarks && r.turned;
  const double turn = half_diagonal_ * std::hypot(r.rotation, r.zoom);
  const double turn_error = seen_turn ? 0 : half_diagonal_ * std::hypot(r.rotation_error, r.zoom_error);
  const double turn_limit = std::max({2 * limits_.moved_px / options_.sensitivity,
                                      turn_.level() + kFarShift * turn_.spread(), 6 * turn_error});
  // Landmarks that have been found without a turn contradict one.
  const bool unturned = seen.landmarks.located && !r.turned && seen.landmarks.lost < kHiddenLandmarks;
  const bool guessed_turn = !unturned && r.inliers > 0.75 && r.coherence < 0.6 * coherence_.level() &&
                            seen.changed < limits_.covered;
  if ((seen_turn || guessed_turn) && turn / turn_limit > finding.strength) {
    finding.strength = turn / turn_limit;
    finding.shift_px = std::max(turn, shift);
    finding.shift_x = r.x;
    finding.shift_y = r.y;
  }
  return finding;
}

bool Judge::plain(const Observation& seen) const {
  const LandmarkReport& landmarks = seen.landmarks;
  return !landmarks.located && landmarks.count >= kFewLandmarks && landmarks.lost > kMaxLandmarks &&
         seen.richness < kPlain * std::min(1.0, seen.gain * seen.gain);
}

double Judge::covered(const Observation& seen) {
  if (elsewhere_ > 0) return 0;
  // A cover has less structure than what it hides. Objects that turn or move in front of a still camera have
  // as much.
  const double struck = objects_moved(seen) ? 0 : seen.struck;
  const double passing = seen.changed / limit(limits_.hidden, kMaxCovered, changed_);
  hidden_ = passing > 1 ? hidden_ + 1 : 0;
  hidden_s_ = hidden_ == 0 ? 0 : hidden_ == 1 ? interval_s_ : hidden_s_ + seen.elapsed_s;
  // A person who passes close to the camera is gone within a second; a hand or a cloth in front of the lens
  // is not.
  const bool stays = longer(hidden_s_, limits_.passing_s) || struck > kHalfStill * limits_.covered;
  const double moving = stays ? passing : std::min(passing, kNotYet);
  const double strength = std::max(struck / limit(limits_.covered, kMaxCovered, still_), moving);
  // In front of a plain scene a plain cover changes little, except that nothing of the scene is left.
  return gone(seen) || plain(seen) ? std::max(strength, 1 + seen.changed) : strength;
}

double Judge::lasting_cover(double strength, double changed, double elapsed_s) {
  const double more = changed - changed_before_;
  changed_before_ = changed;
  // The longer the interval, the more can come gradually between two frames.
  const double at_once = std::min(kAllAtOnce, kSudden * std::max(1.0, interval_s_ / kFrameOfSudden_s));
  const bool grows = interval_s_ > kFarApart_s && more_before_ > kSteady * more;
  more_before_ = more;
  const bool leaps = more > at_once * (1 - changed + more) && !grows;
  since_leap_ = leaps ? 0 : since_leap_ + 1;
  const bool sudden = strength < kLow || leaps;
  since_sudden_ = sudden ? 0 : since_sudden_ + 1;
  // Noise in an empty picture resembles the scene now and then.
  since_hidden_ = strength > (covering_ > 0 ? kReleased : 1) ? 0 : since_hidden_ + 1;
  covering_ =
      since_hidden_ == 0 || (covering_ > 0 && since_hidden_ <= frames(limits_.sudden_s)) ? covering_ + 1 : 0;
  // What comes at once behind something that passes counts as well.
  if (passing_ && more > at_once && !grows) covering_ = std::min(covering_, 1);
  if (covering_ == 1) passing_ = since_sudden_ > frames(limits_.sudden_s);
  covering_s_ = covering_ == 0 ? 0 : covering_ == 1 ? interval_s_ : covering_s_ + elapsed_s;
  passing_ = passing_ && covering_ > 0 && !longer(covering_s_, limits_.leaving_s);
  return passing_ ? std::min(strength, kNotYet) : strength;
}

double Judge::defocused(const Observation& seen) const {
  const LandmarkReport& landmarks = seen.landmarks;
  if (landmarks.located && landmarks.fine_error < kFineKnown) {
    const double lost = 1 - (landmarks.fine + 2 * landmarks.fine_error);
    // The finest coefficients may confirm it.
    const bool both = seen.sharpness + 2 * seen.sharpness_error < kNoSharpness * sharpness_.level() &&
                      seen.registration.coherence > kProvesMove * coherence_.level();
    return std::max(0.0, lost / (limits_.defocused * (both ? kLostBoth : 1) / options_.sensitivity));
  }
  // When objects are taken away, the remaining landmarks stay as sharp as before.
  if (landmarks.crisp > kCrispShare) return 0;
  // Hidden, lost or clipped parts cannot be judged.
  if (seen.struck > 1.3 * limits_.covered) return 0;
  if (seen.bright + seen.dark > clipped_.level() + 3 * clipped_.spread() + kClipped) return 0;
  const auto lost = [&](double share, double now, const Usual& usual) {
    const double min = share * usual.level() / options_.sensitivity;
    return (usual.level() - now) / std::clamp(kFarShift * usual.spread(), min, kMaxLost * min);
  };
  // Only a blur is this smooth, or something that hides the scene and keeps still.
  const bool soft = seen.struck < limits_.covered && seen.sharpness < kSoftEverywhere * sharpness_.level();
  const double everywhere = soft ? lost(kLostEverywhere, seen.detail, detail_) : 0;
  if (everywhere > 1) return everywhere;
  if (seen.changed > 2 * limits_.covered || gone(seen)) return 0;
  const double uncertain = 4 * seen.sharpness_error / std::max(0.05, sharpness_.level());
  const double lost_sharpness = lost(std::max(kLostSharpness, uncertain), seen.sharpness, sharpness_);
  const double lost_detail = lost(kLostDetail, seen.detail, detail_);
  // If something in front of the scene makes the amplitudes uncertain, the detail of the tiles decides.
  const double clear_loss = lost(kLostAlone, seen.detail, detail_);
  const double together = std::min(lost_sharpness, lost_detail);
  const bool unsure = uncertain > 0.5 || !seen.registration.sure;
  if (unsure) return std::max({0.0, together, clear_loss});
  // Camera noise is detail that no blur removes, so a loss of half the amplitude suffices alone.
  const double half =
      seen.changed < limits_.covered ? lost(std::max(kLostHalf, uncertain), seen.sharpness, sharpness_) : 0;
  return std::max({0.0, together, half});
}

Findings Judge::judge(const Observation& seen) {
  interval_s_ = seen.interval_s;
  Findings findings;
  const auto at = [&](EventKind kind) -> Finding& { return findings[static_cast<std::size_t>(kind)]; };
  const bool no_structure = seen.changed > 0.5 || seen.gain < kNoLight || seen.richness < kNoLight * kNoLight;
  const bool dark = seen.level < limits_.dark_level && seen.dark > 0.9 && no_structure;
  // The scene may be present with hardly any contrast.
  const bool faint = seen.bright > kAllWhite && seen.detail * seen.gain < kNoLight;
  const bool white = seen.bright > limits_.white && (no_structure || faint);
  at(EventKind::frozen).strength = freeze_.judge(seen, detail_.level(), dark || white);
  at(EventKind::flicker).strength =
      flicker_.add(seen.brightening, interval_s_) / (limits_.flicker / options_.sensitivity);
  if (dark)
    at(EventKind::dark).strength =
        std::min(3.0, seen.dark / 0.9 * limits_.dark_level / std::max(0.01, seen.level));
  white_ = white ? white_ + 1 : 0;
  since_dim_ = seen.bright < 0.5 * limits_.white ? 0 : since_dim_ + 1;
  // Headlights approach gradually; a picture that turns white at once has another cause. At low rates, both
  // look the same.
  if (white_ == 1) glare_ = since_dim_ > frames(limits_.sudden_s) || interval_s_ > kGlareBetween_s;
  if (white)
    at(EventKind::blinded).strength =
        !glare_ || white_ > frames(limits_.glare_s) ? seen.bright / limits_.white : kNotYet;
  look_for_leaving(seen);
  if (landmarks_know(seen) || phases_agree(seen)) {
    swings_.push_back(place(seen));
    while (swings_.size() > static_cast<std::size_t>(frames(kSwings_s))) swings_.pop_front();
  }
  at(EventKind::moved) = moved(seen);
  if (at(EventKind::moved).strength > 1 && swings(seen, at(EventKind::moved)))
    at(EventKind::moved).strength = kNotYet;
  if (believes(seen) && at(EventKind::moved).strength < 1) {
    places_.push_back(home_ + seen.registration.pose());
    const auto max = static_cast<std::size_t>(frames(limits_.drift_s));
    while (places_.size() > max) places_.pop_front();
  }
  at(EventKind::covered).strength = lasting_cover(white ? 0 : covered(seen), seen.changed, seen.elapsed_s);
  at(EventKind::defocused).strength = defocused(seen);
  // A change of light does not hide most landmarks.
  const bool hidden = !seen.landmarks.located && seen.landmarks.count >= kFewLandmarks &&
                      seen.landmarks.lost > kHiddenLandmarks;
  if (seen.changed < limits_.covered && !hidden && !plain(seen))
    at(EventKind::light).strength = std::abs(seen.light) / (limits_.light / options_.sensitivity);
  // The first frames show the noise. Until then, thresholds are twice as high.
  if (learned_ < frames(limits_.warm_up_s, kMinWarmUp)) {
    for (const EventKind kind : {EventKind::moved, EventKind::covered, EventKind::defocused})
      at(kind).strength /= 2;
  }
  return findings;
}

}  // namespace sfft::video
