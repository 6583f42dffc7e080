// SPDX-License-Identifier: Apache-2.0
// The small FFT that every algorithm here runs over its buckets. It is the library's dense engine with
// persistent scratch memory, which is faster than FFTW at these sizes.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sfft/dense.hpp"

namespace sfft::peers {

template <class Real>
class BucketFft {
 public:
  explicit BucketFft(std::int64_t points)
      : plan_(Shape{points}, Domain::complex, {.normalization = dense::Options::Normalization::none}),
        shape_(points),
        workspace_(plan_.workspace_bytes() + kAlignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace_.data());
    offset_ = (kAlignment - address % kAlignment) % kAlignment;
  }

  std::int64_t points() const noexcept { return shape_.points(); }
  void forward(std::span<std::complex<Real>> buckets) {
    plan_.forward(SignalView(std::span<const std::complex<Real>>(buckets), shape_), buckets, scratch());
  }
  void inverse(std::span<std::complex<Real>> buckets) { plan_.inverse(buckets, buckets, scratch()); }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::span<std::byte> scratch() { return std::span(workspace_).subspan(offset_, plan_.workspace_bytes()); }

  dense::Plan<Real> plan_;
  Shape shape_;
  std::vector<std::byte> workspace_;
  std::size_t offset_ = 0;
};

}  // namespace sfft::peers
