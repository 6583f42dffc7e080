#include "video/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::file_unreadable, fmt::format("cannot write '{}': {}", path, why));
}

}  // namespace

std::string path_beside(const std::string& path) {
  return fmt::format("{}.tmp-{}", path, ::getpid());
}

void put_in_place(const std::string& beside, const std::string& path) {
  std::error_code code;
  std::filesystem::rename(beside, path, code);
  if (code) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    fail(path, code.message());
  }
}

void write_file(const std::string& path, std::string_view content) {
  const std::string beside = path_beside(path);
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file) {
      std::error_code ignored;
      std::filesystem::remove(beside, ignored);
      fail(path, "the directory does not exist, is not writable, or is full");
    }
  }
  put_in_place(beside, path);
}

void check_writable(const std::string& path) {
  if (std::filesystem::is_directory(path)) fail(path, "it is a directory");
  const std::string beside = path_beside(path);
  if (!std::ofstream(beside, std::ios::binary)) fail(path, "the directory does not exist or is not writable");
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
}

}  // namespace sfft::video
