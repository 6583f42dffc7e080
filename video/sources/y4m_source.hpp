// SPDX-License-Identifier: Apache-2.0
// Reads YUV4MPEG2, the uncompressed stream that FFmpeg and others write to pipes, without any library. A
// signal or another thread can end a blocked read of standard input or of a FIFO, whereas std::cin and
// std::ifstream would keep waiting.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <memory>
#include <string>

#include "video/sources/source.hpp"

namespace sfft::video {

/// `stream` must outlive the source and has at most `bytes` bytes. A header that promises larger frames is
/// rejected before memory is allocated for them. Accepts the chroma tags C420*, C422*, C444*, C411, C440,
/// Cmono and their p9…p16 and mono9…mono16 variants; only luma is kept. Throws InputError for a header that
/// is not YUV4MPEG2 or is not supported.
std::unique_ptr<FrameSource> open_y4m(std::istream& stream, const std::string& name,
                                      std::int64_t bytes = std::numeric_limits<std::int64_t>::max());

std::unique_ptr<FrameSource> open_standard_input();
std::unique_ptr<FrameSource> open_y4m_file(const std::string& path);

}  // namespace sfft::video
