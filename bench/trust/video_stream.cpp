// SPDX-License-Identifier: Apache-2.0
// Draws one canvas per scene up front; each frame is a crop along the path, changed by the effects and
// rounded to the sensor's type.
#include "bench/trust/video_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sfft::trust {

namespace {

class VideoStream : public Stream {
 public:
  explicit VideoStream(VideoSettings settings)
      : settings_(std::move(settings)), image_(settings_.shape[0], settings_.shape[1]) {
    if (settings_.picture) {
      canvases_.push_back(*settings_.picture);
      return;
    }
    const auto larger = [&](int d) {
      return static_cast<std::int64_t>(
          std::lround(settings_.margin * static_cast<double>(settings_.shape[d])));
    };
    for (std::size_t i = 0; i <= settings_.cuts.size(); ++i) {
      Random random(settings_.seed, 1000 + i);
      canvases_.push_back(natural_scene(larger(0), larger(1), settings_.scene, random));
    }
  }

  SignalView next() override {
    Random random(settings_.seed, 1'000'000 + static_cast<std::uint64_t>(index_));
    const auto scene = std::count_if(settings_.cuts.begin(), settings_.cuts.end(),
                                     [&](std::int64_t cut) { return cut <= index_; });
    const auto [row, column] = settings_.path ? settings_.path(index_, random) : std::pair{0.0, 0.0};
    crop(canvases_[static_cast<std::size_t>(scene)], row, column, image_);
    for (const Effect& effect : settings_.effects) effect(image_, index_, random);
    ++index_;
    return rounded();
  }

 private:
  template <class Sample>
  SignalView quantised(std::vector<Sample>& samples, float scale) {
    const auto max = static_cast<float>(std::numeric_limits<Sample>::max());
    samples.resize(image_.values.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = static_cast<Sample>(std::clamp(std::nearbyint(scale * image_.values[i]), 0.0F, max));
    }
    return {samples, settings_.shape};
  }
  SignalView rounded() {
    if (settings_.type == ElementType::u8) return quantised(bytes_, 1);
    if (settings_.type == ElementType::u16) return quantised(words_, 256);
    return {image_.values, settings_.shape};
  }

  VideoSettings settings_;
  std::vector<Image> canvases_;
  Image image_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint16_t> words_;
  std::int64_t index_ = 0;
};

}  // namespace

std::unique_ptr<Stream> make_video(VideoSettings settings) {
  return std::make_unique<VideoStream>(std::move(settings));
}

}  // namespace sfft::trust
