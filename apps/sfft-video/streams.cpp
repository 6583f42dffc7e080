// SPDX-License-Identifier: Apache-2.0
// Opens /dev/null in place of closed standard streams, and remembers failed writes to standard output for the
// exit code instead of throwing.
#include "streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "video/report/text.hpp"

namespace sfft::apps {

namespace {
bool lost = false;
}

void hold_standard_streams() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // open() takes the lowest free number, which is this one. It is opened in the wrong direction, so that
    // using it fails as on a closed stream.
    if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void put(std::FILE* stream, std::string_view text) noexcept {
  if (text.empty()) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (stream == stdout && !written) lost = true;
}

void complain(std::string_view message) noexcept {
  try {
    print(stderr, "sfft-video: {}\n", video::printable(message));
  } catch (const std::exception&) {
    put(stderr, "sfft-video: ");
    put(stderr, message);
    put(stderr, "\n");
  }
}

bool standard_output_lost() noexcept {
  if (std::fflush(stdout) != 0) lost = true;
  return lost || std::ferror(stdout) != 0;
}

}  // namespace sfft::apps
