// SPDX-License-Identifier: Apache-2.0
// sfft-video vibration: opens its outputs first, then reads, analyses, and saves each output independently.
#include <fmt/format.h>

#include <exception>
#include <tuple>

#include "outputs.hpp"
#include "progress.hpp"
#include "streams.hpp"
#include "video/report/hdf5_file.hpp"
#include "video/report/text.hpp"
#include "video/sources/masked_url.hpp"
#include "video/vibration/vibration_report.hpp"

namespace sfft::apps {

namespace {

void save(ReportFiles& outputs, const video::VibrationSeries& series, const video::VibrationReport& report) {
  outputs.save("json", [&] { return video::vibration_json(report); });
  outputs.save("csv", [&] { return video::vibration_csv(series, report); });
  outputs.save("html", [&] { return video::vibration_page(series, report); });
  outputs.save("svg", [&] { return video::vibration_picture(report); });
  outputs.write("hdf5",
                [&](detail::OutputFile& file) { video::write_vibration_arrays(file, series, report); });
}

}  // namespace

int vibration_command(const VibrationCommand& command, const std::atomic<bool>& stop) {
  ReportFiles outputs({command.input}, {{"json", command.json},
                                        {"csv", command.csv},
                                        {"html", command.html},
                                        {"svg", command.svg},
                                        {"hdf5", command.hdf5}});
  outputs.check("hdf5", video::check_arrays_output);
  video::VibrationOptions options = command.options;
  options.fps /= static_cast<double>(command.source.selection.every);  // the rate of the frames that are read
  video::VibrationSeries series;
  try {
    video::SourceOptions reading = command.source;
    reading.stop = &stop;
    const auto source = video::open_source(command.input, reading);
    Progress progress(command.quiet);
    series = video::follow(
        *source, options, [&](std::int64_t read, std::int64_t expected) { progress.update(read, expected); },
        stop);
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    std::tie(series.status, series.message) = unread_status(stop);
    series.input.path = video::masked_url(command.input);
  }
  const video::VibrationReport report = video::analyse(series, options);
  save(outputs, series, report);
  if (report.frames > 0 && !command.quiet)
    print(outputs.on_standard_output() ? stderr : stdout, "{}", video::vibration_summary(report));
  if (report.status != video::RunStatus::complete) complain(report.message);
  return outputs.failed() ? kUsage : exit_code(report.status);
}

}  // namespace sfft::apps
