// SPDX-License-Identifier: Apache-2.0
// sfft-video vibration: opens its outputs first, then reads, analyses, and saves each output for itself.
#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <new>
#include <optional>

#include "outputs.hpp"
#include "progress.hpp"
#include "streams.hpp"
#include "video/report/arrays_file.hpp"
#include "video/report/text.hpp"
#include "video/vibration/vibration_report.hpp"

namespace sfft::apps {

namespace {

using Output = std::optional<detail::OutputFile>;

struct VibrationOutputs {
  Output json, csv, html, svg, hdf5;
  bool on_standard_output = false;
  bool failed = false;

  explicit VibrationOutputs(const VibrationCommand& command) {
    std::vector<const detail::OutputFile*> opened;
    const auto open = [&](Output& output, const std::string& path) {
      if (path.empty()) return;
      output.emplace(output_path(path));
      refuse_input(*output, command.input);
      for (const auto* other : opened) {
        if (output->same_as(*other))
          throw UsageError(fmt::format("'{}' and '{}' are the same file: give each output its own",
                                       other->path(), output->path()));
      }
      opened.push_back(&*output);
      on_standard_output = on_standard_output || output->kind() == detail::OutputKind::descriptor;
    };
    try {
      open(json, command.json);
      open(csv, command.csv);
      open(html, command.html);
      open(svg, command.svg);
      open(hdf5, command.hdf5);
      if (hdf5) video::check_arrays_output(*hdf5);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::file_unreadable && error.code() != ErrorCode::backend_unavailable) throw;
      throw UsageError(error.what());
    }
  }

  /// One failing output does not stop the others.
  void guarded(Output& output, const std::function<void(detail::OutputFile&)>& write) noexcept {
    if (!output) return;
    try {
      write(*output);
      return;
    } catch (const std::bad_alloc&) {
      complain("out of memory: an output is not written");
    } catch (const std::exception& error) {
      complain(error.what());
    }
    failed = true;
  }

  void save(const video::VibrationSeries& series, const video::VibrationReport& report) {
    const auto text = [&](Output& output, const std::function<std::string()>& make) {
      guarded(output, [&](detail::OutputFile& file) {
        file.write(make());
        file.commit();
      });
    };
    text(json, [&] { return video::vibration_json(report); });
    text(csv, [&] { return video::vibration_csv(series, report); });
    text(html, [&] { return video::vibration_page(series, report); });
    text(svg, [&] { return video::vibration_picture(report); });
    guarded(hdf5, [&](detail::OutputFile& file) { video::write_vibration_arrays(file, series, report); });
  }
};

}  // namespace

int vibration_command(const VibrationCommand& command, const std::atomic<bool>& stop) {
  VibrationOutputs outputs(command);
  video::VibrationOptions options = command.options;
  options.fps /= static_cast<double>(command.source.selection.every);  // of the frames that are read
  video::VibrationSeries series;
  try {
    const auto source = video::open_source(command.input, command.source);
    Progress progress(command.quiet);
    series = video::follow(
        *source, options, [&](std::int64_t read, std::int64_t expected) { progress.update(read, expected); },
        stop);
  } catch (const video::InputError& error) {  // it never opened: there is still a report to write
    series.status = stop ? video::VibrationStatus::interrupted : video::VibrationStatus::input_damaged;
    series.message = error.what();
    series.input.path = command.input;
  }
  const video::VibrationReport report = video::analyse(series, options);
  outputs.save(series, report);
  if (report.frames > 0 && !command.quiet)
    print(outputs.on_standard_output ? stderr : stdout, "{}", video::vibration_summary(report));
  if (report.status != video::VibrationStatus::complete) complain(report.message);
  if (outputs.failed) return kUsage;
  if (report.status == video::VibrationStatus::complete) return kFine;
  return report.status == video::VibrationStatus::interrupted ? kInterrupted : kInput;
}

}  // namespace sfft::apps
