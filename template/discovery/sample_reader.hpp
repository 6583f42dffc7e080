// SPDX-License-Identifier: Apache-2.0
// The interface through which discovery reads a signal, wherever it is stored.
#pragma once

#include <optional>

#include "kernels/base/region.hpp"
#include "kernels/base/sample_set.hpp"
#include "sfft/types.hpp"
#include "template/discovery/whole_signal.hpp"

namespace sfft::detail {

/// Reads sets of samples of one signal into host memory, with real and imaginary parts separate. Caches
/// nothing between calls. Only one thread at a time may use it.
class SampleReader {
 public:
  explicit SampleReader(ElementType type) : type_(type) {}
  virtual ~SampleReader() = default;
  SampleReader(const SampleReader&) = delete;
  SampleReader& operator=(const SampleReader&) = delete;

  ElementType type() const noexcept { return type_; }
  virtual void read(const SampleSet& set, float* re, float* im) = 0;
  virtual void read(const SampleSet& set, double* re, double* im) = 0;
  /// Sums over the whole signal, reading every sample; nothing if the reader does not support that.
  virtual std::optional<WholeSignal> whole(double scale, const RandomFold& fold) {
    static_cast<void>(scale);
    static_cast<void>(fold);
    return std::nullopt;
  }

 private:
  ElementType type_;
};

/// Reads a signal in host memory, which must outlive the reader.
class HostSamples final : public SampleReader {
 public:
  /// `points`: the signal's number of points; 0 disables whole().
  HostSamples(FrameData signal, ElementType type, std::int64_t points = 0)
      : SampleReader(type), signal_(signal), points_(points) {}
  void read(const SampleSet& set, float* re, float* im) override;
  void read(const SampleSet& set, double* re, double* im) override;
  std::optional<WholeSignal> whole(double scale, const RandomFold& fold) override;

 private:
  FrameData signal_;
  std::int64_t points_;
};

/// The samples of another reader times a power of two, so that neither their squares nor those of their sums
/// overflow or vanish. The factor is 1 for samples of ordinary size, otherwise it is chosen from the first
/// non-zero samples.
class ScaledSamples final : public SampleReader {
 public:
  explicit ScaledSamples(SampleReader& samples) : SampleReader(samples.type()), samples_(samples) {}
  void read(const SampleSet& set, float* re, float* im) override;
  void read(const SampleSet& set, double* re, double* im) override;
  std::optional<WholeSignal> whole(double scale, const RandomFold& fold) override;

  int exponent() const noexcept { return exponent_; }  ///< a sample is 2^exponent times the value read
  /// Whether the scale has changed since the last call, because later samples far exceeded the first ones.
  /// Later reads have the new scale, earlier ones the old.
  bool outgrown() noexcept;

 private:
  template <class Real>
  void scaled_read(const SampleSet& set, Real* re, Real* im);

  SampleReader& samples_;
  bool chosen_ = false;
  bool outgrown_ = false;
  int exponent_ = 0;
};

}  // namespace sfft::detail
