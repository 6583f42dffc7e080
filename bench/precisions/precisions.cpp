// SPDX-License-Identifier: Apache-2.0
// Forward transforms in every precision on one CPU core: errors against double, predictions, and CPU time
// relative to float.
//   bench_dense_precisions [--filter SUBSTRING] [--repeat N] [--out FILE.json]
// Errors are those of a user who has doubles: they include storing the signal, the transform, and storing the
// result. `relative_l2` is over the whole batch. `median_relative` is the median of the coefficients'
// relative errors. The error of double is measured against sums in long double at 32 coefficients. Times are
// medians of the process's CPU time; `times_of_f32` is the median over rounds in which every precision runs
// once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/command_line.hpp"
#include "bench/large_arrays.hpp"
#include "bench/precisions/signals.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "kernels/dense/cpu/stored_values.hpp"
#include "sfft/dense_compact.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using dense::Storage;
using nlohmann::json;
using Spectrum = std::vector<std::complex<double>>;

struct Arguments {
  std::string filter, out;
  int repeat = 75;
};

struct Case {
  Shape shape;
  bool real;
  std::string signal = "gaussian";

  std::int64_t batch() const { return std::max<std::int64_t>(1, (1 << 17) / shape.points()); }
  std::int64_t signal_values() const { return shape.points() * (real ? 1 : 2); }
  std::string name() const {
    return fmt::format("{} {} {}", real ? "real" : "complex", shape.to_string(), signal);
  }
  dense::Options options() const {
    return {.engine = dense::Engine::built_in,
            .normalization = dense::Options::Normalization::none,
            .threads = 1,
            .batch = batch()};
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool real : {false, true}) {
    for (const std::int64_t n : {64, 256, 1000, 1024, 1009, 4096, 16384, 65536, 1 << 18, 1 << 20})
      all.push_back({Shape(n), real});
    for (const char* signal : {"tone", "walk", "spike"}) all.push_back({Shape(4096), real, signal});
  }
  all.push_back({Shape({1080, 1920}), true});
  all.push_back({Shape({512, 512}), false});
  all.push_back({Shape({64, 64, 64}), false});
  return all;
}

/// One precision of a case: runs its transform, and returns its spectra as doubles.
struct Contender {
  std::string name;
  std::function<void()> transform;
  std::function<Spectrum()> spectra;
  std::function<json()> claims;  ///< the library's statements about the errors
  std::vector<double> times = {};
};

json errors(const Spectrum& found, const Spectrum& expected) {
  double difference = 0, norm = 0;
  std::vector<double> own;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(found[i] - expected[i]);
    norm += std::norm(expected[i]);
    if (expected[i] != 0.0) own.push_back(std::abs(found[i] - expected[i]) / std::abs(expected[i]));
  }
  return {{"relative_l2", std::sqrt(difference / norm)}, {"median_relative", median(own)}};
}

/// The error at coefficients of the first transform that are spaced as far apart as possible.
double error_of_double(const Case& what, const std::vector<double>& values, const Spectrum& spectra) {
  const std::int64_t n = what.shape.points(), kept = what.real ? n / 2 + 1 : n;
  std::vector<std::complex<long double>> roots(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < roots.size(); ++i)
    roots[i] = std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(i) /
                                    static_cast<long double>(n));
  long double difference = 0, norm = 0;
  for (std::int64_t f = 0; f < kept; f += std::max<std::int64_t>(1, kept / 32)) {
    std::complex<long double> sum = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      const auto at = static_cast<std::size_t>(t);
      const std::complex<long double> x = what.real
                                              ? std::complex<long double>(values[at])
                                              : std::complex<long double>(values[2 * at], values[2 * at + 1]);
      sum += x * roots[static_cast<std::size_t>(f * t % n)];
    }
    difference += std::norm(std::complex<long double>(spectra[static_cast<std::size_t>(f)]) - sum);
    norm += std::norm(sum);
  }
  return static_cast<double>(std::sqrt(difference / norm));
}

template <class Real>
Contender plain(const Case& what, const std::vector<double>& values, const char* name) {
  const auto plan = std::make_shared<const dense::Plan<Real>>(
      what.shape, what.real ? Domain::real : Domain::complex, what.options());
  const auto signal = std::make_shared<const std::vector<Real>>(values.begin(), values.end());
  const auto spectra = std::make_shared<std::vector<std::complex<Real>>>(plan->spectrum_points());
  const auto memory = std::make_shared<std::vector<std::byte>>(plan->workspace_bytes() + 64);
  const auto type = what.real ? element_type_of<Real>::value : element_type_of<std::complex<Real>>::value;
  return {name,
          [=] {
            std::byte* const aligned =
                memory->data() + (64 - reinterpret_cast<std::uintptr_t>(memory->data()) % 64);
            plan->forward(signal->data(), type, *spectra, {aligned, plan->workspace_bytes()});
          },
          [=] { return Spectrum(spectra->begin(), spectra->end()); }, [] { return json::object(); }};
}

Contender compact(const Case& what, const std::vector<double>& values, Storage storage) {
  dense::Options options = what.options();
  options.formats = {.signal = storage, .spectrum = storage};
  const auto plan = std::make_shared<const dense::CompactPlan>(
      what.shape, what.real ? Domain::real : Domain::complex, options);
  struct Arrays {
    std::vector<std::byte> signals, spectra, memory;
    std::vector<dense::CompactScale> from, to;
  };
  const auto arrays = std::make_shared<Arrays>();
  const auto batch = static_cast<std::size_t>(what.batch()),
             count = static_cast<std::size_t>(what.signal_values());
  arrays->signals.resize(plan->signal_bytes());
  arrays->spectra.resize(plan->spectrum_bytes());
  arrays->memory.resize(plan->workspace_bytes() + 64);
  arrays->to.resize(batch);
  for (std::size_t b = 0; b < batch; ++b)
    arrays->from.push_back(dense::store_compact(
        std::span(values).subspan(b * count, count), storage,
        std::span(arrays->signals).subspan(b * plan->signal_bytes() / batch, plan->signal_bytes() / batch)));
  const double predicted =
      std::hypot(sfft::detail::rounding_error(storage), plan->forward_info().predicted_error);
  return {
      to_string(storage),
      [=] {
        std::byte* const aligned =
            arrays->memory.data() + (64 - reinterpret_cast<std::uintptr_t>(arrays->memory.data()) % 64);
        plan->forward(arrays->signals, arrays->from, arrays->spectra, arrays->to,
                      {aligned, plan->workspace_bytes()});
      },
      [=] {
        const std::size_t bytes = plan->spectrum_bytes() / batch, parts = plan->spectrum_values();
        std::vector<double> all(batch * parts);
        for (std::size_t b = 0; b < batch; ++b)
          dense::load_compact(std::span(arrays->spectra).subspan(b * bytes, bytes), storage, arrays->to[b],
                              std::span(all).subspan(b * parts, parts));
        const auto* points = reinterpret_cast<const std::complex<double>*>(all.data());
        return Spectrum(points, points + all.size() / 2);
      },
      [=] {
        double squares = 0;
        for (const dense::CompactScale& scale : arrays->to)
          squares += scale.relative_error * scale.relative_error;
        return json{{"predicted", predicted}, {"reported", std::sqrt(squares / static_cast<double>(batch))}};
      }};
}

json measure(const Case& what, int repeat) {
  const std::vector<double> values = precision_signal(what.signal, what.signal_values() * what.batch());
  std::vector<Contender> all{plain<double>(what, values, "f64"), plain<float>(what, values, "f32")};
  for (const Storage storage : {Storage::f16, Storage::bf16, Storage::block16})
    all.push_back(compact(what, values, storage));
  for (int i = -1; i < repeat; ++i) {
    for (Contender& contender : all) {
      const double start = process_cpu_seconds();
      contender.transform();
      if (i >= 0) contender.times.push_back(1e6 * (process_cpu_seconds() - start));
    }
  }
  const Spectrum exact = all[0].spectra();
  json row{{"name", what.name()},
           {"shape", what.shape.to_string()},
           {"real", what.real},
           {"signal", what.signal},
           {"batch", what.batch()}};
  for (const Contender& contender : all) {
    json& own = row[contender.name] = contender.claims();
    if (&contender != &all[0]) {
      own.update(errors(contender.spectra(), exact));
    } else if (what.shape.rank() == 1) {
      own["relative_l2"] = error_of_double(what, values, exact);
    }
    own["us"] = median(contender.times);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < contender.times.size(); ++i)
      ratios.push_back(contender.times[i] / all[1].times[i]);
    own["times_of_f32"] = median(ratios);
  }
  return row;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_options(argc, argv,
                {{"--filter", arguments.filter}, {"--repeat", arguments.repeat}, {"--out", arguments.out}});
  if (arguments.repeat < 1) throw std::invalid_argument("--repeat wants 1 or more");
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    json file = result_file(SFFT_COMMIT, joined(argc, argv));
    for (const Case& what : cases()) {
      if (what.name().find(arguments.filter) == std::string::npos) continue;
      const json row = measure(what, arguments.repeat);
      std::string line = fmt::format("{:<28}", row["name"].get<std::string>());
      for (const char* name : {"f64", "f32", "f16", "bf16", "block16"})
        line += fmt::format("  {} {:.1e} {:.2f}x", name, row[name].value("relative_l2", NAN),
                            row[name]["times_of_f32"].get<double>());
      fmt::print("{}\n", line);
      std::fflush(stdout);
      file["rows"].push_back(row);
      write_json(arguments.out, file);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_dense_precisions: {}\n", error.what());
    return 2;
  }
}
