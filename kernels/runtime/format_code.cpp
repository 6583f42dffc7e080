// SPDX-License-Identifier: Apache-2.0
// The code of {fmt}, compiled once for everything that formats text. As a header it would
// cost four seconds of compilation per source (cmake/format.cmake). Only this file is
// compiled with FMT_HEADER_ONLY.
#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace {

/// Taking these addresses emits the functions that other sources call through fmt::format and fmt::print.
[[gnu::used]] std::string (*const format_code)(fmt::string_view, fmt::format_args) = &fmt::vformat;
[[gnu::used]] void (*const print_code)(fmt::string_view, fmt::format_args) = &fmt::vprint;
[[gnu::used]] void (*const print_to_file_code)(std::FILE*, fmt::string_view, fmt::format_args) = &fmt::vprint;

}  // namespace
