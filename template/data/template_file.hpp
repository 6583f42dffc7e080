// SPDX-License-Identifier: Apache-2.0
// The template file: versioned, checksummed, little-endian. Format: docs/file-formats.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "template/data/file_bytes.hpp"
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

/// Appends the section of data.plans, bound to the template with this checksum.
void put_plans(ByteWriter& writer, const TemplateData& data, std::uint64_t template_checksum);

/// Reads all sections into data.plans. Does not throw for bad bytes: it skips what it cannot read, and says
/// why in data.plans_problem.
void read_sections(std::span<const char> sections, std::uint64_t template_checksum, TemplateData& data);

}  // namespace sfft::detail
