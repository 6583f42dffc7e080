// SPDX-License-Identifier: Apache-2.0
// Reads recordings through the sources of sfft-video; samples for the dense engines are converted to float.
#include "frames.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sfft::apps {

namespace {

/// Size of the samples as decoded; as floats they are two or four times as large.
constexpr std::size_t kRingBytes = std::size_t{64} << 20;

}  // namespace

void FrameBuffer::load(const video::Frame& stored) {
  frame = stored;
  const auto points = static_cast<std::size_t>(stored.width * stored.height);
  samples.resize(points);
  for (std::size_t i = 0; i < points; ++i) {
    samples[i] = stored.bit_depth16
                     ? static_cast<float>(reinterpret_cast<const std::uint16_t*>(stored.samples.data())[i])
                     : static_cast<float>(std::to_integer<std::uint8_t>(stored.samples[i]));
  }
}

InputName::InputName(const std::string& argument) {
  const std::size_t split = argument.find('=');
  // A '=' after a '/' belongs to a path, and one after "://" to a URL.
  const bool labelled = split != std::string::npos && split > 0 && argument.find('/') > split;
  input = labelled ? argument.substr(split + 1) : argument;
  label = labelled ? argument.substr(0, split) : input.substr(input.find_last_of('/') + 1);
  if (label == "-") label = "standard input";
}

Frames::Frames(const InputName& name, std::int64_t max, bool loop)
    : label_(name.label),
      input_(name.input),
      source_(video::open_source(name.input)),
      max_(max),
      loop_(loop) {
  if (!source_->next(ahead_)) {
    throw video::InputError(fmt::format("'{}' holds no frames", input_));
  }
}

const video::Frame& Frames::next() {
  std::swap(frame_, ahead_);
  try {
    last_ = ++count_ == max_ || !read_ahead();
  } catch (const video::InputError& error) {
    damage_ = error.what();
    last_ = true;
  }
  return frame_;
}

void Frames::check_end() const {
  if (!damage_.empty()) throw video::InputError(damage_);
}

std::int64_t Frames::expected() const {
  const std::int64_t said = source_->info().frames_expected;
  return said > 0 && !loop_ ? std::min(said, max_) : max_;
}

bool Frames::read_ahead() {
  if (source_->next(ahead_)) {
    if (ahead_.format() == frame_.format()) return true;
    throw video::InputError(
        fmt::format("frame {} of '{}' is {}x{}, the first was {}x{}: a benchmark takes "
                    "frames of one size and depth",
                    count_, input_, ahead_.width, ahead_.height, frame_.width, frame_.height));
  }
  if (!loop_) return false;
  source_ = video::open_source(input_);
  return source_->next(ahead_);
}

void FrameRing::keep(const video::Frame& frame) {
  const std::size_t bytes = std::max<std::size_t>(frame.samples.size(), 1);
  if (frames_.size() * bytes < kRingBytes) {
    frames_.emplace_back().load(frame);
    return;
  }
  frames_[next_].load(frame);
  next_ = (next_ + 1) % frames_.size();
}

}  // namespace sfft::apps
