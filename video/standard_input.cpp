#include "video/standard_input.hpp"

#include <unistd.h>

#include <istream>
#include <streambuf>
#include <vector>

namespace sfft::video {

namespace {

class InputBuffer final : public std::streambuf {
 protected:
  int_type underflow() override {
    const ssize_t count = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
    if (count <= 0) return traits_type::eof();  // the end, or a signal without SA_RESTART
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::vector<char> bytes_ = std::vector<char>(std::size_t{1} << 20);
};

}  // namespace

std::istream& standard_input() {
  static InputBuffer buffer;
  static std::istream stream(&buffer);
  return stream;
}

}  // namespace sfft::video
