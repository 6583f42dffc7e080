// SPDX-License-Identifier: Apache-2.0
// Writes spectra as HDF5, in builds with HDF5; docs/sfft-video.md describes the layout.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sfft::video {

/// Fills an existing file. Every function throws Error(file_unreadable) if the file cannot be written (a full
/// disk). HDF5 does not survive this: after a failed flush, closing the file and the clean-up at exit follow
/// dangling pointers. A failed allocation may also crash HDF5. Therefore only a separate process uses this
/// class, and it ends with _Exit: see spectra_file.cpp.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// Sets the frequencies of the following rows.
  void add_support(std::span<const std::int64_t> support);
  void add_row(std::span<const std::complex<float>> values, double error_l2, double relative_error);
  /// Closes the file.
  void finish(std::int64_t height, std::int64_t width);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sfft::video
