// SPDX-License-Identifier: Apache-2.0
// Pictures are in the GPU's primary context, which the CUDA runtime also uses, so kernels can read them in
// place.
#include "video/sources/libav.hpp"

#include <fmt/format.h>

#include "video/sources/luma.hpp"
#include "video/sources/source.hpp"

namespace sfft::video::nvdec {

namespace {

/// The value of AV_CUDA_USE_PRIMARY_CONTEXT, whose header needs the headers of CUDA.
constexpr int kPrimaryContext = 1;

bool decodes(const AVCodec& codec) {
  for (int i = 0;; ++i) {
    const AVCodecHWConfig* const config = avcodec_get_hw_config(&codec, i);
    if (config == nullptr) return false;
    const bool by_device = (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0;
    if (by_device && config->device_type == AV_HWDEVICE_TYPE_CUDA) return true;
  }
}

/// Chooses the GPU's format if it is offered. It is not offered again after the GPU has refused.
AVPixelFormat choose_format(AVCodecContext* decoder, const AVPixelFormat* formats) {
  for (const AVPixelFormat* format = formats; *format != AV_PIX_FMT_NONE; ++format)
    if (*format == AV_PIX_FMT_CUDA) return *format;
  return avcodec_default_get_format(decoder, formats);
}

}  // namespace

std::string attach(AVCodecContext& decoder, const AVCodec& codec, int device) {
  if (!decodes(codec)) return fmt::format("libavcodec has no decoder for {} on NVIDIA GPUs", codec.name);
  AVBufferRef* context = nullptr;
  const int made = av_hwdevice_ctx_create(&context, AV_HWDEVICE_TYPE_CUDA, std::to_string(device).c_str(),
                                          nullptr, kPrimaryContext);
  if (made < 0) return fmt::format("there is no GPU {} that decodes: {}", device, libav::error_text(made));
  decoder.hw_device_ctx = context;  // freed by the decoder
  decoder.get_format = choose_format;
  return "";
}

bool holds(const AVFrame& picture) {
  return picture.format == AV_PIX_FMT_CUDA && picture.hw_frames_ctx != nullptr;
}

DevicePlane plane_of(const AVFrame& picture) {
  const auto& frames = *reinterpret_cast<const AVHWFramesContext*>(picture.hw_frames_ctx->data);
  const LumaPlane luma = luma_plane(frames.sw_format, picture.color_range == AVCOL_RANGE_JPEG);
  const auto left = static_cast<std::int64_t>(picture.crop_left),
             top = static_cast<std::int64_t>(picture.crop_top);
  const std::int64_t sample = luma.bits > 8 ? 2 : 1;
  DevicePlane plane;
  plane.data = picture.data[0] + top * picture.linesize[0] + left * sample;
  plane.width = picture.width - left;
  plane.height = picture.height - top;
  plane.pitch_bytes = picture.linesize[0];
  plane.bits = luma.bits;
  plane.shift = luma.shift;
  plane.limited_range = !luma.full_range;
  return plane;
}

libav::Picture download(const AVFrame& picture) {
  libav::Picture copy(libav::allocated(av_frame_alloc()));
  const int copied = av_hwframe_transfer_data(copy.get(), &picture, 0);
  if (copied == AVERROR(ENOMEM)) throw std::bad_alloc();
  if (copied < 0)
    throw InputError(fmt::format("a picture cannot be copied from the GPU: {}", libav::error_text(copied)));
  copy->color_range = picture.color_range;
  copy->crop_left = picture.crop_left;
  copy->crop_top = picture.crop_top;
  if (av_frame_apply_cropping(copy.get(), AV_FRAME_CROP_UNALIGNED) < 0)
    throw InputError("a picture's cropping goes beyond it");
  return copy;
}

}  // namespace sfft::video::nvdec
