// SPDX-License-Identifier: Apache-2.0
// Dynamic programming over the divisors of n. The cost of a pass is that of its measured butterflies plus
// overheads per call and per loop.
#include "kernels/cpu/small_fft/small_fft_radix.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "kernels/base/radix/radices.hpp"

namespace sfft::detail::cpu {

namespace {

/// Nanoseconds per butterfly, as in RadixRow, and also for primes of the generic odd pass.
struct ButterflyCost {
  double first_level, second_level;
};

ButterflyCost butterfly_cost(std::int64_t radix) {
  const RadixRow* const row = radix <= kMaxRadix ? find_radix(radix) : nullptr;
  if (row != nullptr && row->first_level_ns > 0) return {row->first_level_ns, row->second_level_ns};
  const double generic = 0.4 * static_cast<double>(radix * radix);
  return {generic, generic};
}

double ceil_div(std::int64_t a, std::int64_t b) {
  return static_cast<double>((a + b - 1) / b);
}

template <class Real>
class Search {
 public:
  Search(std::int64_t n, std::int64_t inner, const SmallFftKernels<Real>& kernels)
      : n_(n), inner_(inner), kernels_(kernels) {}

  struct Best {
    double cost = std::numeric_limits<double>::infinity();
    PassChoice first{};
  };

  /// The cheapest completion once the product of the radices so far is `done`.
  const Best& best(std::int64_t done) {
    const auto known = memo_.find(done);
    if (known != memo_.end()) return known->second;
    Best found;
    const std::int64_t rest = n_ / done;
    for (std::int64_t radix = 2; radix <= std::min<std::int64_t>(rest, kMaxOddRadix); ++radix) {
      if (rest % radix != 0 || (radix > kMaxRadix && radix % 2 == 0)) continue;
      if (radix <= kMaxRadix && kernels_.wide[0][radix] == nullptr) continue;
      const PassChoice pass = choose_kernel(radix, rest / radix, done * inner_);
      const double cost = pass.cost + (pass.m > 1 ? best(done * radix).cost : 0);
      if (cost < found.cost) found = {cost, pass};
    }
    return memo_[done] = found;
  }

 private:
  PassChoice choose_kernel(std::int64_t radix, std::int64_t m, std::int64_t s) const {
    constexpr double kPass = 3, kRun = 0.5;  // per call, and per p of the loop
    constexpr double kFirstLevelBytes = 48 << 10, kWideVectorBytes = 64;
    const auto r = static_cast<double>(radix);
    const std::int64_t full = kernels_.level_reals[0];
    const auto bytes = static_cast<double>(n_ * inner_) * 4 * sizeof(Real);
    const bool far = bytes > kFirstLevelBytes && static_cast<double>(full) * sizeof(Real) >= kWideVectorBytes;
    const double near_vector = butterfly_cost(radix).first_level;
    const double per_vector = far ? butterfly_cost(radix).second_level : near_vector;
    if (radix <= kMaxRadix && s <= kMaxNarrow && m * s >= full && kernels_.narrow[s][radix] != nullptr) {
      const std::int64_t group = kernels_.narrow_group[s];
      const bool shuffled = (radix & (radix - 1)) == 0 && (s & (s - 1)) == 0;
      const double scatter =
          shuffled ? near_vector * (radix > 8 ? 1.6 : 1) : 0.33 * r * static_cast<double>(group);
      return {PassKind::narrow, 0, radix, m, s, ceil_div(m, group) * (per_vector + scatter) + kPass};
    }
    int level = 0;
    while (kernels_.level_reals[level] > s) ++level;
    const double vectors = static_cast<double>(m) * ceil_div(s, kernels_.level_reals[level]);
    // Running from the L2 cache costs time per byte, arithmetic per vector.
    const double bytes_share = static_cast<double>(kernels_.level_reals[level]) / static_cast<double>(full);
    const double loaded = std::max(near_vector, per_vector * bytes_share);
    const PassKind kind = radix > kMaxRadix ? PassKind::odd : m == 1 ? PassKind::last : PassKind::wide;
    const double turned = kind == PassKind::last ? loaded - 0.28 * near_vector : loaded;
    return {kind, level, radix, m, s, vectors * turned + static_cast<double>(m) * kRun + kPass};
  }

  std::int64_t n_, inner_;
  const SmallFftKernels<Real>& kernels_;
  std::map<std::int64_t, Best> memo_;
};

}  // namespace

template <class Real>
RadixPlan choose_radices(std::int64_t n, std::int64_t inner, const SmallFftKernels<Real>& kernels) {
  RadixPlan plan;
  if (n == 1) return plan;
  Search<Real> search(n, inner, kernels);
  plan.cost = search.best(1).cost;
  plan.possible = plan.cost < std::numeric_limits<double>::infinity();
  if (!plan.possible) return plan;
  for (std::int64_t done = 1; done < n; done *= plan.passes.back().radix) {
    plan.passes.push_back(search.best(done).first);
  }
  return plan;
}

template RadixPlan choose_radices(std::int64_t, std::int64_t, const SmallFftKernels<float>&);
template RadixPlan choose_radices(std::int64_t, std::int64_t, const SmallFftKernels<double>&);

}  // namespace sfft::detail::cpu
