#include "template/sample_reader.hpp"

#include <cstddef>

#include "kernels/cpu/permute.hpp"
#include "kernels/cpu/region_gather.hpp"

namespace sfft::detail {

namespace {

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

}  // namespace

void HostSamples::read(const SampleSet& set, float* re, float* im) {
  gather(signal_, type(), set, re, im);
}
void HostSamples::read(const SampleSet& set, double* re, double* im) {
  gather(signal_, type(), set, re, im);
}

}  // namespace sfft::detail
