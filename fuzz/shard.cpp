// SPDX-License-Identifier: Apache-2.0
// Fuzzes the file of a shard, with correct checksums: any text is accepted or rejected, and accepted text is
// written as it was read.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "sfft/error.hpp"
#include "video/report/encoding.hpp"
#include "video/shards/shard_lines.hpp"

namespace {

/// Gives each line a matching checksum, so that parsing continues past it.
std::string with_checksums(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string body = text.substr(at, end - at);
    lines += fmt::format("{},\"crc32\":\"{:08x}\"}}\n", body, sfft::video::crc32_of(body));
    at = end + 1;
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  using namespace sfft::video;
  const std::string raw(reinterpret_cast<const char*>(bytes), count);
  for (const std::string& text : {raw, with_checksums(raw)}) {
    try {
      const ShardContents contents = parse_shard_lines(text, "fuzz");
      if (contents.whole_bytes > text.size()) std::abort();
      if (!contents.headed) continue;
      std::string again = shard_head_line(contents.run);
      for (const ShardRecord& record : contents.records) again += shard_record_line(record);
      const ShardContents second = parse_shard_lines(again, "again");
      if (second.records.size() != contents.records.size() || second.cut ||
          !second.run.difference(contents.run).empty())
        std::abort();
    } catch (const sfft::Error&) {
    }
  }
  return 0;
}
