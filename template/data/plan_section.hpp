// SPDX-License-Identifier: Apache-2.0
// The part of a template file that follows the template: its kept plans. Format: docs/file-formats.md.
#pragma once

#include <cstdint>
#include <span>

#include "template/data/file_bytes.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Appends the section of data.plans, bound to the template with this checksum.
void put_plans(ByteWriter& writer, const TemplateData& data, std::uint64_t template_checksum);

/// Reads all sections into data.plans. Does not throw for bad bytes: it skips what it cannot read, and says
/// why in data.plans_problem.
void read_sections(std::span<const char> sections, std::uint64_t template_checksum, TemplateData& data);

}  // namespace sfft::detail
