// SPDX-License-Identifier: Apache-2.0
// Decoding on an NVIDIA GPU, by libavcodec's hwaccel `cuda`. Only in builds that have FFmpeg's libraries.
#pragma once

#include <string>

#include "sfft/device_pictures.hpp"
#include "video/sources/libav.hpp"

namespace sfft::video::nvdec {

/// Makes a decoder that is not open yet decode on a GPU. Returns why it cannot, or nothing. Whether the GPU
/// takes the recording shows only with its first picture: others are decoded on the CPU.
std::string attach(AVCodecContext& decoder, const AVCodec& codec, int device);

/// Whether a picture is in a GPU's memory.
bool holds(const AVFrame& picture);
/// The luma of such a picture, where it is.
DevicePlane plane_of(const AVFrame& picture);
/// A copy of such a picture in host memory.
libav::Picture download(const AVFrame& picture);

}  // namespace sfft::video::nvdec
