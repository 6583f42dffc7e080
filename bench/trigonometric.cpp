// SPDX-License-Identifier: Apache-2.0
// Cosine, sine and Hartley transforms on one core, against FFTW's r2r transforms.
//   bench_trigonometric [--shape 512x512 …] [--kind dct2 …] [--repeat N] [--out FILE.json]
// Times are medians of CPU times of the thread, because other programs may run. Runs of the two alternate.
#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/command_line.hpp"
#include "bench/fftw_peer.hpp"
#include "bench/large_arrays.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "sfft/dense_trigonometric.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;
using Kind = dense::Options::Trigonometric;

struct Arguments {
  std::vector<std::string> shapes, kinds;
  int repeat = 25;
  std::string out;
};

constexpr std::int64_t kPoints = 1 << 18;  ///< of a batch

struct Named {
  const char* name;
  Kind kind;
  fftw_r2r_kind fftw;
};
constexpr Named kKinds[] = {{"dct1", Kind::dct1, FFTW_REDFT00},  {"dct2", Kind::dct2, FFTW_REDFT10},
                            {"dct3", Kind::dct3, FFTW_REDFT01},  {"dct4", Kind::dct4, FFTW_REDFT11},
                            {"dst1", Kind::dst1, FFTW_RODFT00},  {"dst2", Kind::dst2, FFTW_RODFT10},
                            {"dst3", Kind::dst3, FFTW_RODFT01},  {"dst4", Kind::dst4, FFTW_RODFT11},
                            {"hartley", Kind::hartley, FFTW_DHT}};

template <class Real>
void add_row(json& rows, const std::string& shape_text, const Named& kind, int repeat) {
  const Shape shape = bench::parse_shape(shape_text);
  const std::int64_t batch = std::max<std::int64_t>(1, kPoints / shape.points());
  const dense::TrigonometricPlan<Real> plan(shape, kind.kind, {.batch = batch});
  std::vector<Real> signal(plan.signal_points()), ours(signal.size()), theirs(signal.size());
  const std::vector<int> extents(shape.extents().begin(), shape.extents().end());
  const std::vector<fftw_r2r_kind> kinds(extents.size(), kind.fftw);
  const auto points = static_cast<int>(shape.points());
  // Memory of std::vector is aligned to 16 bytes, which is what FFTW's own allocation promises.
  const auto fftw = bench::Fftw<Real>::many_r2r(shape.rank(), extents.data(), static_cast<int>(batch),
                                                signal.data(), nullptr, 1, points, theirs.data(), nullptr, 1,
                                                points, kinds.data(), FFTW_MEASURE);
  std::mt19937 random(1);
  std::normal_distribution<Real> normal;
  for (Real& x : signal) x = normal(random);
  std::vector<double> us, fftw_us;
  for (int i = 0; i < repeat; ++i) {
    us.push_back(bench::thread_cpu_us([&] { plan.forward(signal, ours); }));
    fftw_us.push_back(bench::thread_cpu_us([&] { bench::Fftw<Real>::execute(fftw); }));
  }
  bench::Fftw<Real>::destroy(fftw);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    difference += std::pow(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]), 2);
    norm += std::pow(static_cast<double>(theirs[i]), 2);
  }
  const double ours_us = bench::median(us), theirs_us = bench::median(fftw_us);
  rows.push_back({{"shape", shape_text},
                  {"kind", kind.name},
                  {"precision", sizeof(Real) == 4 ? "float" : "double"},
                  {"batch", batch},
                  {"us", ours_us},
                  {"fftw_us", theirs_us},
                  {"ratio", theirs_us / ours_us},
                  {"relative_l2_to_fftw", std::sqrt(difference / norm)}});
  fmt::print("{}\n", rows.back().dump());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Arguments arguments;
    bench::parse_options(argc, argv,
                         {{"--shape", arguments.shapes},
                          {"--kind", arguments.kinds},
                          {"--repeat", arguments.repeat},
                          {"--out", arguments.out}});
    if (arguments.shapes.empty()) arguments.shapes = {"512x512", "8x8", "16", "512", "1000", "8192"};
    if (arguments.kinds.empty()) arguments.kinds = {"dct2"};
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    for (const std::string& shape : arguments.shapes) {
      for (const std::string& name : arguments.kinds) {
        const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                              [&](const Named& one) { return one.name == name; });
        if (kind == std::end(kKinds)) throw std::invalid_argument("no such kind: " + name);
        add_row<float>(file["rows"], shape, *kind, arguments.repeat);
        add_row<double>(file["rows"], shape, *kind, arguments.repeat);
      }
    }
    bench::write_json(arguments.out, file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
