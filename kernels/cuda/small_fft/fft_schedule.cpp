// SPDX-License-Identifier: Apache-2.0
// Factorises every extent into the cheapest radices, largest first, and lays out
// their twiddles in one table.
#include "kernels/cuda/small_fft/fft_schedule.hpp"

#include <limits>

#include "kernels/base/math/index.hpp"
#include "kernels/base/radix/radices.hpp"
#include "kernels/cuda/small_fft/schedule_table.hpp"

namespace sfft::detail::cuda {

namespace {

/// Cost of a pass, relative to a pass that only moves the data through shared memory.
double pass_cost(int radix) {
  if (!has_butterfly(radix)) return radix;
  return 1 + 0.03 * radix;
}

/// Finds the cheapest factorisation of a length; examines every divisor once.
class Factorization {
 public:
  /// The radices, largest first among those with a butterfly.
  std::vector<int> radices(int n) {
    std::vector<int> result, primes;
    while (n > 1) {
      const int radix = best(n).radix;
      (has_butterfly(radix) ? result : primes).push_back(radix);
      n /= radix;
    }
    result.insert(result.end(), primes.rbegin(), primes.rend());
    return result;
  }

 private:
  struct Best {
    int n;
    int radix;
    double cost;
  };

  Best best(int n) {
    if (n == 1) return {1, 1, 0};
    for (const Best& known : known_) {
      if (known.n == n) return known;
    }
    Best result{n, 0, std::numeric_limits<double>::infinity()};
    const auto consider = [&](int radix) {
      const double cost = best(n / radix).cost + pass_cost(radix);
      if (cost < result.cost) result = {n, radix, cost};
    };
    for (const RadixRow& row : kRadices) {
      if (row.block && n % row.radix == 0) consider(row.radix);
    }
    if (result.radix == 0) {
      int prime = 11;
      while (n % prime != 0) prime += 2;
      consider(prime);
    }
    known_.push_back(result);
    return result;
  }

  std::vector<Best> known_;
};

class Builder {
 public:
  explicit Builder(bool load_first) : load_first_(load_first) {}

  void add(int radix, int n, int inner, int done) {
    FftPass& pass = out_.pass[out_.passes++];
    pass.radix = radix;
    pass.stride = inner * done;
    pass.m = n / (done * radix);
    pass.columns = pass.m * pass.stride;
    pass.by_columns = FastDivisor(static_cast<std::uint32_t>(pass.columns));
    pass.by_stride = FastDivisor(static_cast<std::uint32_t>(pass.stride));
    int& table_size = out_.table_size;
    if (pass.m > 1 && radix > 1) {
      pass.twiddles = table_size;
      table_size += (radix - 1) * pass.m;
    }
    if (out_.passes == 1) out_.first_twiddles = table_size;
    if (!has_butterfly(radix)) {
      pass.roots = table_size;
      table_size += radix;
    }
  }

  void add_dimension(int n, int inner) {
    int done = 1;
    const std::vector<int> radices = Factorization().radices(n);
    // The gather needs a butterfly in registers: if the first radix has none, a
    // load-only pass goes first.
    if (out_.passes == 0 && (load_first_ || radices.empty() || !has_butterfly(radices[0])))
      add(1, n, inner, 1);
    for (const int radix : radices) {
      add(radix, n, inner, done);
      done *= radix;
    }
    out_.points *= n;
  }

  FftSchedule take() {
    for (int i = 0; i < out_.passes; ++i) {
      FftPass& pass = out_.pass[i];
      pass.by_butterflies = FastDivisor(static_cast<std::uint32_t>(out_.points / pass.radix));
    }
    return out_;
  }

 private:
  bool load_first_;
  FftSchedule out_;
};

}  // namespace

bool has_butterfly(int radix) noexcept {
  if (radix == 1) return true;
  const RadixRow* const row = find_radix(radix);
  return row != nullptr && row->block;
}

FftSchedule lay_out_schedule(const std::int64_t* grid, int rank, bool load_first) {
  Builder builder(load_first);
  int inner = 1;
  for (int d = rank - 1; d >= 0; --d) {
    builder.add_dimension(static_cast<int>(grid[d]), inner);
    inner *= static_cast<int>(grid[d]);
  }
  return builder.take();
}

FftTables make_schedule(const std::int64_t* grid, int rank, bool load_first) {
  FftTables out{lay_out_schedule(grid, rank, load_first), {}};
  out.table.reserve(static_cast<std::size_t>(out.schedule.table_size));
  for (int entry = 0; entry < out.schedule.table_size; ++entry) {
    const TableRoot root = table_root(out.schedule, entry);
    out.table.push_back(std::conj(unit_root(root.turns, root.order)));
  }
  return out;
}

}  // namespace sfft::detail::cuda
