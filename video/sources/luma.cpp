// SPDX-License-Identifier: Apache-2.0
// Copies or computes luma row by row, and stretches each row's range while it is cached. Finally rotates the
// picture if necessary.
#include "video/sources/luma.hpp"

#include "kernels/cuda/stages/luma_range.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sfft::video {

namespace {

/// How to read luma from a pixel format.
struct Layout {
  const AVPixFmtDescriptor* format = nullptr;
  bool rgb = false;  ///< luma is computed from RGB
  bool full_range = false;
  int bits = 8;  ///< per luma sample: 8, or 9 to 16
};

bool has(const AVPixFmtDescriptor& format, std::uint64_t flag) {
  return (format.flags & flag) != 0;
}

/// yuvj420p and the like, whose names imply full range.
bool named_full(AVPixelFormat format) {
  return format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P ||
         format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ411P;
}

Layout layout_of(AVPixelFormat id, bool marked_full) {
  Layout layout;
  layout.format = av_pix_fmt_desc_get(id);
  if (layout.format == nullptr || has(*layout.format, AV_PIX_FMT_FLAG_HWACCEL) ||
      has(*layout.format, AV_PIX_FMT_FLAG_FLOAT) || has(*layout.format, AV_PIX_FMT_FLAG_BAYER)) {
    throw InputError(fmt::format("pixels of the format {} cannot be read: convert the recording to yuv420p",
                                 layout.format != nullptr ? layout.format->name : "unknown"));
  }
  const AVPixFmtDescriptor& format = *layout.format;
  layout.rgb = has(format, AV_PIX_FMT_FLAG_RGB) || has(format, AV_PIX_FMT_FLAG_PAL);
  const bool grey = format.nb_components <= 2 && !layout.rgb;
  layout.full_range = layout.rgb || grey || named_full(id) || marked_full;
  const int components = layout.rgb && !has(format, AV_PIX_FMT_FLAG_PAL) ? 3 : 1;
  for (int c = 0; c < components; ++c) layout.bits = std::max(layout.bits, format.comp[c].depth);
  return layout;
}

#if defined(__x86_64__)
/// full_range() for 32 samples at a time: (value - 16) + (value - 16) * 36 / 219, where pmulhrsw rounds the
/// second part. Returns the number of samples done.
[[gnu::target("avx2")]] int stretch_avx2(const std::uint8_t* from, std::uint8_t* row, int width) {
  constexpr int kSamples = 32;
  constexpr short kMore = 5387;  // 36 / 219 in 15 fractional bits
  const __m256i black = _mm256_set1_epi8(16);
  const __m256i span = _mm256_set1_epi8(static_cast<char>(219));
  const __m256i more = _mm256_set1_epi16(kMore);
  const __m256i zero = _mm256_setzero_si256();
  int x = 0;
  for (; x + kSamples <= width; x += kSamples) {
    const __m256i sample = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + x));
    const __m256i value = _mm256_min_epu8(_mm256_subs_epu8(sample, black), span);
    const __m256i low = _mm256_mulhrs_epi16(_mm256_unpacklo_epi8(value, zero), more);
    const __m256i high = _mm256_mulhrs_epi16(_mm256_unpackhi_epi8(value, zero), more);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(row + x),
                        _mm256_add_epi8(value, _mm256_packus_epi16(low, high)));
  }
  return x;
}
#endif

/// Prefetches a row some rows ahead. Pictures come from memory, or from the cache of the core that
/// decoded them.
void fetch(const std::uint8_t* row, int bytes) {
  constexpr int kLine = 64;
  for (int x = 0; x < bytes; x += kLine) __builtin_prefetch(row + x);
}

/// `from` and `row` may be the same.
void stretch(const std::uint8_t* from, std::uint8_t* row, int width) {
  int x = 0;
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) x = stretch_avx2(from, row, width);
#endif
  for (; x < width; ++x) row[x] = sfft::detail::full_range(from[x]);
}

void stretch(std::uint16_t* row, int width, int bits) {
  const sfft::detail::FullRange full_range(bits);
  for (int x = 0; x < width; ++x) row[x] = full_range(row[x]);
}

const std::uint8_t* row_of(const AVFrame& picture, const AVComponentDescriptor& component, int y) {
  return picture.data[component.plane] + static_cast<std::ptrdiff_t>(y) * picture.linesize[component.plane] +
         component.offset;
}

/// Whether samples are whole bytes.
bool plain_bytes(const AVPixFmtDescriptor& format, const AVComponentDescriptor& component) {
  return component.depth == 8 && component.shift == 0 && !has(format, AV_PIX_FMT_FLAG_BITSTREAM) &&
         !has(format, AV_PIX_FMT_FLAG_PAL);
}

/// Whether samples are two bytes in native order with 9 to 16 significant bits: yuv420p10, P010, Y210.
bool plain_words(const AVPixFmtDescriptor& format, const AVComponentDescriptor& component) {
  constexpr bool kBigEndian = std::endian::native == std::endian::big;
  return component.depth > 8 && component.depth + component.shift <= 16 &&
         !has(format, AV_PIX_FMT_FLAG_BITSTREAM) && has(format, AV_PIX_FMT_FLAG_BE) == kBigEndian;
}

void copy_bytes(const std::uint8_t* from, int step, std::uint8_t* row, int width) {
  if (step == 1) {
    std::memcpy(row, from, static_cast<std::size_t>(width));
  } else if (step == 2) {
    for (int x = 0; x < width; ++x) row[x] = from[2 * x];
  } else {
    for (int x = 0; x < width; ++x) row[x] = from[static_cast<std::ptrdiff_t>(step) * x];
  }
}

void copy_words(const std::uint8_t* from, const AVComponentDescriptor& component, std::uint16_t* row,
                int width) {
  const auto mask = static_cast<std::uint16_t>((1U << component.depth) - 1);
  if (component.step == 2) {
    std::memcpy(row, from, 2 * static_cast<std::size_t>(width));
    for (int x = 0; x < width; ++x) row[x] = static_cast<std::uint16_t>(row[x] >> component.shift) & mask;
    return;
  }
  for (int x = 0; x < width; ++x) {
    std::uint16_t value = 0;
    std::memcpy(&value, from + static_cast<std::ptrdiff_t>(component.step) * x, sizeof value);
    row[x] = static_cast<std::uint16_t>(value >> component.shift) & mask;
  }
}

/// OpenCV's weights, with its 15 fractional bits.
template <class Red>
std::uint32_t weighted(Red red, Red green, Red blue) {
  return (std::uint32_t{9798} * red + std::uint32_t{19235} * green + std::uint32_t{3735} * blue + 16384) >>
         15;
}

class Reader {
 public:
  explicit Reader(const AVFrame& picture)
      : picture_(picture),
        layout_(
            layout_of(static_cast<AVPixelFormat>(picture.format), picture.color_range == AVCOL_RANGE_JPEG)) {
    if (layout_.rgb) {
      for (auto& line : colours_) line.resize(static_cast<std::size_t>(picture.width));
    }
  }

  int bits() const noexcept { return layout_.bits; }

  void read(int y, std::uint8_t* row) {
    const AVComponentDescriptor& luma = layout_.format->comp[0];
    if (layout_.rgb) {
      weigh(y, row);
    } else if (plain_bytes(*layout_.format, luma) && luma.step == 1 && !layout_.full_range) {
      constexpr int kAhead = 2;
      if (y + kAhead < picture_.height) fetch(row_of(picture_, luma, y + kAhead), picture_.width);
      return stretch(row_of(picture_, luma, y), row, picture_.width);
    } else if (plain_bytes(*layout_.format, luma)) {
      copy_bytes(row_of(picture_, luma, y), luma.step, row, picture_.width);
    } else {
      read_any(y, 0, words_);
      for (int x = 0; x < picture_.width; ++x) row[x] = static_cast<std::uint8_t>(words_[at(x)]);
    }
    if (!layout_.full_range) stretch(row, row, picture_.width);
  }

  void read(int y, std::uint16_t* row) {
    const AVComponentDescriptor& luma = layout_.format->comp[0];
    if (layout_.rgb) {
      weigh(y, row);
    } else if (plain_words(*layout_.format, luma)) {
      copy_words(row_of(picture_, luma, y), luma, row, picture_.width);
    } else {
      read_any(y, 0, words_);
      std::copy_n(words_.data(), picture_.width, row);
    }
    if (!layout_.full_range) stretch(row, picture_.width, layout_.bits);
  }

 private:
  static std::size_t at(int x) { return static_cast<std::size_t>(x); }

  /// Reads samples of a component in any layout, scaled to luma's depth.
  void read_any(int y, int component, std::vector<std::uint16_t>& line) const {
    const AVPixFmtDescriptor& format = *layout_.format;
    line.resize(at(picture_.width));
    const std::uint8_t* planes[4] = {picture_.data[0], picture_.data[1], picture_.data[2], picture_.data[3]};
    av_read_image_line2(line.data(), planes, picture_.linesize, &format, 0, y, component, picture_.width, 0,
                        2);
    const int depth = format.comp[component].depth;
    if (picture_.format == AV_PIX_FMT_MONOWHITE) {
      for (auto& value : line) value ^= 1U;
    }
    if (depth == layout_.bits) return;
    const std::uint32_t from = (1U << depth) - 1;
    const std::uint32_t to = (1U << layout_.bits) - 1;
    for (auto& value : line) value = static_cast<std::uint16_t>((value * to + from / 2) / from);
  }

  /// A pal8 row: indices into a palette of 0xAARRGGBB.
  void look_up(int y) {
    const std::uint8_t* const indices = row_of(picture_, layout_.format->comp[0], y);
    for (int x = 0; x < picture_.width; ++x) {
      std::uint32_t colour = 0;
      std::memcpy(&colour, picture_.data[1] + 4 * std::size_t{indices[x]}, sizeof colour);
      for (unsigned c = 0; c < 3; ++c)
        colours_[c][at(x)] = static_cast<std::uint16_t>(colour >> (16 - 8 * c) & 255U);
    }
  }

  template <class Sample>
  void weigh(int y, Sample* row) {
    const AVPixFmtDescriptor& format = *layout_.format;
    const bool palette = has(format, AV_PIX_FMT_FLAG_PAL);
    if (palette) look_up(y);
    for (int c = 0; c < 3 && !palette; ++c) {
      std::vector<std::uint16_t>& line = colours_[c];
      const AVComponentDescriptor& component = format.comp[c];
      if (plain_bytes(format, component)) {
        const std::uint8_t* const from = row_of(picture_, component, y);
        for (int x = 0; x < picture_.width; ++x)
          line[at(x)] = from[static_cast<std::ptrdiff_t>(component.step) * x];
      } else if (plain_words(format, component) && component.depth == layout_.bits) {
        copy_words(row_of(picture_, component, y), component, line.data(), picture_.width);
      } else {
        read_any(y, c, line);
      }
    }
    for (int x = 0; x < picture_.width; ++x)
      row[x] = static_cast<Sample>(
          weighted<std::uint32_t>(colours_[0][at(x)], colours_[1][at(x)], colours_[2][at(x)]));
  }

  const AVFrame& picture_;
  Layout layout_;
  std::vector<std::uint16_t> words_, colours_[3];
};

/// Mirrors left to right.
template <class Sample>
void mirror(Frame& frame) {
  auto* const samples = reinterpret_cast<Sample*>(frame.samples.data());
  for (std::int64_t y = 0; y < frame.height; ++y)
    std::reverse(samples + y * frame.width, samples + (y + 1) * frame.width);
}

/// Rotates by 90 degrees clockwise.
template <class Sample>
void turn(Frame& frame) {
  const std::int64_t width = frame.width;
  const std::int64_t height = frame.height;
  std::vector<std::byte> turned(frame.samples.size());
  const auto* const from = reinterpret_cast<const Sample*>(frame.samples.data());
  auto* const to = reinterpret_cast<Sample*>(turned.data());
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) to[x * height + height - 1 - y] = from[y * width + x];
  }
  frame.samples.swap(turned);
  std::swap(frame.width, frame.height);
}

template <class Sample>
void read_rows(Reader& reader, const AVFrame& picture, Frame& frame) {
  frame.samples.resize(sizeof(Sample) * static_cast<std::size_t>(picture.width) *
                       static_cast<std::size_t>(picture.height));
  auto* const samples = reinterpret_cast<Sample*>(frame.samples.data());
  for (int y = 0; y < picture.height; ++y)
    reader.read(y, samples + static_cast<std::ptrdiff_t>(y) * picture.width);
}

}  // namespace

LumaPlane luma_plane(AVPixelFormat format, bool marked_full) {
  const Layout layout = layout_of(format, marked_full);
  const AVComponentDescriptor& luma = layout.format->comp[0];
  const bool plain = plain_bytes(*layout.format, luma) || plain_words(*layout.format, luma);
  if (layout.rgb || !plain || luma.plane != 0 || luma.offset != 0 || luma.step != (luma.depth > 8 ? 2 : 1))
    throw InputError(fmt::format("a GPU's pictures of the format {} cannot be read: decode on the CPU",
                                 layout.format->name));
  return {luma.depth, luma.shift, layout.full_range};
}

void to_luma(const AVFrame& picture, const Orientation& shown, Frame& frame) {
  Reader reader(picture);
  frame.width = picture.width;
  frame.height = picture.height;
  frame.bit_depth16 = reader.bits() > 8;
  if (frame.bit_depth16) {
    read_rows<std::uint16_t>(reader, picture, frame);
  } else {
    read_rows<std::uint8_t>(reader, picture, frame);
  }
  if (shown.mirrored) frame.bit_depth16 ? mirror<std::uint16_t>(frame) : mirror<std::uint8_t>(frame);
  for (int i = 0; i < shown.quarter_turns; ++i)
    frame.bit_depth16 ? turn<std::uint16_t>(frame) : turn<std::uint8_t>(frame);
}

}  // namespace sfft::video
