// SPDX-License-Identifier: Apache-2.0
// The parser reads the stream header into size, rate and chroma format, then each frame's luma, and skips its
// chroma. No header makes it allocate much more than the input delivers. Its stream buffer polls the input
// together with a pipe, so that interrupt() or a signal ends a blocked read.
#include "video/sources/y4m_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <istream>
#include <limits>
#include <sstream>
#include <streambuf>
#include <system_error>
#include <vector>

namespace sfft::video {

namespace {

constexpr std::int64_t kLargestSide = 65536;
constexpr std::size_t kLongestLine = 4096;

/// Reads up to the newline and drops it; false at the end of the stream before any character.
bool read_line(std::istream& stream, std::string& line) {
  line.clear();
  char c = 0;
  while (stream.get(c)) {
    if (c == '\n') return true;
    line.push_back(c);
    if (line.size() > kLongestLine)
      throw InputError("not a YUV4MPEG2 stream: no line end in the first 4096 bytes of a header");
  }
  return !line.empty();
}

std::int64_t parse_side(const std::string& text, const std::string& name) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1 || value > kLargestSide) {
    throw InputError(
        fmt::format("YUV4MPEG2 header: {} '{}' is not a number from 1 to {}", name, text, kLargestSide));
  }
  return value;
}

/// Chroma samples per frame, in addition to width × height luma samples, and the sample depth.
struct Format {
  std::int64_t chroma_samples;
  int bits;
};

Format parse_format(std::string tag, std::int64_t width, std::int64_t height) {
  const std::string whole = tag;
  Format format{0, 8};
  // A trailing depth: 420p10, 444p16, mono12 (but not 420paldv, 420mpeg2, 420jpeg).
  const std::size_t mark = tag.rfind("mono", 0) == 0 ? 3 : tag.rfind('p');
  if (mark != std::string::npos && mark + 1 < tag.size()) {
    int bits = 0;
    const auto [end, code] = std::from_chars(tag.data() + mark + 1, tag.data() + tag.size(), bits);
    if (code == std::errc() && end == tag.data() + tag.size()) {
      if (bits < 9 || bits > 16)
        throw InputError(fmt::format("YUV4MPEG2 header: chroma '{}' has an unsupported depth", whole));
      format.bits = bits;
      tag.resize(tag.rfind("mono", 0) == 0 ? 4 : mark);
    }
  }
  const std::int64_t half_width = (width + 1) / 2;
  const std::int64_t half_height = (height + 1) / 2;
  if (tag == "mono") return format;
  if (tag.rfind("420", 0) == 0)
    format.chroma_samples = 2 * half_width * half_height;
  else if (tag.rfind("422", 0) == 0)
    format.chroma_samples = 2 * half_width * height;
  else if (tag == "444alpha")
    format.chroma_samples = 3 * width * height;
  else if (tag.rfind("444", 0) == 0)
    format.chroma_samples = 2 * width * height;
  else if (tag.rfind("411", 0) == 0)
    format.chroma_samples = 2 * ((width + 3) / 4) * height;
  else if (tag.rfind("440", 0) == 0)
    format.chroma_samples = 2 * width * half_height;
  else
    throw InputError(fmt::format("YUV4MPEG2 header: chroma '{}' is not supported", whole));
  return format;
}

class Y4mSource final : public FrameSource {
 public:
  Y4mSource(std::istream& stream, const std::string& name, std::int64_t bytes) : stream_(stream) {
    std::string line;
    if (!read_line(stream_, line))
      throw InputError(fmt::format("{} is empty: a YUV4MPEG2 stream was expected", name));
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "YUV4MPEG2") throw InputError(fmt::format("{} is not a YUV4MPEG2 stream", name));
    info_.path = name;
    std::string chroma = "420jpeg";
    while (words >> word) {
      const std::string value = word.substr(1);
      if (word[0] == 'W') info_.width = parse_side(value, "width");
      if (word[0] == 'H') info_.height = parse_side(value, "height");
      if (word[0] == 'C') chroma = value;
      if (word[0] == 'F') parse_rate(value);
      if (word[0] == 'A') parse_shape(value);
      if (word[0] == 'I' && value == "t") info_.fields = Fields::top_first;
      if (word[0] == 'I' && value == "b") info_.fields = Fields::bottom_first;
    }
    if (info_.width == 0 || info_.height == 0)
      throw InputError(fmt::format("{}: the YUV4MPEG2 header gives no width or height", name));
    const Format format = parse_format(chroma, info_.width, info_.height);
    bits_ = format.bits;
    luma_bytes_ = static_cast<std::size_t>(info_.width * info_.height) * (bits_ > 8 ? 2 : 1);
    chroma_bytes_ = static_cast<std::int64_t>(format.chroma_samples) * (bits_ > 8 ? 2 : 1);
    const std::int64_t frame_bytes = static_cast<std::int64_t>(luma_bytes_) + chroma_bytes_;
    if (frame_bytes > bytes)
      throw InputError(
          fmt::format("{}: its header promises frames of {}x{}, {} bytes each, but it holds {} bytes in all: "
                      "it is truncated or damaged",
                      name, info_.width, info_.height, frame_bytes, bytes));
  }

  const SourceInfo& info() const noexcept override { return info_; }

  bool next(Frame& frame) override {
    std::string line;
    if (!read_line(stream_, line)) return false;
    if (line.rfind("FRAME", 0) != 0) {
      throw InputError(
          fmt::format("{}: frame {} does not begin with FRAME: the stream is damaged", info_.path, count_));
    }
    frame.width = info_.width;
    frame.height = info_.height;
    frame.bit_depth16 = bits_ > 8;
    if (info_.fps > 0) frame.seconds = static_cast<double>(count_) / info_.fps;
    const bool luma = read_luma(frame.samples);
    if (luma && chroma_bytes_ > 0) stream_.ignore(chroma_bytes_);
    if (!luma || (chroma_bytes_ > 0 && stream_.gcount() != chroma_bytes_)) {
      throw InputError(fmt::format("{}: the stream ends inside frame {}", info_.path, count_));
    }
    ++count_;
    return true;
  }

  SourceLog log() const override {
    SourceLog log;
    log.timing = {info_.fps > 0 ? TimeSource::claimed_rate : TimeSource::none, info_.fps, 0};
    return log;
  }

 private:
  /// Allocates as data arrives: a header of a few bytes must not cost the memory that it claims.
  bool read_luma(std::vector<std::byte>& samples) {
    constexpr std::size_t kFirst = std::size_t{1} << 22;
    if (samples.size() > luma_bytes_) samples.resize(luma_bytes_);
    for (std::size_t got = 0; got < luma_bytes_;) {
      if (got == samples.size()) samples.resize(std::min(luma_bytes_, std::max(kFirst, 2 * got)));
      const std::size_t asked = samples.size() - got;
      stream_.read(reinterpret_cast<char*>(samples.data() + got), static_cast<std::streamsize>(asked));
      if (stream_.gcount() != static_cast<std::streamsize>(asked)) return false;
      got += asked;
    }
    return true;
  }

  void parse_rate(const std::string& text) {
    long numerator = 0;
    long denominator = 0;
    if (std::sscanf(text.c_str(), "%ld:%ld", &numerator, &denominator) == 2 && numerator > 0 &&
        denominator > 0) {
      info_.fps = static_cast<double>(numerator) / static_cast<double>(denominator);
    }
  }

  void parse_shape(const std::string& text) {
    long width = 0;
    long height = 0;
    if (std::sscanf(text.c_str(), "%ld:%ld", &width, &height) == 2 && width > 0 && height > 0)
      info_.pixel_aspect = static_cast<double>(width) / static_cast<double>(height);
  }

  std::istream& stream_;
  SourceInfo info_;
  int bits_ = 8;
  std::size_t luma_bytes_ = 0;
  std::int64_t chroma_bytes_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<FrameSource> open_y4m(std::istream& stream, const std::string& name, std::int64_t bytes) {
  return std::make_unique<Y4mSource>(stream, name, bytes);
}

namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void cannot_read(const std::string& name, int code) {
  throw InputError(fmt::format("{} cannot be read: {}", name, std::generic_category().message(code)));
}

class InputBuffer final : public std::streambuf {
 public:
  /// Reads `file`, and closes it if it is not standard input.
  explicit InputBuffer(int file) : file_(file) {
    if (::pipe2(wake_, O_CLOEXEC) != 0)
      wake_[0] = wake_[1] = -1;  // only signals then end a read; poll skips -1
  }
  ~InputBuffer() override {
    for (const int end : wake_) {
      if (end >= 0) ::close(end);
    }
    if (file_ != STDIN_FILENO) ::close(file_);
  }

  /// The errno of a read that failed; 0: none did.
  int error() const noexcept { return error_; }

  /// Ends a blocked read and all later ones. Callable from any thread.
  void interrupt() noexcept {
    const char byte = 0;
    if (wake_[1] >= 0) static_cast<void>(!::write(wake_[1], &byte, 1));
  }

 protected:
  int_type underflow() override {
    pollfd ready[2] = {{file_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || ready[1].revents != 0)
      return traits_type::eof();  // a signal came, or interrupt()
    const ssize_t count = ::read(file_, bytes_.data(), bytes_.size());
    if (count < 0 && errno != EINTR) error_ = errno;
    if (count <= 0) return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

 private:
  int file_;
  int wake_[2];
  int error_ = 0;
  std::vector<char> bytes_ = std::vector<char>(std::size_t{1} << 20);
};

class DescriptorSource final : public FrameSource {
 public:
  DescriptorSource(int file, std::string name, std::int64_t bytes)
      : name_(std::move(name)), buffer_(file), live_(bytes == kUnknown) {
    checked([&] {
      source_ = open_y4m(stream_, name_, bytes);
      return true;
    });
  }
  const SourceInfo& info() const noexcept override { return source_->info(); }
  bool live() const noexcept override { return live_; }
  bool may_be_recorded() const noexcept override { return live_; }
  bool next(Frame& frame) override {
    return checked([&] { return source_->next(frame); });
  }
  void interrupt() noexcept override { buffer_.interrupt(); }
  SourceLog log() const override { return source_->log(); }

 private:
  /// Distinguishes an input that cannot be read from one that ends.
  template <class Action>
  bool checked(const Action& action) {
    try {
      if (action()) return true;
    } catch (const InputError&) {
      if (buffer_.error() == 0) throw;
    }
    if (buffer_.error() != 0) cannot_read(name_, buffer_.error());
    return false;
  }

  std::string name_;
  InputBuffer buffer_;
  bool live_;  ///< a pipe
  std::istream stream_{&buffer_};
  std::unique_ptr<FrameSource> source_;
};

/// Bytes from here to the end of a file; kUnknown if it is not a regular file.
std::int64_t bytes_left(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return kUnknown;
  const off_t at = ::lseek(file, 0, SEEK_CUR);
  return status.st_size - (at > 0 ? at : 0);
}

}  // namespace

std::unique_ptr<FrameSource> open_standard_input() {
  // Otherwise the buffer's pipe would get the number of a closed standard input, and be read for ever.
  if (::fcntl(STDIN_FILENO, F_GETFD) == -1)
    throw InputError("standard input is closed: there is nothing to read");
  return std::make_unique<DescriptorSource>(STDIN_FILENO, "standard input", bytes_left(STDIN_FILENO));
}

std::unique_ptr<FrameSource> open_y4m_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) cannot_read("'" + path + "'", errno);
  return std::make_unique<DescriptorSource>(file, path, bytes_left(file));
}

}  // namespace sfft::video
