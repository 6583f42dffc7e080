// SPDX-License-Identifier: Apache-2.0
// FFTW at its best setting, the opponent for which dense times are quoted: FFTW_MEASURE, one thread, aligned,
// out of place, and allowed to destroy its input.
#pragma once

#include <fftw3.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace sfft::bench {

/// Single precision, complex to complex; or real to complex in 2D.
class FftwPeer {
 public:
  explicit FftwPeer(std::span<const std::complex<float>> signal)
      : in_(fftwf_alloc_complex(signal.size())), out_(fftwf_alloc_complex(signal.size())) {
    plan_ = fftwf_plan_dft_1d(static_cast<int>(signal.size()), in_, out_, FFTW_FORWARD, FFTW_MEASURE);
    std::memcpy(in_, signal.data(), signal.size_bytes());
  }
  FftwPeer(std::span<const std::complex<float>> signal, std::span<const std::int64_t> extents)
      : in_(fftwf_alloc_complex(signal.size())), out_(fftwf_alloc_complex(signal.size())) {
    const std::vector<int> sides(extents.begin(), extents.end());
    plan_ =
        fftwf_plan_dft(static_cast<int>(sides.size()), sides.data(), in_, out_, FFTW_FORWARD, FFTW_MEASURE);
    std::memcpy(in_, signal.data(), signal.size_bytes());
  }
  FftwPeer(int rows, int columns)
      : in_(fftwf_alloc_complex(static_cast<std::size_t>(rows) * (columns / 2 + 1))),
        out_(fftwf_alloc_complex(static_cast<std::size_t>(rows) * (columns / 2 + 1))) {
    plan_ = fftwf_plan_dft_r2c_2d(rows, columns, real_input(), out_, FFTW_MEASURE);
  }
  ~FftwPeer() {
    fftwf_destroy_plan(plan_);
    fftwf_free(in_);
    fftwf_free(out_);
  }
  FftwPeer(const FftwPeer&) = delete;
  FftwPeer& operator=(const FftwPeer&) = delete;

  float* real_input() { return reinterpret_cast<float*>(in_); }
  void execute() const { fftwf_execute(plan_); }
  std::complex<float> output(std::int64_t i) const { return {out_[i][0], out_[i][1]}; }

 private:
  fftwf_complex* in_;
  fftwf_complex* out_;
  fftwf_plan plan_;
};

}  // namespace sfft::bench
