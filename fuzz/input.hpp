// SPDX-License-Identifier: Apache-2.0
// Reads a fuzzer's bytes as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace sfft::fuzz {

class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes, count) {}

  bool empty() const { return bytes_.empty(); }
  /// The next number; zero when the bytes are used up.
  template <class T>
  T number() {
    T value{};
    const std::size_t count = bytes_.size() < sizeof value ? bytes_.size() : sizeof value;
    std::memcpy(&value, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return value;
  }
  /// A number from `min` to `max`, both included.
  std::int64_t between(std::int64_t min, std::int64_t max) {
    return min +
           static_cast<std::int64_t>(number<std::uint16_t>() % static_cast<std::uint64_t>(max - min + 1));
  }
  bool flip() { return (number<std::uint8_t>() & 1) != 0; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace sfft::fuzz
