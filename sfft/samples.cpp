// SPDX-License-Identifier: Apache-2.0
// Parses the name of a format once, then converts with a loop per size and byte order.
#include "sfft/samples.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>

#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

struct SampleFormat {
  bool complex = false, big_endian = false;
  char kind = 'i';  ///< of a part: i, u or f
  int bytes = 0;    ///< of a part
};

/// Nothing for names that are no formats.
std::optional<SampleFormat> parse(std::string_view name) {
  SampleFormat format;
  if (name.size() < 3 || (name[0] != 'r' && name[0] != 'c')) return std::nullopt;
  format.complex = name[0] == 'c';
  format.kind = name[1];
  int bits = 0;
  const auto [end, failed] = std::from_chars(name.data() + 2, name.data() + name.size(), bits);
  if (failed != std::errc()) return std::nullopt;
  const std::string_view order = name.substr(static_cast<std::size_t>(end - name.data()));
  format.big_endian = order == "_be";
  if (bits == 8 ? !order.empty() : order != "_le" && order != "_be") return std::nullopt;
  const bool integer = format.kind == 'i' || format.kind == 'u';
  const bool fits = integer ? bits == 8 || bits == 16 || bits == 24 || bits == 32
                            : format.kind == 'f' && (bits == 32 || bits == 64);
  if (!fits) return std::nullopt;
  format.bytes = bits / 8;
  return format;
}

template <int kBytes, bool kBig>
std::uint64_t load(const std::byte* from) {
  std::uint64_t word = 0;
  for (int i = 0; i < kBytes; ++i)
    word |= static_cast<std::uint64_t>(from[kBig ? kBytes - 1 - i : i]) << (8 * i);
  return word;
}

/// The number that a part of `kBytes` bytes stands for.
template <int kBytes>
double number(std::uint64_t word, char kind) {
  if (kind == 'u') return static_cast<double>(word);
  if (kind == 'i') {
    constexpr int kUnused = 64 - 8 * kBytes;
    return static_cast<double>(static_cast<std::int64_t>(word << kUnused) >> kUnused);
  }
  if constexpr (kBytes == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  return std::bit_cast<double>(word);
}

template <int kBytes, class Real>
void convert(const std::byte* from, const SampleFormat& format, double scale, double offset,
             std::size_t parts, Real* to) {
  const auto all = [&](auto word_at) {
    for (std::size_t i = 0; i < parts; ++i)
      to[i] = static_cast<Real>(scale * (number<kBytes>(word_at(from + i * kBytes), format.kind) + offset));
  };
  format.big_endian ? all(load<kBytes, true>) : all(load<kBytes, false>);
}

template <class Real>
void convert(const std::byte* from, const SampleFormat& format, double scale, double offset,
             std::size_t parts, void* values) {
  auto* const to = static_cast<Real*>(values);
  switch (format.bytes) {
    case 1:
      return convert<1>(from, format, scale, offset, parts, to);
    case 2:
      return convert<2>(from, format, scale, offset, parts, to);
    case 3:
      return convert<3>(from, format, scale, offset, parts, to);
    case 4:
      return convert<4>(from, format, scale, offset, parts, to);
    default:
      return convert<8>(from, format, scale, offset, parts, to);
  }
}

}  // namespace

void convert_samples(std::span<const std::byte> stored, std::string_view format, double scale, double offset,
                     void* values, std::size_t count, ElementType type) {
  const std::optional<SampleFormat> parsed = parse(format);
  if (!parsed) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is no format of samples: give r or c, then i8, u8, or one of i16, u16, i24, "
                    "u24, i32, u32, f32 and f64 with _le or _be, as in ci16_le",
                    format));
  }
  if (parsed->complex != is_complex(type)) {
    throw Error(ErrorCode::type_mismatch,
                fmt::format("samples of format {} are {}: convert them to {} values", format,
                            parsed->complex ? "complex" : "real", parsed->complex ? "complex" : "real"));
  }
  const std::size_t bytes = static_cast<std::size_t>(parsed->bytes) * (parsed->complex ? 2 : 1);
  if (stored.size() % bytes != 0 || stored.size() / bytes != count) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} values need {} bytes each of format {}, and {} bytes are given", count, bytes,
                            format, stored.size()));
  }
  const std::size_t parts = stored.size() / static_cast<std::size_t>(parsed->bytes);
  const bool single = type == ElementType::f32 || type == ElementType::c64;
  single ? convert<float>(stored.data(), *parsed, scale, offset, parts, values)
         : convert<double>(stored.data(), *parsed, scale, offset, parts, values);
}

}  // namespace sfft::detail
