// SPDX-License-Identifier: Apache-2.0
// The bytes of a template file: a writer, a reader that never runs past the end, and their checksum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace sfft::detail {

/// Thrown while reading a file or part of it; says what is wrong with its bytes.
struct DamagedBytes {
  std::string why;
};

/// CRC-64/XZ (ECMA-182, reflected): detects every burst error of up to 64 bits, hence every single-bit error.
class Checksum {
 public:
  void add(const char* bytes, std::size_t count) noexcept;
  /// The checksum of all bytes so far.
  std::uint64_t value() const noexcept { return ~crc_; }

  static std::uint64_t of(const char* bytes, std::size_t count) noexcept {
    Checksum checksum;
    checksum.add(bytes, count);
    return checksum.value();
  }

 private:
  std::uint64_t crc_ = ~std::uint64_t{0};
};

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    put_array(&value, 1);
  }
  template <class T>
  void put_array(const T* values, std::size_t count) {
    append(values, count * sizeof(T));
  }
  void put_text(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_array(text.data(), text.size());
  }
  /// Appends the checksum of the bytes from `first` on.
  void put_checksum(std::size_t first = 0) {
    put(Checksum::of(bytes_.data() + first, bytes_.size() - first));
  }
  std::vector<char>& bytes() { return bytes_; }

 private:
  void append(const void* bytes, std::size_t count);

  std::vector<char> bytes_;
};

class ByteReader {
 public:
  ByteReader(const char* bytes, std::size_t count) : at_(bytes), end_(bytes + count) {}
  [[noreturn]] static void damaged(const std::string& why) { throw DamagedBytes{why}; }
  template <class T>
  T get() {
    T value;
    get_array(&value, 1);
    return value;
  }
  template <class T>
  void get_array(T* values, std::size_t count) {
    if (count > left() / sizeof(T)) damaged("it ends early");
    if (count == 0) return;  // an empty vector has no memory to copy to
    std::memcpy(values, at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }
  template <class T, class Allocator = std::allocator<T>>
  std::vector<T, Allocator> get_vector(std::uint64_t count) {
    if (count > left() / sizeof(T)) damaged("it ends early");
    std::vector<T, Allocator> values(count);
    get_array(values.data(), values.size());
    return values;
  }
  std::string get_text() {
    const std::vector<char> text = get_vector<char>(get<std::uint32_t>());
    return {text.begin(), text.end()};
  }
  void skip(std::uint64_t bytes) {
    if (bytes > left()) damaged("it ends early");
    at_ += bytes;
  }
  const char* at() const noexcept { return at_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  bool at_end() const noexcept { return at_ == end_; }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace sfft::detail
