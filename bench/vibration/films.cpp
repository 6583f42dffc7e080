// SPDX-License-Identifier: Apache-2.0
// A scene is a sum of soft spots and surfaces with blurred edges, evaluated at its true position in every
// frame. It is multiplied by the light, and then passes the tone curve, shot noise and rounding to 8 bits.
#include "bench/vibration/films.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "bench/trust/random.hpp"

namespace sfft::bench {

namespace {

using trust::Random;

constexpr double kTurn = 2 * std::numbers::pi;

using Field = std::vector<double>;  ///< one value per pixel, row-major

struct Size {
  int width = 0, height = 0;
  std::size_t points() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

/// The reflectance at any position of the picture.
class Scene {
 public:
  Scene(Size size, Random& draw) : size_(size) {
    const double area = static_cast<double>(size.points());
    base_ = draw.uniform(60, 130);
    const auto surfaces = draw.integer(3, 12);
    for (int i = 0; i < surfaces; ++i) {
      const double width = draw.log_uniform(12, size.width * 0.7);
      const double height = draw.log_uniform(12, size.height * 0.7);
      surfaces_.push_back({draw.uniform(-0.1, 1) * size.width, draw.uniform(-0.1, 1) * size.height, width,
                           height, draw.uniform(-45, 60), draw.uniform(0.6, 1.6)});
    }
    const auto spots = static_cast<int>(area / draw.log_uniform(60, 500));
    const double contrast = draw.log_uniform(8, 40);
    for (int i = 0; i < spots; ++i) {
      spots_.push_back({draw.uniform(-6, size.width + 6), draw.uniform(-6, size.height + 6),
                        draw.log_uniform(1.0, 6), draw.uniform(-contrast, contrast)});
    }
  }

  /// Samples the scene moved by (dx, dy).
  Field at(double dx, double dy) const {
    Field field(size_.points(), base_);
    for (const Surface& one : surfaces_) add_surface(one, dx, dy, field);
    for (const Spot& one : spots_) add_spot(one, dx, dy, field);
    return field;
  }

 private:
  struct Surface {
    double x, y, width, height, level, blur;
  };
  struct Spot {
    double x, y, size, level;
  };

  static double step(double place, double blur) { return 0.5 + 0.5 * std::erf(place / blur); }

  void add_surface(const Surface& one, double dx, double dy, Field& field) const {
    std::vector<double> across;
    for (int x = 0; x < size_.width; ++x)
      across.push_back(step(x - one.x - dx, one.blur) * step(one.x + one.width + dx - x, one.blur));
    for (int y = 0; y < size_.height; ++y) {
      const double down =
          one.level * step(y - one.y - dy, one.blur) * step(one.y + one.height + dy - y, one.blur);
      if (std::abs(down) < 1e-3) continue;
      double* const row = field.data() + static_cast<std::ptrdiff_t>(y) * size_.width;
      for (int x = 0; x < size_.width; ++x) row[x] += down * across[static_cast<std::size_t>(x)];
    }
  }

  void add_spot(const Spot& one, double dx, double dy, Field& field) const {
    const double cx = one.x + dx;
    const double cy = one.y + dy;
    const int reach = static_cast<int>(4 * one.size) + 2;
    const int left = std::max(0, static_cast<int>(cx) - reach);
    const int right = std::min(size_.width, static_cast<int>(cx) + reach);
    if (left >= right) return;
    std::vector<double> across;
    for (int x = left; x < right; ++x)
      across.push_back(one.level * std::exp(-0.5 * std::pow((x - cx) / one.size, 2)));
    for (int y = std::max(0, static_cast<int>(cy) - reach);
         y < std::min(size_.height, static_cast<int>(cy) + reach); ++y) {
      const double down = std::exp(-0.5 * std::pow((y - cy) / one.size, 2));
      double* const row = field.data() + static_cast<std::ptrdiff_t>(y) * size_.width + left;
      for (std::size_t i = 0; i < across.size(); ++i) row[i] += down * across[i];
    }
  }

  Size size_;
  double base_ = 0;
  std::vector<Surface> surfaces_;
  std::vector<Spot> spots_;
};

/// Changes a picture for the time t.
using Effect = std::function<void(double t, Field& field)>;

/// A lamp's brightness over time, roughly in [-1, 1].
std::function<double(double)> lamp_course(double hz, Random& draw) {
  const double phase = draw.phase();
  const double second = draw.uniform(0, 0.3);
  const double wander = draw.chance(0.5) ? draw.uniform(0, 0.02) : 0;
  const double slow = draw.uniform(0.05, 0.3);
  return [=](double t) {
    const double turn = kTurn * hz * t + wander * hz * std::sin(kTurn * slow * t) / slow + phase;
    return std::cos(turn) + second * std::cos(2 * turn + 1);
  };
}

/// Flicker frequency: 100 or 120 Hz with the drift of the mains.
double mains(Random& draw) {
  return (draw.chance(0.5) ? 100 : 120) * (1 + 0.001 * draw.normal());
}

Effect flicker(Size, Random& draw) {
  const auto course = lamp_course(mains(draw), draw);
  const double depth = draw.log_uniform(0.003, 0.2);
  return [=](double t, Field& field) {
    const double gain = 1 + depth * course(t);
    for (double& value : field) value *= gain;
  };
}

/// Bands along rows or columns, `period` lines long.
Effect bands_of(Size size, double hz, double period, double depth, double sharpness, Random& draw) {
  const bool rows = draw.chance(0.65);
  const double sign = draw.chance(0.5) ? 1 : -1;
  const double phase = draw.phase();
  return [=](double t, Field& field) {
    std::vector<double> gain;
    for (int i = 0; i < (rows ? size.height : size.width); ++i) {
      const double wave = std::cos(kTurn * (hz * t + sign * i / period) + phase);
      gain.push_back(1 + depth * (sharpness > 0 ? std::tanh(sharpness * wave) : wave));
    }
    std::size_t at = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) field[at++] *= gain[static_cast<std::size_t>(rows ? y : x)];
  };
}

Effect bands(Size size, Random& draw) {
  const int lines = std::max(size.width, size.height);
  return bands_of(size, mains(draw), draw.log_uniform(20, 3.0 * lines), draw.log_uniform(0.005, 0.2), 0,
                  draw);
}

Effect dimming(Size size, Random& draw) {
  return bands_of(size, draw.uniform(150, 2000), draw.log_uniform(6, 60), draw.log_uniform(0.01, 0.4),
                  draw.uniform(1, 8), draw);
}

Effect lamp(Size size, Random& draw) {
  const auto course = lamp_course(draw.chance(0.6) ? mains(draw) : draw.uniform(2, 60), draw);
  const double depth = draw.log_uniform(0.01, 0.4);
  const double cx = draw.uniform(0, size.width);
  const double cy = draw.uniform(0, size.height);
  const double reach = draw.log_uniform(0.08, 0.6) * size.width;
  Field glow;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      glow.push_back(1 / (1 + std::pow(std::hypot(x - cx, y - cy) / reach, 2)));
  return [=](double t, Field& field) {
    const double now = depth * course(t);
    for (std::size_t i = 0; i < field.size(); ++i) field[i] *= 1 + now * glow[i];
  };
}

Effect screen(Size size, Random& draw) {
  const auto course = lamp_course(draw.uniform(1, 75), draw);
  const double depth = draw.log_uniform(0.01, 0.5);
  const double width = draw.uniform(0.1, 0.5) * size.width;
  const double height = draw.uniform(0.1, 0.5) * size.height;
  const double left = draw.uniform(0, size.width - width);
  const double top = draw.uniform(0, size.height - height);
  const double scan = draw.chance(0.5) ? draw.uniform(0.5, 2) / height : 0;
  const double level = draw.uniform(30, 120);  // light that the screen emits
  return [=](double t, Field& field) {
    for (int y = std::max(0, static_cast<int>(top)); y < top + height && y < size.height; ++y) {
      const double now = depth * (scan > 0 ? course(t + 0.01 * scan * (y - top)) : course(t));
      double* const row = field.data() + static_cast<std::ptrdiff_t>(y) * size.width;
      for (int x = static_cast<int>(left); x < left + width && x < size.width; ++x)
        row[x] += now * (level + 0.3 * row[x]);
    }
  };
}

Effect exposure(Size, Random& draw) {
  const double hz = draw.log_uniform(0.3, 6);
  const double depth = draw.log_uniform(0.01, 0.3);
  const double steps = draw.chance(0.5) ? draw.log_uniform(0.002, 0.05) : 0;
  const auto course = lamp_course(hz, draw);
  return [=](double t, Field& field) {
    double gain = depth * course(t);
    if (steps > 0) gain = steps * std::round(gain / steps);
    for (double& value : field) value *= 1 + gain;
  };
}

Effect gamma(Size, Random& draw) {
  const auto course = lamp_course(draw.log_uniform(0.5, 8), draw);
  const double power = draw.log_uniform(0.005, 0.15);
  const double tint = draw.log_uniform(0.002, 0.05);
  const double lift = draw.uniform(0, 4);
  return [=](double t, Field& field) {
    const double now = course(t);
    for (double& value : field) {
      const double part = std::max(value, 0.0) / 255;
      value = 255 * std::pow(part, 1 + power * now) * (1 + tint * now) + lift * now;
    }
  };
}

Effect shadow(Size size, Random& draw) {
  const double hz = draw.log_uniform(0.5, 8);
  const auto course = lamp_course(hz, draw);
  const double swing = draw.log_uniform(0.5, 30);
  const double soft = draw.log_uniform(2, 60);
  const double dark = draw.uniform(0.15, 0.7);
  const double angle = draw.phase();
  const double place = draw.uniform(-0.3, 0.3) * size.width;
  return [=](double t, Field& field) {
    const double edge = place + swing * course(t);
    std::size_t at = 0;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const double along =
            (x - size.width / 2.0) * std::cos(angle) + (y - size.height / 2.0) * std::sin(angle);
        field[at++] *= 1 - dark * (0.5 + 0.5 * std::tanh((along - edge) / soft));
      }
    }
  };
}

Effect leaves(Size size, Random& draw) {
  struct Patch {
    double x, y, size, light, hz, swing, phase, angle;
  };
  std::vector<Patch> patches;
  const auto count = draw.integer(5, 60);
  const double wind = draw.log_uniform(0.6, 4);
  const double light = draw.log_uniform(0.05, 0.5);
  for (int i = 0; i < count; ++i)
    patches.push_back({draw.uniform(0, size.width), draw.uniform(0, size.height), draw.log_uniform(4, 30),
                       light * draw.uniform(0.3, 1), wind * draw.uniform(0.9, 1.1), draw.log_uniform(0.3, 8),
                       draw.phase(), draw.phase()});
  return [=](double t, Field& field) {
    Field sun(field.size(), 1);
    for (const Patch& one : patches) {
      const double away = one.swing * std::cos(kTurn * one.hz * t + one.phase);
      const double cx = one.x + away * std::cos(one.angle);
      const double cy = one.y + away * std::sin(one.angle);
      const int reach = static_cast<int>(3 * one.size);
      for (int y = std::max(0, static_cast<int>(cy) - reach);
           y < std::min(size.height, static_cast<int>(cy) + reach); ++y) {
        for (int x = std::max(0, static_cast<int>(cx) - reach);
             x < std::min(size.width, static_cast<int>(cx) + reach); ++x) {
          const double far = std::hypot(x - cx, y - cy) / one.size;
          sun[static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) +
              static_cast<std::size_t>(x)] += one.light * std::exp(-std::pow(far, 4));
        }
      }
    }
    for (std::size_t i = 0; i < field.size(); ++i) field[i] *= sun[i];
  };
}

Effect fading(Size size, Random& draw) {
  const double seconds = draw.uniform(1, 6);
  const double depth = draw.uniform(-0.5, 0.5);
  const auto course = lamp_course(draw.log_uniform(0.5, 8), draw);
  const double vignette = draw.log_uniform(0.01, 0.2);
  const bool both = draw.chance(0.5);
  return [=](double t, Field& field) {
    const double gain = 1 + depth * (1 - std::exp(-t / seconds));
    const double now = both ? vignette * course(t) : 0;
    std::size_t at = 0;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const double u = 2.0 * x / size.width - 1;
        const double v = 2.0 * y / size.height - 1;
        field[at++] *= gain * (1 - now * (u * u + v * v));
      }
    }
  };
}

Effect highlights(Size size, Random& draw) {
  struct Glint {
    double x, y, size, light;
  };
  std::vector<Glint> glints;
  const auto count = draw.integer(1, 12);
  for (int i = 0; i < count; ++i)
    glints.push_back({draw.uniform(0, size.width), draw.uniform(0, size.height), draw.log_uniform(1, 6),
                      draw.log_uniform(20, 250)});
  const auto course = lamp_course(draw.log_uniform(0.8, 60), draw);
  const double depth = draw.log_uniform(0.05, 1);
  return [=](double t, Field& field) {
    const double now = 1 + depth * course(t);
    for (const Glint& one : glints) {
      const int reach = static_cast<int>(4 * one.size) + 1;
      for (int y = std::max(0, static_cast<int>(one.y) - reach);
           y < std::min(size.height, static_cast<int>(one.y) + reach); ++y) {
        for (int x = std::max(0, static_cast<int>(one.x) - reach);
             x < std::min(size.width, static_cast<int>(one.x) + reach); ++x)
          field[static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) +
                static_cast<std::size_t>(x)] +=
              one.light * now * std::exp(-0.5 * std::pow(std::hypot(x - one.x, y - one.y) / one.size, 2));
      }
    }
  };
}

/// Detail is lost after a key frame, or gained until the next one, by blocks of different strength.
Effect pumping(Size size, double rate, Random& draw) {
  const double period = static_cast<double>(draw.integer(5, 30)) / rate;
  const double depth = draw.log_uniform(0.03, 0.5);
  const bool sawtooth = draw.chance(0.6);
  const int columns = (size.width + 15) / 16;
  std::vector<double> strength;
  for (int i = 0; i < columns * ((size.height + 15) / 16); ++i) strength.push_back(draw.uniform(0.3, 1));
  return [=](double t, Field& field) {
    const double phase = t / period - std::floor(t / period + 1e-9);
    const double now = depth * (sawtooth ? phase : 0.5 - 0.5 * std::cos(kTurn * phase));
    Field soft(field.size());
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        double sum = 0;
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            const int at =
                std::clamp(y + dy, 0, size.height - 1) * size.width + std::clamp(x + dx, 0, size.width - 1);
            sum += field[static_cast<std::size_t>(at)];
          }
        }
        const std::size_t at =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x);
        const double here = now * strength[static_cast<std::size_t>((y / 16) * columns + x / 16)];
        soft[at] = field[at] + here * (sum / 9 - field[at]);
      }
    }
    field = std::move(soft);
  };
}

Effect effect_of(Light light, Size size, double rate, Random& draw) {
  switch (light) {
    case Light::flicker:
      return flicker(size, draw);
    case Light::bands:
      return bands(size, draw);
    case Light::lamp:
      return lamp(size, draw);
    case Light::screen:
      return screen(size, draw);
    case Light::exposure:
      return exposure(size, draw);
    case Light::gamma:
      return gamma(size, draw);
    case Light::shadow:
      return shadow(size, draw);
    case Light::leaves:
      return leaves(size, draw);
    case Light::dimming:
      return dimming(size, draw);
    case Light::fading:
      return fading(size, draw);
    case Light::highlights:
      return highlights(size, draw);
    case Light::pumping:
      return pumping(size, rate, draw);
  }
  return {};
}

class FilmSource final : public video::FrameSource {
 public:
  FilmSource(Size size, double rate, int frames, double noise, Random draw)
      : size_(size),
        rate_(rate),
        frames_(frames),
        noise_(noise),
        draw_(draw),
        scene_(size, draw_),
        object_(size, draw_) {
    info_ = {
        .path = "drawn", .width = size.width, .height = size.height, .fps = rate, .frames_expected = frames};
    pattern_.reserve(size.points());
    for (std::size_t i = 0; i < size.points(); ++i) pattern_.push_back(1 + 0.01 * draw_.normal());
    still_ = scene_.at(0, 0);
  }

  Random& draw() { return draw_; }
  void set_light(Effect effect) { effect_ = std::move(effect); }
  void set_vibration(const Vibration& vibration) {
    vibration_ = vibration;
    direction_ = draw_.phase();
    phase_ = draw_.phase();
    part_x_ = draw_.uniform(0.25, 0.75) * size_.width;
    part_y_ = draw_.uniform(0.25, 0.75) * size_.height;
    part_slant_ = draw_.log_uniform(0.5, 2);
    part_reach_ = draw_.uniform(0.2, 0.35) * std::min(size_.width, size_.height);
  }

  const video::SourceInfo& info() const noexcept override { return info_; }
  bool next(video::Frame& frame) override {
    if (count_ == frames_) return false;
    const double t = count_ / rate_;
    Field field = still_;
    if (vibration_.amplitude_px > 0) {
      const double away = vibration_.amplitude_px * std::cos(kTurn * vibration_.hz * t + phase_);
      field = scene_at(away * std::cos(direction_), away * std::sin(direction_));
    }
    if (effect_) effect_(t, field);
    frame.width = size_.width;
    frame.height = size_.height;
    frame.seconds = t;
    frame.samples.resize(field.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
      const double level = std::clamp(field[i], 0.0, 400.0) * pattern_[i];
      const double noise = noise_ * std::sqrt(0.3 + 0.7 * level / 128) * draw_.normal();
      frame.samples[i] = static_cast<std::byte>(std::clamp(std::lround(level + noise), 0L, 255L));
    }
    ++count_;
    return true;
  }

 private:
  /// The scene after the whole, or an opaque part in front of it, has moved by (dx, dy).
  Field scene_at(double dx, double dy) const {
    if (!vibration_.part) return scene_.at(dx, dy);
    Field field = still_;
    const Field object = object_.at(dx, dy);
    std::size_t at = 0;
    for (int y = 0; y < size_.height; ++y) {
      for (int x = 0; x < size_.width; ++x, ++at) {
        const double inside = part_reach_ - std::hypot(x - part_x_ - dx, (y - part_y_ - dy) * part_slant_);
        const double share = 0.5 + 0.5 * std::erf(inside);
        if (share > 1e-6) field[at] += share * (object[at] - field[at]);
      }
    }
    return field;
  }

  Size size_;
  double rate_;
  int frames_;
  double noise_;
  Random draw_;
  Scene scene_, object_;
  Field still_, pattern_;  ///< the scene at rest, and gains of the sensor's pixels
  Effect effect_;
  Vibration vibration_;
  double direction_ = 0, phase_ = 0, part_x_ = 0, part_y_ = 0, part_reach_ = 0, part_slant_ = 1;
  int count_ = 0;
  video::SourceInfo info_;
};

/// Draws size, rate and length of a film, and makes it.
std::unique_ptr<FilmSource> film(double noise, Random& draw, double& rate, int& frames) {
  constexpr std::array<double, 8> kRates = {24, 25, 29.97, 30, 50, 60, 120, 240};
  constexpr std::array<Size, 5> kSizes = {{{160, 120}, {192, 144}, {128, 192}, {256, 144}, {240, 180}}};
  rate = kRates[static_cast<std::size_t>(draw.below(kRates.size()))];
  frames = static_cast<int>(draw.integer(150, 300));
  const Size size = kSizes[static_cast<std::size_t>(draw.below(kSizes.size()))];
  return std::make_unique<FilmSource>(size, rate, frames, noise, Random(draw.bits()));
}

}  // namespace

DrawnFilm still_under(Light light, std::uint64_t seed) {
  Random draw(seed, 100 + static_cast<std::uint64_t>(light));
  DrawnFilm drawn;
  const double noise = draw.log_uniform(0.4, 4);
  auto source = film(noise, draw, drawn.rate_hz, drawn.frames);
  source->set_light(
      effect_of(light, {static_cast<int>(source->info().width), static_cast<int>(source->info().height)},
                drawn.rate_hz, source->draw()));
  drawn.source = std::move(source);
  return drawn;
}

DrawnFilm vibrating(double amplitude_px, std::size_t noise, std::uint64_t seed) {
  Random draw(seed, 10 + noise);
  DrawnFilm drawn;
  auto source = film(kNoiseLevels[noise], draw, drawn.rate_hz, drawn.frames);
  const double periods = 12 * drawn.rate_hz / drawn.frames;
  drawn.vibration = {amplitude_px, draw.uniform(periods, 0.47 * drawn.rate_hz), draw.chance(0.4)};
  source->set_vibration(drawn.vibration);
  drawn.source = std::move(source);
  return drawn;
}

}  // namespace sfft::bench
