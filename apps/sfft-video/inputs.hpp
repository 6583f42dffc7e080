// SPDX-License-Identifier: Apache-2.0
// Several inputs of one command: folders of recordings, and the names of outputs that belong to each.
#pragma once

#include <string>
#include <vector>

namespace sfft::apps {

/// The inputs with every folder of recordings replaced by these, in the natural order of their names. A
/// folder of images stays one input.
std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs);

/// One short name for each input, without folder and extension, fit for a file name and unlike the others.
std::vector<std::string> short_names(const std::vector<std::string>& inputs);

/// Whether a path has a {}, which stands for the name of the input.
bool has_placeholder(const std::string& path);
std::string fill_placeholder(std::string path, const std::string& name);

}  // namespace sfft::apps
