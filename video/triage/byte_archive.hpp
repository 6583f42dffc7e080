// SPDX-License-Identifier: Apache-2.0
// Converts numbers and arrays to bytes and back, for state that the same program reads again. A class has one
// list of members for writing and reading:
// `template <class Archive> void archive(Archive& bytes) { bytes(first_, second_, …); }`.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sfft/error.hpp"

namespace sfft::video {

class ByteWriter {
 public:
  template <class... Values>
  void operator()(Values&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      value.archive(*this);
    }
  }
  template <class T>
  void put(std::vector<T>& values) {
    put_all(values);
  }
  template <class T>
  void put(std::deque<T>& values) {
    put_all(values);
  }
  void put(std::vector<float>& values) {
    auto count = static_cast<std::uint64_t>(values.size());
    put(count);
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  template <class Values>
  void put_all(Values& values) {
    auto count = static_cast<std::uint64_t>(values.size());
    put(count);
    for (auto& value : values) put(value);
  }

  std::string bytes_;
};

/// Throws Error(file_corrupt) if bytes are missing. It rejects counts above the number of bytes that are
/// left, so damaged input causes no large allocation.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  bool empty() const noexcept { return left_.empty(); }

 private:
  const char* next(std::uint64_t bytes) {
    if (bytes > left_.size()) throw Error(ErrorCode::file_corrupt, "the state of a file is cut short");
    const char* const at = left_.data();
    left_.remove_prefix(static_cast<std::size_t>(bytes));
    return at;
  }
  std::uint64_t count() {
    std::uint64_t count = 0;
    get(count);
    if (count > left_.size()) throw Error(ErrorCode::file_corrupt, "the state of a file is cut short");
    return count;
  }
  template <class T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      std::memcpy(&value, next(sizeof value), sizeof value);
    } else {
      value.archive(*this);
    }
  }
  template <class T>
  void get(std::vector<T>& values) {
    get_all(values);
  }
  template <class T>
  void get(std::deque<T>& values) {
    get_all(values);
  }
  void get(std::vector<float>& values) {
    const auto floats = static_cast<std::size_t>(count());
    const char* const from = next(floats * sizeof(float));
    values.resize(floats);
    std::memcpy(values.data(), from, floats * sizeof(float));
  }
  template <class Values>
  void get_all(Values& values) {
    values.clear();
    for (std::uint64_t left = count(); left > 0; --left) get(values.emplace_back());
  }

  std::string_view left_;
};

}  // namespace sfft::video
