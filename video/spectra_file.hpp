// Spectra as HDF5: frame × k complex values with their supports. In builds with HDF5.
#pragma once

#include <memory>
#include <string>

#include "video/run.hpp"

namespace sfft::video {

bool has_hdf5() noexcept;

/// Writes beside `path`; commit() puts the file in place. Layout: docs/sfft-video.md. Throws Error when the
/// file cannot be written, and in builds without HDF5.
class SpectraFile : public SpectrumSink {
 public:
  virtual void commit(const SourceInfo& input) = 0;
};
std::unique_ptr<SpectraFile> open_spectra_file(const std::string& path);

}  // namespace sfft::video
