#include "kernels/cpu/small_fft_radix.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace sfft::detail::cpu {

namespace {

/// Loads, stores and arithmetic of one butterfly with its turns; fitted to timings (AVX-512, 2026).
double butterfly_cost(std::int64_t radix) {
  switch (radix) {
    case 2:
      return 9;
    case 3:
      return 17;
    case 4:
      return 22;
    case 5:
      return 36;
    case 6:
      return 44;
    case 7:
      return 62;
    case 8:
      return 56;
    case 9:
      return 80;
    case 10:
      return 90;
    case 11:
      return 140;
    case 12:
      return 100;
    case 13:
      return 190;
    case 15:
      return 150;
    case 16:
      return 130;
    default:
      return 3.0 * static_cast<double>(radix) * static_cast<double>(radix);
  }
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
    const double per_vector = butterfly_cost(radix);
    const auto r = static_cast<double>(radix);
    const std::int64_t full = kernels_.level_reals[0];
    if (radix <= kMaxRadix && s <= kMaxNarrow && m * s >= full && kernels_.narrow[s][radix] != nullptr) {
      const std::int64_t group = kernels_.narrow_group[s];
      const bool shuffled = (radix & (radix - 1)) == 0 && (s & (s - 1)) == 0;
      const double scatter = shuffled ? 4 * r : 2 * r * static_cast<double>(group);
      return {PassKind::narrow, 0, radix, m, s, ceil_div(m, group) * (per_vector + scatter) + 20};
    }
    int level = 0;
    while (kernels_.level_reals[level] > s) ++level;
    const double vectors = static_cast<double>(m) * ceil_div(s, kernels_.level_reals[level]);
    const PassKind kind = radix > kMaxRadix ? PassKind::odd : m == 1 ? PassKind::last : PassKind::wide;
    return {kind, level, radix, m, s, vectors * per_vector + static_cast<double>(m) * 0.5 * r + 20};
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
