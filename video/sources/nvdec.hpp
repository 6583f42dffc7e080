// SPDX-License-Identifier: Apache-2.0
// Decodes on an NVIDIA GPU through libavcodec's hwaccel `cuda`. Only for builds with FFmpeg.
#pragma once

#include <string>

#include "sfft/plan/device_pictures.hpp"
#include "video/sources/libav.hpp"

namespace sfft::video::nvdec {

/// Configures a decoder that is not open yet to decode on a GPU. Returns the reason if that is impossible,
/// else an empty string. Only the first picture shows whether the GPU supports the recording; if not, the CPU
/// decodes it.
std::string attach(AVCodecContext& decoder, const AVCodec& codec, int device);

/// Whether a picture is in GPU memory.
bool holds(const AVFrame& picture);
/// The luma of such a picture, in place.
DevicePlane plane_of(const AVFrame& picture);
/// A copy of such a picture in host memory.
libav::Picture download(const AVFrame& picture);

}  // namespace sfft::video::nvdec
