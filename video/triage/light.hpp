// SPDX-License-Identifier: Apache-2.0
// Describes light in small pictures: gain and offset between two of them, and what smooth light explains of
// the deviations of a whole picture or of a square.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace sfft::video {

/// A vector of four floats, for sums. In a single sum each addition waits for the one before, and compilers
/// may not split it into four.
using Four = float __attribute__((vector_size(16)));
inline constexpr std::size_t kFour = 4;

inline Four four(std::span<const float> values, std::size_t at) {
  Four some;
  std::memcpy(&some, values.data() + at, sizeof some);
  return some;
}

inline float total(Four sum) {
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Dot product of two spans of equal length, a multiple of four.
inline float product(std::span<const float> a, std::span<const float> b) {
  Four sum{};
  for (std::size_t i = 0; i < a.size(); i += kFour) sum += four(a, i) * four(b, i);
  return total(sum);
}

/// Points from this grey level on may be overexposed. White is 235 in the usual range of video, and edges
/// ring.
inline constexpr float kWhite = 228;

/// grey level = gain * reference + offset, for most of the picture.
struct Light {
  double gain = 1, offset = 0;

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(gain, offset);
  }
};

/// Fits the light by iteratively reweighted least squares, so up to about half of the picture may show
/// something else. Returns gain 1 and offset 0 for a picture of another scene. `start`: initial value, such
/// as the light of the previous frame.
Light fit_light(std::span<const float> picture, std::span<const float> reference, const Light& start);

/// Moves a grey level, which was `scaled` to the light of the reference, as close to the reference as it may
/// be: a white point may be brighter than its level, and so may an overexposed reference.
inline float within_limits(float scaled, bool white, float reference, bool overexposed) {
  if (white) scaled = std::max(scaled, reference);
  if (overexposed) scaled = std::min(scaled, reference);
  return scaled;
}

/// Fits a brightness and a change of contrast to the deviations in a square around every point. From the
/// deviation of a point it subtracts the mean of the fits of all squares that contain the point. This is the
/// guided filter (He, Sun and Tang, IEEE PAMI 35, 2013), with the usual picture as the guide. With sliding
/// sums it costs a few passes over the picture. Use one object per thread.
class LocalLight {
 public:
  LocalLight(int width, int height);

  void set_usual(std::span<const float> usual);

  /// Computes what is left of the deviations of two pictures from the usual one.
  void remove(std::span<const float> first, std::span<const float> second, std::vector<float>& first_left,
              std::vector<float>& second_left);

 private:
  using Picture = std::vector<Four>;
  void average(const Picture& of, Picture& means);

  int width_, height_;
  std::vector<float> level_, mean_level_, per_variance_;
  Picture values_, means_, columns_;
};

/// Models light as a plane or a polynomial of second degree, plus a change of contrast. The terms are
/// orthogonal on the square. Use one object per thread.
class SmoothLight {
 public:
  static constexpr std::size_t kPlane = 3, kBent = 6;  ///< numbers of terms
  /// Light is never quite smooth: this share of the energy that it explains may remain.
  static constexpr double kImperfect = 0.05;
  static constexpr double kPrior = 1;  ///< grey levels of structure that determine no contrast

  /// For squares of `across` by `down` points in pictures of `width` columns. `terms`: kPlane or kBent.
  SmoothLight(int width, int across, int down, std::size_t terms);

  /// Returns the energy of the deviation that light does not explain in the square with this first column and
  /// row.
  double leaves(std::span<const float> deviation, std::span<const float> usual, int left, int top);

 private:
  struct Products {
    double terms_off[kBent] = {}, terms_level[kBent] = {};
    double off_off = 0, level_level = 0, off_level = 0;
  };
  template <std::size_t terms>
  Products multiply() const;
  template <int across>
  void cut_out(const float* off, const float* level, float middle);

  int width_, across_, down_;
  std::size_t terms_, padded_ = 0;
  std::vector<float> basis_;  ///< by term, then row; padded with zeros to a multiple of four
  double per_norm_[kBent] = {};
  std::vector<float> off_, level_;  ///< of the square, in the same order
};

}  // namespace sfft::video
