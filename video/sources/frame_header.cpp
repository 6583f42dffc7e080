// SPDX-License-Identifier: Apache-2.0
// Walks JPEG markers up to the start of frame, and VP9's uncompressed header bit by bit up to the frame size.
#include "video/sources/frame_header.hpp"

#include <cstddef>

namespace sfft::video {

namespace {

/// Reads bits, the highest of each byte first; past the end they are 0.
class Bits {
 public:
  explicit Bits(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint32_t take(int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      const std::size_t byte = at_ / 8;
      value = value << 1 | (byte < bytes_.size() ? bytes_[byte] >> (7 - at_ % 8) & 1U : 0U);
    }
    return value;
  }
  bool exhausted() const noexcept { return at_ > 8 * bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

constexpr std::uint32_t kVp9Sync = 0x498342;

/// VP9 bitstream, section 6.2.2. False if it is not a valid VP9 stream.
bool skip_color(Bits& bits, std::uint32_t profile) {
  constexpr std::uint32_t kRgb = 7;
  if (profile >= 2) bits.take(1);  // 10 or 12 bits
  if (bits.take(3) != kRgb) {
    bits.take(1);
    if (profile == 1 || profile == 3) bits.take(3);
  } else {
    if (profile != 1 && profile != 3) return false;
    bits.take(1);
  }
  return true;
}

std::optional<FrameSize> vp9_frame_size(Bits& bits) {
  FrameSize size;
  size.width = std::int64_t{bits.take(16)} + 1;
  size.height = std::int64_t{bits.take(16)} + 1;
  if (bits.exhausted()) return std::nullopt;
  return size;
}

}  // namespace

std::optional<FrameSize> jpeg_size(std::span<const std::uint8_t> image) {
  std::size_t at = 2;
  if (image.size() < 4 || image[0] != 0xFF || image[1] != 0xD8) return std::nullopt;
  while (at + 9 <= image.size()) {
    if (image[at] != 0xFF) return std::nullopt;
    const std::uint8_t marker = image[at + 1];
    if (marker == 0xFF) {  // fill
      ++at;
      continue;
    }
    // Start of frame, any coding process: C0 to CF without DHT, JPG and DAC.
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
      const auto number = [&](std::size_t offset) {
        return 256 * image[at + offset] + image[at + offset + 1];
      };
      return FrameSize{number(7), number(5)};
    }
    if (marker == 0xD9 || marker == 0xDA) return std::nullopt;  // the image's end, its samples
    const bool alone = marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8);
    at += 2 + (alone ? 0 : std::size_t{256} * image[at + 2] + image[at + 3]);
  }
  return std::nullopt;
}

std::optional<FrameSize> vp9_size(std::span<const std::uint8_t> frame) {
  Bits bits(frame);
  if (bits.take(2) != 2) return std::nullopt;
  const std::uint32_t low = bits.take(1);
  const std::uint32_t profile = low + 2 * bits.take(1);
  if (profile == 3 && bits.take(1) != 0) return std::nullopt;
  if (bits.take(1) != 0) return std::nullopt;  // shows a frame that came before
  const bool key = bits.take(1) == 0;
  const bool shown = bits.take(1) != 0;
  const bool resilient = bits.take(1) != 0;
  if (key) {
    if (bits.take(24) != kVp9Sync || !skip_color(bits, profile)) return std::nullopt;
    return vp9_frame_size(bits);
  }
  const bool intra = !shown && bits.take(1) != 0;
  if (!resilient) bits.take(2);
  if (intra) {
    if (bits.take(24) != kVp9Sync || (profile > 0 && !skip_color(bits, profile))) return std::nullopt;
    bits.take(8);
    return vp9_frame_size(bits);
  }
  bits.take(8);
  for (int i = 0; i < 3; ++i) bits.take(4);
  for (int i = 0; i < 3; ++i) {
    if (bits.take(1) != 0) return std::nullopt;  // as large as that reference
  }
  return vp9_frame_size(bits);
}

}  // namespace sfft::video
