// SPDX-License-Identifier: Apache-2.0
// Chooses slabs or pencils, and the grid of processes.
#include "sfft/mpi/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/runtime/argument_checks.hpp"

namespace sfft::mpi::detail {

namespace {

/// Number of processes that hold part of n elements shared by `count`.
std::int64_t busy(std::int64_t n, std::int64_t count) {
  const std::int64_t each = (n + count - 1) / count;
  return (n + each - 1) / each;
}

/// The largest part of an array whose dimensions `first` and `second` are shared by p and q.
std::int64_t largest_part(const Three& extents, int first, int second, std::int64_t p, std::int64_t q) {
  Three counts{1, 1, 1};
  counts[static_cast<std::size_t>(first)] = p;
  counts[static_cast<std::size_t>(second)] = q;
  return share(extents, counts, {0, 0, 0}).points();
}

/// The grid whose largest part over the three layouts of pencils is smallest; among equals the squarest,
/// whose messages go to the fewest processes.
std::array<int, 2> best_grid(const Three& signal, const Three& spectrum, int processes) {
  std::array<int, 2> best{processes, 1};
  std::int64_t best_points = -1;
  for (int p = processes; p >= 1; --p) {
    if (processes % p != 0) continue;
    const int q = processes / p;
    const std::int64_t points =
        std::max({largest_part(signal, 0, 1, p, q), largest_part(spectrum, 0, 2, p, q),
                  largest_part(spectrum, 1, 2, p, q)});
    const bool squarer = std::abs(p - q) < std::abs(best[0] - best[1]);
    if (best_points < 0 || points < best_points || (points == best_points && squarer)) {
      best = {p, q};
      best_points = points;
    }
  }
  return best;
}

void check(const Shape& shape, const Options& options, Decomposition decomposition, int processes) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorCode::invalid_argument, why); };
  using sfft::detail::check_enumerator;
  check_enumerator(options.engine, Engine::cufftmp, "mpi::Options::engine");
  check_enumerator(options.decomposition, Decomposition::pencils, "mpi::Options::decomposition");
  check_enumerator(options.normalization, dense::Options::Normalization::unitary,
                   "mpi::Options::normalization");
  check_enumerator(options.planning, dense::Options::Planning::measure, "mpi::Options::planning");
  if (shape.rank() == 1)
    refuse(
        "sfft-mpi has no transforms of one dimension: give a long signal as rows and columns, and the "
        "twiddle "
        "factors between them, or use dense::Plan in one process");
  if (decomposition == Decomposition::pencils && shape.rank() == 2)
    refuse("pencils are of three dimensions: ask for slabs of a 2D shape");
  const auto [p, q] = options.grid;
  if (p < 0 || q < 0) refuse(fmt::format("a grid of {} by {} processes: give numbers above 0, or 0", p, q));
  if ((p > 0 || q > 0) && decomposition == Decomposition::slabs)
    refuse("a grid is of pencils: slabs share one dimension between all processes");
  const std::int64_t given = static_cast<std::int64_t>(std::max(p, 1)) * std::max(q, 1);
  const bool fits = p > 0 && q > 0 ? given == processes : processes % given == 0;
  if (!fits)
    refuse(fmt::format("a grid of {} by {} does not fit {} processes: their product has to be that number", p,
                       q, processes));
  if (options.threads < 0)
    refuse(fmt::format("{} threads: give 0 for one per core, or more", options.threads));
}

}  // namespace

std::vector<Box> Problem::shared(const Three& extents, int first, int second) const {
  Three counts{1, 1, 1};
  counts[static_cast<std::size_t>(first)] = grid[0];
  counts[static_cast<std::size_t>(second)] *= grid[1];
  std::vector<Box> boxes;
  for (int rank = 0; rank < grid[0] * grid[1]; ++rank) {
    Three at{0, 0, 0};
    at[static_cast<std::size_t>(first)] = rank / grid[1];
    if (grid[1] > 1) at[static_cast<std::size_t>(second)] = rank % grid[1];
    boxes.push_back(share(extents, counts, at));
  }
  return boxes;
}

Problem make_problem(const Shape& shape, bool real, const Options& options, Decomposition decomposition,
                     int processes) {
  check(shape, options, decomposition, processes);
  Three signal{1, 1, 1};
  for (int d = 0; d < shape.rank(); ++d) signal[static_cast<std::size_t>(d)] = shape[d];
  Three spectrum = signal;
  std::int64_t& last = spectrum[static_cast<std::size_t>(shape.rank() - 1)];
  if (real) last = last / 2 + 1;

  Problem problem{shape, real, options, decomposition, {processes, 1}, {}, signal, spectrum, {}, {}};
  const std::int64_t both = std::min(busy(signal[0], processes), busy(spectrum[1], processes));
  if (decomposition != Decomposition::automatic) {
    problem.reason = fmt::format("{} were requested", to_string(decomposition));
  } else if (options.grid[0] > 0 || options.grid[1] > 0) {
    problem.decomposition = Decomposition::pencils;
    problem.reason = "pencils, because a grid of processes was given";
  } else if (both == processes || shape.rank() == 2) {
    problem.decomposition = Decomposition::slabs;
    problem.reason =
        both == processes
            ? "slabs, which need one exchange, and leave no process without work"
            : fmt::format("slabs, as always in 2D; they leave work for {} of {} processes", both, processes);
  } else {
    problem.decomposition = Decomposition::pencils;
    problem.reason =
        fmt::format("pencils, because slabs would leave work for {} of {} processes", both, processes);
  }
  if (problem.decomposition == Decomposition::pencils) {
    auto [p, q] = options.grid;
    if (p > 0 && q == 0) q = processes / p;
    if (q > 0 && p == 0) p = processes / q;
    problem.grid = p > 0 ? std::array<int, 2>{p, q} : best_grid(signal, spectrum, processes);
    problem.signal.boxes = problem.shared(signal, 0, 1);
    problem.spectrum.boxes = problem.shared(spectrum, 1, 2);
  } else {
    problem.signal.boxes = problem.shared(signal, 0, 1);
    problem.spectrum.boxes = problem.shared(spectrum, 1, 0);
  }
  return problem;
}

double factor_of(dense::Options::Normalization normalization, double points, bool forward) noexcept {
  switch (normalization) {
    case dense::Options::Normalization::unitary:
      return 1 / std::sqrt(points);
    case dense::Options::Normalization::inverse_by_n:
      return forward ? 1 : 1 / points;
    case dense::Options::Normalization::forward_by_n:
      return forward ? 1 / points : 1;
    case dense::Options::Normalization::none:
      break;
  }
  return 1;
}

Box with_room(const Problem& problem, Box signal) noexcept {
  const auto last = static_cast<std::size_t>(problem.shape.rank() - 1);
  if (problem.real) signal.extent[last] = 2 * problem.spectrum_extents[last];
  return signal;
}

}  // namespace sfft::mpi::detail
