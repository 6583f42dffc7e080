// SPDX-License-Identifier: Apache-2.0
// Reads contiguous or strided host memory with the vectorised gather kernels, and chooses the power of two
// that keeps squares of the samples in range.
#include "template/discovery/sample_reader.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/region_gather.hpp"
#include "kernels/cpu/stages/waves.hpp"

namespace sfft::detail {

namespace {

/// Samples within 2^±kOrdinary are used unscaled: single precision has room for the squares of their sums.
constexpr int kOrdinary = 20;
/// A sample that exceeds the scale by more than this power of two requires another scale.
constexpr int kOutgrown = 24;

template <class Real>
void gather(const SignalView& region, const SampleSet& set, Real* re, Real* im) {
  for (std::int64_t p0 = 0; p0 < set.counts[0]; ++p0) {
    for (std::int64_t p1 = 0; p1 < set.counts[1]; ++p1) {
      std::int64_t at = p0 * set.strides[0] + p1 * set.strides[1];
      for (std::int64_t p2 = 0; p2 < set.counts[2]; ++p2, at += set.strides[2]) {
        cpu::gather_region(region, at, set.offsets, set.lanes, re, im);
        re += set.lanes;
        im += set.lanes;
      }
    }
  }
}

template <class Real>
void gather(FrameData signal, ElementType type, const SampleSet& set, Real* re, Real* im) {
  if (signal.region != nullptr) return gather(*signal.region, set, re, im);
  const auto row = cpu::permute_kernels<Real>().gather[static_cast<std::size_t>(type)];
  const auto bytes = static_cast<std::int64_t>(element_bytes(type));
  const std::int64_t values = set.counts[2] * set.lanes;
  for (std::int64_t p0 = 0; p0 < set.counts[0]; ++p0) {
    for (std::int64_t p1 = 0; p1 < set.counts[1]; ++p1) {
      const std::int64_t start = p0 * set.strides[0] + p1 * set.strides[1];
      row(static_cast<const std::byte*>(signal.data) + start * bytes, set.counts[2], set.strides[2],
          set.offsets, set.lanes, re, im);
      re += values;
      im += values;
    }
  }
}

/// The largest |x|; NaN or infinite if one of the values is.
template <class Real>
Real largest_of(const Real* x, std::int64_t count) {
  using Word = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Real>(static_cast<Word>(cpu::wave_kernels<Real>().largest(x, count)));
}

}  // namespace

void HostSamples::read(const SampleSet& set, float* re, float* im) {
  gather(signal_, type(), set, re, im);
}
void HostSamples::read(const SampleSet& set, double* re, double* im) {
  gather(signal_, type(), set, re, im);
}

std::optional<WholeSignal> HostSamples::whole(double scale, const RandomFold& fold) {
  if (points_ == 0) return std::nullopt;
  WholeSignal sums;
  const std::int64_t columns = fold.shape()[fold.shape().rank() - 1];
  const auto add_row = [&](const std::byte* samples, std::int64_t row) {
    add_pieces(samples, type(), row * fold.row_pieces(), columns, scale, fold, sums);
  };
  if (signal_.region != nullptr) {
    for_each_row(*signal_.region, add_row);
  } else if (columns % fold.columns() == 0) {
    add_pieces(signal_.data, type(), 0, points_, scale, fold, sums);
  } else {
    const std::int64_t row_bytes = columns * static_cast<std::int64_t>(element_bytes(type()));
    const auto* samples = static_cast<const std::byte*>(signal_.data);
    for (std::int64_t row = 0; row < points_ / columns; ++row) add_row(samples + row * row_bytes, row);
  }
  return sums;
}

std::optional<WholeSignal> ScaledSamples::whole(double scale, const RandomFold& fold) {
  return samples_.whole(std::ldexp(scale, -exponent_), fold);
}

bool ScaledSamples::outgrown() noexcept {
  return std::exchange(outgrown_, false);
}

template <class Real>
void ScaledSamples::scaled_read(const SampleSet& set, Real* re, Real* im) {
  samples_.read(set, re, im);
  if (is_integer(type()) && !exceeds_float(type())) return;  // of ordinary size
  const std::int64_t values = set.values();
  const Real largest = std::max(largest_of(re, values), largest_of(im, values));
  if (std::isfinite(largest) && largest > 0) {
    // The power of two and its inverse must both be representable in the type.
    constexpr int kMax = sizeof(Real) == 4 ? 120 : 1000;
    const int own = std::clamp(std::ilogb(largest), -kMax, kMax);
    const int wanted = std::abs(own) <= kOrdinary ? 0 : own;
    if (!chosen_) {
      exponent_ = wanted;
      chosen_ = true;
    } else if (own > exponent_ + kOutgrown) {
      exponent_ = wanted;
      outgrown_ = true;
    }
  }
  if (exponent_ == 0) return;
  const auto scale = static_cast<Real>(std::ldexp(1.0, -exponent_));
  for (std::int64_t i = 0; i < values; ++i) {
    re[i] *= scale;
    im[i] *= scale;
  }
}

void ScaledSamples::read(const SampleSet& set, float* re, float* im) {
  scaled_read(set, re, im);
}
void ScaledSamples::read(const SampleSet& set, double* re, double* im) {
  scaled_read(set, re, im);
}

}  // namespace sfft::detail
