#include "video/standard_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <istream>
#include <streambuf>
#include <vector>

#include "video/y4m_source.hpp"

namespace sfft::video {

namespace {

class InputBuffer final : public std::streambuf {
 public:
  InputBuffer() {
    if (::pipe(wake_) != 0) wake_[0] = wake_[1] = -1;  // then only signals end a read; poll skips -1
  }
  ~InputBuffer() override {
    for (const int end : wake_) {
      if (end >= 0) ::close(end);
    }
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
    if (count <= 0) return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

 private:
  int wake_[2];
  std::vector<char> bytes_ = std::vector<char>(std::size_t{1} << 20);
};

class StandardInput final : public FrameSource {
 public:
  StandardInput() : source_(open_y4m(stream_, "standard input")) {}
  const SourceInfo& info() const noexcept override { return source_->info(); }
  bool next(Frame& frame) override { return source_->next(frame); }
  void interrupt() noexcept override { buffer_.interrupt(); }

 private:
  InputBuffer buffer_;
  std::istream stream_{&buffer_};
  std::unique_ptr<FrameSource> source_;
};

}  // namespace

std::unique_ptr<FrameSource> open_standard_input() {
  return std::make_unique<StandardInput>();
}

}  // namespace sfft::video
