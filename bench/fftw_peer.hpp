// SPDX-License-Identifier: Apache-2.0
// FFTW at its best setting, the opponent for which dense times are quoted: FFTW_MEASURE, one thread, aligned,
// out of place, and allowed to destroy its input.
#pragma once

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace sfft::bench {

/// FFTW's two precisions under common names.
template <class Real>
struct Fftw;
template <>
struct Fftw<float> {
  using Complex = fftwf_complex;
  using Plan = fftwf_plan;
  static constexpr auto* limit = fftwf_set_timelimit;
  static constexpr auto* many_dft = fftwf_plan_many_dft;
  static constexpr auto* many_dft_r2c = fftwf_plan_many_dft_r2c;
  static constexpr auto* many_r2r = fftwf_plan_many_r2r;
  static constexpr auto* guru_dft = fftwf_plan_guru64_dft;
  static constexpr auto* guru_dft_r2c = fftwf_plan_guru64_dft_r2c;
  static constexpr auto* guru_dft_c2r = fftwf_plan_guru64_dft_c2r;
  static constexpr auto* execute = fftwf_execute;
  static constexpr auto* destroy = fftwf_destroy_plan;
};
template <>
struct Fftw<double> {
  using Complex = fftw_complex;
  using Plan = fftw_plan;
  static constexpr auto* limit = fftw_set_timelimit;
  static constexpr auto* many_dft = fftw_plan_many_dft;
  static constexpr auto* many_dft_r2c = fftw_plan_many_dft_r2c;
  static constexpr auto* many_r2r = fftw_plan_many_r2r;
  static constexpr auto* guru_dft = fftw_plan_guru64_dft;
  static constexpr auto* guru_dft_r2c = fftw_plan_guru64_dft_r2c;
  static constexpr auto* guru_dft_c2r = fftw_plan_guru64_dft_c2r;
  static constexpr auto* execute = fftw_execute;
  static constexpr auto* destroy = fftw_destroy_plan;
};

/// Zeros, 64-byte aligned.
template <class T>
struct AlignedArray {
  explicit AlignedArray(std::size_t count)
      : size(count), data(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64))) {
    std::fill_n(data, count, T());
  }
  ~AlignedArray() { std::free(data); }
  AlignedArray(const AlignedArray&) = delete;
  AlignedArray& operator=(const AlignedArray&) = delete;
  std::size_t size;
  T* data;
};

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
