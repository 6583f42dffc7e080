// SPDX-License-Identifier: Apache-2.0
// Keeps signals and their double-precision spectra in memory that child processes share.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

class Material {
 public:
  /// Reserves the memory. Throws Failure if there is not enough.
  explicit Material(std::vector<Problem> problems);
  ~Material();
  Material(const Material&) = delete;
  Material& operator=(const Material&) = delete;

  /// Bytes that all problems need.
  static std::int64_t bytes(const std::vector<Problem>& problems);

  const std::vector<Problem>& problems() const { return problems_; }
  /// Every problem transforms the beginning of one signal, uniform in [-1, 1).
  const Complex* signal() const { return signal_; }
  void fill_signal();
  /// Computes the spectrum by FFTW in double precision, or by direct sums without FFTW. Throws Failure if
  /// those would take too long.
  void fill_spectrum(std::size_t problem);

  /// Relative L2 error of a technology's forward or inverse transform of the signal.
  double error(std::size_t problem, bool inverse, const Complex* computed) const;

 private:
  std::vector<Problem> problems_;
  std::vector<std::size_t> offsets_;
  std::size_t mapped_bytes_ = 0;
  void* mapped_ = nullptr;
  Complex* signal_ = nullptr;
  std::complex<double>* spectra_ = nullptr;
};

/// The forward transforms of a problem by direct sums in double precision. Short transforms follow the
/// definition; longer ones take two passes of sums.
std::vector<std::complex<double>> direct_spectrum(const Problem& problem, const Complex* signal);

}  // namespace sfft::technologies
