// SPDX-License-Identifier: Apache-2.0
// Compares the number of decoded frames with the file's length, packets, index and duration.
#include "video/sources/recording_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "video/sources/source.hpp"

namespace sfft::video {

namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kMaxChunks = 100000;  ///< a file may consist of tiny chunks

/// Reads numbers anywhere in a file; bytes past its end read as 0.
class Bytes {
 public:
  explicit Bytes(const std::string& path) : file_(path, std::ios::binary | std::ios::ate) {
    const auto end = file_ ? static_cast<std::streamoff>(file_.tellg()) : std::streamoff{-1};
    size_ = end > 0 ? static_cast<std::uint64_t>(end) : 0;
  }

  std::uint64_t size() const noexcept { return size_; }

  std::string at(std::uint64_t offset, std::size_t count) {
    std::string bytes(count, '\0');
    if (offset >= size_) return bytes;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(bytes.data(), static_cast<std::streamsize>(count));
    return bytes;
  }

  std::uint64_t big_endian(std::uint64_t offset, std::size_t count) {
    std::uint64_t value = 0;
    for (const char byte : at(offset, count)) value = value << 8 | static_cast<std::uint8_t>(byte);
    return value;
  }

  std::uint64_t little_endian(std::uint64_t offset, std::size_t count) {
    std::string bytes = at(offset, count);
    std::uint64_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return value;
  }

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

/// Boxes of ISO/IEC 14496-12: size, type, and for a size of 1 the size again in 64 bits.
FileEnd end_of_boxes(Bytes& file) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < kMaxChunks; ++i) {
    if (at == file.size()) return FileEnd::whole;
    if (file.size() - at < 8) return FileEnd::cut;
    std::uint64_t bytes = file.big_endian(at, 4);
    if (bytes == 0) return FileEnd::unknown;  // the box extends to the end of the file, wherever that is
    if (bytes == 1) bytes = file.big_endian(at + 8, 8);
    if (bytes < 8) return FileEnd::unknown;
    if (bytes > file.size() - at) return FileEnd::cut;
    at += bytes;
  }
  return FileEnd::unknown;
}

/// One RIFF chunk; files of more than a gigabyte or two have further ones.
FileEnd end_of_riff(Bytes& file) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < kMaxChunks && at < file.size(); ++i) {
    if (file.at(at, 4) != "RIFF") break;  // something else was appended
    const std::uint64_t bytes = file.little_endian(at + 4, 4);
    if (bytes == 0) return FileEnd::unknown;  // its writer could not seek back, or died first
    if (bytes > file.size() - at - std::min<std::uint64_t>(8, file.size() - at)) return FileEnd::cut;
    at += 8 + bytes + bytes % 2;
  }
  return FileEnd::whole;
}

/// Reads the size field of an EBML element at `at`, and advances `at`. Sets `unknown` if the field is all
/// ones or invalid.
std::uint64_t ebml_size(Bytes& file, std::uint64_t& at, bool& unknown) {
  const std::uint64_t first = file.big_endian(at, 1);
  std::size_t length = 1;
  while (length <= 8 && (first & (0x100U >> length)) == 0) ++length;
  unknown = length > 8;
  if (unknown) return 0;
  const std::uint64_t mask = (std::uint64_t{1} << (7 * length)) - 1;
  const std::uint64_t size = file.big_endian(at, length) & mask;
  unknown = size == mask;
  at += length;
  return size;
}

/// The file has an EBML header and then one segment.
FileEnd end_of_segment(Bytes& file) {
  bool unknown = false;
  std::uint64_t at = 4;
  const std::uint64_t header = ebml_size(file, at, unknown);
  if (unknown || header > file.size()) return FileEnd::unknown;
  at += header;
  if (file.at(at, 4) != "\x18\x53\x80\x67"sv) return FileEnd::unknown;
  at += 4;
  const std::uint64_t segment = ebml_size(file, at, unknown);
  if (unknown) return FileEnd::unknown;
  return segment > file.size() - std::min(at, file.size()) ? FileEnd::cut : FileEnd::whole;
}

/// The last page carries the end-of-stream flag.
FileEnd end_of_pages(Bytes& file) {
  constexpr std::uint64_t kLargestPage = 65307;
  const std::uint64_t from = file.size() > kLargestPage ? file.size() - kLargestPage : 0;
  const std::string tail = file.at(from, static_cast<std::size_t>(file.size() - from));
  const std::size_t page = tail.rfind("OggS");
  if (page == std::string::npos || tail.size() - page < 27) return FileEnd::cut;
  const auto segments = static_cast<std::uint8_t>(tail[page + 26]);
  std::size_t bytes = 27 + std::size_t{segments};
  if (tail.size() - page < bytes) return FileEnd::cut;
  for (std::size_t i = 0; i < segments; ++i) bytes += static_cast<std::uint8_t>(tail[page + 27 + i]);
  constexpr int kEndOfStream = 4;
  const bool ends = (static_cast<std::uint8_t>(tail[page + 5]) & kEndOfStream) != 0;
  return ends && bytes <= tail.size() - page ? FileEnd::whole : FileEnd::cut;
}

/// Every tag is followed by its size.
FileEnd end_of_tags(Bytes& file) {
  constexpr std::uint64_t kTagHeader = 11;
  if (file.size() < 13 + kTagHeader + 4) return FileEnd::cut;
  const std::uint64_t tag = file.big_endian(file.size() - 4, 4);
  if (tag < kTagHeader || tag > file.size() - 4) return FileEnd::cut;
  return file.big_endian(file.size() - 4 - tag + 1, 3) + kTagHeader == tag ? FileEnd::whole : FileEnd::cut;
}

constexpr std::uint64_t kTsPacket = 188;

bool is_transport_stream(Bytes& file) {
  constexpr char kSync = 0x47;
  for (std::uint64_t i = 0; i < 3; ++i) {
    if (file.at(i * kTsPacket, 1)[0] != kSync) return false;
  }
  return true;
}

bool begins_with_box(Bytes& file) {
  const std::string type = file.at(4, 4);
  constexpr std::array kBoxes = {"ftyp"sv, "moov"sv, "mdat"sv, "free"sv, "skip"sv, "wide"sv};
  return std::ranges::find(kBoxes, type) != kBoxes.end();
}

}  // namespace

FileEnd file_end(const std::string& path) {
  Bytes file(path);
  const std::string head = file.at(0, 12);
  if (begins_with_box(file)) return end_of_boxes(file);
  if (head.starts_with("RIFF")) return end_of_riff(file);
  if (head.starts_with("\x1a\x45\xdf\xa3"sv)) return end_of_segment(file);
  if (head.starts_with("OggS")) return end_of_pages(file);
  if (head.starts_with("FLV\x01"sv)) return end_of_tags(file);
  if (is_transport_stream(file)) return file.size() % kTsPacket == 0 ? FileEnd::unknown : FileEnd::cut;
  return FileEnd::unknown;
}

bool lacks_index(const std::string& path) {
  Bytes file(path);
  if (!begins_with_box(file)) return false;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < kMaxChunks && file.size() - at >= 8; ++i) {
    if (file.at(at + 4, 4) == "moov") return false;
    std::uint64_t bytes = file.big_endian(at, 4);
    if (bytes == 1) bytes = file.big_endian(at + 8, 8);
    if (bytes < 8 || bytes > file.size() - at) return true;  // extends to the end of the file, or past it
    at += bytes;
  }
  return true;
}

namespace {

bool short_of(const RecordingEnd& recording, std::int64_t frames) {
  return frames - recording.frames > std::max<std::int64_t>(2, frames / 200);
}

/// Whether the last frame's time agrees with the duration that gave the estimate.
bool times_reach_the_end(const RecordingEnd& recording) {
  if (!(recording.frame_rate > 0)) return false;
  const double duration = static_cast<double>(recording.frames_expected) / recording.frame_rate;
  const double gap =
      recording.last_seconds / static_cast<double>(std::max<std::int64_t>(1, recording.frames - 1));
  return recording.last_seconds + 2 * gap >= 0.995 * duration;
}

}  // namespace

std::string check_recording_end(const RecordingEnd& recording) {
  const FileEnd end = file_end(recording.path);
  const bool all_of_its_index = recording.frames_indexed > 0 && recording.frames >= recording.frames_indexed;
  if (end == FileEnd::cut && !all_of_its_index) {
    throw InputError(
        fmt::format("'{}' is truncated: the file ends before its container does, after {} frames",
                    recording.path, recording.frames));
  }
  if (!recording.read_error.empty()) {
    throw InputError(fmt::format("'{}' cannot be read after frame {}: {}", recording.path, recording.frames,
                                 recording.read_error));
  }
  if (short_of(recording, recording.frames_held)) {
    throw InputError(fmt::format("'{}' holds {} frames but only {} can be decoded: it is damaged",
                                 recording.path, recording.frames_held, recording.frames));
  }
  if (!short_of(recording, recording.frames_expected)) return "";
  if (end != FileEnd::whole && recording.claims_duration && !times_reach_the_end(recording)) {
    throw InputError(
        fmt::format("'{}' promises {} frames but only {} can be read: it is truncated or damaged",
                    recording.path, recording.frames_expected, recording.frames));
  }
  return fmt::format(
      "The container speaks of {} frames by its duration and rate, and holds {}: frames follow each other at "
      "varying intervals, or were left out before this file was written.",
      recording.frames_expected, recording.frames);
}

}  // namespace sfft::video
