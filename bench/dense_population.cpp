// SPDX-License-Identifier: Apache-2.0
// Dense transforms of a random population of shapes on one core: the built-in engine against FFTW (MEASURE),
// out of place, in turn within one process. Uses CPU time, because other programs may run.
//   bench_dense_population [--seed N] [--count N] [--most-points N] [--row SHAPE:KIND:BATCH …]
//                          [--rounds N] [--fftw-seconds S] [--out FILE.json]
// KIND: c64 c128 f32 f64, the element type. Without --row: ranks 1 to 3, points log-uniform from 16 to
// --most-points, extents that are powers of two, products of 2, 3, 5 and 7, primes, or anything;
// batches of 1 and 8.
#include <fftw3.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

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

struct Row {
  Shape shape;
  ElementType type;
  std::int64_t batch;
  std::string family;

  bool real() const { return !is_complex(type); }
  bool single() const { return type == ElementType::f32 || type == ElementType::c64; }
};

struct Arguments {
  std::vector<Row> rows;
  std::uint64_t seed = 1;
  int count = 100, rounds = 15;
  double max_points = 1 << 18, fftw_seconds = 10;
  std::string out;
};

ElementType parse_kind(const std::string& text) {
  for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::c64, ElementType::c128}) {
    constexpr const char* kNames[] = {"f32", "f64", "c64", "c128"};
    if (text == kNames[static_cast<int>(type) - static_cast<int>(ElementType::f32)]) return type;
  }
  throw std::invalid_argument("not a kind of signal: " + text);
}

Row parse_row(const std::string& text) {
  const std::size_t kind = text.find(':'), batch = text.rfind(':');
  if (kind == batch) throw std::invalid_argument("not SHAPE:KIND:BATCH: " + text);
  return {bench::parse_shape(text.substr(0, kind)), parse_kind(text.substr(kind + 1, batch - kind - 1)),
          std::stoll(text.substr(batch + 1)), "requested"};
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  bench::parse_options(
      argc, argv,
      {{"--row", [&](const std::string& text) { arguments.rows.push_back(parse_row(text)); }},
       {"--seed", arguments.seed},
       {"--count", arguments.count},
       {"--most-points", arguments.max_points},
       {"--rounds", arguments.rounds},
       {"--fftw-seconds", arguments.fftw_seconds},
       {"--out", arguments.out}});
  return arguments;
}

bool prime(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return false;
  }
  return n > 1;
}

bool smooth(std::int64_t n) {
  for (const std::int64_t p : {2, 3, 5, 7}) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

/// The member of a family that is nearest to n from below, or 2.
std::int64_t member(const std::string& family, std::int64_t n) {
  const auto belongs = [&](std::int64_t m) {
    if (family == "power") return (m & (m - 1)) == 0;
    if (family == "smooth") return smooth(m);
    return family == "prime" ? prime(m) : true;
  };
  while (n > 2 && !belongs(n)) --n;
  return std::max<std::int64_t>(2, n);
}

Row draw(std::mt19937_64& random, double max_points) {
  const auto uniform = [&] { return static_cast<double>(random() >> 11) / 9007199254740992.0; };
  const auto pick = [&](int count) { return static_cast<std::size_t>(uniform() * count); };
  constexpr const char* kFamilies[] = {"power", "smooth", "smooth", "prime", "any"};
  constexpr ElementType kKinds[] = {ElementType::f32, ElementType::f64, ElementType::c64, ElementType::c128};
  const std::string family = kFamilies[pick(5)];
  const std::size_t rank = 1 + pick(3);
  double left = std::log2(16) + uniform() * (std::log2(max_points) - std::log2(16));
  std::vector<std::int64_t> extents;
  for (std::size_t d = rank; d > 0; --d) {
    // The sides of a grid differ by up to about four times.
    const double bits = d == 1 ? left : std::max(1.0, left / static_cast<double>(d) + 2 * uniform() - 1);
    extents.push_back(member(family, std::llround(std::exp2(std::max(1.0, bits)))));
    left -= std::log2(static_cast<double>(extents.back()));
  }
  return {Shape(std::span<const std::int64_t>(extents)), kKinds[pick(4)], pick(2) == 0 ? 1 : 8, family};
}

template <class Real>
class Peer {
  using Library = bench::Fftw<Real>;

 public:
  Peer(const Row& row, std::size_t signal_reals, std::size_t spectrum_points, unsigned effort)
      : signal(signal_reals), spectrum(2 * spectrum_points) {
    std::vector<int> extents;
    for (const std::int64_t n : row.shape.extents()) extents.push_back(static_cast<int>(n));
    const auto batch = static_cast<int>(row.batch), points = static_cast<int>(row.shape.points());
    const auto half = static_cast<int>(spectrum_points / static_cast<std::size_t>(row.batch));
    auto* const to = reinterpret_cast<typename Library::Complex*>(spectrum.data);
    plan_ = row.real() ? Library::many_dft_r2c(row.shape.rank(), extents.data(), batch, signal.data, nullptr,
                                               1, points, to, nullptr, 1, half, effort)
                       : Library::many_dft(row.shape.rank(), extents.data(), batch,
                                           reinterpret_cast<typename Library::Complex*>(signal.data), nullptr,
                                           1, points, to, nullptr, 1, points, FFTW_FORWARD, effort);
    for (std::size_t i = 0; i < signal_reals; ++i) signal.data[i] = static_cast<Real>(bench::value_at(i));
  }
  ~Peer() { Library::destroy(plan_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  void execute() const { Library::execute(plan_); }

  bench::AlignedArray<Real> signal, spectrum;

 private:
  typename Library::Plan plan_;
};

/// ‖a − reference‖/‖reference‖.
template <class Real>
double relative_l2(const Real* values, const double* reference, std::size_t count) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double error = static_cast<double>(values[i]) - reference[i];
    difference += error * error;
    norm += reference[i] * reference[i];
  }
  return std::sqrt(difference / norm);
}

template <class Real>
json measured(const Row& row, const Arguments& arguments) {
  const auto planning_own = std::chrono::steady_clock::now();
  const dense::Plan<Real> plan(row.shape, row.real() ? Domain::real : Domain::complex,
                               {.engine = dense::Engine::built_in, .batch = row.batch});
  const double own_plan_s = bench::seconds_since(planning_own);
  const std::size_t points = plan.spectrum_points();
  const std::size_t reals = plan.signal_points() * (row.real() ? 1 : 2);
  bench::Fftw<Real>::limit(arguments.fftw_seconds);
  const auto planning = std::chrono::steady_clock::now();
  const Peer<Real> peer(row, reals, points, FFTW_MEASURE);
  const double plan_s = bench::seconds_since(planning);
  const Peer<double> exact(row, reals, points, FFTW_ESTIMATE);
  exact.execute();

  const bench::AlignedArray<std::complex<Real>> own(points);
  const bench::AlignedArray<std::byte> workspace(plan.workspace_bytes() + 64);
  std::byte* const aligned = workspace.data + (64 - reinterpret_cast<std::uintptr_t>(workspace.data) % 64);
  const auto run_own = [&] {
    plan.forward(peer.signal.data, row.type, {own.data, points}, {aligned, plan.workspace_bytes()});
  };
  const auto run_peer = [&] { peer.execute(); };
  run_own();
  run_peer();
  const bench::InTurn times = bench::in_turn(arguments.rounds, 300, run_own, run_peer);
  const auto* const values = reinterpret_cast<const Real*>(own.data);
  constexpr const char* kNames[] = {"f32", "f64", "c64", "c128"};
  return {{"shape", row.shape.to_string()},
          {"kind", kNames[static_cast<int>(row.type) - static_cast<int>(ElementType::f32)]},
          {"batch", row.batch},
          {"family", row.family},
          {"us", times.own_us},
          {"fftw_us", times.peer_us},
          {"ratio", times.ratio},
          {"plan_s", own_plan_s},
          {"fftw_plan_s", plan_s},
          {"relative_l2_to_double_fftw", relative_l2(values, exact.spectrum.data, 2 * points)},
          {"fftw_relative_l2", relative_l2(peer.spectrum.data, exact.spectrum.data, 2 * points)}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Arguments arguments = parse(argc, argv);
    std::mt19937_64 random(arguments.seed);
    if (arguments.rows.empty()) {
      for (int i = 0; i < arguments.count; ++i) arguments.rows.push_back(draw(random, arguments.max_points));
    }
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    double logarithms = 0;
    int slower = 0;
    for (const Row& row : arguments.rows) {
      file["rows"].push_back(row.single() ? measured<float>(row, arguments)
                                          : measured<double>(row, arguments));
      const json& last = file["rows"].back();
      const double ratio = last["ratio"];
      fmt::print("{:>16} {:>4} x{} {:>6}  {:9.3f} us, FFTW {:9.3f}  {:6.3f}x  error {:.1e}, FFTW {:.1e}\n",
                 last["shape"].get<std::string>(), last["kind"].get<std::string>(), row.batch, row.family,
                 last["us"].get<double>(), last["fftw_us"].get<double>(), ratio,
                 last["relative_l2_to_double_fftw"].get<double>(), last["fftw_relative_l2"].get<double>());
      std::fflush(stdout);
      logarithms += std::log(ratio);
      slower += ratio < 1 ? 1 : 0;
      bench::write_json(arguments.out, file);
    }
    const auto count = static_cast<double>(arguments.rows.size());
    fmt::print("geometric mean {:.3f}x, {} of {} slower than FFTW\n", std::exp(logarithms / count), slower,
               arguments.rows.size());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
