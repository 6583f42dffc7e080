#include "video/standard_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <istream>
#include <streambuf>
#include <system_error>
#include <vector>

#include "video/y4m_source.hpp"

namespace sfft::video {

namespace {

class InputBuffer final : public std::streambuf {
 public:
  InputBuffer() {
    // The pipe would take the place of a closed standard input, and be read for ever.
    if (::fcntl(STDIN_FILENO, F_GETFD) == -1)
      throw InputError("standard input is closed: there is nothing to read");
    if (::pipe(wake_) != 0) wake_[0] = wake_[1] = -1;  // then only signals end a read; poll skips -1
  }
  ~InputBuffer() override {
    for (const int end : wake_) {
      if (end >= 0) ::close(end);
    }
  }

  /// Throws InputError if a read failed.
  void check() const {
    if (error_ != 0)
      throw InputError("standard input cannot be read: " + std::generic_category().message(error_));
  }

  /// Ends blocked and later reads. From any thread.
  void interrupt() noexcept {
    const char byte = 0;
    if (wake_[1] >= 0) static_cast<void>(!::write(wake_[1], &byte, 1));
  }

 protected:
  int_type underflow() override {
    pollfd ready[2] = {{STDIN_FILENO, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || ready[1].revents != 0)
      return traits_type::eof();  // a signal, or asked to
    const ssize_t count = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
    if (count < 0 && errno != EINTR) error_ = errno;
    if (count <= 0) return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

 private:
  int wake_[2];
  int error_ = 0;  ///< of a read that failed
  std::vector<char> bytes_ = std::vector<char>(std::size_t{1} << 20);
};

class StandardInput final : public FrameSource {
 public:
  StandardInput() {
    checked([this] {
      source_ = open_y4m(stream_, "standard input");
      return true;
    });
  }
  const SourceInfo& info() const noexcept override { return source_->info(); }
  bool next(Frame& frame) override {
    return checked([&] { return source_->next(frame); });
  }
  void interrupt() noexcept override { buffer_.interrupt(); }

 private:
  /// An input that cannot be read is told from one that ends.
  template <class Action>
  bool checked(const Action& action) {
    try {
      if (action()) return true;
    } catch (const InputError&) {
      buffer_.check();
      throw;
    }
    buffer_.check();
    return false;
  }

  InputBuffer buffer_;
  std::istream stream_{&buffer_};
  std::unique_ptr<FrameSource> source_;
};

}  // namespace

std::unique_ptr<FrameSource> open_standard_input() {
  return std::make_unique<StandardInput>();
}

}  // namespace sfft::video
