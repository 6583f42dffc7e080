// SPDX-License-Identifier: Apache-2.0
// Handles several inputs of one command: expands folders of recordings, and names each input's outputs.
#pragma once

#include <string>
#include <vector>

namespace sfft::apps {

/// The inputs, with every folder of recordings replaced by its recordings in natural order. A folder of
/// images remains one input.
std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs);

/// A short unique name per input, without folder and extension, usable as a file name.
std::vector<std::string> short_names(const std::vector<std::string>& inputs);

/// Whether a path contains {}, which is replaced by the input's name.
bool has_placeholder(const std::string& path);
std::string fill_placeholder(std::string path, const std::string& name);

}  // namespace sfft::apps
