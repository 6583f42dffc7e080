// SPDX-License-Identifier: Apache-2.0
// Each coordinate is a weighted sum of a cell's samples. The weights are an orthonormal basis of the slopes
// and light patterns of the smoothed reference, by the Gram-Schmidt method. They include the smoothing.
#include "video/vibration/local_changes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "video/sources/samples.hpp"

namespace sfft::video {

namespace {

constexpr std::int64_t kMinEdge = 24, kMaxCells = 192;
/// Margin around the cells in pixels: how far a region may drift before it gets a new reference.
constexpr std::int64_t kMargin = 4;
constexpr std::size_t kMaxValues = std::size_t{64} << 20;  ///< max. number of values kept: 256 MiB
/// A pattern whose remaining energy is below this share counts as explained by the other kind.
constexpr double kShared = 0.02;

constexpr std::int64_t kRing = 2;  ///< pixels that smoothing and slopes lose at each side of a cell
constexpr double kFew = 16;        ///< a reference is the mean of this many frames

using Pattern = std::vector<double>;

double dot(const Pattern& a, const Pattern& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Removes from `pattern` the part that `basis` explains. The second round removes rounding errors.
void project_out(const std::vector<Pattern>& basis, Pattern& pattern) {
  for (int round = 0; round < 2; ++round) {
    for (const Pattern& one : basis) {
      const double share = dot(one, pattern);
      for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] -= share * one[i];
    }
  }
}

/// Adds to `basis` the normalised part of `pattern` that is orthogonal to `basis` and `others`, or zeros if
/// almost nothing is left.
void add_direction(Pattern pattern, const std::vector<Pattern>& others, std::vector<Pattern>& basis) {
  const double whole = dot(pattern, pattern);
  project_out(others, pattern);
  project_out(basis, pattern);
  const double left = dot(pattern, pattern);
  const double scale = left > kShared * whole && left > 0 ? 1 / std::sqrt(left) : 0;
  for (double& value : pattern) value *= scale;
  basis.push_back(std::move(pattern));
}

/// Smooths with a 3 x 3 binomial filter; the outermost ring of the result is 0.
Pattern smoothed(const Pattern& picture, std::int64_t width, std::int64_t height) {
  Pattern across(picture.size());
  Pattern result(picture.size());
  const auto at = [&](std::int64_t x, std::int64_t y) { return static_cast<std::size_t>(y * width + x); };
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 1; x + 1 < width; ++x)
      across[at(x, y)] =
          0.25 * picture[at(x - 1, y)] + 0.5 * picture[at(x, y)] + 0.25 * picture[at(x + 1, y)];
  for (std::int64_t y = 1; y + 1 < height; ++y)
    for (std::int64_t x = 1; x + 1 < width; ++x)
      result[at(x, y)] = 0.25 * across[at(x, y - 1)] + 0.5 * across[at(x, y)] + 0.25 * across[at(x, y + 1)];
  return result;
}

/// The transpose of smoothed(), for patterns that are 0 in the outermost ring.
Pattern spread(const Pattern& pattern, std::int64_t width, std::int64_t height) {
  Pattern result(pattern.size());
  constexpr std::array<double, 3> kBinomial = {0.25, 0.5, 0.25};
  for (std::int64_t y = 1; y + 1 < height; ++y) {
    for (std::int64_t x = 1; x + 1 < width; ++x) {
      const double value = pattern[static_cast<std::size_t>(y * width + x)];
      for (std::int64_t dy = -1; dy <= 1; ++dy)
        for (std::int64_t dx = -1; dx <= 1; ++dx)
          result[static_cast<std::size_t>((y + dy) * width + x + dx)] +=
              kBinomial[static_cast<std::size_t>(dx + 1)] * kBinomial[static_cast<std::size_t>(dy + 1)] *
              value;
    }
  }
  return result;
}

/// The patterns of a cell: slopes to the right and down, then those of light.
std::array<Pattern, kCellCoordinates> patterns_of(const Pattern& cell, std::int64_t width,
                                                  std::int64_t height) {
  std::array<Pattern, kCellCoordinates> patterns;
  for (Pattern& one : patterns) one.assign(cell.size(), 0);
  double mean = 0;
  for (const double value : cell) mean += value / static_cast<double>(cell.size());
  for (std::int64_t y = kRing; y + kRing < height; ++y) {
    for (std::int64_t x = kRing; x + kRing < width; ++x) {
      const auto i = static_cast<std::size_t>(y * width + x);
      const auto row = static_cast<std::size_t>(width);
      const double u = 2 * static_cast<double>(x) / static_cast<double>(width - 1) - 1;
      const double v = 2 * static_cast<double>(y) / static_cast<double>(height - 1) - 1;
      const double here = cell[i];
      patterns[0][i] = 0.5 * (cell[i - 1] - cell[i + 1]);
      patterns[1][i] = 0.5 * (cell[i - row] - cell[i + row]);
      patterns[2][i] = 1;
      patterns[3][i] = here;
      patterns[4][i] = u;
      patterns[5][i] = v;
      patterns[6][i] = u * here;
      patterns[7][i] = v * here;
      patterns[8][i] = (here - mean) * (here - mean);
      patterns[9][i] = cell[i - 1] + cell[i + 1] + cell[i - row] + cell[i + row] - 4 * here;
    }
  }
  return patterns;
}

/// Calls `use(row of the frame, row of the cell)` for a cell that is shifted by whole pixels.
template <class Sample, class Use>
void for_rows(const SignalView& frame, const Region& cell, std::int64_t shift_x, std::int64_t shift_y,
              const Use& use) {
  const auto* const samples = static_cast<const Sample*>(frame.data());
  for (std::int64_t y = 0; y < cell.height; ++y)
    use(samples + (cell.y + shift_y + y) * frame.stride(0) + cell.x + shift_x, y);
}

/// Computes the weighted sums of a cell.
template <class Sample>
void coordinates_of(const SignalView& frame, const Region& cell, std::int64_t shift_x, std::int64_t shift_y,
                    const float* weights, float* coordinates) {
  const auto width = static_cast<std::size_t>(cell.width);
  const std::size_t points = width * static_cast<std::size_t>(cell.height);
  std::array<float, kCellCoordinates> sums{};
  std::vector<float> line(width);
  for_rows<Sample>(frame, cell, shift_x, shift_y, [&](const Sample* samples, std::int64_t y) {
    for (std::size_t x = 0; x < width; ++x) line[x] = static_cast<float>(samples[x]);
    for (std::size_t k = 0; k < kCellCoordinates; ++k) {
      const float* const weight = weights + k * points + static_cast<std::size_t>(y) * width;
      float sum = 0;
      for (std::size_t x = 0; x < width; ++x) sum += weight[x] * line[x];
      sums[k] += sum;
    }
  });
  std::ranges::copy(sums, coordinates);
}

/// Energy of a cell's samples without the means of rows and columns, because bands of light change these.
double energy_without_bands(Pattern cell, std::size_t width) {
  const std::size_t height = cell.size() / width;
  Pattern columns(width);
  for (std::size_t y = 0; y < height; ++y) {
    double mean = 0;
    for (std::size_t x = 0; x < width; ++x) mean += cell[y * width + x] / static_cast<double>(width);
    for (std::size_t x = 0; x < width; ++x) {
      cell[y * width + x] -= mean;
      columns[x] += cell[y * width + x] / static_cast<double>(height);
    }
  }
  double energy = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) energy += std::pow(cell[i] - columns[i % width], 2);
  return energy;
}

}  // namespace

LocalChangesWatch::LocalChangesWatch(const SignalView& frame, const Region& region) : region_(region) {
  const std::int64_t width = region.width - 2 * kMargin;
  const std::int64_t height = region.height - 2 * kMargin;
  if (width < kMinEdge || height < kMinEdge) return;
  const double area = static_cast<double>(width) * static_cast<double>(height);
  const auto edge = std::max(kMinEdge, static_cast<std::int64_t>(std::ceil(std::sqrt(area / kMaxCells))));
  const std::int64_t columns = std::max<std::int64_t>(1, width / edge);
  const std::int64_t rows = std::max<std::int64_t>(1, height / edge);
  const Region cell{0, 0, width / columns, height / rows};
  inner_ = {region.x + kMargin, region.y + kMargin, columns * cell.width, rows * cell.height};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column)
      cells_.push_back({region.x + kMargin + column * cell.width, region.y + kMargin + row * cell.height,
                        cell.width, cell.height});
  }
  base_.assign(cells_.size() * kCellCoordinates, 0);
  usual_ = latest_ = base_;
  mean_ = reference_ = to_picture(part(frame, region));
  learn();
}

void LocalChangesWatch::learn() {
  const Region& first = cells_.front();
  const auto points = static_cast<std::size_t>(first.width * first.height);
  const std::size_t values = cells_.size() * kCellCoordinates;
  weights_.assign(values * points, 0);
  at_reference_.assign(values, 0);
  for (auto& one : shifts_) one.assign(values, 0);
  for (std::size_t i = 0; i < cells_.size(); ++i) learn_cell(i);
  normal_ = {};
  for (std::size_t i = 0; i < values; ++i) {
    normal_[0] += double{shifts_[0][i]} * double{shifts_[0][i]};
    normal_[1] += double{shifts_[0][i]} * double{shifts_[1][i]};
    normal_[2] += double{shifts_[1][i]} * double{shifts_[1][i]};
  }
}

void LocalChangesWatch::learn_cell(std::size_t index) {
  const Region& cell = cells_[index];
  const auto points = static_cast<std::size_t>(cell.width * cell.height);
  Pattern samples;
  samples.reserve(points);
  for (std::int64_t y = 0; y < cell.height; ++y) {
    const auto row =
        static_cast<std::size_t>((cell.y - region_.y + y) * reference_.width + cell.x - region_.x);
    for (std::size_t x = 0; x < static_cast<std::size_t>(cell.width); ++x)
      samples.push_back(reference_.samples[row + x]);
  }
  const auto patterns = patterns_of(smoothed(samples, cell.width, cell.height), cell.width, cell.height);
  std::vector<Pattern> motion, light, directions, light_alone;
  for (std::size_t k = 0; k < kMotionCoordinates; ++k) add_direction(patterns[k], {}, motion);
  for (std::size_t k = kMotionCoordinates; k < kCellCoordinates; ++k) add_direction(patterns[k], {}, light);
  for (std::size_t k = 0; k < kMotionCoordinates; ++k) add_direction(patterns[k], light, directions);
  for (std::size_t k = kMotionCoordinates; k < kCellCoordinates; ++k)
    add_direction(patterns[k], motion, light_alone);
  std::ranges::move(light_alone, std::back_inserter(directions));
  for (std::size_t k = 0; k < kCellCoordinates; ++k) {
    const std::size_t value = index * kCellCoordinates + k;
    for (std::size_t axis = 0; axis < shifts_.size(); ++axis)
      shifts_[axis][value] =
          static_cast<float>(k < kMotionCoordinates ? dot(directions[k], patterns[axis]) : 0);
    const Pattern weight = spread(directions[k], cell.width, cell.height);
    at_reference_[value] = static_cast<float>(dot(weight, samples));
    std::ranges::transform(weight, weights_.begin() + static_cast<std::ptrdiff_t>(value * points),
                           [](double one) { return static_cast<float>(one); });
  }
}

/// Includes the frame in the means of the latest frames.
void LocalChangesWatch::average(const SignalView& frame) {
  const auto share = static_cast<float>(1 / std::min(kFew, since_ + 1));
  with_samples(frame, [&]<class Sample>(const Sample*) {
    for_rows<Sample>(frame, inner_, shift_x_, shift_y_, [&](const Sample* samples, std::int64_t y) {
      float* const row =
          mean_.samples.data() + (inner_.y - region_.y + y) * mean_.width + inner_.x - region_.x;
      for (std::int64_t x = 0; x < inner_.width; ++x)
        row[x] += share * (static_cast<float>(samples[x]) - row[x]);
    });
  });
  for (std::size_t i = 0; i < usual_.size(); ++i) usual_[i] += share * (latest_[i] - usual_[i]);
}

/// Makes the mean of the latest frames the reference, shifted by whole pixels to where the region is now.
void LocalChangesWatch::renew(const SignalView& frame) {
  reference_ = to_picture(part(frame, region_));
  for (std::int64_t y = 0; y < inner_.height; ++y) {
    for (std::int64_t x = 0; x < inner_.width; ++x) {
      const std::int64_t from_x = inner_.x - region_.x + x;
      const std::int64_t from_y = inner_.y - region_.y + y;
      const std::int64_t to_x = from_x + shift_x_;
      const std::int64_t to_y = from_y + shift_y_;
      if (to_x < 0 || to_y < 0 || to_x >= mean_.width || to_y >= mean_.height) continue;
      reference_.samples[static_cast<std::size_t>(to_y * mean_.width + to_x)] =
          mean_.samples[static_cast<std::size_t>(from_y * mean_.width + from_x)];
    }
  }
  base_ = usual_;
  begin_at(base_x_ + shift_x_, base_y_ + shift_y_);
}

/// Makes a frame the reference after the picture has jumped to (x, y).
void LocalChangesWatch::renew_at(const SignalView& frame, double x, double y) {
  reference_ = to_picture(part(frame, region_));
  base_ = latest_;
  begin_at(x, y);
}

void LocalChangesWatch::begin_at(double x, double y) {
  mean_ = reference_;
  base_x_ = x;
  base_y_ = y;
  shift_x_ = shift_y_ = 0;
  place_x_ = place_y_ = 0;
  since_ = 0;
  learn();
}

/// Computes the coordinates of a frame. Returns the common shift of its cells in addition to the current
/// shift by whole pixels.
std::array<double, 2> LocalChangesWatch::measure(const SignalView& frame) {
  const auto points = static_cast<std::size_t>(cells_[0].width * cells_[0].height);
  double along_x = 0;
  double along_y = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    std::array<float, kCellCoordinates> sums{};
    const float* const weights = weights_.data() + i * kCellCoordinates * points;
    with_samples(frame, [&]<class Sample>(const Sample*) {
      coordinates_of<Sample>(frame, cells_[i], shift_x_, shift_y_, weights, sums.data());
    });
    for (std::size_t k = 0; k < kCellCoordinates; ++k) {
      const std::size_t value = i * kCellCoordinates + k;
      const float change = sums[k] - at_reference_[value];
      along_x += double{shifts_[0][value]} * double{change};
      along_y += double{shifts_[1][value]} * double{change};
      latest_[value] = base_[value] + change + static_cast<float>(shift_x_) * shifts_[0][value] +
                       static_cast<float>(shift_y_) * shifts_[1][value];
    }
  }
  const auto& [xx, xy, yy] = normal_;
  const double determinant = xx * yy - xy * xy;
  if (!(determinant > 1e-6 * xx * yy)) return {0, 0};
  return {(yy * along_x - xy * along_y) / determinant, (xx * along_y - xy * along_x) / determinant};
}

/// Whether the cells match the reference better after a shift to (x, y), in whole pixels, than at their
/// current place. The test is needed because registration also follows bands of light.
bool LocalChangesWatch::looks_moved(const SignalView& frame, double x, double y) const {
  const std::int64_t to_x = std::lround(x), to_y = std::lround(y);
  double here = 0, there = 0;
  with_samples(frame, [&]<class Sample>(const Sample*) {
    for (const Region& cell : cells_) {
      if (cell.x + to_x < 0 || cell.x + to_x + cell.width > frame.shape()[1] || cell.y + to_y < 0 ||
          cell.y + to_y + cell.height > frame.shape()[0])
        continue;
      const auto energy = [&](std::int64_t shift_x, std::int64_t shift_y) {
        Pattern difference;
        for_rows<Sample>(frame, cell, shift_x, shift_y, [&](const Sample* samples, std::int64_t row) {
          const float* const usual =
              reference_.samples.data() + (cell.y - region_.y + row) * reference_.width + cell.x - region_.x;
          for (std::int64_t i = 0; i < cell.width; ++i)
            difference.push_back(static_cast<double>(samples[i]) - static_cast<double>(usual[i]));
        });
        return energy_without_bands(std::move(difference), static_cast<std::size_t>(cell.width));
      };
      here += energy(shift_x_, shift_y_);
      there += energy(to_x, to_y);
    }
  });
  return there <= here;  // also true if no cell can be compared, because the shift is too large
}

void LocalChangesWatch::push(const SignalView& frame, double x, double y, bool lost, LocalChanges& changes) {
  if (cells_.empty()) return;
  const std::size_t values = cells_.size() * kCellCoordinates;
  if (changes.values.size() + values > kMaxValues) return;
  if (!lost) {
    // Slopes cannot measure a jump this large.
    constexpr double kJump = 3;
    const double away = std::hypot(x - base_x_ - place_x_, y - base_y_ - place_y_);
    if (away > kJump && looks_moved(frame, x - base_x_, y - base_y_)) {
      renew_at(frame, x, y);
    } else if (std::abs(shift_x_) > kMargin || std::abs(shift_y_) > kMargin || frames_ == kFew) {
      renew(frame);
    }
    const auto [away_x, away_y] = measure(frame);
    average(frame);
    // The cells follow only drift, by whole pixels, so that vibration stays in the changes. They do not
    // follow the region's place, because light may move it.
    const double share = 1 / std::min(kFew, frames_ + 1);
    place_x_ += share * (shift_x_ + std::clamp(away_x, -1.0, 1.0) - place_x_);
    place_y_ += share * (shift_y_ + std::clamp(away_y, -1.0, 1.0) - place_y_);
    constexpr double kAway = 0.8;  // more than half a pixel, to avoid switching back and forth
    if (std::abs(place_x_ - shift_x_) > kAway) shift_x_ = static_cast<int>(std::lround(place_x_));
    if (std::abs(place_y_ - shift_y_) > kAway) shift_y_ = static_cast<int>(std::lround(place_y_));
    ++frames_;
    ++since_;
  }
  changes.values.insert(changes.values.end(), latest_.begin(), latest_.end());
  ++changes.frames;
}

void LocalChangesWatch::finish(LocalChanges& changes) const {
  changes.cells = cells_;
  changes.shifts = shifts_;
  if (cells_.empty()) return;
  const auto width = static_cast<std::size_t>(cells_[0].width);
  const auto height = static_cast<std::size_t>(cells_[0].height);
  const std::size_t values = cells_.size() * kCellCoordinates;
  for (auto& response : changes.responses) {
    response.by_row.assign(values * height, 0);
    response.by_column.assign(values * width, 0);
  }
  for (std::size_t value = 0; value < values; ++value) {
    const Region& cell = cells_[value / kCellCoordinates];
    const float* weight = weights_.data() + value * width * height;
    for (std::size_t y = 0; y < height; ++y) {
      const float* const samples = reference_.samples.data() +
                                   (cell.y - region_.y + static_cast<std::int64_t>(y)) * reference_.width +
                                   (cell.x - region_.x);
      for (std::size_t x = 0; x < width; ++x, ++weight) {
        changes.responses[0].by_row[value * height + y] += *weight * samples[x];
        changes.responses[0].by_column[value * width + x] += *weight * samples[x];
        changes.responses[1].by_row[value * height + y] += *weight;
        changes.responses[1].by_column[value * width + x] += *weight;
      }
    }
  }
}

}  // namespace sfft::video
