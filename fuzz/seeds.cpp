// SPDX-License-Identifier: Apache-2.0
// fuzz_seeds FOLDER: writes a small corpus of good inputs for each target.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "kernels/dense/wisdom/wisdom.hpp"
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
      sfft::learn(sfft::SignalView(samples, shape), {.keep = sfft::Largest{4}, .reference = reference})
          .save((folder / fmt::format("learned{}", number++)).string());
    const std::vector<std::int64_t> support{0, 1, 5};
    sfft::Template::from_support(shape, sfft::Domain::complex, support)
        .save((folder / fmt::format("given{}", number++)).string());
  }
  for (const sfft::Shape& shape : {sfft::Shape{480}, sfft::Shape{48, 64}, sfft::Shape{509}}) {
    const std::vector<std::int64_t> support{0, 1, 5, 300};
    const auto tmpl = sfft::Template::from_support(shape, sfft::Domain::complex, support);
    for (const auto path : {sfft::Path::comb, sfft::Path::flat_window, sfft::Path::dense}) {
      if (path == sfft::Path::comb && shape == sfft::Shape{509}) continue;
      const sfft::Plan<float> asked_for(tmpl, {.path = path}), automatic(tmpl);
      automatic.keep_in(asked_for.keep_in(tmpl)).save((folder / fmt::format("kept{}", number++)).string());
    }
  }
}

void wisdom(const fs::path& folder) {
  sfft::detail::Wisdom some;
  write(folder, "empty", some.format());
  some.add({"CPU AVX2", "", "0.1.0"}, {"f32 c2c 64", 1}, {"built_in", "", 1.5});
  some.add({"NVIDIA H200", "13.0", "0.1.0"}, {"f64 r2c 1080x1920", 32},
           {"tuned", "kernel radices=8.8 threads_per_transform=8", 27.6});
  write(folder, "two", some.format());
}

/// Writes policies with every knob at a value other than its default.
void policies(const fs::path& folder) {
  const char* const texts[] = {
      "streams=3 alternating_groups=2 kernel radices=12.9.10 threads_per_transform=108 half_shared=1 "
      "interleaved_shared=1 kernel radices=10.8.12 threads_per_transform=96 pad_interval=16 pad=1",
      "ring_buffer=0 min_blocks_per_multiprocessor=2 outputs_per_group=8 factors=16.16 kernel radices=16.16 "
      "threads_per_transform=32 max_blocks_per_multiprocessor=4 prefetch_distance=25 "
      "multiprocessor_delay=7000 "
      "block_delay=350 staged=1 interleaved_threads=1 double_buffered=1 early_prefetch=1 loads=bypass_l1 "
      "streaming=1 twiddles=table",
      "kernel radices=8 transforms_per_block=32 twiddles=two_roots bytes kernel radices=8 loads=prefetch_l2"};
  int number = 0;
  for (const char* const text : texts) write(folder, fmt::format("{}", number++), text);
}

/// Writes outermost structures of containers, and headers of frames.
void recordings(const fs::path& folder) {
  using namespace std::string_literals;
  const std::string filling(24, '\x11');
  write(folder, "boxes",
        "\0\0\0\x10"
        "ftypisom\0\0\2\0"
        "\0\0\0\1mdat\0\0\0\0\0\0\0\x28"s +
            filling);
  write(folder, "riff",
        "RIFF\x1c\0\0\0"
        "AVI "s +
            filling);
  write(folder, "segment", "\x1a\x45\xdf\xa3\x84\x42\x86\x81\x01\x18\x53\x80\x67\x98"s + filling);
  write(folder, "page", "OggS\0\4"s + std::string(20, '\0') + "\1\x18"s + filling);
  write(folder, "tag",
        "FLV\1\1\0\0\0\x09\0\0\0\0"
        "\x09\0\0\x18\0\0\0\0\0\0\0"s +
            filling + "\0\0\0\x23"s);
  std::string packets(3 * 188, '\xff');
  for (std::size_t i = 0; i < packets.size(); i += 188) packets[i] = 0x47;
  write(folder, "packets", packets);
  write(folder, "jpeg", "\xff\xd8\xff\xe0\0\4\0\0\xff\xc0\0\x11\x08\0\x30\0\x40\3"s + filling);
  write(folder, "vp9", "\x82\x49\x83\x42\0\x15\xf0\x11\xf0\0"s);
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
      "learn\nx.y4m\n-o\nout.sfft\n--frames\n20\n--no-reference\n--no-plan",
      "run\n-\n--similarity\n--save-template\nout.sfft",
      "info\nx",
      "--help",
      "--version",
      "run\n0\n--samples\n0.1\n--accuracy\n0.05\n--backend\ncpu\n--device\n0\n--html\nx\n--csv\ny"};
  int number = 0;
  for (const char* const line : lines) write(folder, fmt::format("{}", number++), line);
}

void calls(const fs::path& folder) {
  std::mt19937 random(1);
  for (int number = 0; number < 128; ++number) {
    std::string bytes(160, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() & 0xFF);
    bytes[0] = static_cast<char>(number % 16);
    bytes[1] = 0;
    write(folder, fmt::format("{}", number), bytes);
  }
}

/// Writes lines of a shard's file, each without its checksum and brace, which the target adds.
void shards(const fs::path& folder) {
  write(
      folder, "one",
      R"({"schema":"sfft-video-shard/1","shard":1,"shards":2,"inputs":3,"inputs_crc32":7,"settings":{"k":"5"})"
      "\n"
      R"({"input":0,"path":"a","stamp":"1 2","code":0,"status":"complete","message":"","report":{"input":{}})"
      "\n"
      R"({"input":2,"path":"c","stamp":"","code":3,"status":"input_damaged","message":"m","report":{})"
      "\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const fs::path folder = arguments[1];
  templates(folder / "template_file");
  wisdom(folder / "wisdom");
  policies(folder / "policy");
  streams(folder / "y4m");
  shards(folder / "shard");
  recordings(folder / "recording");
  command_lines(folder / "command_line");
  calls(folder / "api");
  return 0;
}
