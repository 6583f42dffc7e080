// SPDX-License-Identifier: Apache-2.0
// Draws problems from a seed: what people transform, without a list of favourites.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "bench/cuda/dense/case.hpp"

namespace sfft::bench {

namespace {

constexpr double kMaxPoints = 1 << 26, kMaxBatch = 1 << 18;
constexpr int kMinLength = 8;
constexpr std::array kMaxLength{1 << 25, 1 << 13, 1 << 9};  ///< by rank

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  DenseCase next() {
    DenseCase made;
    made.group = "drawn";
    const std::size_t rank = pick({0.5, 0.3, 0.2}) + 1;
    PeerProblem& problem = made.problem;
    problem.real = uniform() < 0.4;
    problem.double_precision = uniform() < 0.25;
    double left = kMaxPoints;
    for (std::size_t d = 0; d < rank; ++d) {
      const double max = std::min<double>(kMaxLength[rank - 1], left / std::pow(kMinLength, rank - 1 - d));
      problem.extents.push_back(length(max));
      left /= static_cast<double>(problem.extents.back());
    }
    // One in three is a single transform. The others share the points of a full problem.
    if (uniform() > 1.0 / 3) problem.batch = std::llround(log_uniform(1, std::clamp(left, 1.0, kMaxBatch)));
    const std::string kind = problem.real ? "R2C" : "C2C";
    made.name = fmt::format("{}D {}{} {}{}", rank, kind, problem.double_precision ? " double" : "",
                            Shape(problem.extents).to_string(),
                            problem.batch > 1 ? fmt::format(", batch {}", problem.batch) : "");
    made.input = problem.double_precision ? (problem.real ? ElementType::f64 : ElementType::c128)
                                          : (problem.real ? ElementType::f32 : ElementType::c64);
    return made;
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }
  double log_uniform(double min, double max) { return min * std::pow(std::max(max / min, 1.0), uniform()); }
  std::size_t pick(std::initializer_list<double> shares) {
    double at = uniform();
    std::size_t chosen = 0;
    for (const double share : shares) {
      if (at < share || chosen + 1 == shares.size()) return chosen;
      at -= share;
      ++chosen;
    }
    return chosen;
  }

  static bool smooth(std::int64_t n, std::initializer_list<std::int64_t> primes) {
    for (const std::int64_t p : primes) {
      while (n % p == 0) n /= p;
    }
    return n == 1;
  }

  /// 30 % powers of two, 35 % products of primes up to 7, 15 % round decimals, 10 % products of primes up to
  /// 13, 10 % any number.
  std::int64_t length(double max) {
    auto n = static_cast<std::int64_t>(log_uniform(kMinLength, max));
    switch (pick({0.30, 0.35, 0.15, 0.10, 0.10})) {
      case 0:
        return std::int64_t{1} << std::lround(std::floor(std::log2(static_cast<double>(n))));
      case 1:
        while (!smooth(n, {2, 3, 5, 7})) --n;
        return n;
      case 2: {
        std::int64_t unit = 1;
        while (n / unit >= 100) unit *= 10;
        return std::max<std::int64_t>(kMinLength, n / unit * unit);
      }
      case 3:
        while (!smooth(n, {2, 3, 5, 7, 11, 13})) --n;
        return n;
      default:
        return n;
    }
  }

  std::mt19937_64 random_;
};

}  // namespace

std::vector<DenseCase> drawn_cases(std::uint64_t seed, int count) {
  Draw draw(seed);
  std::vector<DenseCase> cases;
  for (int i = 0; i < count; ++i) cases.push_back(draw.next());
  return cases;
}

}  // namespace sfft::bench
