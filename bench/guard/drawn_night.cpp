// SPDX-License-Identifier: Apache-2.0
// Objects close to the lens are out of focus and lit by the camera's infrared light.
#include "bench/guard/drawn_night.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace sfft::bench {

namespace {

constexpr int kFixed = 4;  ///< fraction bits of coordinates in OpenCV's drawing functions

cv::Point fixed(const cv::Point2d& at) {
  return {static_cast<int>(std::lround(at.x * (1 << kFixed))),
          static_cast<int>(std::lround(at.y * (1 << kFixed)))};
}

/// A ramp that is 0 at `from` and 1 after `length`.
double since(double seconds, double from, double length) {
  return seconds < from ? 0 : length > 0 ? std::min(1.0, (seconds - from) / length) : 1;
}

/// A patch of light: 1 in the middle, and 1/2 at its radius.
cv::Mat soft_light(cv::Size size, const cv::Point2d& middle, double radius) {
  cv::Mat light(size, CV_32F);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const double r2 = ((x - middle.x) * (x - middle.x) + (y - middle.y) * (y - middle.y)) / radius / radius;
      light.at<float>(y, x) = static_cast<float>(std::exp(-0.693 * r2));
    }
  }
  return light;
}

}  // namespace

DrawnNight::DrawnNight(int index, std::uint64_t seed) : random_(seed) {
  static const std::vector<std::string> kinds{
      "infrared",   "web",     "moths",          "rain",    "noise",
      "headlights", "lit web", "moths and rain", "nothing", "infrared and moths"};
  for (int i = 0; i < 8; ++i) random_.next();
  kind_ = kinds[static_cast<std::size_t>(index) % kinds.size()];
  const std::array sizes{cv::Size(320, 240), cv::Size(480, 270), cv::Size(640, 360), cv::Size(640, 480)};
  size_ = sizes[static_cast<std::size_t>(random_.uniform(0, 4))];
  const std::array rates{10.0, 12.5, 15.0, 20.0, 25.0, 30.0};
  fps_ = rates[static_cast<std::size_t>(random_.uniform(0, 6))];
  length_s_ = random_.uniform(26.0, 40.0);
  scale_ = size_.width / 640.0;
  if (random_.uniform(0, 3) == 0) codec_step_ = random_.uniform(3.0, 8.0);
  place_ = drawn_place(size_, random_);
  const auto has = [this](const char* what) { return kind_.find(what) != std::string::npos; };
  // In darker scenes there is less light, and the camera's gain is higher.
  day_gain_ = has("infrared") ? random_.uniform(0.4, 1.0) : random_.uniform(0.35, 0.9);
  day_noise_ = has("noise") ? random_.uniform(4.0, 9.0) : random_.uniform(1.0, 3.5);
  if (has("infrared") || has("lit")) {
    switch_s_ = random_.uniform(10.0, 14.0);
    unsettled_s_ = random_.uniform(0.0, 1.2);
    unsettled_gain_ = random_.uniform(0.1, 1.8);
    infrared_noise_ = random_.uniform(1.5, 5.0);
    // Leaves and clothes are bright in infrared light, which falls off towards the corners.
    const cv::Mat other = drawn_place(size_, random_);
    const double mixed = random_.uniform(0.0, 0.35);
    infrared_ = (1 - mixed) * place_ + mixed * other;
    const cv::Mat lamp = soft_light(size_, {size_.width * random_.uniform(0.4, 0.6), size_.height * 0.5},
                                    size_.width * random_.uniform(0.3, 0.7));
    infrared_ = infrared_.mul(0.25 + random_.uniform(0.5, 1.0) * lamp);
    const double blur = random_.uniform(0.0, 3.0) * std::max(0.6, scale_);
    if (blur > 0.4) cv::GaussianBlur(infrared_, infrared_, {}, blur);
  }
  draw_people();
  if (has("web")) draw_web();
  web_only_infrared_ = has("lit");
  if (has("moths")) draw_moths(random_.uniform(0.1, 1.5));
  if (has("headlights")) draw_headlights();
  if (has("rain")) {
    drops_ = random_.uniform(30, 250);
    near_drops_ = random_.uniform(0, 6);
    rain_from_s_ = random_.uniform(-10.0, 14.0);
    rain_angle_ = random_.uniform(-0.4, 0.4);
    drop_length_ = random_.uniform(6.0, 40.0) * scale_;
    drop_light_ = random_.uniform(10.0, 60.0);
  }
}

void DrawnNight::draw_people() {
  const int count = random_.uniform(0, 3);
  double from = random_.uniform(3.0, 8.0);
  for (int i = 0; i < count && from < length_s_ - 6; ++i) {
    Walker person;
    person.height = size_.height * random_.uniform(1.0 / 12, 1.0 / 3);
    person.width = 0.38 * person.height;
    person.contrast = (random_.uniform(0, 2) == 0 ? -1 : 1) * random_.uniform(10.0, 45.0);
    const double margin = person.width;
    const bool right = random_.uniform(0, 2) == 0;
    person.y0 = random_.uniform(person.height, size_.height - 0.6 * person.height);
    person.y1 = std::clamp(person.y0 + random_.uniform(-0.1, 0.1) * size_.height, 0.6 * person.height,
                           size_.height - 0.6 * person.height);
    person.x0 = right ? -margin : size_.width + margin;
    person.x1 = right ? size_.width + margin : -margin;
    person.from_s = from;
    // Speeds are in heights per second, from a stroll to a run.
    const double way = (size_.width + 2 * margin) / person.height;
    person.until_s =
        from + std::min(std::clamp(way / random_.uniform(0.5, 2.2), 2.5, 14.0), length_s_ - from - 2);
    people_.push_back(person);
    from = person.until_s + random_.uniform(3.0, 8.0);
  }
}

void DrawnNight::draw_web() {
  const cv::Size large(size_.width * 3 / 2, size_.height * 3 / 2);
  web_ = cv::Mat::zeros(large, CV_32F);
  const cv::Point2d hub(large.width * random_.uniform(0.1, 0.9), large.height * random_.uniform(0.1, 0.9));
  const int spokes = random_.uniform(5, 14);
  const int rings = random_.uniform(0, 9);
  const double reach = std::hypot(large.width, large.height) * random_.uniform(0.35, 1.0);
  const int thickness = std::max(1, static_cast<int>(random_.uniform(1.0, 8.0) * scale_));
  std::vector<cv::Point2d> directions;
  for (int i = 0; i < spokes; ++i) {
    const double angle = 6.2832 * (i + random_.uniform(-0.3, 0.3)) / spokes;
    directions.emplace_back(std::cos(angle), std::sin(angle));
    cv::line(web_, fixed(hub), fixed(hub + reach * directions.back()), cv::Scalar(1), thickness, cv::LINE_8,
             kFixed);
  }
  for (int ring = 1; ring <= rings; ++ring) {
    for (int i = 0; i < spokes; ++i) {
      const double near = reach * (ring + random_.uniform(-0.2, 0.2)) / (rings + 1.5);
      const auto next = static_cast<std::size_t>((i + 1) % spokes);
      cv::line(web_, fixed(hub + near * directions[static_cast<std::size_t>(i)]),
               fixed(hub + near * directions[next]), cv::Scalar(1), thickness, cv::LINE_8, kFixed);
    }
  }
  cv::GaussianBlur(web_, web_, {}, std::max(0.8, random_.uniform(1.5, 9.0) * scale_));
  double max = 1;
  cv::minMaxLoc(web_, nullptr, &max);
  cv::min(web_ * (1.6 / max), 1, web_);
  web_light_ = random_.uniform(40.0, 200.0);
  web_from_s_ = random_.uniform(0, 2) == 0 ? -100 : random_.uniform(4.0, 12.0);
  web_grows_s_ = random_.uniform(0.0, 10.0);
  sway_px_ = random_.uniform(1.0, 14.0) * scale_;
  sway_hz_ = random_.uniform(0.2, 1.5);
  sway_angle_ = random_.uniform(0.0, 6.28);
}

void DrawnNight::draw_moths(double per_second) {
  for (double t = random_.uniform(0.0, 3.0); t < length_s_;
       t -= std::log(random_.uniform(0.01, 1.0)) / per_second) {
    Moth moth;
    moth.from_s = t;
    moth.until_s = t + random_.uniform(0.1, 0.5);
    moth.radius = random_.uniform(2.0, 20.0) * scale_;
    moth.light = random_.uniform(40.0, 160.0);
    moth.beat_hz = random_.uniform(15.0, 45.0);
    const double angle = random_.uniform(0.0, 6.28);
    const double half = random_.uniform(0.15, 0.6) * size_.width;
    const cv::Point2d middle(random_.uniform(0.0, 1.0) * size_.width,
                             random_.uniform(0.0, 1.0) * size_.height);
    const cv::Point2d way(std::cos(angle) * half, std::sin(angle) * half);
    moth.from = middle - way;
    moth.to = middle + way;
    moth.bend = random_.uniform(-0.4, 0.4) * cv::Point2d(-way.y, way.x);
    moths_.push_back(moth);
  }
}

void DrawnNight::draw_headlights() {
  for (double t = random_.uniform(2.0, 8.0); t < length_s_; t += random_.uniform(3.0, 9.0)) {
    Headlight light;
    light.from_s = t;
    light.until_s = t + random_.uniform(1.0, 4.0);
    light.radius = size_.width * random_.uniform(0.12, 0.4);
    light.gain = random_.uniform(0.5, 3.0);
    light.haze = random_.uniform(0.0, 25.0);
    const bool right = random_.uniform(0, 2) == 0;
    const double y = random_.uniform(0.3, 0.9) * size_.height;
    const double outside = 2.5 * light.radius;
    light.from = {right ? -outside : size_.width + outside, y};
    light.to = {right ? size_.width + outside : -outside, y + random_.uniform(-0.2, 0.2) * size_.height};
    headlights_.push_back(light);
  }
}

void DrawnNight::add_web(cv::Mat& picture, double seconds) const {
  const bool lit = !web_only_infrared_ || seconds >= switch_s_;
  const double there = web_only_infrared_ ? (lit ? 1 : 0.05) : since(seconds, web_from_s_, web_grows_s_);
  if (there <= 0) return;
  // The web sways in gusts.
  const double sway =
      sway_px_ * (0.6 + 0.4 * std::sin(1.1 * seconds)) * std::sin(6.2832 * sway_hz_ * seconds + sway_angle_);
  const double turn = 0.3 * sway / size_.width;
  const cv::Mat way = (cv::Mat_<double>(2, 3) << 1, -turn, sway * std::cos(sway_angle_) - 0.25 * size_.width,
                       turn, 1, sway * std::sin(sway_angle_) - 0.25 * size_.height);
  cv::Mat threads;
  cv::warpAffine(web_, threads, way, size_, cv::INTER_LINEAR, cv::BORDER_REFLECT);
  threads *= there;
  picture = picture.mul(1 - 0.8 * threads) + web_light_ * threads;
}

void DrawnNight::add_moths(cv::Mat& picture, double seconds) const {
  for (const Moth& moth : moths_) {
    if (seconds < moth.from_s || seconds >= moth.until_s) continue;
    cv::Mat streak = cv::Mat::zeros(size_, CV_32F);
    const double exposure = 0.7 / fps_;
    constexpr int kSteps = 24;
    for (int i = 0; i <= kSteps; ++i) {
      const double t = seconds - exposure * i / kSteps;
      const double way = (t - moth.from_s) / (moth.until_s - moth.from_s);
      const cv::Point2d at = moth.from + way * (moth.to - moth.from) + 4 * way * (1 - way) * moth.bend;
      const double radius = std::max(1.0, moth.radius * (0.7 + 0.3 * std::sin(6.2832 * moth.beat_hz * t)));
      cv::circle(streak, fixed(at), static_cast<int>(radius * (1 << kFixed)), cv::Scalar(1), cv::FILLED,
                 cv::LINE_8, kFixed);
    }
    cv::GaussianBlur(streak, streak, {}, std::max(0.7, 0.35 * moth.radius));
    picture += moth.light * streak;
  }
}

void DrawnNight::add_rain(cv::Mat& picture) {
  cv::Mat streaks = cv::Mat::zeros(size_, CV_32F);
  const auto draw = [&](double length, double light, int thickness) {
    const cv::Point2d from(random_.uniform(-0.1, 1.1) * size_.width,
                           random_.uniform(-0.1, 1.0) * size_.height);
    const double angle = rain_angle_ + random_.uniform(-0.05, 0.05);
    cv::line(streaks, fixed(from), fixed(from + length * cv::Point2d(std::sin(angle), std::cos(angle))),
             cv::Scalar(light), thickness, cv::LINE_8, kFixed);
  };
  for (int i = 0; i < drops_; ++i)
    draw(drop_length_ * random_.uniform(0.5, 1.5), drop_light_ * random_.uniform(0.4, 1.0), 1);
  cv::GaussianBlur(streaks, streaks, {}, 0.7);
  picture += streaks;
  if (random_.uniform(0, 3) > 0) return;
  streaks = 0;
  for (int i = 0; i < near_drops_; ++i)
    draw(size_.height * random_.uniform(0.1, 0.6), drop_light_, std::max(2, static_cast<int>(6 * scale_)));
  cv::GaussianBlur(streaks, streaks, {}, 3 * std::max(0.5, scale_));
  picture += streaks;
}

void DrawnNight::add_headlights(cv::Mat& picture, double seconds) const {
  for (const Headlight& light : headlights_) {
    if (seconds < light.from_s || seconds >= light.until_s) continue;
    const double way = (seconds - light.from_s) / (light.until_s - light.from_s);
    const cv::Mat patch = soft_light(size_, light.from + way * (light.to - light.from), light.radius);
    picture = picture.mul(1 + light.gain * patch) + light.haze * patch;
  }
}

cv::Mat DrawnNight::steady_picture(double seconds, std::span<const Walker> people) const {
  cv::Mat picture = infrared(seconds) ? infrared_.clone() : cv::Mat(place_ * day_gain_);
  for (const Walker& person : people) draw_walker(picture, person, seconds);
  if (!headlights_.empty()) add_headlights(picture, seconds);
  if (!web_.empty()) add_web(picture, seconds);
  return picture;
}

cv::Mat DrawnNight::frame(double seconds) {
  cv::Mat picture = steady_picture(seconds, people_);
  add_moths(picture, seconds);
  if (drops_ > 0 && seconds >= rain_from_s_) add_rain(picture);
  // The exposure takes some time to settle after the switch.
  if (infrared(seconds) && seconds < switch_s_ + unsettled_s_) {
    const double left = 1 - (seconds - switch_s_) / unsettled_s_;
    picture *= 1 + (unsettled_gain_ - 1) * left;
  }
  return exposed(picture, infrared(seconds) ? infrared_noise_ : day_noise_, random_);
}

double DrawnNight::visible_s(const Walker& person) const {
  constexpr double kStep_s = 0.1, kVisible = 10, kInside = 0.9;
  Walker outline = person;
  outline.contrast = 1;
  double sum = 0;
  for (double t = person.from_s; t < person.until_s; t += kStep_s) {
    cv::Mat body = cv::Mat::zeros(size_, CV_32F);
    draw_walker(body, outline, t);
    const cv::Mat inside = body > kInside;
    if (cv::countNonZero(inside) == 0) continue;  // still outside the picture
    const auto clipped = [&](std::span<const Walker> people) {
      return cv::Mat(cv::min(cv::max(steady_picture(t, people), 0.0), 255.0));
    };
    if (cv::mean(cv::abs(clipped({&person, 1}) - clipped({})), inside)[0] >= kVisible) sum += kStep_s;
  }
  return sum;
}

std::string DrawnNight::text() const {
  std::string text =
      fmt::format("{} ({}x{}, {} fps, {:.0f} s, noise {:.1f}, codec {:.0f}", kind_, size_.width, size_.height,
                  fps_, length_s_, switch_s_ < 0 ? day_noise_ : infrared_noise_, codec_step_);
  if (switch_s_ >= 0) text += fmt::format(", infrared at {:.1f}", switch_s_);
  if (!moths_.empty()) text += fmt::format(", {} moths", moths_.size());
  if (drops_ > 0) text += fmt::format(", {} drops of {:.0f} from {:.1f}", drops_, drop_light_, rain_from_s_);
  if (web_light_ > 0)
    text += fmt::format(", web of {:.0f} from {:.1f} in {:.1f} s", web_light_, web_from_s_, web_grows_s_);
  for (const Headlight& one : headlights_)
    text += fmt::format(", headlight {:.1f}-{:.1f}", one.from_s, one.until_s);
  for (const Walker& one : people_)
    text += fmt::format(", person {:.1f}-{:.1f} s, 1/{:.0f}, {:+.0f}", one.from_s, one.until_s,
                        size_.height / one.height, one.contrast);
  return text + ")";
}

}  // namespace sfft::bench
