// SPDX-License-Identifier: Apache-2.0
// Writes a vibration analysis as JSON, CSV, text, page, picture and arrays; docs/vibration.md describes the
// formats.
#pragma once

#include <string>

#include "kernels/runtime/output_file.hpp"
#include "video/vibration/analysis.hpp"

namespace sfft::video {

std::string vibration_json(const VibrationReport& report);
/// CSV with one line per frame and region.
std::string vibration_csv(const VibrationSeries& series, const VibrationReport& report);
/// A summary for a terminal.
std::string vibration_summary(const VibrationReport& report);
std::string vibration_page(const VibrationSeries& series, const VibrationReport& report);
/// The spectrum of the first region, as an SVG file.
std::string vibration_picture(const VibrationReport& report);
/// Time series and spectra as HDF5. Throws Error as write_arrays() does.
void write_vibration_arrays(detail::OutputFile& output, const VibrationSeries& series,
                            const VibrationReport& report);

}  // namespace sfft::video
