// SPDX-License-Identifier: Apache-2.0
// Copies a square matrix by columns in several widths, with and without prefetching and clusters. It verifies
// each copy before timing it.
#include <fmt/format.h>

#include <algorithm>

#include "bench/cuda/dense/groups.hpp"
#include "bench/cuda/dense/tile_copies.hpp"
#include "bench/cuda/device_memory.hpp"

namespace sfft::bench {

using nlohmann::json;

std::string memory_name(int bits) {
  return fmt::format("copies of 2^{} values by tiles", bits);
}

json time_memory(Timer& timer, int bits) {
  const long long side = 1ll << (bits / 2);
  const DeviceBuffer in(static_cast<std::size_t>(side * side) * sizeof(float2)), out(in.bytes());
  gpu(cudaMemset(in.data(), 1, in.bytes()));
  json row{{"group", "memory"}, {"name", memory_name(bits)}, {"n", side * side}, {"copies", json::array()}};
  row["correct"] = true;
  const auto add = [&](const char* way, const TileCopy& copy, const Work& work) {
    gpu(cudaMemsetAsync(out.data(), 0, out.bytes(), timer.stream()));
    work(timer.stream());
    gpu(cudaStreamSynchronize(timer.stream()));
    const std::vector<std::byte> copied = download(out.data(), out.bytes());
    const bool whole =
        std::all_of(copied.begin(), copied.end(), [](std::byte b) { return b == std::byte{1}; });
    if (!whole) row["correct"] = false;
    const char* sides = copy.strided_in ? (copy.strided_out ? "both" : "in") : "out";
    const double tb_s = 2e-6 * static_cast<double>(in.bytes()) / timer.warm(work, 2).us;
    row["copies"].push_back({{"way", way}, {"strided", sides}, {"tb_s", tb_s}, {"correct", whole}});
  };
  const auto tiles = [&](const char* way, const TileCopy& copy, int width, bool prefetch) {
    add(way, copy, [&](cudaStream_t stream) {
      copy_by_tiles(in.as<float2>(), out.as<float2>(), copy, width, prefetch, stream);
    });
  };
  const auto clusters = [&](const char* way, const TileCopy& copy, int size, bool within) {
    const auto work = [&](cudaStream_t stream) {
      return copy_by_clusters(in.as<float2>(), out.as<float2>(), copy, size, within, stream);
    };
    if (work(timer.stream())) add(way, copy, work);
  };
  for (const auto& [from, to] : {std::pair{true, false}, {false, true}, {true, true}}) {
    const TileCopy copy{side, side, from, to};
    tiles("4 columns", copy, 4, false);
    tiles("4 columns, 256 bytes prefetched", copy, 4, true);
    tiles("16 columns", copy, 16, false);
    if (side != 1 << 12) continue;
    clusters("16 columns by clusters of 4 blocks", copy, 4, false);
    clusters("16 columns by clusters of 8", copy, 8, false);
    clusters("16 columns by clusters of 16", copy, 16, false);
    clusters("the same by 8, with exchanges within blocks", copy, 8, true);
    clusters("the same by 16", copy, 16, true);
  }
  return row;
}

}  // namespace sfft::bench
