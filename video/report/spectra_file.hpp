// SPDX-License-Identifier: Apache-2.0
// Spectra as HDF5: frame × k complex values with their supports. Needs a build with HDF5.
#pragma once

#include <memory>

#include "kernels/base/output_file.hpp"
#include "video/pipeline/run.hpp"

namespace sfft::video {

bool has_hdf5() noexcept;

/// Fills `output`, which must outlive it; commit() puts the file in place. Layout: docs/sfft-video.md. Throws
/// Error if the file cannot be written (a full disk), after which it may only be destroyed, for outputs other
/// than regular files, and in builds without HDF5.
class SpectraFile : public SpectrumSink {
 public:
  virtual void commit(const SourceInfo& input) = 0;
};
std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile& output);

}  // namespace sfft::video
