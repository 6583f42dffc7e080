// SPDX-License-Identifier: Apache-2.0
// The mean power spectrum of learning frames in GPU memory. Only results as small as a template come
// to the host.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/largest.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "sfft/types.hpp"

namespace sfft::detail::cuda {

struct ChosenElements {
  std::vector<std::int64_t> indices;  ///< of stored elements, ascending
  std::vector<double> power;
};

/// The problem that MeanSpectrum solves for each frame: contiguous, in double precision.
DenseProblem learning_problem(const Shape& shape, ElementType type, int device);

/// Takes a given number of frames of one shape and type: call add() for each, then finish(), then query.
/// Every function blocks. If the engines can keep part of a spectrum, only the power of a single frame's
/// spectrum is stored, and requested values come from a second transform. Otherwise a few small frames are
/// transformed by make_frame_engine(), which needs no plan. Throws
/// Error(backend_unavailable, out_of_memory, device).
class MeanSpectrum {
 public:
  /// `engines` are those for learning_problem().
  MeanSpectrum(const Shape& shape, ElementType type, std::int64_t frames, int device,
               const DenseEngines<double>& engines);

  bool stores_spectrum() const noexcept { return stores_; }
  /// Transforms the next frame; returns X at f = 0, or only its magnitude.
  std::complex<double> add(const SignalView& frame);
  /// The same for a frame that the GPU can read once `after` has finished its queued work.
  std::complex<double> add_resident(const void* frame, Stream after);
  /// Call after the last frame. Frees what only the transforms needed.
  void finish();

  /// Σ multiplicity × mean power over each cell of the spectrum's grid.
  std::vector<double> power_sums() const;
  /// The same for the mean |X_t − X_0|² of the later frames; needs at least two frames.
  std::vector<double> change_sums() const;
  double power_at_rank(std::int64_t rank) const;
  /// The `count` largest powers at index `first` and above; ties go to the smaller index.
  ChosenElements largest(std::int64_t first, std::int64_t count) const;
  ChosenElements above(std::int64_t first, double level) const;
  /// X of the first frame at stored elements, ascending.
  std::vector<std::complex<double>> first_values(const std::vector<std::int64_t>& indices) const;
  /// Excludes these elements from all later sums and ranks.
  void remove(const std::vector<std::int64_t>& indices);

 private:
  /// A frame as the transform reads it. Frames in host memory arrive through raw_.
  struct Samples {
    const void* data;
    ElementType type;
  };
  Samples samples(const void* frame, bool resident);
  std::complex<double> add(const void* frame, bool resident);
  Candidates candidates(std::int64_t first) const;
  ChosenElements take(const Candidates& from, const Cut& cut, std::int64_t count) const;

  int device_;
  ElementType type_;
  std::int64_t frames_, samples_per_frame_, added_ = 0;
  SpectrumExtents extents_{};
  DenseProblem problem_;
  bool reads_ = false;  ///< the transform reads samples directly
  bool stores_ = true;  ///< stores spectra; otherwise only their power
  Queue stream_;
  std::unique_ptr<const GpuDenseEngine<double>> engine_;     ///< none: a single sample, or `keeping_`
  std::unique_ptr<const GpuKeepingEngine<double>> keeping_;  ///< the engine that keeps the power
  DenseEngines<double> engines_;
  DeviceBuffer raw_;        ///< samples as they come from the host
  DeviceBuffer converted_;  ///< in double; the samples of complex transforms become their spectra
  DeviceBuffer workspace_;
  DeviceBuffer spectrum_, first_spectrum_;
  DeviceBuffer power_, change_;
};

/// A contiguous frame.
struct LearningFrame {
  const void* samples;
  ElementType type;
  Shape shape;
  int device;
  /// Whether the GPU can read the samples once `stream` has finished its queued work. Otherwise they are in
  /// host memory and `stream` is ignored.
  bool resident = false;
  Stream stream = nullptr;
};

/// Transforms, selects and sums with one allocation of GPU memory and one wait; 1 <= k <= the number of
/// distinct frequencies. Returns nothing if FrameFft does not support the shape. Throws
/// Error(backend_unavailable, out_of_memory, device).
std::optional<LargestOfSpectrum> learn_largest(const LearningFrame& frame, std::int64_t k);

}  // namespace sfft::detail::cuda
