// SPDX-License-Identifier: Apache-2.0
// Uses plain host loops for every element type, and maps the indices of a region to its strides one by one.
#include "kernels/cuda/stages/samples.hpp"

#include <algorithm>

#include "kernels/base/math/region.hpp"
#include "kernels/base/tables/witness_reals.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Use>
void with_type(Element type, const Use& use) {
  switch (type) {
    case Element::u8:
      return use(std::uint8_t{});
    case Element::u16:
      return use(std::uint16_t{});
    case Element::f32:
      return use(float{});
    case Element::f64:
      return use(double{});
    case Element::c64:
      return use(Complex<float>{});
    case Element::c128:
      return use(Complex<double>{});
  }
}

template <class Real, class T>
Complex<Real> pair(T first, T second) {
  return {static_cast<Real>(first), static_cast<Real>(second)};
}
template <class Real, class T>
Complex<Real> pair(Complex<T> first, Complex<T>) {
  return {static_cast<Real>(first.re), static_cast<Real>(first.im)};
}

}  // namespace

std::size_t element_size(Element type) noexcept {
  std::size_t size = 0;
  with_type(type, [&](auto sample) { size = sizeof sample; });
  return size;
}

void copy_samples(const SignalView& frame, const std::int64_t* indices, std::size_t count,
                  void* compact) noexcept {
  with_type(static_cast<Element>(frame.type()), [&](auto sample) {
    using T = decltype(sample);
    const T* from = static_cast<const T*>(frame.data());
    T* to = static_cast<T*>(compact);
    if (!frame.contiguous()) {
      const RegionIndex place(frame);
      for (std::size_t i = 0; i < count; ++i) to[i] = from[place(indices[i])];
      return;
    }
    for (std::size_t i = 0; i < count; ++i) to[i] = from[indices[i]];
  });
}

template <class Real>
std::vector<Complex<Real>> reference_samples(const void* frame, Element type,
                                             const std::vector<std::int64_t>& indices, std::int64_t taps,
                                             std::int64_t witness_samples) {
  std::vector<Complex<Real>> out;
  const bool real = type < Element::c64;
  const std::size_t length = static_cast<std::size_t>(taps);
  const std::size_t streams = (indices.size() - static_cast<std::size_t>(witness_samples)) / length;
  out.reserve((streams + 1) * length);
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    const T* from = static_cast<const T*>(frame);
    for (std::size_t j = 0; j < streams; j += real ? 2 : 1) {
      const std::size_t second = real ? j + 1 : j;
      for (std::size_t m = 0; m < length; ++m)
        out.push_back(pair<Real>(from[indices[j * length + m]], from[indices[second * length + m]]));
    }
  });
  return out;
}

template <class Real>
std::vector<Real> reference_witness(const void* frame, Element type, const std::vector<std::int64_t>& indices,
                                    std::int64_t witness_samples) {
  const auto count = static_cast<std::size_t>(witness_samples);
  const bool real = type < Element::c64;
  const std::size_t first = std::min<std::size_t>(count, real ? kWitnessReals : kWitnessReals / 2);
  std::vector<Real> out(real ? count : 2 * count);
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    const T* from = static_cast<const T*>(frame);
    for (std::size_t s = 0; s < count; ++s) {
      const T x = from[indices[indices.size() - count + s]];
      const Complex<Real> parts = pair<Real>(x, x);
      const std::size_t at = real || s < first ? s : 2 * s;
      out[at] = parts.re;
      if (!real) out[s < first ? first + s : at + 1] = parts.im;
    }
  });
  return out;
}

#define SFFT_INSTANTIATE(Real)                                                                               \
  template std::vector<Complex<Real>> reference_samples<Real>(                                               \
      const void*, Element, const std::vector<std::int64_t>&, std::int64_t, std::int64_t);                   \
  template std::vector<Real> reference_witness<Real>(const void*, Element, const std::vector<std::int64_t>&, \
                                                     std::int64_t);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)

}  // namespace sfft::detail::cuda
