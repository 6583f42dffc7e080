// SPDX-License-Identifier: Apache-2.0
// Hands the learning frames to a MeanSpectrum in GPU memory and wraps it as a LearningSpectrum.
#include "kernels/base/error.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft_build_config.hpp"
#if SFFT_HAVE_CUDA
#include "kernels/dense/request/gpu_runner.hpp"
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
  // Engines for exactly one frame: a kernel that has to be compiled first pays only for many.
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

}  // namespace

std::unique_ptr<LearningSpectrum> learn_on_gpu(std::span<const SignalView> frames, int device) {
  const SpectrumLayout layout{frames[0].shape(), !is_complex(frames[0].type())};
  return std::make_unique<DeviceSpectrum>(frames, layout, device);
}

std::unique_ptr<LearningSpectrum> learn_on_gpu(const DeviceSignal& frame) {
  return std::make_unique<DeviceSpectrum>(frame, SpectrumLayout{frame.shape, !is_complex(frame.type)});
}

#else

namespace {
constexpr const char* kAbsent = "this build has no GPU backend: use Backend::cpu or Backend::automatic";
}

std::unique_ptr<LearningSpectrum> learn_on_gpu(std::span<const SignalView>, int) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}
std::unique_ptr<LearningSpectrum> learn_on_gpu(const DeviceSignal&) {
  throw Error(ErrorCode::backend_unavailable, kAbsent);
}

#endif

}  // namespace sfft::detail
