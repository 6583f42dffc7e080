// SPDX-License-Identifier: Apache-2.0
// Spectra as HDF5: frame × k complex values with their supports. In builds with HDF5.
#pragma once

#include <memory>

#include "kernels/base/output_file.hpp"
#include "video/run.hpp"

namespace sfft::video {

bool has_hdf5() noexcept;

/// Fills `output`, which outlives it; commit() puts it in place. Layout: docs/sfft-video.md. Throws Error
/// when the file cannot be written (a full disk), after which nothing but destroying it is allowed; for
/// outputs that are no regular files, and in builds without HDF5.
class SpectraFile : public SpectrumSink {
 public:
  virtual void commit(const SourceInfo& input) = 0;
};
std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile& output);

}  // namespace sfft::video
