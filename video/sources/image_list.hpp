// SPDX-License-Identifier: Apache-2.0
// Lists image sequences: the images in a directory, or those numbered by a printf pattern.
#pragma once

#include <string>
#include <vector>

namespace sfft::video {

/// Whether `input` is a pattern such as frames/%04d.png: it contains a '%' and no
/// file has exactly that name.
bool is_image_pattern(const std::string& input);

/// Lists the images of a directory in natural order ("frame2.png" before "frame10.png"). Or lists the images
/// of a pattern with one %d or %0Nd (N up to 9), numbered from 0 or 1. Throws InputError if there are none.
std::vector<std::string> list_images(const std::string& input);

/// The recordings in a directory without images, in natural order, then those in its folders. Links are not
/// followed. Empty for anything else.
std::vector<std::string> list_recordings(const std::string& directory);

}  // namespace sfft::video
