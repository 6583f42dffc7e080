// SPDX-License-Identifier: Apache-2.0
// One transform on several CPU threads: the built-in engine against FFTW, if available. Float, out of place.
//   bench_dense_threads [--complex SHAPE …] [--real SHAPE …] [--threads N …] [--repeat N] [--fftw-seconds S]
//   [--out FILE.json]
// Times are medians of wall clocks, warm.
#include <fmt/format.h>

#ifdef SFFT_BENCH_FFTW
#include <fftw3.h>
#endif

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/command_line.hpp"
#include "bench/large_arrays.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"
#include "sfft/dense.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;
using Complex = std::complex<float>;

struct Arguments {
  std::vector<std::pair<Shape, bool>> problems;  ///< shape, real
  std::vector<int> threads;
  int repeat = 15;
  double fftw_seconds = 120;
  std::string out;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  const auto add = [&](bool real) {
    return [&arguments, real](const std::string& text) {
      arguments.problems.emplace_back(bench::parse_shape(text), real);
    };
  };
  bench::parse_options(argc, argv,
                       {{"--complex", add(false)},
                        {"--real", add(true)},
                        {"--threads", arguments.threads},
                        {"--repeat", arguments.repeat},
                        {"--fftw-seconds", arguments.fftw_seconds},
                        {"--out", arguments.out}});
  if (arguments.threads.empty()) arguments.threads.push_back(1);
  return arguments;
}

template <class Transform>
double measured_ms(int repeat, const Transform& transform) {
  return 1e3 * bench::median_seconds(repeat, transform);
}

#ifdef SFFT_BENCH_FFTW
/// Adds FFTW's time, and the difference of `spectrum` from FFTW's. Planning overwrites the signal before it
/// is refilled.
void add_fftw(json& row, const Shape& shape, float* signal, std::size_t samples, const Complex* spectrum,
              std::size_t values, const Arguments& arguments) {
  const bool real = row["real"];
  const int threads = row["threads"];
  static const bool ready = fftwf_init_threads() != 0;
  if (!ready) throw std::runtime_error("FFTW has no threads");
  fftwf_plan_with_nthreads(threads);
  fftwf_set_timelimit(arguments.fftw_seconds);
  const detail::cpu::LargeBuffer memory = detail::cpu::make_large_buffer(values * sizeof(Complex));
  auto* const other = reinterpret_cast<fftwf_complex*>(memory.get());
  std::vector<int> extents;
  for (const std::int64_t n : shape.extents()) extents.push_back(static_cast<int>(n));
  const auto planning = std::chrono::steady_clock::now();
  const fftwf_plan fftw =
      real ? fftwf_plan_dft_r2c(shape.rank(), extents.data(), signal, other, FFTW_MEASURE)
           : fftwf_plan_dft(shape.rank(), extents.data(), reinterpret_cast<fftwf_complex*>(signal), other,
                            FFTW_FORWARD, FFTW_MEASURE);
  row["fftw_plan_s"] = bench::seconds_since(planning);
  bench::fill(signal, static_cast<std::int64_t>(samples), threads);
  const double fftw_ms = measured_ms(arguments.repeat, [&] { fftwf_execute(fftw); });
  row["fftw_ms"] = fftw_ms;
  row["ratio"] = fftw_ms / row["ms"].get<double>();
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < values; ++i) {
    const std::complex<double> reference(other[i][0], other[i][1]);
    difference += std::norm(std::complex<double>(spectrum[i]) - reference);
    norm += std::norm(reference);
  }
  row["relative_l2_to_fftw"] = std::sqrt(difference / norm);
  fftwf_destroy_plan(fftw);
}
#endif

json row(const Shape& shape, bool real, int threads, const Arguments& arguments) {
  const dense::Plan<float> plan(shape, real ? Domain::real : Domain::complex,
                                {.engine = dense::Engine::built_in, .threads = threads});
  const std::size_t samples = plan.signal_points() * (real ? 1 : 2), values = plan.spectrum_points();
  const detail::cpu::LargeBuffer in = detail::cpu::make_large_buffer(samples * sizeof(float)),
                                 out = detail::cpu::make_large_buffer(values * sizeof(Complex)),
                                 workspace = detail::cpu::make_large_buffer(plan.workspace_bytes() + 64);
  auto* const signal = reinterpret_cast<float*>(in.get());
  auto* const spectrum = reinterpret_cast<Complex*>(out.get());
  bench::fill(signal, static_cast<std::int64_t>(samples), threads);
  const ElementType type = real ? ElementType::f32 : ElementType::c64;
  const double ms = measured_ms(arguments.repeat, [&] {
    plan.forward(signal, type, {spectrum, values}, {workspace.get(), plan.workspace_bytes()});
  });
  json row{{"shape", shape.to_string()}, {"real", real}, {"threads", threads}, {"ms", ms}};
#ifdef SFFT_BENCH_FFTW
  add_fftw(row, shape, signal, samples, spectrum, values, arguments);
#endif
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    for (const auto& [shape, real] : arguments.problems) {
      for (const int threads : arguments.threads) {
        file["rows"].push_back(row(shape, real, threads, arguments));
        fmt::print("{}\n", file["rows"].back().dump());
        std::fflush(stdout);
        bench::write_json(arguments.out, file);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
