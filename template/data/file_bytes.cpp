// SPDX-License-Identifier: Apache-2.0
// The checksum processes eight bytes at a time with eight tables, because reference frames have several
// megabytes.
#include "template/data/file_bytes.hpp"

namespace sfft::detail {

namespace {

using Tables = std::array<std::array<std::uint64_t, 256>, 8>;

/// tables[i][b]: the contribution of byte b followed by i zero bytes.
Tables make_tables() {
  Tables tables{};
  for (std::uint64_t i = 0; i < 256; ++i) {
    std::uint64_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xC96C5795D7870F42ull : 0);
    tables[0][i] = value;
  }
  for (std::size_t more = 1; more < 8; ++more) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint64_t before = tables[more - 1][i];
      tables[more][i] = tables[0][before & 0xFF] ^ (before >> 8);
    }
  }
  return tables;
}

}  // namespace

void Checksum::add(const char* bytes, std::size_t count) noexcept {
  static const Tables tables = make_tables();
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, 8);
    word ^= crc_;
    crc_ = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) crc_ ^= tables[7 - byte][(word >> (8 * byte)) & 0xFF];
  }
  for (; i < count; ++i) crc_ = tables[0][(crc_ ^ static_cast<unsigned char>(bytes[i])) & 0xFF] ^ (crc_ >> 8);
}

void ByteWriter::append(const void* bytes, std::size_t count) {
  const auto* const first = static_cast<const char*>(bytes);
  bytes_.insert(bytes_.end(), first, first + count);
}

}  // namespace sfft::detail
