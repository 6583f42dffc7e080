// SPDX-License-Identifier: Apache-2.0
// Tapers the block towards its limits, so that edges ring little, and applies a small inverse FFT.
#include "video/triage/change_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfft/error.hpp"
#include "sfft/learn_at.hpp"
#include "video/guard/layout.hpp"
#include "video/motion/friendly_size.hpp"
#include "video/sources/samples.hpp"

namespace sfft::video {

namespace {

constexpr std::int64_t kSmallestSide = 32;
/// Pixels that a plan reads by default. More of them lower the noise of aliasing, but take longer.
constexpr double kSamples = 64e3;
/// The taper begins at this share of the block's radius.
constexpr double kTaperFrom = 0.4;

/// The largest grey level: 255. For 16-bit samples, that of the bits that the frame uses, at least 10.
double full_scale(const SignalView& frame) {
  if (frame.type() != ElementType::u16) return 255;
  const auto* samples = static_cast<const std::uint16_t*>(frame.data());
  int max = 1;
  for (std::int64_t row = 0; row < frame.shape()[0]; ++row)
    for (std::int64_t i = 0; i < frame.shape()[1]; ++i)
      max = std::max<int>(max, samples[row * frame.stride(0) + i]);
  int full = 1023;
  while (full < max) full = 2 * full + 1;
  return full;
}

}  // namespace

SmallView::SmallView(const SignalView& first_frame, int k, double max_samples)
    : shape_(first_frame.shape()), type_(first_frame.type()) {
  if (type_ != ElementType::u8 && type_ != ElementType::u16)
    throw Error(ErrorCode::type_mismatch, "triage takes frames of 8 or 16 bits");
  region_ = plannable({0, 0, shape_[1], shape_[0]});
  const auto width = static_cast<int>(region_.width);
  const auto height = static_cast<int>(region_.height);
  if (std::min(width, height) < kSmallestSide) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a picture of {}x{} is too small for triage: it needs {}x{}", shape_[1],
                            shape_[0], kSmallestSide, kSmallestSide));
  }
  const double aspect = static_cast<double>(width) / height;
  const int columns = std::clamp(static_cast<int>(std::lround(std::sqrt(0.5 * k * aspect))), 6, width / 4);
  const int rows = std::clamp(static_cast<int>(std::lround(std::sqrt(0.5 * k / aspect))), 6, height / 4);
  width_ = friendly_size(2 * columns + 2);
  height_ = friendly_size(2 * rows + 2);

  std::vector<std::int64_t> support;
  for (int fx = 0; fx <= columns; ++fx) {
    for (int fy = fx == 0 ? 0 : -rows; fy <= rows; ++fy)
      support.push_back(static_cast<std::int64_t>(fy < 0 ? fy + height : fy) * width + fx);
  }
  const SignalView region = part(first_frame, region_);
  const Template tmpl = learn_at(region, support);
  PlanOptions options;
  options.device = Device::cpu();
  options.use_reference = false;
  const double points = static_cast<double>(region_.width * region_.height);
  options.max_samples = max_samples > 0 ? max_samples : std::min(0.25, kSamples / points);
  plan_.emplace(tmpl, options);
  workspace_ = plan_->make_workspace();
  spectrum_ = plan_->make_spectrum();
  drawing_.emplace(Shape{height_, width_}, Domain::real,
                   dense::Options{.normalization = dense::Options::Normalization::none});
  half_.resize(drawing_->spectrum_points());
  drawing_workspace_ = AlignedBytes(drawing_->workspace_bytes());

  scale_ = 255 / full_scale(first_frame);
  const int stride = width_ / 2 + 1;
  for (const std::int64_t index : tmpl.support()) {
    auto fx = static_cast<int>(index % width);
    auto fy = static_cast<int>(index / width);
    if (2 * fx > width) fx -= width;
    if (2 * fy > height) fy -= height;
    const bool conjugate = fx < 0 || (fx == 0 && fy < 0);
    if (conjugate) {
      fx = -fx;
      fy = -fy;
    }
    const double radius = std::min(
        1.0, std::hypot(static_cast<double>(fx) / (columns + 1), static_cast<double>(fy) / (rows + 1)));
    const double fall = std::clamp((radius - kTaperFrom) / (1.1 - kTaperFrom), 0.0, 1.0);
    const double taper = 0.5 + 0.5 * std::cos(std::numbers::pi * fall);
    const auto place = [&](int x, int y) { return (y < 0 ? y + height_ : y) * stride + x; };
    places_.push_back({static_cast<std::size_t>(place(fx, fy)), fx == 0 && fy > 0 ? place(0, -fy) : -1,
                       conjugate, static_cast<float>(taper * scale_ / points)});
  }
}

double SmallView::frame_x(double x) const noexcept {
  return static_cast<double>(region_.x) + x * static_cast<double>(region_.width) / width_;
}

double SmallView::frame_y(double y) const noexcept {
  return static_cast<double>(region_.y) + y * static_cast<double>(region_.height) / height_;
}

void SmallView::read(const SignalView& frame, std::vector<float>& picture) {
  if (frame.shape() != shape_ || frame.type() != type_) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("a frame is {}x{}, the first was {}x{}: frames must keep their size and depth",
                            frame.shape()[1], frame.shape()[0], shape_[1], shape_[0]));
  }
  plan_->execute(part(frame, region_), spectrum_, workspace_);
  std::ranges::fill(half_, std::complex<float>{});
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const std::complex<float> value =
        place.factor * (place.conjugate ? std::conj(spectrum_.values[i]) : spectrum_.values[i]);
    half_[place.at] = value;
    if (place.mirrored >= 0) half_[static_cast<std::size_t>(place.mirrored)] = std::conj(value);
  }
  picture.resize(points());
  drawing_->inverse(std::span<const std::complex<float>>(half_), std::span<float>(picture),
                    drawing_workspace_.span());
}

}  // namespace sfft::video
