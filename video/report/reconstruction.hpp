// SPDX-License-Identifier: Apache-2.0
// Pictures of what a spectrum describes, for people to look at.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "kernels/base/output_file.hpp"
#include "sfft/dense.hpp"
#include "sfft/types.hpp"

namespace sfft::video {

/// Turns the coefficients of a spectrum back into a picture.
class Reconstruction {
 public:
  explicit Reconstruction(const Shape& shape);

  /// The picture, row-major, of all coefficients of the spectrum and nothing else. Where the mean is not one
  /// of them, `mean` is taken. Valid until the next call.
  const std::vector<float>& picture(const Spectrum<float>& spectrum, double mean);

 private:
  Shape shape_;
  dense::Plan<float> plan_;
  std::vector<std::complex<float>> half_;  ///< columns from 0 to the middle one, as the plan has them
  std::vector<float> picture_;
};

/// Writes a film, YUV4MPEG2 in grey: each frame on the left, and on the right what its coefficients describe.
class ReconstructionFilm {
 public:
  /// `frame_rate` 0: unknown, and 25 is written.
  ReconstructionFilm(detail::OutputFile& output, double frame_rate);

  void add(const SignalView& frame, const Spectrum<float>& spectrum);

 private:
  template <class Sample>
  void draw(const Sample* frame, const std::vector<float>& picture);

  detail::OutputFile& output_;
  double frame_rate_;
  std::unique_ptr<Reconstruction> reconstruction_;  ///< from the first frame on
  std::int64_t width_ = 0, height_ = 0;
  int shift_ = 0;  ///< bits that samples have beyond 8
  std::string bytes_;
};

}  // namespace sfft::video
