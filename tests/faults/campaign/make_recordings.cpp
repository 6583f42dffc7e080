// SPDX-License-Identifier: Apache-2.0
// make_recordings FOLDER: the same short film in every container that libavformat can write here, as input
// for damage.py.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "tests/support/recording.hpp"

int main(int count, char** arguments) {
  if (count != 2 || std::string(arguments[1]) == "--help") {
    std::puts(
        "usage: make_recordings FOLDER\n\nWrites one short recording per container, and prints their names.");
    return count == 2 ? 0 : 2;
  }
  av_log_set_level(AV_LOG_QUIET);
  constexpr const char* kKinds[][2] = {
      {"mp4", "libx264"}, {"mkv", "libx264"},   {"avi", "mpeg4"},      {"mov", "mjpeg"}, {"ts", "mpeg2video"},
      {"webm", "libvpx"}, {"ogv", "libtheora"}, {"mpg", "mpeg1video"}, {"flv", "flv"},   {"wmv", "wmv2"}};
  for (const auto& [container, encoder] : kKinds) {
    const std::string path = std::string(arguments[1]) + "/film." + container;
    try {
      const bool there = avcodec_find_encoder_by_name(encoder) != nullptr;
      sfft::test::record(path, there ? encoder : "", sfft::test::steady_frames(24));
      std::puts(path.c_str());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), error.what());
      std::filesystem::remove(path);
    }
  }
}
