// SPDX-License-Identifier: Apache-2.0
// Factorises every extent into the cheapest radices, largest first, and puts their twiddles into one table.
#include "kernels/cuda/small_fft/fft_schedule.hpp"

#include <limits>

#include "kernels/base/index.hpp"
#include "kernels/base/radices.hpp"

namespace sfft::detail::cuda {

namespace {

/// Cost of a pass, relative to a pass that only moves the data through shared memory.
double pass_cost(int radix) {
  if (!has_butterfly(radix)) return radix;
  return 1 + 0.03 * radix;
}

/// The cheapest factorisation into radices, largest first.
struct Factors {
  double cost = 0;
  std::vector<int> radices;
};

Factors factorize(int n) {
  if (n == 1) return {};
  Factors best{std::numeric_limits<double>::infinity(), {}};
  bool divided = false;
  for (const RadixRow& row : kRadices) {
    const int radix = row.radix;
    if (!row.block || n % radix != 0) continue;
    divided = true;
    Factors rest = factorize(n / radix);
    rest.cost += pass_cost(radix);
    if (rest.cost < best.cost) {
      best = std::move(rest);
      best.radices.insert(best.radices.begin(), radix);
    }
  }
  if (divided) return best;
  int prime = 11;
  while (n % prime != 0) prime += 2;
  Factors rest = factorize(n / prime);
  rest.cost += pass_cost(prime);
  rest.radices.push_back(prime);
  return rest;
}

class Builder {
 public:
  explicit Builder(bool load_first) : load_first_(load_first) {}

  void add(int radix, int n, int inner, int done) {
    FftPass& pass = out_.schedule.pass[out_.schedule.passes++];
    pass.radix = radix;
    pass.stride = inner * done;
    pass.m = n / (done * radix);
    pass.columns = pass.m * pass.stride;
    pass.by_columns = FastDivisor(static_cast<std::uint32_t>(pass.columns));
    pass.by_stride = FastDivisor(static_cast<std::uint32_t>(pass.stride));
    auto& table = out_.table;
    if (pass.m > 1 && radix > 1) {
      pass.twiddles = static_cast<int>(table.size());
      for (int r = 1; r < radix; ++r) {
        for (int p = 0; p < pass.m; ++p) table.push_back(std::conj(phase(p, r, radix * pass.m)));
      }
    }
    if (out_.schedule.passes == 1) out_.schedule.first_twiddles = static_cast<int>(table.size());
    if (!has_butterfly(radix)) {
      pass.roots = static_cast<int>(table.size());
      for (int j = 0; j < radix; ++j) table.push_back(std::conj(unit_root(j, radix)));
    }
    out_.schedule.table_size = static_cast<int>(table.size());
  }

  void add_dimension(int n, int inner) {
    int done = 1;
    const Factors factors = factorize(n);
    // The gather needs a butterfly in registers: if the first radix has none, a pass that only loads goes
    // first.
    if (out_.schedule.passes == 0 &&
        (load_first_ || factors.radices.empty() || !has_butterfly(factors.radices[0])))
      add(1, n, inner, 1);
    for (const int radix : factors.radices) {
      add(radix, n, inner, done);
      done *= radix;
    }
    out_.schedule.points *= n;
  }

  FftTables take() {
    for (int i = 0; i < out_.schedule.passes; ++i) {
      FftPass& pass = out_.schedule.pass[i];
      pass.by_butterflies = FastDivisor(static_cast<std::uint32_t>(out_.schedule.points / pass.radix));
    }
    return std::move(out_);
  }

 private:
  bool load_first_;
  FftTables out_;
};

}  // namespace

bool has_butterfly(int radix) noexcept {
  if (radix == 1) return true;
  const RadixRow* const row = find_radix(radix);
  return row != nullptr && row->block;
}

FftTables make_schedule(const std::int64_t* grid, int rank, bool load_first) {
  Builder builder(load_first);
  int inner = 1;
  for (int d = rank - 1; d >= 0; --d) {
    builder.add_dimension(static_cast<int>(grid[d]), inner);
    inner *= static_cast<int>(grid[d]);
  }
  return builder.take();
}

}  // namespace sfft::detail::cuda
