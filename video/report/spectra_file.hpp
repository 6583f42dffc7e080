// SPDX-License-Identifier: Apache-2.0
// Writes spectra as HDF5: frame × k complex values with their supports. Needs a build with HDF5.
#pragma once

#include <memory>

#include "kernels/base/output_file.hpp"
#include "video/pipeline/run.hpp"

namespace sfft::video {

bool has_hdf5() noexcept;

/// Fills `output`, which must outlive this object; commit() puts the file in place. docs/sfft-video.md
/// describes the layout. Throws Error for outputs other than regular files and in builds without HDF5. Also
/// throws Error if the file cannot be written (a full disk) or the number of frequencies changes; afterwards
/// only destroy the object.
class SpectraFile : public SpectrumSink {
 public:
  virtual void commit(const SourceInfo& input) = 0;
};
std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile& output);

}  // namespace sfft::video
