// SPDX-License-Identifier: Apache-2.0
// Reads and writes the process-wide wisdom. Loading never throws: the report says what is wrong with a file.
#include "kernels/dense/wisdom/wisdom.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <new>

#include "kernels/dense/wisdom/wisdom_text.hpp"
#include "kernels/runtime/log.hpp"
#include "kernels/runtime/output_file.hpp"
#include "kernels/runtime/user_cache.hpp"
#include "sfft/dense.hpp"
#include "sfft/error.hpp"

namespace sfft::dense {

namespace {

/// Reads a regular file, up to one byte more than the longest valid wisdom, so that the parser can tell that
/// it is too long.
std::string read_file(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status))
    throw Error(ErrorCode::file_unreadable, code && status.type() == std::filesystem::file_type::none
                                                ? code.message()
                                                : "there is no such file");
  if (!std::filesystem::is_regular_file(status))  // opening a pipe would wait for its writer
    throw Error(ErrorCode::file_unreadable, "it is a directory or a device, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::file_unreadable, "it cannot be opened: check its permissions");
  std::string text(sfft::detail::kWisdomBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw Error(ErrorCode::file_unreadable, "it cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

WisdomReport load_wisdom(const std::string& file) noexcept {
  WisdomReport report;
  try {
    report = sfft::detail::Wisdom::global().parse(read_file(file));
    if (!report.reason.empty()) report.reason = fmt::format("'{}': {}", file, report.reason);
  } catch (const std::bad_alloc&) {
    report.reason = "out of memory";  // short enough not to allocate
  } catch (const std::exception& error) {
    try {
      report.reason = fmt::format("'{}': {}", file, error.what());
    } catch (...) {
      report.reason = "out of memory";
    }
  }
  sfft::detail::log_decision("wisdom", [&] {
    return fmt::format("'{}': {} entries read, {} ignored{}{}", file, report.taken, report.ignored,
                       report.reason.empty() ? "" : ": ", report.reason);
  });
  return report;
}

void save_wisdom(const std::string& file) {
  sfft::detail::rewrite_whole(file, [&](bool exists) {
    try {
      return sfft::detail::Wisdom::global().merged_into(exists ? read_file(file) : std::string());
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("'{}' was left as it is, because wisdom is merged into a file: {}. "
                              "Remove it, or save under another name",
                              file, error.what()));
    }
  });
}

void forget_wisdom() noexcept {
  sfft::detail::Wisdom::global().clear();
}

void set_cache_folder(const std::string& folder) {
  sfft::detail::UserCache::set_global(folder);
}

}  // namespace sfft::dense
