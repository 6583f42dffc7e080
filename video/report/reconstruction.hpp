// SPDX-License-Identifier: Apache-2.0
// Reconstructs pictures from sparse spectra, for viewing.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "kernels/runtime/output_file.hpp"
#include "sfft/dense.hpp"
#include "sfft/types.hpp"

namespace sfft::video {

/// Transforms the coefficients of a spectrum back into a picture.
class Reconstruction {
 public:
  explicit Reconstruction(const Shape& shape);

  /// Returns the picture, row-major, from only the coefficients of the spectrum. If the mean is not among
  /// them, uses `mean`. Valid until the next call.
  const std::vector<float>& picture(const Spectrum<float>& spectrum, double mean);

 private:
  Shape shape_;
  dense::Plan<float> plan_;
  std::vector<std::complex<float>> half_;  ///< columns from 0 to the middle one, in the plan's layout
  std::vector<float> picture_;
};

/// Writes a grey YUV4MPEG2 film with each frame on the left and its reconstruction on the right.
class ReconstructionFilm {
 public:
  /// If `frame_rate` is 0 (unknown), 25 is written.
  ReconstructionFilm(detail::OutputFile& output, double frame_rate);

  void add(const SignalView& frame, const Spectrum<float>& spectrum);

 private:
  template <class Sample>
  void draw(const Sample* frame, const std::vector<float>& picture);

  detail::OutputFile& output_;
  double frame_rate_;
  std::unique_ptr<Reconstruction> reconstruction_;  ///< created at the first frame
  std::int64_t width_ = 0, height_ = 0;
  int shift_ = 0;  ///< bits per sample beyond 8, from the first frame
  std::string bytes_;
};

}  // namespace sfft::video
