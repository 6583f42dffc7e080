// SPDX-License-Identifier: Apache-2.0
// RAII for allocations by FFmpeg's libraries, texts for their errors, and decoding on an NVIDIA GPU through
// libavcodec's hwaccel `cuda`. Only for builds with FFmpeg.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
}

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "sfft/plan/device_pictures.hpp"

namespace sfft::video::libav {

struct FreeFormat {
  void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
};
struct FreeContext {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreeParser {
  void operator()(AVCodecParserContext* parser) const { av_parser_close(parser); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct FreePicture {
  void operator()(AVFrame* picture) const { av_frame_free(&picture); }
};

struct FreeBuffer {
  void operator()(AVBufferRef* buffer) const { av_buffer_unref(&buffer); }
};

using Format = std::unique_ptr<AVFormatContext, FreeFormat>;
using Context = std::unique_ptr<AVCodecContext, FreeContext>;
using Parser = std::unique_ptr<AVCodecParserContext, FreeParser>;
using Packet = std::unique_ptr<AVPacket, FreePacket>;
using Picture = std::unique_ptr<AVFrame, FreePicture>;
using Buffer = std::unique_ptr<AVBufferRef, FreeBuffer>;

/// Returns the pointer; throws std::bad_alloc if it is null.
template <class T>
T* allocated(T* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

inline std::string error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

/// New codec parameters in a packet; most packets have none.
inline std::span<const std::uint8_t> new_parameters(const AVPacket& packet) {
  std::size_t bytes = 0;
  const std::uint8_t* const data = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &bytes);
  return {data, data == nullptr ? 0 : bytes};
}

}  // namespace sfft::video::libav

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
