// The one way in which blind discovery reads a signal, wherever it lies.
#pragma once

#include "kernels/common/region.hpp"
#include "kernels/common/sample_set.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// Reads sets of samples of one signal into host memory, real and imaginary parts apart. The signal is
/// read as it is during a call: nothing is kept from one to the next. One thread at a time.
class SampleReader {
 public:
  explicit SampleReader(ElementType type) : type_(type) {}
  virtual ~SampleReader() = default;
  SampleReader(const SampleReader&) = delete;
  SampleReader& operator=(const SampleReader&) = delete;

  ElementType type() const noexcept { return type_; }
  virtual void read(const SampleSet& set, float* re, float* im) = 0;
  virtual void read(const SampleSet& set, double* re, double* im) = 0;

 private:
  ElementType type_;
};

/// Of a signal in host memory, which must outlive it.
class HostSamples final : public SampleReader {
 public:
  HostSamples(FrameData signal, ElementType type) : SampleReader(type), signal_(signal) {}
  void read(const SampleSet& set, float* re, float* im) override;
  void read(const SampleSet& set, double* re, double* im) override;

 private:
  FrameData signal_;
};

}  // namespace sfft::detail
