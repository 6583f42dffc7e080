// SPDX-License-Identifier: Apache-2.0
// Transforms along any axes, with strides on both sides, on one core: dense::Plan of a Layout against FFTW's
// guru interface (MEASURE), out of place, in turn within one process. Uses CPU time, because other programs
// may run.
//   bench_axes [--seed N] [--count N] [--most-points N] [--least-points N] [--rounds N] [--fftw-seconds S]
//              [--only ROW] [--out FILE.json]
// Draws arrays of 1 to 5 dimensions, named axes, memory orders, gaps, element types and directions.
#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/command_line.hpp"
#include "bench/fftw_peer.hpp"
#include "bench/large_arrays.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "sfft/dense.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;
using Dimension = dense::Layout::Dimension;

struct Row {
  dense::Layout layout;
  bool real = false, single = false, inverse = false;
  bool plain = false;  ///< contiguous, along the last dimensions: the business of bench_dense_population
  double points = 1;
  std::string name;

  Domain domain() const { return real ? Domain::real : Domain::complex; }
};

struct Arguments {
  std::uint64_t seed = 1;
  int count = 40, rounds = 9, only = -1;
  double min_points = 1 << 10, max_points = 1 << 20, fftw_seconds = 10;
  std::string out;
};

/// The next smaller length of the kind that users choose: mostly products of small primes.
std::int64_t length(std::int64_t n, bool any) {
  const auto smooth = [](std::int64_t m) {
    for (const std::int64_t p : {2, 3, 5, 7})
      while (m % p == 0) m /= p;
    return m == 1;
  };
  while (n > 1 && !any && !smooth(n)) --n;
  return std::max<std::int64_t>(1, n);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  Row row(double min_points, double max_points) {
    Row row;
    do {
      row = drawn(min_points, max_points);
    } while (row.points < min_points || row.points > max_points || row.plain);
    return row;
  }

 private:
  Row drawn(double min_points, double max_points) {
    const std::size_t rank = 2 + below(4), axes = 1 + below(std::min<std::size_t>(rank, 3));
    Row row;
    row.real = below(2) == 0;
    row.single = below(2) == 0;
    row.inverse = below(3) == 0;
    double left = std::log2(min_points) + uniform() * std::log2(max_points / min_points);
    std::vector<Dimension> all(rank);
    std::string extents;
    for (std::size_t d = 0; d < rank; ++d) {
      const double mean = left / static_cast<double>(rank - d);
      const double bits = d + 1 == rank ? left : std::clamp(mean * (0.5 + uniform()), 1.0, left);
      // One array in four has channels or components, a short last dimension.
      const bool channels = d + 1 == rank && below(4) == 0;
      all[d].extent = channels ? static_cast<std::int64_t>(2 + below(5))
                               : length(std::llround(std::exp2(std::min(bits, 13.0))), below(4) == 0);
      left = std::max(1.0, left - std::log2(static_cast<double>(all[d].extent)));
      row.points *= static_cast<double>(all[d].extent);
      extents += fmt::format("{}{}", d == 0 ? "" : "x", all[d].extent);
    }
    std::vector<std::size_t> order(rank);
    for (std::size_t d = 0; d < rank; ++d) order[d] = d;
    std::shuffle(order.begin(), order.end(), random_);
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(axes));
    const std::size_t last = order[axes - 1];
    // Rows with gaps, and spectra whose dimensions are in another order in memory.
    const bool gaps = below(3) == 0;
    std::vector<std::size_t> memory(rank);
    for (std::size_t d = 0; d < rank; ++d) memory[d] = d;
    const std::vector<std::size_t> row_major = memory;
    if (below(3) == 0) std::shuffle(memory.begin(), memory.end(), random_);
    const bool permuted = memory != row_major;
    row.plain = !gaps && !permuted && order[0] + axes == rank;
    for (const bool spectra : {false, true}) {
      std::int64_t next = 1;
      for (std::size_t i = rank; i-- > 0;) {
        const std::size_t at = spectra ? memory[i] : i;
        (spectra ? all[at].spectrum_stride : all[at].signal_stride) = next;
        next *= spectra && row.real && at == last ? all[at].extent / 2 + 1 : all[at].extent;
        if (gaps && i + 1 == rank) next += static_cast<std::int64_t>(1 + below(8));
      }
    }
    std::string named;
    for (std::size_t i = 0; i < rank; ++i) {
      (i < axes ? row.layout.transformed : row.layout.batch).push_back(all[order[i]]);
      if (i < axes) named += fmt::format("{}{}", i == 0 ? "" : ",", order[i]);
    }
    row.name =
        fmt::format("{} axes {}{}{}", extents, named, gaps ? ", gaps" : "", permuted ? ", permuted" : "");
    return row;
  }

  double uniform() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
  }

  std::mt19937_64 random_;
};

template <class Real>
class Peer {
  using Library = bench::Fftw<Real>;

 public:
  Peer(const Row& row, std::size_t signal_reals, std::size_t spectrum_points, unsigned effort)
      : signal(signal_reals), spectrum(2 * spectrum_points) {
    const auto convert = [&](const std::vector<Dimension>& dimensions) {
      std::vector<fftw_iodim64> all;
      for (const Dimension& d : dimensions)
        all.push_back({static_cast<std::ptrdiff_t>(d.extent),
                       static_cast<std::ptrdiff_t>(row.inverse ? d.spectrum_stride : d.signal_stride),
                       static_cast<std::ptrdiff_t>(row.inverse ? d.signal_stride : d.spectrum_stride)});
      return all;
    };
    const auto dimensions = convert(row.layout.transformed), many = convert(row.layout.batch);
    const auto rank = static_cast<int>(dimensions.size()), many_rank = static_cast<int>(many.size());
    auto* const spectra = reinterpret_cast<typename Library::Complex*>(spectrum.data);
    auto* const signals = reinterpret_cast<typename Library::Complex*>(signal.data);
    // FFTW's inverse of real signals destroys its input unless asked not to, as sfft never does.
    const unsigned flags = effort | FFTW_PRESERVE_INPUT;
    const auto inverse = [&](unsigned with) {
      return Library::guru_dft_c2r(rank, dimensions.data(), many_rank, many.data(), spectra, signal.data,
                                   with);
    };
    if (!row.real) {
      plan_ = Library::guru_dft(rank, dimensions.data(), many_rank, many.data(),
                                row.inverse ? spectra : signals, row.inverse ? signals : spectra,
                                row.inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags);
    } else if (row.inverse) {
      plan_ = inverse(flags);
      if (plan_ == nullptr) plan_ = inverse(effort);
    } else {
      plan_ =
          Library::guru_dft_r2c(rank, dimensions.data(), many_rank, many.data(), signal.data, spectra, flags);
    }
    fill();
  }
  ~Peer() { Library::destroy(plan_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  void fill() {
    for (std::size_t i = 0; i < signal.size; ++i) signal.data[i] = static_cast<Real>(bench::value_at(i));
    for (std::size_t i = 0; i < spectrum.size; ++i)
      spectrum.data[i] = static_cast<Real>(bench::value_at(i + 7));
  }
  void execute() const { Library::execute(plan_); }

  bench::AlignedArray<Real> signal, spectrum;

 private:
  typename Library::Plan plan_ = nullptr;
};

template <class Real>
json measured(const Row& row, const Arguments& arguments) {
  using Complex = std::complex<Real>;
  const dense::Plan<Real> plan(
      row.layout, row.domain(),
      {.engine = dense::Engine::built_in, .normalization = dense::Options::Normalization::none});
  std::int64_t span = 1;
  for (const auto* dimensions : {&row.layout.transformed, &row.layout.batch})
    for (const Dimension& d : *dimensions) span += (d.extent - 1) * d.signal_stride;
  const auto elements = static_cast<std::size_t>(span);
  const std::size_t reals = elements * (row.real ? 1 : 2), points = plan.spectrum_points();
  bench::Fftw<Real>::limit(arguments.fftw_seconds);
  Peer<Real> peer(row, reals, points, FFTW_MEASURE);
  bench::AlignedArray<Real> signal(reals), spectrum(2 * points);
  const bench::AlignedArray<std::byte> workspace(plan.workspace_bytes() + 64);
  const std::span<std::byte> work(workspace.data, plan.workspace_bytes());
  auto* const spectra = reinterpret_cast<Complex*>(spectrum.data);
  std::copy_n(peer.signal.data, reals, signal.data);
  std::copy_n(peer.spectrum.data, 2 * points, spectrum.data);
  const auto run_own = [&] {
    if (!row.inverse) {
      plan.forward(signal.data, row.real ? element_type_of<Real>::value : element_type_of<Complex>::value,
                   std::span(spectra, points), work);
    } else {
      if (row.real) {
        plan.inverse(std::span<const Complex>(spectra, points), std::span(signal.data, elements), work);
      } else {
        plan.inverse(std::span<const Complex>(spectra, points),
                     std::span(reinterpret_cast<Complex*>(signal.data), elements), work);
      }
    }
  };
  const auto run_peer = [&] { peer.execute(); };
  run_own();
  run_peer();
  const bench::AlignedArray<Real>&own = row.inverse ? signal : spectrum,
        &other = row.inverse ? peer.signal : peer.spectrum;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < own.size; ++i) {
    difference += std::pow(static_cast<double>(own.data[i]) - static_cast<double>(other.data[i]), 2);
    norm += std::pow(static_cast<double>(other.data[i]), 2);
  }
  peer.fill();
  const bench::InTurn times = bench::in_turn(arguments.rounds, 2000, run_own, run_peer);
  return {{"layout", row.name},
          {"kind", fmt::format("{}{}", row.real ? "f" : "c", (row.real ? 8 : 16) * sizeof(Real))},
          {"direction", row.inverse ? "inverse" : "forward"},
          {"us", times.own_us},
          {"fftw_us", times.peer_us},
          {"ratio", times.ratio},
          {"difference", std::sqrt(difference / norm)}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Arguments arguments;
    bench::parse_options(argc, argv,
                         {{"--seed", arguments.seed},
                          {"--count", arguments.count},
                          {"--only", arguments.only},
                          {"--least-points", arguments.min_points},
                          {"--most-points", arguments.max_points},
                          {"--rounds", arguments.rounds},
                          {"--fftw-seconds", arguments.fftw_seconds},
                          {"--out", arguments.out}});
    Draw draw(arguments.seed);
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    double logarithms = 0, worst = 1e9;
    int count = 0;
    for (int i = 0; i < arguments.count; ++i) {
      const Row row = draw.row(arguments.min_points, arguments.max_points);
      if (arguments.only >= 0 && arguments.only != i) continue;
      file["rows"].push_back(row.single ? measured<float>(row, arguments) : measured<double>(row, arguments));
      const json& last = file["rows"].back();
      const double ratio = last["ratio"];
      fmt::print("{:>2} {:>44} {:>4} {}  {:10.2f} us, FFTW {:10.2f}  {:6.3f}x  difference {:.1e}\n", i,
                 last["layout"].get<std::string>(), last["kind"].get<std::string>(),
                 last["direction"].get<std::string>(), last["us"].get<double>(),
                 last["fftw_us"].get<double>(), ratio, last["difference"].get<double>());
      std::fflush(stdout);
      logarithms += std::log(ratio);
      worst = std::min(worst, ratio);
      ++count;
      bench::write_json(arguments.out, file);
    }
    fmt::print("geometric mean {:.3f}x of {}, worst {:.3f}x\n", std::exp(logarithms / count), count, worst);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
