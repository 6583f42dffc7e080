// SPDX-License-Identifier: Apache-2.0
// One Gauss-Newton step of all landmarks together (Lucas and Kanade, IJCAI 1981). Tukey's biweight over
// landmarks removes the influence of moving objects.
#include "video/guard/common_move.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "video/guard/least_squares.hpp"

namespace sfft::video {

namespace {

constexpr double kTukey = 4.685;
/// Pixels from the common move within which a landmark agrees.
constexpr double kTogether = 1;
/// Error in pixels that interpolation and the last step leave.
constexpr double kInexactMove = 0.006;
/// A turn needs at least kTurnCount landmarks and has to move the picture's corners by kTurn pixels. It is
/// looked for if the landmarks' median distance from a pure shift exceeds kMinDistance pixels.
constexpr std::size_t kTurnCount = 12;
constexpr double kTurn = 0.6;
constexpr double kMinDistance = 0.08;

/// std::hypot() without its care for overflow.
double distance(double x, double y) {
  return std::sqrt(x * x + y * y);
}

/// A landmark with its weight.
struct Vote {
  const Landmark* landmark;
  double weight;
};

class Votes {
 public:
  Votes(std::span<const Landmark> landmarks, double unit) : unit_(unit) {
    for (const Landmark& landmark : landmarks) {
      if (landmark.usable() && landmark.correlation > kMinCorrelation) votes_.push_back({&landmark, 0});
    }
  }

  const std::vector<Vote>& all() const noexcept { return votes_; }

  Pose median() const {
    std::vector<std::array<double, 2>> xs, ys;
    for (const auto& [landmark, weight] : votes_) {
      xs.push_back({std::clamp(landmark->step_x, -3.0, 3.0), landmark->correlation});
      ys.push_back({std::clamp(landmark->step_y, -3.0, 3.0), landmark->correlation});
    }
    return {weighted_median(xs), weighted_median(ys)};
  }

  /// Weights landmarks by their distance from a common move; returns the median distance.
  double weigh(const Pose& move) {
    std::vector<std::array<double, 2>> off;
    std::vector<double> distances;
    for (const auto& [landmark, weight] : votes_) {
      distances.push_back(from(*landmark, move));
      off.push_back({distances.back(), landmark->correlation});
    }
    const double middle = weighted_median(off);
    const double limit = kTukey * std::max(0.02, middle);
    for (std::size_t i = 0; i < votes_.size(); ++i) {
      const Landmark& landmark = *votes_[i].landmark;
      const double ratio = std::min(1.0, distances[i] / limit);
      // Landmarks that fit better count for more; strong ones have a bounded weight.
      const double strength = 1 / (1 + landmark.energy / (kPatchPixels * 400 * unit_ * unit_));
      const double clean = 1 / (1.05 - std::min(1.0, landmark.correlation));
      votes_[i].weight =
          (1 - ratio * ratio) * (1 - ratio * ratio) * strength * clean * std::clamp(landmark.gain, 0.05, 1.0);
    }
    return middle;
  }

  /// Weighted mean square distance from a move.
  double spread(const Pose& move) const {
    double sum = 0;
    double weights = 0;
    for (const auto& [landmark, weight] : votes_) {
      const double off = from(*landmark, move);
      sum += weight * off * off;
      weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
  }

  static double from(const Landmark& landmark, const Pose& move) {
    const auto [x, y] = move.shift_at(landmark.from_x, landmark.from_y);
    return distance(landmark.step_x - x, landmark.step_y - y);
  }

 private:
  double unit_;
  std::vector<Vote> votes_;
};

/// Derivatives of a landmark's position by each unknown: x, y, and for N = 4 rotation and zoom as shifts of
/// the picture's corners.
template <std::size_t N>
std::array<std::array<double, N>, 2> motion(const Landmark& landmark, double reach) {
  if constexpr (N == 2) {
    return {{{1, 0}, {0, 1}}};
  } else {
    const double x = landmark.from_x / reach;
    const double y = landmark.from_y / reach;
    return {{{1, 0, -y, x}, {0, 1, x, y}}};
  }
}

/// Solves the landmarks' normal equations, each entered as two rows by its Cholesky factor. The error of x
/// and y comes from the scatter of the landmarks, whatever its cause (White, 1980).
template <std::size_t N>
bool solve(const Votes& votes, double reach, Pose& move, double& error) {
  SmallLeastSquares<N> equations;
  for (const auto& [landmark, weight] : votes.all()) {
    if (!(weight > 0) || !(landmark->xx > 0)) continue;
    const auto rows = motion<N>(*landmark, reach);
    const double xx = std::sqrt(landmark->xx);
    const double xy = landmark->xy / xx;
    const double yy = std::sqrt(std::max(0.0, landmark->yy - xy * xy));
    std::array<double, N> first{}, second{};
    for (std::size_t i = 0; i < N; ++i) {
      first[i] = xx * rows[0][i] + xy * rows[1][i];
      second[i] = yy * rows[1][i];
    }
    const double value = landmark->tx / xx;
    equations.add(first, value, weight);
    if (yy > 0) equations.add(second, (landmark->ty - xy * value) / yy, weight);
  }
  std::array<double, N> found{};
  if (!equations.solve(found)) return false;
  move = {found[0], found[1]};
  if constexpr (N == 4) {
    move.rotation = found[2] / reach;
    move.zoom = found[3] / reach;
  }
  std::array<double, 2> variances{};
  const std::array influences{equations.influence(0), equations.influence(1)};
  for (const auto& [landmark, weight] : votes.all()) {
    if (!(weight > 0)) continue;
    const auto rows = motion<N>(*landmark, reach);
    const auto [x, y] = move.shift_at(landmark->from_x, landmark->from_y);
    const double left_x = weight * (landmark->tx - landmark->xx * x - landmark->xy * y);
    const double left_y = weight * (landmark->ty - landmark->xy * x - landmark->yy * y);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      double share = 0;
      for (std::size_t i = 0; i < N; ++i)
        share += influences[axis][i] * (rows[0][i] * left_x + rows[1][i] * left_y);
      variances[axis] += share * share;
    }
  }
  error = std::hypot(std::sqrt(std::max(variances[0], variances[1])), kInexactMove);
  return true;
}

}  // namespace

double weighted_median(std::vector<std::array<double, 2>>& values_and_weights) {
  std::ranges::sort(values_and_weights);
  double whole = 0;
  for (const auto& [value, weight] : values_and_weights) whole += weight;
  double sum = 0;
  for (const auto& [value, weight] : values_and_weights) {
    sum += weight;
    if (2 * sum >= whole) return value;
  }
  return 0;
}

CommonMove common_move(std::span<const Landmark> landmarks, bool turning, double reach, double unit) {
  CommonMove result;
  Votes votes(landmarks, unit);
  if (votes.all().size() < 4) return result;
  const double apart = votes.weigh(votes.median());
  if (!solve<2>(votes, reach, result.step, result.standard_error)) return result;
  result.found = true;
  if (votes.all().size() >= kTurnCount && (turning || apart > kMinDistance)) {
    const double spread = votes.spread(result.step);
    Pose turned = result.step;
    double error = 0;
    bool solved = true;
    // After a first guess of the turn, new weights exclude moving objects.
    for (int pass = 0; pass < 2 && solved; ++pass) {
      solved = solve<4>(votes, reach, turned, error);
      if (!solved) break;
      const bool tells = turning || (votes.spread(turned) < 0.5 * spread &&
                                     reach * distance(turned.rotation, turned.zoom) > kTurn);
      if (pass == 0 && !tells) break;
      if (pass == 0) {
        votes.weigh(turned);
        continue;
      }
      result.step = turned;
      result.standard_error = error;
    }
  }
  for (const Landmark& landmark : landmarks) {
    if (landmark.usable() && landmark.there() && Votes::from(landmark, result.step) < kTogether)
      ++result.agreeing;
  }
  return result;
}

}  // namespace sfft::video
