// SPDX-License-Identifier: Apache-2.0
// Runs whole split-half transforms on the CPU, pass by pass.
#pragma once

#include "tests/support/tensor_block_emulation.hpp"

namespace sfft::test {

/// The tables of a tile and a direction, in host memory.
struct HostTables {
  HostTables(const tensor::TileChoice& tile, int log, int sign)
      : matrices(tensor::matrix_table(tensor::matrix_bits(log), sign)) {
    tensor::with_tile(tile, [&](auto type) { twiddles = tensor::twiddle_table<decltype(type)>(sign); });
  }
  tensor::Tables get() const { return {matrices.data(), twiddles.data()}; }
  std::vector<unsigned> matrices;
  std::vector<tensor::Point> twiddles;
};

struct EmulatedOptions {
  int sign = -1;
  float factor = 1;
  bool split = true;
  bool wide = true;    ///< accesses pairs at once if arrays are aligned to them
  bool large = false;  ///< short lines take large tiles, however few they are
};

/// Computes a batch of out-of-place transforms of 2^log points.
inline std::vector<std::complex<float>> emulated_tensor_fft(const std::vector<std::complex<float>>& signals,
                                                            int log, const EmulatedOptions& options = {}) {
  const auto count = static_cast<std::int64_t>(signals.size() >> log);
  std::vector<tensor::PlannedPass> passes = tensor::planned_passes(log, count);
  if (options.large && passes.size() == 1) passes = {tensor::lines_pass(log, count, false)};
  std::vector<std::complex<float>> result(signals.size(), {NAN, NAN}), workspace(result);
  auto& between = tensor::need_workspace(passes) ? workspace : result;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const bool first = i == 0, last = i + 1 == passes.size();
    const HostTables tables(passes[i].tile, log, options.sign);
    tensor::Pass pass = passes[i].pass;
    pass.from = reinterpret_cast<const tensor::Point*>((first ? signals : between).data());
    pass.to = reinterpret_cast<tensor::Point*>((last ? result : between).data());
    pass.sign = static_cast<float>(options.sign);
    pass.factor = last ? options.factor : 1;
    pass.split = options.split;
    pass.tables = tables.get();
    pass.wide = options.wide && reinterpret_cast<std::uintptr_t>(pass.from) % 16 == 0 &&
                reinterpret_cast<std::uintptr_t>(pass.to) % 16 == 0;
    tensor::with_tile(passes[i].tile, [&](auto tile) {
      for (std::int64_t b = 0; b < pass.tiles; ++b) EmulatedBlock<decltype(tile)>(pass, b).run();
    });
  }
  return result;
}

}  // namespace sfft::test
