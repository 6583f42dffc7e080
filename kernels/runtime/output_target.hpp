// SPDX-License-Identifier: Apache-2.0
// Finds where the path of an output leads: follows links and refuses what cannot be written.
#pragma once

#include <sys/stat.h>

#include <string>

#include "kernels/runtime/output_file.hpp"

namespace sfft::detail {

[[noreturn]] void cannot_write(const std::string& path, const std::string& why);
/// Gives the system's message for `code`, an errno, as the reason.
[[noreturn]] void cannot_write(const std::string& path, int code);

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  int release() noexcept;

 private:
  int number_;
};

struct OutputTarget {
  OutputKind kind = OutputKind::file;
  std::string opened;            ///< the path with its links followed
  std::string name;              ///< files: the name within its folder
  Descriptor folder;             ///< files
  struct stat folder_status {};  ///< files
  int descriptor = -1;           ///< descriptors: not owned
  bool exists = false;
  struct stat status {};  ///< valid if it exists
};

/// Throws Error(file_unreadable) for what cannot be written.
OutputTarget find_target(const std::string& path);

}  // namespace sfft::detail
