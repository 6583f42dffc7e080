// SPDX-License-Identifier: Apache-2.0
// Decodes frames on one thread and follows all regions on another.
#include "video/vibration/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "kernels/base/math/quantiles.hpp"
#include "sfft/error.hpp"
#include "video/sources/decoder.hpp"
#include "video/sources/samples.hpp"

namespace sfft::video {

namespace {

double mean_of(const SignalView& view) {
  return with_samples(view, [&](const auto* samples) {
    double sum = 0;
    for (std::int64_t row = 0; row < view.shape()[0]; ++row) {
      const auto* const begin = samples + row * view.stride(0);
      std::uint64_t line = 0;
      for (std::int64_t i = 0; i < view.shape()[1]; ++i) line += begin[i];
      sum += static_cast<double>(line);
    }
    return sum / static_cast<double>(view.shape().points());
  });
}

/// Tiles of equal size, centred in the region.
std::vector<Region> tiles_of(const Region& whole, int columns, int rows) {
  std::vector<Region> tiles;
  // Multiples of 8 have fast transforms, and the loss at the edges is small.
  const auto size = [](std::int64_t length, int parts) {
    const std::int64_t all = length / parts;
    return all >= 48 ? all / 8 * 8 : all;
  };
  const std::int64_t width = size(whole.width, columns);
  const std::int64_t height = size(whole.height, rows);
  const std::int64_t left = (whole.width - width * columns) / 2;
  const std::int64_t top = (whole.height - height * rows) / 2;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column)
      tiles.push_back({whole.x + left + column * width, whole.y + top + row * height, width, height});
  }
  return tiles;
}

/// Tiles of about 64 pixels, at most 10 in a row or column.
int automatic_tiles(std::int64_t length) {
  return static_cast<int>(std::clamp<std::int64_t>(length / 64, 1, 10));
}

class Following {
 public:
  Following(const VibrationOptions& options, VibrationSeries& series) : options_(options), series_(series) {}

  void start(const SignalView& view) {
    std::vector<Region> regions = options_.regions;
    if (regions.empty()) regions.push_back({0, 0, view.shape()[1], view.shape()[0]});
    const RegionMotionOptions whole{options_.k, options_.max_samples, 0};
    for (const Region& region : regions) {
      add(region, whole, view, motions_, series_.regions);
      watches_.emplace_back(view, region);
    }
    const Region& first = regions.front();
    const int columns = options_.tile_columns < 0 ? automatic_tiles(first.width) : options_.tile_columns;
    const int rows = options_.tile_rows < 0 ? automatic_tiles(first.height) : options_.tile_rows;
    if (columns < 1 || rows < 1 || (columns == 1 && rows == 1)) return;
    constexpr std::int64_t kMin = 16;
    if (first.width / columns < kMin || first.height / rows < kMin) {
      if (options_.tile_columns > 0)
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("{}x{} tiles of a region of {}x{} pixels are smaller than {} pixels: give fewer",
                        columns, rows, first.width, first.height, kMin));
      return;
    }
    series_.tile_columns = columns;
    series_.tile_rows = rows;
    const RegionMotionOptions small{0, 0, 1};
    for (const Region& tile : tiles_of(first, columns, rows)) add(tile, small, view, tiles_, series_.tiles);
  }

  void push(const SignalView& view) {
    const bool begin = series_.frames == 0;
    bool lost = false;
    for (std::size_t i = 0; i < motions_.size(); ++i) {
      const bool here = record(motions_[i], view, begin, series_.regions[i]);
      lost = lost || (i == 0 && here);
      RegionSeries& series = series_.regions[i];
      series.brightness.push_back(mean_of(part(view, motions_[i].region())));
      watches_[i].push(view, series.x.back(), series.y.back(), !std::isfinite(series.x.back()),
                       series.changes);
    }
    for (std::size_t i = 0; i < tiles_.size(); ++i) record(tiles_[i], view, begin, series_.tiles[i]);
    lost_ = lost ? lost_ + 1 : 0;
    if (lost_ >= patience_) change_scene(view);
    ++series_.frames;
  }

  void finish() {
    for (std::size_t i = 0; i < motions_.size(); ++i) {
      note(motions_[i], series_.regions[i]);
      watches_[i].finish(series_.regions[i].changes);
    }
    for (std::size_t i = 0; i < tiles_.size(); ++i) note(tiles_[i], series_.tiles[i]);
    if (scenes_ > 0)
      series_.warnings.push_back(fmt::format(
          "The picture changes {} time{} so much that its motion cannot be followed (first at frame "
          "{}); it goes on from there with a new reference.",
          scenes_, scenes_ == 1 ? "" : "s", first_scene_));
  }

 private:
  void add(const Region& region, const RegionMotionOptions& options, const SignalView& view,
           std::vector<RegionMotion>& motions, std::vector<RegionSeries>& series) {
    motions.emplace_back(view, region, options);
    RegionSeries one;
    one.region = region;
    series.push_back(std::move(one));
  }

  static void note(const RegionMotion& motion, RegionSeries& series) {
    series.structured = motion.structured();
    series.frequencies = motion.frequencies();
    series.samples_fraction = motion.samples_fraction();
    series.unevenness_px = motion.unevenness_px();
    series.rounding_px = motion.rounding_px();
    series.renewals = motion.renewals();
  }

  /// Adds the place of a region in a frame. Returns whether the region was lost.
  static bool record(RegionMotion& motion, const SignalView& view, bool begin, RegionSeries& series) {
    RegionSample sample;
    if (!begin) sample = motion.push(view);
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    series.x.push_back(sample.lost ? kUnknown : sample.x);
    series.y.push_back(sample.lost ? kUnknown : sample.y);
    series.error.push_back(static_cast<float>(std::sqrt(sample.covariance[0] + sample.covariance[2])));
    series.gain.push_back(static_cast<float>(sample.gain));
    return sample.lost && motion.structured();
  }

  void change_scene(const SignalView& view) {
    for (RegionMotion& motion : motions_) motion.renew(view);
    for (RegionMotion& tile : tiles_) tile.renew(view);
    if (scenes_++ == 0) first_scene_ = series_.frames;
    lost_ = 0;
    // If the scene changes repeatedly, objects are passing by and the old scene comes back, so waiting longer
    // is better.
    constexpr int kMax = 96;
    patience_ = std::min(2 * patience_, kMax);
  }

  const VibrationOptions& options_;
  VibrationSeries& series_;
  std::vector<RegionMotion> motions_, tiles_;
  std::vector<LocalChangesWatch> watches_;  ///< one per region
  int lost_ = 0;                            ///< consecutive lost frames
  int patience_ = 3;                        ///< max. consecutive lost frames before a new reference is taken
  std::int64_t scenes_ = 0, first_scene_ = 0;
};

/// Follows frames, or both fields of frames as pictures of half the height. The two kinds of fields have
/// separate references, because their lines lie between each other's.
class Pictures {
 public:
  Pictures(const VibrationOptions& options, Fields fields, VibrationSeries& series)
      : fields_(fields), options_(options), series_(series), whole_(options_, series) {
    if (fields_ == Fields::none) return;
    series_.fields = true;
    for (Region& region : options_.regions) {
      region.y /= 2;
      region.height /= 2;
    }
    later_.emplace(options_, later_series_);
  }

  void start(const SignalView& view) {
    whole_.start(field(view, 0));
    if (later_) later_->start(field(view, 1));
  }
  void push(const SignalView& view) {
    whole_.push(field(view, 0));
    if (later_) later_->push(field(view, 1));
  }
  void finish() {
    whole_.finish();
    if (!later_) return;
    later_->finish();
    for (std::size_t i = 0; i < series_.regions.size(); ++i)
      interleave(later_series_.regions[i], series_.regions[i]);
    for (std::size_t i = 0; i < series_.tiles.size(); ++i)
      interleave(later_series_.tiles[i], series_.tiles[i]);
    series_.frames *= 2;
    std::vector<double> seconds;
    std::vector<bool> between;
    const std::size_t frames = series_.seconds.size();
    for (std::size_t i = 0; i < frames; ++i) {
      const std::size_t from = i + 1 < frames ? i : std::max<std::size_t>(i, 1) - 1;
      const double half =
          frames > 1 ? 0.5 * (series_.seconds[from + 1] - series_.seconds[from]) : 0.5 / series_.input.fps;
      seconds.insert(seconds.end(), {series_.seconds[i], series_.seconds[i] + half});
      between.insert(between.end(), 2, series_.between[i]);
    }
    series_.seconds = std::move(seconds);
    series_.between = std::move(between);
    for (std::int64_t& number : series_.key_frames) number *= 2;
  }

 private:
  /// The earlier field (0) or the later one (1).
  SignalView field(const SignalView& view, int later) const {
    if (fields_ == Fields::none) return view;
    const std::int64_t first = (fields_ == Fields::top_first) == (later == 0) ? 0 : 1;
    return with_samples(view, [&](const auto* samples) {
      return SignalView::rows(samples + first * view.stride(0), {view.shape()[0] / 2, view.shape()[1]},
                              2 * view.stride(0));
    });
  }

  /// Inserts the values of later fields between those of earlier ones, minus their constant difference, which
  /// comes from the references.
  static void mix(const std::vector<double>& later, double scale, std::vector<double>& series) {
    std::vector<double> apart;
    for (std::size_t i = 0; i + 1 < series.size(); ++i) {
      const double difference = later[i] - 0.5 * (series[i] + series[i + 1]);
      if (std::isfinite(difference)) apart.push_back(difference);
    }
    const double offset = detail::median(std::move(apart), 0);
    std::vector<double> mixed;
    for (std::size_t i = 0; i < series.size(); ++i)
      mixed.insert(mixed.end(), {scale * series[i], scale * (later[i] - offset)});
    series = std::move(mixed);
  }

  static void interleave(const RegionSeries& later, RegionSeries& series) {
    constexpr double kLinesPerField = 2;
    mix(later.x, 1, series.x);
    mix(later.y, kLinesPerField, series.y);
    if (!series.brightness.empty()) mix(later.brightness, 1, series.brightness);
    const auto twice = [](const std::vector<float>& one, std::vector<float>& values) {
      std::vector<float> mixed;
      for (std::size_t i = 0; i < values.size(); ++i) mixed.insert(mixed.end(), {values[i], one[i]});
      values = std::move(mixed);
    };
    twice(later.error, series.error);
    twice(later.gain, series.gain);
    series.region.y *= 2;
    series.region.height *= 2;
    series.changes = {};  // the cells belong to one kind of field
  }

  Fields fields_;
  VibrationOptions options_;
  VibrationSeries& series_;
  Following whole_;
  VibrationSeries later_series_;
  std::optional<Following> later_;
};

void read(FrameSource& source, const VibrationOptions& options, const VibrationProgress& progress,
          const std::atomic<bool>& stop, Pictures& following, VibrationSeries& series) {
  Decoder decoder(source, {.limit = options.frames});
  while (!stop) {
    const auto frames = decoder.next(1, 1, stop);
    if (frames.empty()) return;
    const Frame& frame = frames[0].frame;
    if (series.frames == 0) {
      series.first_frame = frame;
      following.start(frame.view());
    } else if (frame.format() != series.first_frame.format()) {
      const auto text = [](const Frame& one) {
        return fmt::format("{}x{} with {} bits", one.width, one.height,
                           one.bit_depth16 ? "more than 8" : "8");
      };
      throw InputError(
          fmt::format("frame {} is {}, the first was {}: a motion is followed in frames of one size and "
                      "depth; the rest can be "
                      "read with --start",
                      series.frames, text(frame), text(series.first_frame)));
    }
    series.seconds.push_back(frame.seconds);
    if (frame.key) series.key_frames.push_back(series.frames);
    series.between.push_back(frame.between);
    following.push(frame.view());
    progress(series.frames, options.frames > 0 ? options.frames : series.input.frames_expected);
  }
}

}  // namespace

VibrationSeries follow(FrameSource& source, const VibrationOptions& options,
                       const VibrationProgress& progress, const std::atomic<bool>& stop) {
  VibrationSeries series;
  series.input = source.info();
  Pictures following(options, series.input.fields, series);
  try {
    read(source, options, progress, stop, following, series);
  } catch (const InputError& error) {
    series.status = RunStatus::input_damaged;
    series.message = error.what();
  }
  if (stop) {  // a signal that ends a blocked read is not damage
    series.status = RunStatus::interrupted;
    series.message =
        fmt::format("interrupted after {} frame{}", series.frames, series.frames == 1 ? "" : "s");
  } else if (series.frames == 0 && series.message.empty()) {
    series.status = RunStatus::input_damaged;
    series.message = fmt::format("'{}' holds no frames", series.input.path);
  }
  following.finish();
  if (series.frames > 0) {
    series.input.width = series.first_frame.width;
    series.input.height = series.first_frame.height;
  }
  series.input_log = source.log();
  for (std::string& warning : source.warnings()) series.warnings.push_back(std::move(warning));
  return series;
}

}  // namespace sfft::video
