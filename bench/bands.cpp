// SPDX-License-Identifier: Apache-2.0
// Bands and zooms of one long signal on one core, against FFTW's transform of the whole signal.
//   bench_bands [--points N …] [--count K …] [--repeat N] [--out FILE.json]
// Times are medians of CPU times of the thread, because other programs may run. Runs of the two alternate.
#include <fftw3.h>
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "bench/command_line.hpp"
#include "bench/fftw_peer.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "sfft/dense_selective.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;

struct Arguments {
  std::vector<std::int64_t> points, counts;
  int repeat = 15;
  std::string out;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  bench::parse_options(argc, argv,
                       {{"--points", arguments.points},
                        {"--count", arguments.counts},
                        {"--repeat", arguments.repeat},
                        {"--out", arguments.out}});
  if (arguments.points.empty()) arguments.points = {1 << 22};
  if (arguments.counts.empty()) arguments.counts = {1, 1000, 4096, 65536};
  return arguments;
}

template <class Real>
void add_rows(json& rows, std::int64_t n, bool real, const Arguments& arguments) {
  using Library = bench::Fftw<Real>;
  std::vector<Real> signal(static_cast<std::size_t>(n * (real ? 1 : 2)));
  std::vector<std::complex<Real>> spectrum(static_cast<std::size_t>(n));
  const auto points = static_cast<int>(n);
  auto* const to = reinterpret_cast<typename Library::Complex*>(spectrum.data());
  const auto plan =
      real ? Library::many_dft_r2c(1, &points, 1, signal.data(), nullptr, 1, points, to, nullptr, 1,
                                   points / 2 + 1, FFTW_MEASURE)
           : Library::many_dft(1, &points, 1, reinterpret_cast<typename Library::Complex*>(signal.data()),
                               nullptr, 1, points, to, nullptr, 1, points, FFTW_FORWARD, FFTW_MEASURE);
  std::mt19937 random(1);
  std::normal_distribution<Real> normal;
  for (Real& x : signal) x = normal(random);
  const ElementType type = real ? element_type_of<Real>::value : element_type_of<std::complex<Real>>::value;
  for (const std::int64_t count : arguments.counts) {
    const std::int64_t first = n / 7;
    if (first + count > n / 2) continue;
    const auto band = dense::SelectivePlan<Real>::band(Shape(n), domain_of(type), first, count);
    std::vector<std::complex<Real>> values(static_cast<std::size_t>(count));
    std::vector<double> ours, theirs;
    for (int i = 0; i < arguments.repeat; ++i) {
      ours.push_back(bench::thread_cpu_us([&] { band.forward_at(signal.data(), type, values); }));
      theirs.push_back(bench::thread_cpu_us([&] { Library::execute(plan); }));
    }
    double difference = 0, norm = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::complex<double> theirs_at(spectrum[static_cast<std::size_t>(first + j)]);
      difference += std::norm(std::complex<double>(values[static_cast<std::size_t>(j)]) - theirs_at);
      norm += std::norm(theirs_at);
    }
    const double us = bench::median(ours), fftw_us = bench::median(theirs);
    rows.push_back({{"points", n},
                    {"real", real},
                    {"precision", sizeof(Real) == 4 ? "float" : "double"},
                    {"count", count},
                    {"us", us},
                    {"fftw_us", fftw_us},
                    {"ratio", fftw_us / us},
                    {"relative_l2_to_fftw", std::sqrt(difference / norm)},
                    {"plan", band.reason()}});
    fmt::print("{}\n", rows.back().dump());
    std::fflush(stdout);
  }
  Library::destroy(plan);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    for (const std::int64_t n : arguments.points) {
      for (const bool real : {true, false}) {
        add_rows<float>(file["rows"], n, real, arguments);
        add_rows<double>(file["rows"], n, real, arguments);
      }
    }
    bench::write_json(arguments.out, file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
