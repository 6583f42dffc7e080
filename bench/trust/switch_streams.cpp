// SPDX-License-Identifier: Apache-2.0
// Draws scene, kinds and times, then sets each kind's strength by trial transforms of a plan.
#include "bench/trust/switch_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bench/trust/changes.hpp"
#include "bench/trust/error_ratios.hpp"
#include "bench/trust/video_stream.hpp"
#include "bench/trust/video_streams.hpp"

namespace sfft::trust {

namespace {

/// Grey values of a recording's first frame.
Image first_picture(const std::string& path) {
  const std::unique_ptr<Stream> stream = recording(path).make();
  const SignalView frame = stream->next();
  if (frame.shape().rank() != 2 || frame.type() != ElementType::u8 || !frame.contiguous())
    throw Error(ErrorCode::invalid_argument, fmt::format("{} does not hold 8-bit pictures", path));
  Image image(frame.shape()[0], frame.shape()[1]);
  const auto* const samples = static_cast<const std::uint8_t*>(frame.data());
  std::copy(samples, samples + image.values.size(), image.values.begin());
  return image;
}

std::shared_ptr<const Image> draw_picture(Random& random, const std::vector<std::string>& recordings) {
  constexpr std::int64_t kSizes[][2] = {{120, 160}, {120, 160}, {144, 176}, {180, 240}};
  const auto& size = kSizes[random.below(4)];
  if (!recordings.empty() && random.chance(0.5)) {
    const auto which = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(recordings.size())));
    const Image whole = first_picture(recordings[which]);
    Image part(std::min(size[0], whole.rows), std::min(size[1], whole.columns));
    const auto top = random.integer(0, whole.rows - part.rows);
    crop(whole, static_cast<double>(top),
         static_cast<double>(random.integer(0, whole.columns - part.columns)), part);
    return std::make_shared<const Image>(std::move(part));
  }
  SceneSettings scene;
  scene.exponent = random.uniform(0.8, 1.3);
  scene.edges = static_cast<int>(random.integer(2, 24));
  scene.mean = random.uniform(60, 190);
  scene.contrast = random.log_uniform(8, 70);
  scene.blur = random.chance(0.5) ? random.uniform(0.4, 1.5) : 0;
  return std::make_shared<const Image>(natural_scene(size[0], size[1], scene, random));
}

/// Finds strengths at which a plan reports a wanted error.
class Matching {
 public:
  explicit Matching(VideoSettings settings, std::int64_t k) : settings_(std::move(settings)) {
    const std::unique_ptr<Stream> stream = make_video(settings_);
    plan_.emplace(learn(stream->next(), {.keep = Largest{k}, .reference = true}));
  }

  /// Median of the errors that the plan reports for a few frames of the change.
  double level(const ChangeKind& kind, double strength, std::uint64_t seed) {
    VideoSettings settings = settings_;
    settings.effects.insert(settings.effects.begin(), later(kind.make(strength, seed)));
    settings.seed = seed;
    const std::unique_ptr<Stream> stream = make_video(std::move(settings));
    std::vector<double> levels;
    for (int i = 0; i < 5; ++i) {
      levels.push_back(plan_->execute(stream->next()).quality.relative_error);
    }
    return median(std::move(levels));
  }

  double strength_for(const ChangeKind& kind, double wanted, std::uint64_t seed) {
    double low = std::log(kind.min_strength), high = std::log(kind.max_strength);
    for (int i = 0; i < 7; ++i) {
      const double middle = (low + high) / 2;
      (level(kind, std::exp(middle), seed) < wanted ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
  }

 private:
  /// Spaces the examined frames some time apart.
  static Effect later(Effect effect) {
    constexpr std::int64_t kApart = 17;
    return
        [=](Image& image, std::int64_t index, Random& random) { effect(image, 1 + kApart * index, random); };
  }

  VideoSettings settings_;
  std::optional<Plan<float>> plan_;
};

std::vector<std::int64_t> draw_starts(Random& random, std::int64_t frames) {
  constexpr std::int64_t kShortest = 60, kLongest = 400;
  std::vector<std::int64_t> starts{1};
  for (;;) {
    const std::int64_t next = starts.back() + random.integer(kShortest, kLongest);
    if (next + kShortest > frames) return starts;
    starts.push_back(next);
  }
}

struct Drawn {
  std::size_t kind;
  std::uint64_t seed;
  double strength = 0;
};

/// Draws only a few kinds, so that some recur.
std::vector<Drawn> draw_kinds(Random& random) {
  const auto count = static_cast<std::int64_t>(change_kinds().size());
  std::vector<Drawn> drawn;
  while (drawn.size() < 4) {
    const auto kind = static_cast<std::size_t>(random.below(count));
    const auto same = [&](const Drawn& one) { return one.kind == kind; };
    if (std::ranges::none_of(drawn, same)) drawn.push_back({kind, random.bits()});
  }
  return drawn;
}

}  // namespace

std::size_t SwitchStream::segment_of(std::int64_t frame) const {
  const auto after = [](std::int64_t f, const Segment& segment) { return f < segment.start; };
  const auto next = std::upper_bound(segments.begin(), segments.end(), frame, after);
  return next == segments.begin() ? 0 : static_cast<std::size_t>(next - segments.begin()) - 1;
}

SwitchStream switch_stream(std::uint64_t seed, std::int64_t index, std::int64_t frames,
                           const std::vector<std::string>& recordings) {
  Random random(seed, static_cast<std::uint64_t>(index));
  VideoSettings settings;
  settings.picture = draw_picture(random, recordings);
  settings.shape = Shape{settings.picture->rows, settings.picture->columns};
  settings.type = random.chance(0.8) ? ElementType::u8 : ElementType::f32;
  const double noise =
      settings.type == ElementType::u8 ? random.log_uniform(0.3, 1.2) : random.log_uniform(0.05, 1.2);
  settings.effects.push_back(gaussian_noise(noise));
  settings.seed = random.bits();

  SwitchStream out;
  out.k = std::clamp<std::int64_t>(settings.shape.points() / 64, 1, 1000);
  const bool matched = random.chance(0.75);
  Matching matching(settings, out.k);
  std::vector<Drawn> drawn = draw_kinds(random);
  double wanted = random.log_uniform(0.004, 0.15);
  for (Drawn& one : drawn) {
    if (!matched) wanted = random.log_uniform(0.004, 0.15);
    one.strength = matching.strength_for(change_kinds()[one.kind], wanted, one.seed);
  }
  std::vector<Effect> changes;
  for (const Drawn& one : drawn) changes.push_back(change_kinds()[one.kind].make(one.strength, one.seed));
  std::vector<std::size_t> chosen;
  for (const std::int64_t start : draw_starts(random, frames)) {
    std::size_t which = static_cast<std::size_t>(random.below(4));
    while (!chosen.empty() && which == chosen.back()) which = static_cast<std::size_t>(random.below(4));
    chosen.push_back(which);
    out.segments.push_back({start, drawn[which].kind, drawn[which].strength});
  }
  out.parameters =
      fmt::format("{} {}, noise {:.2g}, {}", settings.shape.to_string(), to_string(settings.type), noise,
                  matched ? fmt::format("matched at {:.3g}", wanted) : "not matched");
  settings.effects.insert(settings.effects.begin(), [changes, chosen, segments = out.segments](
                                                        Image& image, std::int64_t frame, Random& of_frame) {
    std::size_t now = segments.size();
    while (now > 0 && segments[now - 1].start > frame) --now;
    if (now > 0) changes[chosen[now - 1]](image, frame, of_frame);
  });
  out.stream = make_video(std::move(settings));
  return out;
}

}  // namespace sfft::trust
