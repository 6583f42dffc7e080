#include "template/sample_reader.hpp"

#include <cstddef>

#include "kernels/cpu/permute.hpp"

namespace sfft::detail {

namespace {

template <class Real>
void gather(const void* signal, ElementType type, const SampleSet& set, Real* re, Real* im) {
  const auto row = cpu::permute_kernels<Real>().gather[static_cast<std::size_t>(type)];
  const auto bytes = static_cast<std::int64_t>(element_bytes(type));
  const std::int64_t values = set.counts[2] * set.lanes;
  for (std::int64_t p0 = 0; p0 < set.counts[0]; ++p0) {
    for (std::int64_t p1 = 0; p1 < set.counts[1]; ++p1) {
      const std::int64_t start = p0 * set.strides[0] + p1 * set.strides[1];
      row(static_cast<const std::byte*>(signal) + start * bytes, set.counts[2], set.strides[2], set.offsets,
          set.lanes, re, im);
      re += values;
      im += values;
    }
  }
}

}  // namespace

void HostSamples::read(const SampleSet& set, float* re, float* im) {
  gather(signal_, type(), set, re, im);
}
void HostSamples::read(const SampleSet& set, double* re, double* im) {
  gather(signal_, type(), set, re, im);
}

}  // namespace sfft::detail
