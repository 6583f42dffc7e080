// SPDX-License-Identifier: Apache-2.0
// Checks shapes, strides and pointers once, when a view is made.
#include "sfft/types.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "sfft/error.hpp"

namespace sfft {

namespace {
constexpr std::int64_t kMaxPoints = std::int64_t{1} << 62;
}

void Shape::set(std::span<const std::int64_t> extents) {
  if (extents.empty() || extents.size() > 3) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a shape has 1 to 3 dimensions, not {}", extents.size()));
  }
  rank_ = static_cast<int>(extents.size());
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t extent = extents[d];
    if (extent < 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("extent {} of dimension {} must be at least 1", extent, d));
    }
    if (points_ > (kMaxPoints - 1) / extent) {
      throw Error(ErrorCode::size_overflow,
                  fmt::format("the shape's number of points exceeds 2^62 at dimension {}", d));
    }
    points_ *= extent;
    extents_[d] = extent;
  }
}

std::string Shape::to_string() const {
  std::string text = fmt::format("{}", extents_[0]);
  for (int d = 1; d < rank_; ++d) text += fmt::format("x{}", (*this)[d]);
  return text;
}

std::size_t element_bytes(ElementType type) noexcept {
  switch (type) {
    case ElementType::u8:
    case ElementType::s8:
      return 1;
    case ElementType::u16:
    case ElementType::s16:
    case ElementType::cs8:
    case ElementType::cu8:
      return 2;
    case ElementType::f32:
    case ElementType::s32:
    case ElementType::cs16:
      return 4;
    case ElementType::f64:
    case ElementType::c64:
      return 8;
    case ElementType::c128:
      return 16;
  }
  return 0;
}

const char* to_string(ElementType type) noexcept {
  constexpr const char* kNames[] = {"u8", "u16", "float", "double", "complex float", "complex double",
                                    "s8", "s16", "s32",   "cs8",    "cs16",          "cu8"};
  const auto at = static_cast<std::size_t>(type);
  return at < std::size(kNames) ? kNames[at] : "unknown";
}

namespace {

std::array<std::int64_t, 3> row_major(const Shape& shape) noexcept {
  std::array<std::int64_t, 3> strides{1, 1, 1};
  for (int d = shape.rank() - 2; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    strides[at] = strides[at + 1] * shape[d + 1];
  }
  return strides;
}

void check(const void* data, ElementType type) {
  if (element_bytes(type) == 0) throw Error(ErrorCode::invalid_argument, "unknown element type");
  if (data == nullptr) throw Error(ErrorCode::invalid_argument, "the signal's data pointer is null");
}

}  // namespace

void SignalView::set_count(std::size_t count) {
  if (count != static_cast<std::size_t>(shape_.points())) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("shape {} needs {} samples, the span holds {}",
                                                       shape_.to_string(), shape_.points(), count));
  }
  check(data_, type_);
  strides_ = row_major(shape_);
}

void SignalView::set_strides(std::span<const std::int64_t> strides) {
  check(data_, type_);
  strides_ = row_major(shape_);
  if (strides.size() != static_cast<std::size_t>(shape_.rank())) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} strides for a signal of {} dimensions: give one each", strides.size(),
                            shape_.rank()));
  }
  // Elements that the dimensions visited so far span, from the first to one past the last.
  std::int64_t span = 1;
  for (int d = shape_.rank() - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    if (shape_[d] == 1) {
      strides_[at] = span;
      continue;
    }
    if (d == shape_.rank() - 1 && strides[at] != 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the last dimension has stride {}: its elements must be neighbours, stride 1",
                              strides[at]));
    }
    if (strides[at] < span) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("stride {} of dimension {} is below the {} elements that the ones inside it "
                              "span: strides are in elements, not in bytes",
                              strides[at], d, span));
    }
    const auto bytes = static_cast<std::int64_t>(element_bytes(type_));
    if (strides[at] > (std::numeric_limits<std::int64_t>::max() / bytes - span) / (shape_[d] - 1)) {
      throw Error(ErrorCode::size_overflow,
                  fmt::format("stride {} of dimension {} puts its last element out of what can be addressed",
                              strides[at], d));
    }
    if (strides[at] != strides_[at]) contiguous_ = false;
    strides_[at] = strides[at];
    span += (shape_[d] - 1) * strides[at];
  }
}

const char* to_string(Domain domain) noexcept {
  return domain == Domain::real ? "real" : "complex";
}

const char* to_string(Backend backend) noexcept {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::cpu:
      return "cpu";
    case Backend::cuda:
      return "cuda";
  }
  return "unknown";
}

const char* to_string(Path path) noexcept {
  switch (path) {
    case Path::automatic:
      return "auto";
    case Path::direct:
      return "direct";
    case Path::comb:
      return "comb";
    case Path::flat_window:
      return "flat_window";
    case Path::dense:
      return "dense";
  }
  return "unknown";
}

}  // namespace sfft
