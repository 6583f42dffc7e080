// SPDX-License-Identifier: Apache-2.0
// Learns the k largest of one frame in one pass if its shape allows; otherwise passes the frames to a
// MeanSpectrum in GPU memory and wraps it as a LearningSpectrum. The first path ignores wisdom: wisdom ranks
// transform times, and creating an engine takes longer than this whole path.
#include <utility>
#include <vector>

#include "kernels/base/math/region.hpp"
#include "sfft/error.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft_build_config.hpp"
#if SFFT_HAVE_CUDA
#include "kernels/dense/request/choose/gpu_choice.hpp"
#include "sfft/learning/device_learning.hpp"
#endif

namespace sfft::detail {

#if SFFT_HAVE_CUDA

namespace {

std::vector<RankedPower> ranked(const cuda::ChosenElements& chosen) {
  std::vector<RankedPower> elements;
  for (std::size_t i = 0; i < chosen.indices.size(); ++i)
    elements.push_back({chosen.indices[i], chosen.power[i]});
  return elements;
}

std::vector<std::int64_t> indices(const std::vector<RankedPower>& chosen) {
  std::vector<std::int64_t> result;
  for (const RankedPower& element : chosen) result.push_back(element.index);
  return result;
}

cuda::DenseEngines<double> engines(const Shape& shape, ElementType type, int device) {
  // Engines for exactly one frame: kernels that must be compiled first pay off only for many.
  return remembered_engines<double>(cuda::learning_problem(shape, type, device), Wisdom::Batch::exact);
}

class DeviceSpectrum final : public LearningSpectrum {
 public:
  DeviceSpectrum(std::span<const SignalView> frames, const SpectrumLayout& spectrum, int device)
      : LearningSpectrum(spectrum),
        mean_(spectrum.shape, frames[0].type(), static_cast<std::int64_t>(frames.size()), device,
              engines(spectrum.shape, frames[0].type(), device)) {
    for (std::size_t t = 0; t < frames.size(); ++t) check_finite(mean_.add(frames[t]), t);
    mean_.finish();
  }

  DeviceSpectrum(const DeviceSignal& frame, const SpectrumLayout& spectrum)
      : LearningSpectrum(spectrum),
        mean_(spectrum.shape, frame.type, 1, frame.device,
              engines(spectrum.shape, frame.type, frame.device)) {
    check_finite(mean_.add_resident(frame.data, frame.stream), 0);
    mean_.finish();
  }

  std::vector<double> power_sums() const override { return mean_.power_sums(); }
  std::vector<double> change_sums() const override { return mean_.change_sums(); }
  double power_at_rank(std::int64_t rank) const override { return mean_.power_at_rank(rank); }
  std::vector<RankedPower> largest(std::int64_t first, std::int64_t count) const override {
    return ranked(mean_.largest(first, count));
  }
  std::vector<RankedPower> above(std::int64_t first, double level) const override {
    return ranked(mean_.above(first, level));
  }
  std::vector<std::complex<double>> first_values(const std::vector<RankedPower>& chosen) const override {
    return mean_.first_values(indices(chosen));
  }
  void remove(const std::vector<RankedPower>& chosen) override { mean_.remove(indices(chosen)); }

 private:
  cuda::MeanSpectrum mean_;
};

/// Converts the result of one pass over a single frame.
Learned to_learned(cuda::LargestOfSpectrum&& largest, const SpectrumLayout& layout) {
  check_finite(largest.mean, 0);
  Learned learned;
  learned.layout = layout;
  learned.chosen.reserve(largest.indices.size());
  for (std::size_t i = 0; i < largest.indices.size(); ++i)
    learned.chosen.push_back({largest.indices[i], largest.power[i]});
  learned.values = std::move(largest.values);
  learned.tail = std::move(largest.sums);
  learned.largest_outside = largest.largest_outside;
  check_range(learned);
  return learned;
}

SpectrumLayout layout_of(const Shape& shape, ElementType type) {
  return {shape, !is_complex(type)};
}

void check_readable(const DeviceSignal& frame) {
  static_cast<void>(cuda::device_info(frame.device));  // throws without a usable GPU
  const cuda::DeviceScope scope(frame.device);
  if (!cuda::kernels_can_read(frame.data, frame.device)) {
    throw Error(ErrorCode::invalid_argument,
                "the frame's data pointer is not to memory of the GPU, managed memory or page-locked host "
                "memory: copy it there, or pass a SignalView");
  }
  if (cuda::capture_of(frame.stream) != 0) {
    throw Error(ErrorCode::invalid_argument,
                "the frame's stream is under capture, and learning waits for it: give another stream");
  }
}

}  // namespace

Learned learn_on_gpu(std::span<const SignalView> frames, const LearnOptions& options, bool bound) {
  const SignalView& first = frames[0];
  const SpectrumLayout layout = layout_of(first.shape(), first.type());
  if (largest_k(options) > 0 && frames.size() == 1) {
    std::vector<std::byte> copy;
    if (!first.contiguous()) {
      copy.resize(first.bytes());
      copy_elements(first, copy.data());
    }
    const void* samples = copy.empty() ? first.data() : copy.data();
    if (auto largest = cuda::learn_largest(
            {samples, first.type(), first.shape(), options.device.gpu_number()}, largest_k(options)))
      return to_learned(std::move(*largest), layout);
  }
  DeviceSpectrum spectrum(frames, layout, options.device.gpu_number());
  return select_from(spectrum, frames.size() > 1, options, bound);
}

Learned learn_on_gpu(const DeviceSignal& frame, const LearnOptions& options, bool bound) {
  check_readable(frame);
  const SpectrumLayout layout = layout_of(frame.shape, frame.type);
  if (largest_k(options) > 0) {
    if (auto largest = cuda::learn_largest(
            {frame.data, frame.type, frame.shape, frame.device, true, frame.stream}, largest_k(options)))
      return to_learned(std::move(*largest), layout);
  }
  DeviceSpectrum spectrum(frame, layout);
  return select_from(spectrum, false, options, bound);
}

void copy_to_host(const DeviceSignal& frame, std::byte* to) {
  const cuda::DeviceScope scope(frame.device);
  const std::size_t bytes = static_cast<std::size_t>(frame.shape.points()) * element_bytes(frame.type);
  cuda::copy_on_device(to, frame.data, bytes, frame.stream);
  cuda::synchronize(frame.stream);
}

#else

namespace {
constexpr const char* kAbsent = "this build has no GPU backend: use Device::cpu() or Device::automatic()";
constexpr const char* kAbsentForFrames =
    "this build has no GPU backend: copy the frame to the host and pass a SignalView";
}  // namespace

Learned learn_on_gpu(std::span<const SignalView>, const LearnOptions&, bool) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}
Learned learn_on_gpu(const DeviceSignal&, const LearnOptions&, bool) {
  throw Error(ErrorCode::backend_unavailable, kAbsentForFrames);
}
void copy_to_host(const DeviceSignal&, std::byte*) {
  throw Error(ErrorCode::backend_unavailable, kAbsentForFrames);
}

#endif

}  // namespace sfft::detail
