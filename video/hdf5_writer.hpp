// SPDX-License-Identifier: Apache-2.0
// Writes spectra as HDF5. Only in builds that have it; docs/sfft-video.md has the layout.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sfft::video {

/// Fills a file that is there. Every function throws Error(file_unreadable) when it cannot be written (a full
/// disk). HDF5 does not survive that: what could not be flushed leaves it in a state in which closing and its
/// clean-up at the program's end follow dangling pointers, and a failed allocation may crash it. So a process
/// of its own uses this, and leaves by _Exit when something fails: see spectra_file.cpp.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// The frequencies of the rows that follow.
  void add_support(std::span<const std::int64_t> support);
  void add_row(std::span<const std::complex<float>> values, double error_l2, double relative_error);
  /// Closes the file.
  void finish(std::int64_t height, std::int64_t width);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sfft::video
