// SPDX-License-Identifier: Apache-2.0
// All landmarks are aligned together. Patches at whole pixels are fast to read, so the climb goes from pixel
// to pixel and interpolates only at its end.
#include "video/guard/landmarks.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

namespace {

constexpr int kMinCount = 10;
/// Number of usual frames after which new landmarks can measure sharpness.
constexpr int kKnown = 12;
/// Minimum number of tiles for a median; error below which tiles have similar weights; ratio of the error of
/// a median to that of a mean.
constexpr std::size_t kTilesThatTell = 4;
constexpr double kSameSay = 0.1;
constexpr double kMedianError = 1.25;
/// Ratio of fine to coarse amplitude above which a landmark is as sharp as before.
constexpr double kCrisp = 0.5;
/// A landmark is visible if its energy is at least this share of the sum of that and the noise's.
constexpr double kVisible = 0.5;
/// Mean correlation, relative to the usual, below which a guess is given up.
constexpr double kHopeless = 0.5;
/// Number and share of landmarks whose agreement on a pose is not accidental.
constexpr int kMinAgreeing = 7;
constexpr double kAgreed = 0.25;
/// Mean correlation, relative to the usual, and share of the landmarks with which a pose needs no second
/// guess. Along edges most landmarks match in many places, and only a few decide.
constexpr double kClear = 0.9;
constexpr double kNearlyAll = 0.95;
/// Standard error in pixels below which they do decide.
constexpr double kExact = 0.06;
/// A shorter step, in pixels, ends the climb. The remaining error is a tenth of it.
constexpr double kNearLandmark = 0.05;
/// After a longer step, in pixels, the climb continues at the nearest whole pixel.
constexpr double kFar = 0.7;
/// Landmarks whose distance is below this number of cells in both directions are neighbours.
constexpr double kNeighbour = 1.5;
/// A turn that moves the picture's corners by less, in pixels, counts as none.
constexpr double kUnturned = 0.15;

/// Energy of the structure that smoothing removes.
double fine_energy(const Patch& patch) {
  Patch fine = smoothed(patch);
  for (std::size_t p = 0; p < kPatchPixels; ++p) fine[p] = patch[p] - fine[p];
  return product(fine, fine);
}

Pose rounded(const Pose& pose) {
  return {std::round(pose.x), std::round(pose.y)};
}

}  // namespace

Landmarks::Landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height, double full)
    : landmarks_(choose_landmarks(scene, width, height, full / 255)),
      width_(width),
      height_(height),
      unit_(full / 255),
      reach_(0.5 * std::hypot(static_cast<double>(width), static_cast<double>(height))) {}

void Landmarks::measure(const Pose& guess) {
  const Pose pose = home_ + guess;
  const bool turned = pose.turned();
  const bool whole = !turned && pose.x == std::floor(pose.x) && pose.y == std::floor(pose.y);
  Taps by_x = taps(pose.x - std::floor(pose.x));
  Taps by_y = taps(pose.y - std::floor(pose.y));
  Patch patch{};
  for (Landmark& landmark : landmarks_) {
    const auto [x, y] = pose.shift_at(landmark.from_x, landmark.from_y);
    const double whole_x = std::floor(x);
    const double whole_y = std::floor(y);
    const std::int64_t left = landmark.x + static_cast<std::int64_t>(whole_x);
    const std::int64_t top = landmark.y + static_cast<std::int64_t>(whole_y);
    landmark.inside = left >= kPatchReach && top >= kPatchReach &&
                      left + kPatchSide + kPatchReach <= width_ && top + kPatchSide + kPatchReach <= height_;
    if (!landmark.inside) continue;
    if (turned) {
      by_x = taps_near(x - whole_x);
      by_y = taps_near(y - whole_y);
    }
    const auto read = [&](const auto* pixels) {
      if (whole) {
        read_patch(pixels, frame_->stride(0), left, top, patch);
      } else {
        read_patch(pixels, frame_->stride(0), left, top, by_x, by_y, patch);
      }
    };
    if (frame_->type() == ElementType::u16) {
      read(static_cast<const std::uint16_t*>(frame_->data()));
    } else {
      read(static_cast<const std::uint8_t*>(frame_->data()));
    }
    landmark.compare(patch);
  }
}

Landmarks::Agreement Landmarks::climb(Pose pose, bool patient) {
  constexpr int kSteps = 8;
  constexpr int kWholeSteps = 4;
  constexpr double kLongest = 1.5;
  Agreement result;
  const Pose from = home_ + pose;
  if (reach_ * std::hypot(from.rotation, from.zoom) < kUnturned) pose = Pose{from.x, from.y} - home_;
  bool turning = (home_ + pose).turned();
  bool exact = turning;  // with interpolation
  for (int step = 0; step < kSteps; ++step) {
    if (!exact) pose = rounded(home_ + pose) - home_;
    measure(pose);
    int count = 0;
    double seen = 0;
    double alike = 0;
    for (const Landmark& landmark : landmarks_) {
      if (!landmark.usable()) continue;
      ++count;
      alike += std::clamp(landmark.correlation / landmark.usual, 0.0, 1.0);
      if (landmark.there()) seen += 1;
    }
    result.pose = pose;
    result.count = count;
    result.share = count > 0 ? seen / count : 0;
    result.likeness = count > 0 ? alike / count : 0;
    if (step == 0 && !patient && result.likeness < kHopeless) return result;
    const CommonMove move = common_move(landmarks_, turning, reach_, unit_);
    if (!move.found) return result;
    result.agreeing = move.agreeing;
    result.standard_error = move.standard_error;
    const double length =
        std::hypot(move.step.x, move.step.y) + reach_ * std::hypot(move.step.rotation, move.step.zoom);
    if (exact && length < kNearLandmark) {
      result.converged = true;
      result.pose = pose + move.step;
      return result;
    }
    const Pose before = home_ + pose;
    pose = pose + std::min(1.0, kLongest / length) * move.step;
    const Pose next = home_ + pose;
    turning = next.turned();
    const bool same_pixel = std::round(next.x) == before.x && std::round(next.y) == before.y;
    exact = turning || length < kFar || same_pixel || step >= kWholeSteps;
  }
  measure(pose);
  result.pose = pose;
  return result;
}

Landmarks::Visibility Landmarks::visibility() const {
  std::vector<std::array<double, 2>> gains, rests;
  for (const Landmark& landmark : landmarks_) {
    if (!landmark.usable() || !(landmark.correlation > 0.5)) continue;
    gains.push_back({landmark.gain, 1.0});
    rests.push_back({landmark.rest, 1.0});
  }
  if (gains.size() >= kMinCount / 2) return {weighted_median(gains), weighted_median(rests)};
  // If hardly any are visible, they are hidden by noise or by an object. Noise is fine structure, and an
  // object close to the lens has none.
  rests.clear();
  for (const Landmark& landmark : landmarks_) {
    if (landmark.usable()) rests.push_back({fine_energy(landmark.seen), 1.0});
  }
  return {1, weighted_median(rests)};
}

double Landmarks::clustering(std::span<const Landmark* const> there,
                             std::span<const Landmark* const> gone) const {
  if (gone.empty() || there.empty()) return 1;
  const double across = kNeighbour * static_cast<double>(width_) / kCellColumns;
  const double down = kNeighbour * static_cast<double>(height_) / kCellRows;
  const auto near = [&](const Landmark* one, std::span<const Landmark* const> all) {
    return static_cast<double>(std::ranges::count_if(all, [&](const Landmark* other) {
      return other != one && std::abs(other->from_x - one->from_x) < across &&
             std::abs(other->from_y - one->from_y) < down;
    }));
  };
  double also_gone = 0;
  double neighbours = 0;
  for (const Landmark* one : gone) {
    const double too = near(one, gone);
    also_gone += too;
    neighbours += too + near(one, there);
  }
  if (!(neighbours > 0)) return 0;
  const double share = static_cast<double>(gone.size()) / static_cast<double>(gone.size() + there.size());
  return (also_gone / neighbours - share) / (1 - share);
}

void Landmarks::Amplitudes::add(const Amplitudes& other, double weight) noexcept {
  cc += weight * other.cc;
  cf += weight * other.cf;
  ff += weight * other.ff;
  sc += weight * other.sc;
  sf += weight * other.sf;
  own += weight * other.own;
  samples += other.samples;
}

std::optional<Landmarks::Fineness> Landmarks::Amplitudes::fineness() const noexcept {
  const double determinant = cc * ff - cf * cf;
  if (!(determinant > 1e-3 * cc * ff)) return std::nullopt;
  const double coarse = (ff * sc - cf * sf) / determinant;
  const double fine = (cc * sf - cf * sc) / determinant;
  const double residual = std::max(0.0, own - coarse * sc - fine * sf) / std::max(1.0, samples);
  if (!(coarse > 0.05)) return std::nullopt;
  // Smoothing correlates neighbouring pixels: some six of them make one degree of freedom.
  return Fineness{fine / coarse, std::sqrt(6 * residual * cc / determinant) / coarse};
}

std::optional<Landmarks::Fineness> Landmarks::usual_fineness(const std::array<Amplitudes, kTiles>& tiles) {
  Amplitudes all;
  std::vector<std::array<double, 2>> values;
  for (const Amplitudes& tile : tiles) {
    all.add(tile, 1);
    const std::optional<Fineness> own = tile.fineness();
    // Tiles of similar precision get similar weights.
    if (own) values.push_back({own->value, 1 / (own->error * own->error + kSameSay * kSameSay)});
  }
  const std::optional<Fineness> together = all.fineness();
  if (!together || values.size() < kTilesThatTell) return together;
  return Fineness{weighted_median(values), kMedianError * together->error};
}

void Landmarks::begin(const SignalView& frame) {
  frame_ = frame;
  located_ = false;
  fine_ = usual_fine_;
  best_ = {};
  current_ = false;
}

bool Landmarks::try_at(const Pose& guess, bool patient) {
  const Agreement found = climb(guess, patient);
  current_ = found.score() > best_.score() || best_.count == 0;
  if (current_) best_ = found;
  return best_.converged && best_.count >= kMinCount && best_.likeness > kClear && best_.share > kNearlyAll &&
         best_.standard_error < kExact;
}

double Landmarks::likeness_at(const Pose& guess) {
  measure(guess);
  current_ = false;
  double alike = 0;
  int count = 0;
  for (const Landmark& landmark : landmarks_) {
    if (!landmark.usable()) continue;
    ++count;
    alike += std::clamp(landmark.correlation / landmark.usual, 0.0, 1.0);
  }
  return count >= kMinCount ? alike / count : 0;
}

bool Landmarks::agreed() const noexcept {
  return best_.agreeing >= kMinAgreeing && best_.agreeing > kAgreed * best_.count;
}

LandmarkReport Landmarks::finish() {
  LandmarkReport report;
  if (!current_ && frame_) measure(best_.pose);
  frame_.reset();
  report.located = agreed();
  report.pose = best_.pose;
  report.standard_error = best_.standard_error;
  if (report.located) {
    located_ = true;
    at_ = best_.pose;
  }
  std::array<Amplitudes, kTiles> tiles{};
  std::array<double, kTiles> energies{};
  std::vector<const Landmark*> there, gone;
  double crisp = 0;
  double lost = 0;
  report.count = 0;
  const auto [gain, noise] = visibility();
  // Landmarks from a single frame contain its noise. They have to be seen once more, even if the picture is
  // not calm.
  if (renewed_ && noted_ == 0) note_usual();
  const bool proven = !renewed_ || noted_ > 0;
  for (Landmark& landmark : landmarks_) {
    if (!landmark.usable() || !proven) continue;
    // Something so faint can be neither confirmed nor excluded.
    const double signal = gain * gain * landmark.energy;
    if (signal < kVisible * (signal + noise)) continue;
    ++report.count;
    ++report.usable[static_cast<std::size_t>(landmark.tile)];
    const double same = landmark.gain * landmark.energy;  // product of `expected` and `seen`
    const double own = landmark.rest + landmark.gain * same;
    const double c2 = landmark.coarse_energy;
    const double f2 = landmark.energy - 2 * landmark.coarse_product + c2;
    const double c = product(landmark.coarse, landmark.seen);
    const double f = same - c;
    // A blurred landmark looks like its coarse structure.
    if (own > 0 && c2 > 0.02 * landmark.energy)
      landmark.correlation = std::max(landmark.correlation, c / std::sqrt(own * c2));
    if (!landmark.there()) {
      lost += 1;
      ++report.gone[static_cast<std::size_t>(landmark.tile)];
      gone.push_back(&landmark);
      continue;
    }
    there.push_back(&landmark);
    report.contrast[static_cast<std::size_t>(landmark.tile)] += same;
    energies[static_cast<std::size_t>(landmark.tile)] += landmark.energy;
    const double both = landmark.coarse_product - c2;
    const Amplitudes amplitudes{c2, both, f2, c, f, own, kPatchPixels};
    tiles[static_cast<std::size_t>(landmark.tile)].add(amplitudes,
                                                       1 / (landmark.energy + kPatchPixels * unit_ * unit_));
    const std::optional<Fineness> alone = amplitudes.fineness();
    if (alone && alone->value - 2 * alone->error > kCrisp) crisp += 1;
  }
  for (std::size_t t = 0; t < energies.size(); ++t) {
    if (energies[t] > 0) report.contrast[t] /= energies[t];
  }
  if (report.count > 0) {
    report.lost = lost / report.count;
    report.crisp = crisp / report.count;
    report.clustered = clustering(there, gone);
  }
  const std::optional<Fineness> fineness = report.located ? usual_fineness(tiles) : std::nullopt;
  if (fineness) {
    fine_ = fineness->value;
    if (!renewed_ || noted_ >= kKnown) {
      const double usual = std::clamp(usual_fine_, 0.3, 1.0);
      report.fine = fine_ / usual;
      report.fine_error = fineness->error / usual;
    }
  }
  return report;
}

void Landmarks::follow() {
  if (!located_) return;
  home_ = home_ + at_;
  at_ = {};
}

void Landmarks::adapt(double share) {
  if (!located_) return;
  const auto part = static_cast<float>(share);
  for (Landmark& landmark : landmarks_) {
    if (!landmark.inside) continue;
    Patch patch = landmark.expected;
    for (std::size_t p = 0; p < kPatchPixels; ++p) patch[p] += part * (landmark.seen[p] - patch[p]);
    landmark.expect(patch);
  }
}

bool Landmarks::worn() const noexcept {
  const auto good = std::ranges::count_if(landmarks_, &Landmark::usable);
  return located_ && 2 * good < static_cast<std::ptrdiff_t>(landmarks_.size());
}

void Landmarks::note_usual(double min_share) {
  if (!located_) return;
  const double share = std::max(min_share, 1.0 / (++noted_ + 2));
  usual_fine_ += share * (fine_ - usual_fine_);
  for (Landmark& landmark : landmarks_) {
    if (!landmark.inside) continue;
    landmark.usual += share * (std::clamp(landmark.correlation, 0.0, 1.0) - landmark.usual);
  }
}

}  // namespace sfft::video
