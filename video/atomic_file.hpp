// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace sfft::video {

/// Where a file is prepared before it takes the place of `path`: in the same directory.
std::string path_beside(const std::string& path);
/// Renames a prepared file. Throws sfft::Error(file_unreadable).
void put_in_place(const std::string& beside, const std::string& path);
/// Writes beside and renames. Throws sfft::Error(file_unreadable); an existing file then stays as it was.
void write_file(const std::string& path, std::string_view content);
/// Throws sfft::Error(file_unreadable) when `path` cannot be written, so that a run does not fail at its end.
void check_writable(const std::string& path);

}  // namespace sfft::video
