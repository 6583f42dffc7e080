// SPDX-License-Identifier: Apache-2.0
// Signals of integers on one core, against the same signals as floats: dense transforms and plans.
//   bench_element_types [--repeat N] [--out FILE.json]
// Times are medians of CPU times of the thread, because other programs may run. Runs of all types alternate.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "bench/command_line.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;

/// Three tones and noise as the type, with amplitudes that fit 8 bits.
std::vector<std::byte> samples_of(ElementType type, std::int64_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> parts;
  for (std::int64_t t = 0; t < count * (is_complex(type) ? 2 : 1); ++t) {
    const auto at = static_cast<float>(t % 4096);
    parts.push_back(std::round(30 * std::cos(0.1f * at) + 20 * std::cos(0.7f * at) + normal(random)));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * element_bytes(type));
  const auto store = [&]<class Part>(Part* to) {
    for (const float part : parts) *to++ = static_cast<Part>(part);
  };
  if (type == ElementType::s8 || type == ElementType::cs8)
    store(reinterpret_cast<std::int8_t*>(bytes.data()));
  if (type == ElementType::s16 || type == ElementType::cs16)
    store(reinterpret_cast<std::int16_t*>(bytes.data()));
  if (type == ElementType::s32) store(reinterpret_cast<std::int32_t*>(bytes.data()));
  if (type == ElementType::f32 || type == ElementType::c64) store(reinterpret_cast<float*>(bytes.data()));
  return bytes;
}

/// Times the same call for each type, in turn. The first type is the one to compare with.
void add_row(json& rows, const std::string& what, int repeat, const std::vector<ElementType>& types,
             const std::function<void(std::size_t)>& call) {
  std::vector<std::vector<double>> times(types.size());
  for (int i = -1; i < repeat; ++i) {
    for (std::size_t k = 0; k < types.size(); ++k) {
      int calls = 0;
      const double start = bench::thread_cpu_seconds();
      double now = start;
      for (; calls == 0 || now - start < 2e-3; now = bench::thread_cpu_seconds(), ++calls) call(k);
      if (i >= 0) times[k].push_back(1e6 * (now - start) / calls);
    }
  }
  json row{{"what", what}};
  std::string text = fmt::format("{:44}", what);
  for (std::size_t k = 0; k < types.size(); ++k) {
    const double us = bench::median(times[k]), ratio = bench::median(times[0]) / us;
    row["types"].push_back({{"type", to_string(types[k])}, {"us", us}, {"float_ratio", ratio}});
    text += fmt::format(" {} {:.1f} us ({:.2f})", to_string(types[k]), us, ratio);
  }
  rows.push_back(row);
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void add_rows(json& rows, const Shape& shape, std::int64_t batch, const std::vector<ElementType>& types,
              int repeat) {
  std::vector<std::vector<std::byte>> signals;
  for (const ElementType type : types) signals.push_back(samples_of(type, batch * shape.points()));
  const Domain domain = domain_of(types[0]);
  const std::string name = fmt::format("{} {}{}", to_string(domain), shape.to_string(),
                                       batch > 1 ? fmt::format(" x {}", batch) : "");
  const dense::Plan<float> dense(shape, domain, {.batch = batch});
  std::vector<std::complex<float>> spectra(dense.spectrum_points());
  const Workspace workspace = dense.make_workspace();
  add_row(rows, "dense " + name, repeat, types,
          [&](std::size_t k) { dense.forward(signals[k].data(), types[k], spectra, workspace.host()); });
  if (batch > 1) return;
  const auto view = [&](std::size_t k) {
    return SignalView(signals[k].data(), static_cast<std::size_t>(shape.points()), types[k], shape);
  };
  const Template tmpl = learn(view(0), {.keep = Largest{16}});
  for (const Path path : {Path::comb, Path::flat_window}) {
    try {
      const Plan<float> plan(tmpl, {.device = Device::cpu(), .path = path});
      Spectrum<float> spectrum;
      Workspace memory = plan.make_workspace();
      add_row(rows, fmt::format("{} {}", to_string(path), name), repeat, types,
              [&](std::size_t k) { plan.execute(view(k), spectrum, memory); });
    } catch (const Error&) {  // the path cannot transform this template
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int repeat = 15;
    std::string out;
    bench::parse_options(argc, argv, {{"--repeat", repeat}, {"--out", out}});
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    const std::vector<ElementType> real{ElementType::f32, ElementType::s16, ElementType::s8,
                                        ElementType::s32},
        complex{ElementType::c64, ElementType::cs16, ElementType::cs8};
    for (const auto& types : {real, complex}) {
      for (const std::int64_t n : {256, 1024, 4096}) add_rows(file["rows"], Shape(n), 64, types, repeat);
      for (const std::int64_t n : {1024, 30000, 1 << 16, 1 << 20, 1 << 22})
        add_rows(file["rows"], Shape(n), 1, types, repeat);
      for (const std::int64_t n : {24, 96, 512, 1080}) add_rows(file["rows"], Shape(n, n), 1, types, repeat);
      add_rows(file["rows"], Shape(64, 64, 60), 1, types, repeat);
    }
    bench::write_json(out, file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
