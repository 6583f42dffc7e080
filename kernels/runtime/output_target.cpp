// SPDX-License-Identifier: Apache-2.0
// Follows links one by one, so that a link to /dev/stdout is recognised, and checks the target before any
// work is done.
#include "kernels/runtime/output_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

#include "sfft/error.hpp"

namespace sfft::detail {

void cannot_write(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::file_unreadable, fmt::format("cannot write '{}': {}", path, why));
}

void cannot_write(const std::string& path, int code) {
  cannot_write(path, std::generic_category().message(code));
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  const Descriptor before(number_);
  number_ = other.release();
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::release() noexcept {
  const int number = number_;
  number_ = -1;
  return number;
}

namespace {

constexpr int kMaxLinks = 40;  // as many as Linux follows

/// The N of /dev/fd/N or of a standard stream's name. Opening such a path would start a redirected file again
/// at its beginning.
std::optional<int> named_descriptor(std::string_view path) {
  if (path == "/dev/stdin") return 0;
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* const end = path.data() + path.size();
    const auto [stop, code] = std::from_chars(path.data() + folder.size(), end, number);
    if (code == std::errc() && stop == end && number >= 0) return number;
  }
  return std::nullopt;
}

/// The folder part of a path, with its slash; empty if there is none.
std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0
}

std::string link_text(const std::string& path, const std::string& link) {
  std::vector<char> text(4097);
  const ssize_t length = ::readlink(link.c_str(), text.data(), text.size());
  if (length < 0) cannot_write(path, errno);
  if (static_cast<std::size_t>(length) == text.size()) cannot_write(path, ENAMETOOLONG);
  return {text.data(), static_cast<std::size_t>(length)};
}

OutputTarget descriptor_target(const std::string& path, int number) {
  OutputTarget target;
  target.kind = OutputKind::descriptor;
  target.descriptor = number;
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0 || ::fstat(number, &target.status) != 0)
    cannot_write(path, "it is closed: give a file, or open it");
  if ((flags & O_ACCMODE) == O_RDONLY) cannot_write(path, "it is not open for writing");
  target.exists = true;
  return target;
}

void check_existing(const std::string& path, const OutputTarget& target) {
  const mode_t mode = target.status.st_mode;
  if (S_ISDIR(mode)) cannot_write(path, "it is a directory: give the name of a file");
  if (S_ISBLK(mode)) cannot_write(path, "it is a disk or another block device: give the name of a file");
  if (S_ISSOCK(mode)) cannot_write(path, "it is a socket: give the name of a file");
  // The superuser can write anything, but a file that nobody may write is meant to stay.
  constexpr mode_t kAnybody = S_IWUSR | S_IWGRP | S_IWOTH;
  if ((mode & kAnybody) == 0 || ::faccessat(AT_FDCWD, target.opened.c_str(), W_OK, AT_EACCESS) != 0)
    cannot_write(path, "it is read-only: give another name, or make it writable");
}

}  // namespace

OutputTarget find_target(const std::string& path) {
  if (path.empty()) cannot_write(path, "its name is empty");
  if (path.find('\0') != std::string::npos) cannot_write(path, "its name holds a zero byte");
  OutputTarget target;
  target.opened = path;
  for (int links = 0;; ++links) {
    if (const auto number = named_descriptor(target.opened)) return descriptor_target(path, *number);
    if (::lstat(target.opened.c_str(), &target.status) != 0) {
      if (errno != ENOENT) cannot_write(path, errno);
      break;
    }
    target.exists = !S_ISLNK(target.status.st_mode);
    if (target.exists) break;
    if (links == kMaxLinks) cannot_write(path, ELOOP);
    const std::string text = link_text(path, target.opened);
    target.opened = text.starts_with('/') ? text : folder_of(target.opened) + text;
  }
  if (target.exists) {
    check_existing(path, target);
    if (!S_ISREG(target.status.st_mode)) {
      target.kind = OutputKind::stream;
      return target;
    }
  }
  const std::string folder = folder_of(target.opened);
  target.name = target.opened.substr(folder.size());
  if (target.name.empty()) cannot_write(path, "it ends in '/' and there is no such directory");
  const char* const place = folder.empty() ? "." : folder.c_str();
  target.folder = Descriptor(::open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!target.folder && errno == EACCES)  // files can be created in a folder that may not be listed
    target.folder = Descriptor(::open(place, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!target.folder || ::fstat(target.folder.get(), &target.folder_status) != 0) {
    cannot_write(path,
                 errno == ENOENT ? "its directory does not exist" : std::generic_category().message(errno));
  }
  return target;
}

}  // namespace sfft::detail
