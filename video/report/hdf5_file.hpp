// SPDX-License-Identifier: Apache-2.0
// Writes spectra and named arrays as HDF5, in builds with HDF5. A separate process writes the file, because
// HDF5 does not survive a full disk.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/runtime/output_file.hpp"
#include "video/pipeline/run.hpp"

namespace sfft::video {

bool has_hdf5() noexcept;

/// Frame × k complex values with their supports. Fills `output`, which must outlive this object; commit()
/// puts the file in place. docs/sfft-video.md describes the layout. Throws Error for outputs other than
/// regular files and in builds without HDF5. Also throws Error if the file cannot be written (a full disk) or
/// the number of frequencies changes; afterwards only destroy the object.
class SpectraFile : public SpectrumSink {
 public:
  virtual void commit(const SourceInfo& input) = 0;
};
std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile& output);

/// A row-major array; its name includes its group: "regions/0/x". Complex values use the compound type (`r`,
/// `i`) that h5py reads as complex.
struct NamedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::variant<std::span<const double>, std::span<const float>, std::span<const std::complex<double>>> values;
  std::string unit{};  ///< becomes the attribute `unit`, unless empty
};

/// Writes `output` and commits it. Throws Error if writing fails, if the output is not a regular file, and in
/// builds without HDF5.
void write_arrays(detail::OutputFile& output, std::span<const NamedArray> arrays);

/// Throws the errors of write_arrays() that concern the kind of output or the build, before any work is done.
void check_arrays_output(const detail::OutputFile& output);

/// Fills an existing file. Every function throws Error(file_unreadable) if the file cannot be written (a full
/// disk). HDF5 does not survive this: after a failed flush, closing the file and the clean-up at exit follow
/// dangling pointers. A failed allocation may also crash HDF5. Therefore only a separate process uses this
/// class, and it ends with _Exit: see hdf5_file.cpp.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void add_array(const NamedArray& array);
  /// Sets the frequencies of the following rows.
  void add_support(std::span<const std::int64_t> support);
  void add_row(std::span<const std::complex<float>> values, double error_l2, double relative_error);
  void set_shape(std::int64_t height, std::int64_t width);
  /// Closes the file.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sfft::video
