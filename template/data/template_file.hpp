// SPDX-License-Identifier: Apache-2.0
// The template file: versioned, checksummed, little-endian. Format: docs/file-formats.md.
#pragma once

#include <string>

#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Throws Error file_unreadable, file_corrupt or file_version.
TemplateData read_template(const std::string& path);
/// On failure the old file stays as it was, and Error(file_unreadable) is thrown.
void write_template(const TemplateData& data, const std::string& path);

}  // namespace sfft::detail
