// SPDX-License-Identifier: Apache-2.0
// A stream buffer that polls the input together with a pipe, so that interrupt() or a signal ends a blocked
// read; the YUV4MPEG2 parser reads from it through a std::istream.
#include "video/sources/descriptor_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <istream>
#include <limits>
#include <streambuf>
#include <system_error>
#include <vector>

#include "video/sources/y4m_source.hpp"

namespace sfft::video {

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
