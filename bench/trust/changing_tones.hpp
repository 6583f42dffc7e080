// SPDX-License-Identifier: Apache-2.0
// Makes streams of tones that start, stop, drift and hop, in one and two dimensions.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/trust/random.hpp"
#include "sfft/tracker.hpp"

namespace sfft::trust {

/// What happens to a stream's tones.
enum class ToneChange : std::uint8_t { start, strong_start, stop, drift, hop, hop_often, mixture };
inline constexpr std::array<ToneChange, 7> kToneChanges{
    ToneChange::start, ToneChange::strong_start, ToneChange::stop,   ToneChange::drift,
    ToneChange::hop,   ToneChange::hop_often,    ToneChange::mixture};
const char* to_string(ToneChange change);

/// A complex exponential, or a cosine in a real signal.
struct ChangingTone {
  std::array<double, 2> frequency{};  ///< in bins per dimension; the second is 0 in one dimension
  double amplitude = 1, phase = 0, turn = 0;
  std::array<double, 2> drift{};  ///< bins per frame
};

/// One stream, drawn together with the settings of its tracker.
class ChangingTones {
 public:
  /// Stream `index` of the population of `seed`, to be watched for `frames` frames.
  ChangingTones(std::uint64_t seed, std::int64_t index, std::int64_t frames);

  ToneChange change() const { return change_; }
  const Shape& shape() const { return shape_; }
  const LearnOptions& learning() const { return learning_; }
  const TrackerOptions& tracking() const { return tracking_; }
  std::int64_t frames_per_push() const { return frames_per_push_; }
  const std::string& words() const { return words_; }

  /// The next frame's samples: complex<float>, or float in a real signal.
  std::vector<std::byte> next();
  SignalView view(const std::vector<std::byte>& frame) const;
  /// Frequencies of those tones that have at least a tenth of the last frame's energy: linear indices of the
  /// nearest bins, one of each conjugate pair. If templates are learned by k, at most the k strongest.
  std::vector<std::int64_t> strong() const;

 private:
  ChangingTone draw_tone();
  void draw_learning();
  void draw_tracking();
  void draw_change();
  void evolve();
  void hop(ChangingTone& tone);
  double power(const ChangingTone& tone) const;
  double tone_power() const;
  std::int64_t nearest_bin(const ChangingTone& tone) const;

  Random random_;
  std::int64_t frames_, index_ = 0;
  Shape shape_;
  bool real_ = false;
  ToneChange change_;
  std::vector<ChangingTone> tones_;
  double noise_ = 0;  ///< standard deviation per sample
  std::int64_t when_ = 0, period_ = 0;
  LearnOptions learning_;
  TrackerOptions tracking_;
  std::int64_t frames_per_push_ = 1;
  std::string words_;
  std::vector<std::complex<double>> samples_;
};

}  // namespace sfft::trust
