// SPDX-License-Identifier: Apache-2.0
// Writes named arrays of numbers as HDF5, in builds with HDF5.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/base/output_file.hpp"

namespace sfft::video {

/// A row-major array; its name includes its group: "regions/0/x". Complex values use the compound type (`r`,
/// `i`) that h5py reads as complex.
struct NamedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::variant<std::span<const double>, std::span<const float>, std::span<const std::complex<double>>> values;
  std::string unit{};  ///< becomes the attribute `unit`, unless empty
};

/// Writes `output` and commits it. A separate process writes the file, because HDF5 does not survive a full
/// disk. Throws Error if writing fails, if the output is not a regular file, and in builds without HDF5.
void write_arrays(detail::OutputFile& output, std::span<const NamedArray> arrays);

/// Throws the errors of write_arrays() that concern the kind of output or the build, before any work is done.
void check_arrays_output(const detail::OutputFile& output);

}  // namespace sfft::video
