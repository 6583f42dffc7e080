// SPDX-License-Identifier: Apache-2.0
// fuzz_seeds FOLDER: writes a small corpus of good inputs for each target.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "kernels/dense/wisdom.hpp"
#include "sfft/sfft.hpp"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& folder, const std::string& name, const std::string& bytes) {
  fs::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << bytes;
}

void templates(const fs::path& folder) {
  fs::create_directories(folder);
  int number = 0;
  for (const sfft::Shape& shape : {sfft::Shape{6, 8}, sfft::Shape{31}, sfft::Shape{3, 4, 5}}) {
    std::vector<float> samples(static_cast<std::size_t>(shape.points()));
    for (std::size_t t = 0; t < samples.size(); ++t) samples[t] = std::sin(0.7F * static_cast<float>(t * t));
    for (const bool reference : {false, true})
      sfft::learn(sfft::SignalView(samples, shape), {.k = 4, .reference = reference})
          .save((folder / fmt::format("learned{}", number++)).string());
    const std::vector<std::int64_t> support{0, 1, 5};
    sfft::Template::from_support(shape, false, support)
        .save((folder / fmt::format("given{}", number++)).string());
  }
}

void wisdom(const fs::path& folder) {
  sfft::detail::Wisdom some;
  write(folder, "empty", some.format());
  some.add({"CPU AVX2", "", "0.1.0"}, {"f32 c2c 64", 1}, {"built_in", "", 1.5});
  some.add({"NVIDIA H200", "13.0", "0.1.0"}, {"f64 r2c 1080x1920", 32},
           {"tuned", "chunk 16 split - | 8.8 t8 l4", 27.6});
  write(folder, "two", some.format());
}

void choices(const fs::path& folder) {
  const char* const texts[] = {
      "once 2 streams 3 blocks 1 chunk 16 split - | 12.9.10 t108 l8 m s | 10.8.12 t96 l9 e16 p1",
      "ring 0 blocks 2 chunk 8 split 16.16 | 16.16 t32 l8 r4 d25 v7000 g350 x q b n f o",
      "chunk 16 split - | 8 t1 l32 bytes chunk 16 split - | 8 t1 l64"};
  int number = 0;
  for (const char* const text : texts) write(folder, fmt::format("{}", number++), text);
}

void streams(const fs::path& folder) {
  for (const char* const chroma : {"mono", "420jpeg", "422p10", "444alpha", "mono16", "411"}) {
    std::string bytes = fmt::format("YUV4MPEG2 W5 H3 F25:1 Ip A1:1 C{} XYSCSS=420JPEG\n", chroma);
    for (int t = 0; t < 2; ++t) bytes += "FRAME\n" + std::string(15 * 2 * 3, static_cast<char>('a' + t));
    write(folder, chroma, bytes);
  }
}

void command_lines(const fs::path& folder) {
  const char* const lines[] = {
      "run\nin.mp4\n--k\n10\n--json\n-\n--verify\n5\n--threads\n2",
      "run\n-\n--energy\n0.9\n--quiet",
      "learn\nx.y4m\n-o\nout.sfft\n--frames\n20\n--no-reference",
      "info\nx",
      "--help",
      "--version",
      "run\n0\n--samples\n0.1\n--accuracy\n0.05\n--backend\ncpu\n--device\n0\n--html\nx\n--csv\ny"};
  int number = 0;
  for (const char* const line : lines) write(folder, fmt::format("{}", number++), line);
}

void calls(const fs::path& folder) {
  std::mt19937 random(1);
  for (int number = 0; number < 64; ++number) {
    std::string bytes(160, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() & 0xFF);
    bytes[0] = static_cast<char>(number % 4);
    bytes[1] = 0;
    write(folder, fmt::format("{}", number), bytes);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const fs::path folder = arguments[1];
  templates(folder / "template_file");
  wisdom(folder / "wisdom");
  choices(folder / "choice");
  streams(folder / "y4m");
  command_lines(folder / "command_line");
  calls(folder / "api");
  return 0;
}
