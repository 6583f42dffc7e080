// SPDX-License-Identifier: Apache-2.0
// Handles several inputs of one command: expands folders of recordings, joins recordings that continue each
// other, and names each input's outputs.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "video/sources/source.hpp"

namespace sfft::apps {

/// The inputs, with every folder of recordings replaced by its recordings in natural order. A folder of
/// images remains one input.
std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs);

/// Returns one list, in order of time, per set of recordings that continue each other. Any other input has a
/// list of one. Every list has one input if `separate`, or if only a part of each input is read.
std::vector<std::vector<std::string>> sequences_of(const std::vector<std::string>& inputs,
                                                   const video::SourceOptions& source, bool separate,
                                                   const std::atomic<bool>& stop);

/// A short unique name per input, without folder and extension, usable as a file name.
std::vector<std::string> short_names(const std::vector<std::string>& inputs);

/// Whether a path contains {}, which is replaced by the input's name.
bool has_placeholder(const std::string& path);
std::string fill_placeholder(std::string path, const std::string& name);

}  // namespace sfft::apps
