// SPDX-License-Identifier: Apache-2.0
// Computes the change of the whole spectrum from the samples by Parseval's theorem. The part that the known
// coefficients do not explain is outside the support.
#include "sfft/tracking/stream_memory.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "kernels/base/math/elements.hpp"
#include "kernels/base/math/region.hpp"

namespace sfft::detail {

namespace {

template <class T>
double square_distance(const T* a, const T* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += distance * distance;
  }
  return sum;
}

/// Uses integers, which allow more samples per instruction, and blocks whose sums fit 32 bits.
double square_distance(const std::uint8_t* a, const std::uint8_t* b, std::size_t count) {
  constexpr std::size_t kBlock = 1 << 15;
  double sum = 0;
  for (std::size_t start = 0; start < count; start += kBlock) {
    const std::size_t end = std::min(count, start + kBlock);
    std::uint32_t block = 0;
    for (std::size_t i = start; i < end; ++i) {
      const std::int32_t distance = std::int32_t{a[i]} - std::int32_t{b[i]};
      block += static_cast<std::uint32_t>(distance * distance);
    }
    sum += block;
  }
  return sum;
}

/// Σ|a − b|²; complex samples are pairs of reals.
double square_distance(const void* a, const void* b, ElementType type, std::size_t count) {
  double sum = 0;
  with_elements(a, type, [&](const auto* first) {
    const auto* second = static_cast<decltype(first)>(b);
    if constexpr (requires { first->re; })
      sum = square_distance(&first->re, &second->re, 2 * count);
    else
      sum = square_distance(first, second, count);
  });
  return sum;
}

}  // namespace

void StreamMemory::keep(const SignalView& frame, std::span<const std::complex<double>> values,
                        bool in_background) {
  /// A frame of this many bytes takes longer to copy than a thread to start.
  constexpr std::size_t kLarge = std::size_t{1} << 19;
  settle();
  frame_.resize(frame.bytes());
  type_ = frame.type();
  values_.assign(values.begin(), values.end());
  const auto copy = [this, frame] { copy_elements(frame, frame_.data()); };
  if (in_background && frame.contiguous() && frame.bytes() >= kLarge) {
    try {
      copied_ = next_worker().ask(copy);
      original_ = static_cast<const std::byte*>(frame.data());
      return;
    } catch (const std::exception&) {  // thread creation failed
    }
  }
  copy();
}

double StreamMemory::distance(const SignalView& frame, const std::byte* kept) const {
  const Shape& shape = frame.shape();
  const auto columns = static_cast<std::size_t>(shape[shape.rank() - 1]);
  double sum = 0;
  for_each_row(frame, [&](const std::byte* row, std::int64_t i) {
    const std::size_t start = static_cast<std::size_t>(i) * columns * element_bytes(type_);
    sum += square_distance(row, kept + start, type_, columns);
  });
  return sum;
}

double StreamMemory::distance_to(const SignalView& frame) {
  return distance(frame, original_ != nullptr ? original_ : frame_.data());
}

void StreamMemory::begin(const SignalView& frame, std::int64_t number) noexcept {
  constexpr std::size_t kMax = 6;
  if (pending_.size() >= kMax || empty() || frame.type() != type_ || frame.bytes() != frame_.size()) return;
  const auto same = [&](const Pending& pending) { return pending.number == number; };
  if (std::ranges::any_of(pending_, same)) return;
  const bool from_original = original_ != nullptr;
  const std::byte* const kept = from_original ? original_ : frame_.data();
  try {
    pending_.push_back(
        {number, from_original, next_worker().ask([this, frame, kept] { return distance(frame, kept); })});
  } catch (const std::exception&) {  // thread creation failed
  }
}

void StreamMemory::prepare() noexcept {
  try {
    for (Worker& worker : workers_) worker.wake();
  } catch (const std::exception&) {  // thread creation failed
  }
}

/// After this, nothing reads the kept frame's original samples.
void StreamMemory::await_copy() noexcept {
  if (original_ == nullptr) return;
  for (const Pending& pending : pending_) {
    if (pending.from_original) pending.distance.wait();
  }
  copied_.wait();
  original_ = nullptr;
}

void StreamMemory::settle() noexcept {
  for (const Pending& pending : pending_) pending.distance.wait();
  pending_.clear();
  await_copy();
}

void StreamMemory::keep_only(std::int64_t first, std::int64_t end) noexcept {
  await_copy();
  std::erase_if(pending_, [&](const Pending& pending) {
    if (pending.number >= first && pending.number < end) return false;
    pending.distance.wait();
    return true;
  });
}

auto StreamMemory::change(const SignalView& frame, std::int64_t number,
                          std::span<const std::complex<double>> values, std::span<const double> multiplicity)
    -> Change {
  if (frame.type() != type_ || values.size() != values_.size()) {
    constexpr double kAll = std::numeric_limits<double>::infinity();
    return {kAll, kAll};
  }
  Change change;
  for (std::size_t i = 0; i < values.size(); ++i)
    change.support += multiplicity[i] * std::norm(values[i] - values_[i]);
  const auto same = [&](const Pending& one) { return one.number == number; };
  const auto begun = std::ranges::find_if(pending_, same);
  double distance = 0;
  if (begun != pending_.end()) {
    distance = begun->distance.get();
    pending_.erase(begun);
  } else {
    distance = distance_to(frame);
  }
  const double all = static_cast<double>(frame.shape().points()) * distance;
  change.outside = std::max(0.0, all - change.support);
  return change;
}

}  // namespace sfft::detail
