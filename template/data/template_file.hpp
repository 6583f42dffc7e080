// SPDX-License-Identifier: Apache-2.0
// The template file: versioned, checksummed, little-endian. Format: docs/file-formats.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Throws Error(file_unreadable), Error(file_corrupt) or Error(file_version).
TemplateData read_template(const std::string& path);
/// On failure the old file is unchanged, and Error(file_unreadable) is thrown.
void write_template(const TemplateData& data, const std::string& path);

/// Parses a file's bytes in memory; `path` is for messages. Throws Error(file_corrupt) or
/// Error(file_version).
TemplateData parse_template(std::span<const char> bytes, const std::string& path);
std::vector<char> template_bytes(const TemplateData& data);

}  // namespace sfft::detail
