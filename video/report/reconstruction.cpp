// SPDX-License-Identifier: Apache-2.0
// Places the coefficients and their conjugates in a half spectrum and transforms it back.
#include "video/report/reconstruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "video/sources/samples.hpp"

namespace sfft::video {

Reconstruction::Reconstruction(const Shape& shape)
    : shape_(shape),
      plan_(shape, Domain::real),
      half_(plan_.spectrum_points()),
      picture_(static_cast<std::size_t>(shape.points())) {}

const std::vector<float>& Reconstruction::picture(const Spectrum<float>& spectrum, double mean) {
  const std::int64_t rows = shape_[0];
  const std::int64_t columns = shape_[1];
  const std::int64_t stored = columns / 2 + 1;
  std::ranges::fill(half_, std::complex<float>{});
  half_[0] = static_cast<float>(mean * static_cast<double>(shape_.points()));
  const auto place = [&](std::int64_t row, std::int64_t column, std::complex<float> value) {
    if (column < stored) half_[static_cast<std::size_t>(row * stored + column)] = value;
  };
  for (std::size_t i = 0; i < spectrum.support->size(); ++i) {
    const std::int64_t row = (*spectrum.support)[i] / columns;
    const std::int64_t column = (*spectrum.support)[i] % columns;
    place(row, column, spectrum.values[i]);
    // The signal is real, so the opposite frequency has the conjugate.
    const std::int64_t opposite_row = row == 0 ? 0 : rows - row;
    const std::int64_t opposite_column = column == 0 ? 0 : columns - column;
    if (opposite_row != row || opposite_column != column)
      place(opposite_row, opposite_column, std::conj(spectrum.values[i]));
  }
  plan_.inverse(half_, picture_);
  return picture_;
}

ReconstructionFilm::ReconstructionFilm(detail::OutputFile& output, double frame_rate)
    : output_(output), frame_rate_(frame_rate > 0 ? frame_rate : 25) {}

void ReconstructionFilm::add(const SignalView& frame, const Spectrum<float>& spectrum) {
  const auto count = static_cast<std::size_t>(frame.shape().points());
  if (!reconstruction_) {
    reconstruction_ = std::make_unique<Reconstruction>(frame.shape());
    height_ = frame.shape()[0];
    width_ = frame.shape()[1];
    with_samples(frame, [&](const auto* samples) {
      const unsigned largest = *std::max_element(samples, samples + count);
      shift_ = std::max(0, static_cast<int>(std::bit_width(largest)) - 8);
    });
    output_.write(fmt::format("YUV4MPEG2 W{} H{} F{}:1000000 Ip A1:1 Cmono\n", 2 * width_, height_,
                              std::llround(1e6 * frame_rate_)));
  }
  with_samples(frame, [&](const auto* samples) {
    const auto sum = std::accumulate(samples, samples + count, std::uint64_t{0});
    draw(samples, reconstruction_->picture(spectrum, static_cast<double>(sum) / static_cast<double>(count)));
  });
  output_.write(bytes_);
}

template <class Sample>
void ReconstructionFilm::draw(const Sample* frame, const std::vector<float>& picture) {
  const auto byte = [](float value) {
    return static_cast<char>(static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F) + 0.5F));
  };
  const float unit = 1 / static_cast<float>(1 << shift_);
  bytes_ = "FRAME\n";
  for (std::int64_t y = 0; y < height_; ++y) {
    for (std::int64_t x = 0; x < width_; ++x)
      bytes_.push_back(byte(std::floor(static_cast<float>(frame[y * width_ + x]) * unit)));
    for (std::int64_t x = 0; x < width_; ++x)
      bytes_.push_back(byte(picture[static_cast<std::size_t>(y * width_ + x)] * unit));
  }
}

}  // namespace sfft::video
