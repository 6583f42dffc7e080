// SPDX-License-Identifier: Apache-2.0
// Opens every output first, and handles the failures of each write separately.
#include "report_files.hpp"

#include <fmt/format.h>

#include "sfft/error.hpp"

namespace sfft::apps {

namespace {

/// Converts an output's errors to usage errors.
void as_usage(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_unreadable && error.code() != ErrorCode::backend_unavailable) throw;
    throw UsageError(error.what());
  }
}

}  // namespace

ReportFiles::ReportFiles(std::vector<std::string> inputs, std::initializer_list<Named> outputs)
    : inputs_(std::move(inputs)) {
  as_usage([&] {
    for (const auto& [name, path] : outputs) {
      if (path.empty()) continue;
      compare(detail::OutputFile(output_path(path)));
      const detail::OutputFile& file = files_.try_emplace(name, output_path(path)).first->second;
      on_standard_output_ = on_standard_output_ || file.kind() == detail::OutputKind::descriptor;
    }
  });
}

void ReportFiles::refuse(const std::string& path) const {
  as_usage([&] { compare(detail::OutputFile(path)); });
}

void ReportFiles::compare(const detail::OutputFile& file) const {
  for (const std::string& input : inputs_) refuse_input(file, input);
  for (const auto& [name, other] : files_) {
    if (file.same_as(other))
      throw UsageError(fmt::format("'{}' and '{}' are the same file: give each output its own", other.path(),
                                   file.path()));
  }
}

void ReportFiles::check(const char* name,
                        const std::function<void(const detail::OutputFile&)>& action) const {
  const auto file = files_.find(name);
  if (file != files_.end()) as_usage([&] { action(file->second); });
}

}  // namespace sfft::apps
