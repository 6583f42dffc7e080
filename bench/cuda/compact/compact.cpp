// SPDX-License-Identifier: Apache-2.0
// Forward transforms of 16-bit values on the GPU, beside float and cuFFT's half precision.
//   bench_cuda_compact [--out FILE.json] [--filter SUBSTRING] [--quick]
// Signals are uniform in (−1, 1), rounded to f16. Errors are relative L2, of the first transform of a batch,
// against cuFFT in double of these very values. Times are medians of graph replays. --quick plans by wisdom
// and rules, without tuning. Exit status 1: a plan of this library failed, or its error is above one and a
// half times what it predicts.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <span>

#include "bench/cuda/cufft_half.hpp"
#include "bench/cuda/library_on_gpu.hpp"
#include "bench/cuda/timing.hpp"
#include "kernels/dense/cpu/stored_values.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using dense::CompactPlan;
using dense::Engine;
using dense::Planning;
using dense::Storage;
using nlohmann::json;

struct Case {
  std::vector<std::int64_t> extents;
  std::int64_t batch;
  bool real = false;

  Shape shape() const { return Shape(std::span<const std::int64_t>(extents)); }
  std::string name() const {
    return fmt::format("{} {} batch {}", real ? "r2c" : "c2c", shape().to_string(), batch);
  }
};

std::vector<Case> cases() {
  constexpr std::int64_t kTotal = std::int64_t{1} << 25;
  std::vector<Case> all;
  const auto lines = [&](std::initializer_list<std::int64_t> lengths) {
    for (const std::int64_t n : lengths) all.push_back({{n}, kTotal / n});
  };
  // One of each kind first: tuning takes seconds for a row, and a run may be cut off.
  lines({4096, 256, 240, 127});
  all.push_back({{std::int64_t{1} << 22}, 1});
  all.push_back({{1080, 1920}, 32, true});
  lines({1024, 1000, 64, 512, 2048, 500, 360, 1021, 3000, 128});
  all.push_back({{256, 256, 256}, 1});
  all.push_back({{1024, 1024}, 32});
  for (const int bits : {20, 24}) all.push_back({{std::int64_t{1} << bits}, 1});
  return all;
}

double relative_l2(const std::vector<double>& values, const std::vector<std::complex<double>>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(std::complex<double>(values[2 * i], values[2 * i + 1]) - expected[i]);
    norm += std::norm(expected[i]);
  }
  return std::sqrt(difference / norm);
}

/// What all contenders of a case share.
class Arena {
 public:
  explicit Arena(const Case& what)
      : case_(what),
        parts_(what.shape().points() * (what.real ? 1 : 2)),
        spectrum_points_(what.real
                             ? what.shape().points() / what.extents.back() * (what.extents.back() / 2 + 1)
                             : what.shape().points()) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> one(static_cast<std::size_t>(parts_));
    for (float& value : one) value = uniform(random);
    // Without an exponent, as cuFFT takes them.
    exact_.assign(one.begin(), one.end());
    dense::load_compact(stored_as(Storage::f16), Storage::f16, {}, std::span<double>(exact_));
    expected_.resize(static_cast<std::size_t>(spectrum_points_));
    const dense::Plan<double> plan(case_.shape(), case_.real, {.engine = Engine::cufft});
    plan.forward(exact_.data(), case_.real ? ElementType::f64 : ElementType::c128, expected_);
  }

  /// The batch in a format, in device memory.
  DeviceBuffer signals(Storage storage) const {
    const std::vector<std::byte> one = stored_as(storage);
    DeviceBuffer all(one.size() * static_cast<std::size_t>(case_.batch));
    for (std::size_t b = 0; b < static_cast<std::size_t>(case_.batch); ++b)
      gpu(cudaMemcpy(all.data() + b * one.size(), one.data(), one.size(), cudaMemcpyHostToDevice));
    return all;
  }
  std::size_t spectrum_bytes(Storage storage) const {
    return static_cast<std::size_t>(case_.batch) * sfft::detail::storage_bytes(storage, 2 * spectrum_points_);
  }
  /// Relative error of the first of `spectra`, which stands for sums 2^exponent as large.
  double error(const DeviceBuffer& spectra, Storage storage, int exponent) const {
    const std::size_t bytes = spectrum_bytes(storage) / static_cast<std::size_t>(case_.batch);
    const std::vector<std::byte> one = download(spectra.data(), bytes);
    std::vector<double> values(2 * static_cast<std::size_t>(spectrum_points_));
    load_compact(one, storage, {exponent, 0, true}, std::span<double>(values));
    return relative_l2(values, expected_);
  }

 private:
  std::vector<std::byte> stored_as(Storage storage) const {
    std::vector<std::byte> bytes(sfft::detail::storage_bytes(storage, parts_));
    sfft::detail::write_stored(exact_.data(), parts_, 0, 0, storage, bytes.data());
    return bytes;
  }

  Case case_;
  std::int64_t parts_, spectrum_points_;
  std::vector<double> exact_;
  std::vector<std::complex<double>> expected_;
};

json timed(Timer& timer, const Work& work, std::size_t bytes) {
  const int repetitions = bytes > (std::size_t{1} << 26) ? 2 : 20;
  const Timing timing = timer.warm(work, repetitions);
  return {{"us", timing.us}, {"noise", timing.noise}};
}

json time_float(Timer& timer, const Case& what, const Arena& arena, Engine engine, Planning planning) {
  const dense::Plan<float> plan(what.shape(), what.real,
                                {.engine = engine,
                                 .planning = planning,
                                 .normalization = dense::Normalization::none,
                                 .backend = Backend::cuda,
                                 .batch = what.batch});
  const DeviceBuffer signals = arena.signals(Storage::f32), spectra(arena.spectrum_bytes(Storage::f32)),
                     workspace(plan.device_workspace_bytes());
  json row = timed(
      timer,
      [&](cudaStream_t stream) {
        plan.enqueue_forward(signals.data(), what.real ? ElementType::f32 : ElementType::c64,
                             spectra.as<std::complex<float>>(), {workspace.data(), workspace.bytes()},
                             stream);
      },
      signals.bytes());
  row["relative_l2"] = arena.error(spectra, Storage::f32, 0);
  row["engine"] = plan.engine_name();
  return row;
}

json time_compact(Timer& timer, const Case& what, const Arena& arena, const dense::CompactOptions& options) {
  const CompactPlan plan(what.shape(), what.real, options);
  const DeviceBuffer signals = arena.signals(options.signal), spectra(arena.spectrum_bytes(options.spectrum)),
                     workspace(plan.device_workspace_bytes());
  json row = timed(
      timer,
      [&](cudaStream_t stream) {
        plan.enqueue_forward(signals.data(), spectra.data(), {workspace.data(), workspace.bytes()}, stream);
      },
      signals.bytes());
  row["exponent"] = plan.exponent(dense::Direction::forward);
  row["relative_l2"] = arena.error(spectra, options.spectrum, plan.exponent(dense::Direction::forward));
  row["predicted"] = plan.predicted_error(dense::Direction::forward);
  row["engine"] = plan.engine_name();
  row["reason"] = plan.reason();
  return row;
}

json time_cufft_half(Timer& timer, const Case& what, const Arena& arena) {
  const auto plan = CufftHalf::make(what.extents, what.real, what.batch);
  if (plan == nullptr) return {{"refused", true}};
  const DeviceBuffer signals = arena.signals(Storage::f16), spectra(arena.spectrum_bytes(Storage::f16));
  json row = timed(
      timer, [&](cudaStream_t stream) { plan->enqueue(signals.data(), spectra.data(), stream); },
      signals.bytes());
  const double error = arena.error(spectra, Storage::f16, 0);
  row["relative_l2"] = std::isfinite(error) ? json(error) : json("overflow");
  return row;
}

dense::CompactOptions compact(const Case& what, Storage spectrum, Storage between, Engine engine,
                              Planning planning) {
  return {.signal = Storage::f16,
          .spectrum = spectrum,
          .between = between,
          .signal_peak = 1,
          .dense = {.engine = engine,
                    .planning = planning,
                    .normalization = dense::Normalization::none,
                    .backend = Backend::cuda,
                    .batch = what.batch}};
}

/// One case: every contender's time and error. A contender that cannot is a reason, and `good` becomes false
/// for one that must.
json measure(Timer& timer, const Case& what, Planning planning, bool& good) {
  constexpr double kUsual = 1.5;  // block16 depends on how the largest of 32 values fill an octave
  const Arena arena(what);
  json row{{"name", what.name()}};
  const auto enter = [&](const char* name, bool must, const std::function<json()>& contender) {
    try {
      row[name] = contender();
      if (row[name].contains("predicted"))
        good = good && row[name]["relative_l2"] <= kUsual * row[name]["predicted"].get<double>();
    } catch (const std::exception& error) {
      row[name] = {{"failed", error.what()}};
      good = good && !must;
    }
  };
  const auto time16 = [&](Storage spectrum, Storage between, Engine engine) {
    return time_compact(timer, what, arena, compact(what, spectrum, between, engine, planning));
  };
  enter("cufft f32", true, [&] { return time_float(timer, what, arena, Engine::cufft, planning); });
  enter("tuned f32", false, [&] { return time_float(timer, what, arena, Engine::tuned, planning); });
  enter("cufft f16", false, [&] { return time_cufft_half(timer, what, arena); });
  enter("tuned f16", true, [&] { return time16(Storage::f16, Storage::f32, Engine::tuned); });
  if (what.extents.size() > 1 || what.extents[0] > (1 << 14))
    enter("tuned f16 between", true, [&] { return time16(Storage::f16, Storage::f16, Engine::tuned); });
  enter("tuned f16 to bf16", true, [&] {
    return time_compact(timer, what, arena,
                        compact(what, Storage::bf16, Storage::f32, Engine::tuned, Planning::estimate));
  });
  enter("f16 to block16", true, [&] { return time16(Storage::block16, Storage::f32, Engine::automatic); });
  enter("conversions f16", true, [&] { return time16(Storage::f16, Storage::f32, Engine::cufft); });
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  std::string out, filter;
  Planning planning = Planning::measure;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      planning = Planning::estimate;
    } else if ((word == "--out" || word == "--filter") && i + 1 < argc) {
      (word == "--out" ? out : filter) = argv[++i];
    } else {
      fmt::print(stderr, "bench_cuda_compact: unknown option {}, or one without its value\n", word);
      return 2;
    }
  }
  try {
    Timer timer;
    bool good = true;
    json result{{"device", gpu_name()}, {"commit", SFFT_COMMIT}, {"rows", json::array()}};
    result["planning"] = planning == Planning::measure ? "measure" : "estimate";
    for (const Case& what : cases()) {
      if (what.name().find(filter) == std::string::npos) continue;
      const json row = measure(timer, what, planning, good);
      fmt::print("{}\n", row.dump());
      std::fflush(stdout);
      result["rows"].push_back(row);
      if (!out.empty()) std::ofstream(out) << result.dump(1) << "\n";
    }
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cuda_compact: {}\n", error.what());
    return 2;
  }
}
