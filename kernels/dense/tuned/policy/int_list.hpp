// SPDX-License-Identifier: Apache-2.0
// A short list of integers that host and device code share and that constants can contain.
//
// NVRTC also compiles this file: C++17 without standard headers.
#pragma once

namespace sfft::detail::tuned {

class IntList {
 public:
  static constexpr int kCapacity = 15;  ///< number of factors in 2^15, the longest transform of a block

  constexpr IntList() = default;
  template <class... Rest>
  constexpr IntList(int first, Rest... rest)  // NOLINT: lists are written as {16, 4}
      : values_{first, static_cast<int>(rest)...}, size_(1 + sizeof...(rest)) {}
  /// Copies the first kCapacity elements of another container.
  template <class Container>
  static constexpr IntList of(const Container& values) {
    IntList list;
    for (const int value : values) list.push_back(value);
    return list;
  }

  constexpr unsigned size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr int operator[](unsigned i) const { return values_[i]; }
  constexpr int& operator[](unsigned i) { return values_[i]; }
  constexpr int front() const { return values_[0]; }
  constexpr int& front() { return values_[0]; }
  constexpr int back() const { return values_[size_ - 1]; }
  constexpr int& back() { return values_[size_ - 1]; }
  constexpr const int* begin() const { return values_; }
  constexpr const int* end() const { return values_ + size_; }
  constexpr int* begin() { return values_; }
  constexpr int* end() { return values_ + size_; }

  /// Does nothing if the list is full.
  constexpr void push_back(int value) {
    if (size_ < kCapacity) values_[size_++] = value;
  }

  /// The product of the first `count` elements.
  constexpr int product(unsigned count) const {
    int product = 1;
    for (unsigned i = 0; i < count; ++i) product *= values_[i];
    return product;
  }
  constexpr int product() const { return product(size_); }
  constexpr IntList reversed() const {
    IntList list;
    for (unsigned i = size_; i-- > 0;) list.push_back(values_[i]);
    return list;
  }

  friend constexpr bool operator==(const IntList& a, const IntList& b) {
    if (a.size_ != b.size_) return false;
    for (unsigned i = 0; i < a.size_; ++i) {
      if (a.values_[i] != b.values_[i]) return false;
    }
    return true;
  }
  friend constexpr bool operator!=(const IntList& a, const IntList& b) { return !(a == b); }

 private:
  int values_[kCapacity] = {};
  unsigned size_ = 0;
};

}  // namespace sfft::detail::tuned
