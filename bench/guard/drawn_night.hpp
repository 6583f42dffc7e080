// SPDX-License-Identifier: Apache-2.0
// Draws a camera's view at night: infrared light, spiders' webs, moths, rain, headlights, noise, and people
// who walk.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/guard/drawn_scene.hpp"

namespace sfft::bench {

/// One night, drawn from its seed. Nothing happens to the camera, and only `people` walk.
class DrawnNight {
 public:
  DrawnNight(int index, std::uint64_t seed);

  const std::string& kind() const noexcept { return kind_; }
  cv::Size size() const noexcept { return size_; }
  double fps() const noexcept { return fps_; }
  double length_s() const noexcept { return length_s_; }
  /// The people are at least a twelfth of the picture high, and differ by at least ten grey levels from what
  /// is behind them, unless something before them hides them or the picture is overexposed there.
  const std::vector<Walker>& people() const noexcept { return people_; }
  /// Seconds for which a person's pixels differ on average by at least ten grey levels from the same picture
  /// without the person, before noise.
  double visible_s(const Walker& person) const;
  double codec_step() const noexcept { return codec_step_; }
  std::string text() const;

  /// The frame at a time; times must not decrease between calls.
  cv::Mat frame(double seconds);

 private:
  struct Moth {
    double from_s = 0, until_s = 0;
    cv::Point2d from, to, bend;
    double radius = 0, light = 0, beat_hz = 0;
  };
  struct Headlight {
    double from_s = 0, until_s = 0;
    cv::Point2d from, to;
    double radius = 0, gain = 0, haze = 0;
  };

  bool infrared(double seconds) const noexcept { return switch_s_ >= 0 && seconds >= switch_s_; }
  /// The picture without moths, rain and noise, and with settled exposure.
  cv::Mat steady_picture(double seconds, std::span<const Walker> people) const;
  void draw_people();
  void draw_web();
  void draw_moths(double per_second);
  void draw_headlights();
  void add_web(cv::Mat& picture, double seconds) const;
  void add_moths(cv::Mat& picture, double seconds) const;
  void add_rain(cv::Mat& picture);
  void add_headlights(cv::Mat& picture, double seconds) const;

  cv::RNG random_;
  std::string kind_;
  cv::Size size_;
  double fps_ = 25, length_s_ = 30, codec_step_ = 0;
  double day_gain_ = 1, day_noise_ = 1;
  double scale_ = 1;  ///< scale of objects close to the lens: the picture's width over 640
  cv::Mat place_, infrared_;
  double switch_s_ = -1, unsettled_s_ = 0;  ///< -1: the first light lasts the whole night
  double unsettled_gain_ = 1, infrared_noise_ = 1;
  std::vector<Walker> people_;
  cv::Mat web_;  ///< 0 to 1, larger than the picture by a rim
  double web_light_ = 0, web_from_s_ = 0, web_grows_s_ = 0, sway_px_ = 0, sway_hz_ = 0, sway_angle_ = 0;
  bool web_only_infrared_ = false;
  std::vector<Moth> moths_;
  std::vector<Headlight> headlights_;
  int drops_ = 0;
  double rain_from_s_ = 0, rain_angle_ = 0, drop_length_ = 0, drop_light_ = 0;
  int near_drops_ = 0;
};

}  // namespace sfft::bench
