// SPDX-License-Identifier: Apache-2.0
// Forward transforms of 16-bit values on the GPU, compared with float and with cuFFT's half precision.
//   bench_cuda_compact [--out FILE.json] [--filter SUBSTRING] [--lengths N,...] [--measure]
//   [--wisdom FILE.json]
// --lengths: only batches of lines of these lengths.
// Signals are uniform in (−1, 1), rounded to the format that each candidate stores; for floats they are
// rounded to f16. Errors are relative L2 of the first transform of a batch, against cuFFT in double of the
// same values. Times are medians of graph replays, in microseconds. Plans follow wisdom and rules. With
// --measure, plans of 16-bit values are tuned, and --wisdom stores the result. Exit status 1: a plan of this
// library failed, or its error exceeds its prediction by more than half.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <sstream>

#include "bench/cuda/cufft_half.hpp"
#include "bench/cuda/library_on_gpu.hpp"
#include "bench/cuda/timing.hpp"
#include "bench/result_file.hpp"
#include "kernels/base/storage/half.hpp"
#include "kernels/dense/cpu/stored_values.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using dense::CompactPlan;
using dense::Engine;
using Planning = dense::Options::Planning;
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

std::vector<Case> cases(const std::string& lengths) {
  constexpr std::int64_t kTotal = std::int64_t{1} << 25;
  std::vector<Case> all;
  const auto lines = [&](const std::vector<std::int64_t>& some) {
    for (const std::int64_t n : some) all.push_back({{n}, kTotal / n});
  };
  if (!lengths.empty()) {
    std::istringstream words(lengths);
    for (std::string word; std::getline(words, word, ',');) lines({std::max(2ll, std::atoll(word.c_str()))});
    return all;
  }
  // One case of each kind comes first, because a run may be interrupted.
  lines({4096, 256, 240, 127});
  all.push_back({{std::int64_t{1} << 22}, 1});
  all.push_back({{1080, 1920}, 32, true});
  lines({1024, 1000, 64, 512, 2048, 500, 360, 1021, 3000, 128});
  all.push_back({{256, 256, 256}, 1});
  all.push_back({{1024, 1024}, 32});
  for (const int bits : {20, 24}) all.push_back({{std::int64_t{1} << bits}, 1});
  lines({60, 100, 192, 384, 432, 480, 576, 600, 640, 720, 768, 800, 864, 900, 960, 972, 1080, 1920});
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

/// The data that all candidates of a case share.
class Arena {
 public:
  explicit Arena(const Case& what)
      : case_(what),
        parts_(what.shape().points() * (what.real ? 1 : 2)),
        spectrum_points_(what.real
                             ? what.shape().points() / what.extents.back() * (what.extents.back() / 2 + 1)
                             : what.shape().points()),
        plan_(what.shape(), what.real ? Domain::real : Domain::complex, {.engine = Engine::cufft}) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    values_.resize(static_cast<std::size_t>(parts_));
    for (double& value : values_) value = uniform(random);
    for (double& value : values_) value = to_float(sfft::detail::to_f16(static_cast<float>(value)));
  }

  /// The batch in a storage format, in device memory, without exponents, as cuFFT expects it.
  DeviceBuffer signals(Storage storage) const {
    const std::vector<std::byte> one = stored_as(storage);
    DeviceBuffer all(one.size() * static_cast<std::size_t>(case_.batch));
    gpu(cudaMemcpy(all.data(), one.data(), one.size(), cudaMemcpyHostToDevice));
    for (std::size_t filled = one.size(); filled < all.bytes(); filled *= 2)
      gpu(cudaMemcpy(all.data() + filled, all.data(), std::min(filled, all.bytes() - filled),
                     cudaMemcpyDeviceToDevice));
    return all;
  }
  std::size_t spectrum_bytes(Storage storage) const {
    return static_cast<std::size_t>(case_.batch) * sfft::detail::storage_bytes(storage, 2 * spectrum_points_);
  }
  /// The relative error of the first of `spectra`, for signals in a storage format. The spectra represent
  /// sums that are 2^exponent times as large.
  double error(const DeviceBuffer& spectra, Storage signal, Storage storage, int exponent) {
    const std::size_t bytes = spectrum_bytes(storage) / static_cast<std::size_t>(case_.batch);
    const std::vector<std::byte> one = download(spectra.data(), bytes);
    std::vector<double> values(2 * static_cast<std::size_t>(spectrum_points_));
    load_compact(one, storage, {exponent, 0, true}, std::span<double>(values));
    return relative_l2(values, expected(signal));
  }

 private:
  std::vector<std::byte> stored_as(Storage storage) const {
    std::vector<std::byte> bytes(sfft::detail::storage_bytes(storage, parts_));
    sfft::detail::write_stored(values_.data(), parts_, 0, 0, storage, bytes.data());
    return bytes;
  }
  const std::vector<std::complex<double>>& expected(Storage signal) {
    auto& spectrum = expected_[signal];
    if (!spectrum.empty()) return spectrum;
    std::vector<double> exact(values_.size());
    dense::load_compact(stored_as(signal), signal, {}, std::span<double>(exact));
    spectrum.resize(static_cast<std::size_t>(spectrum_points_));
    plan_.forward(exact.data(), case_.real ? ElementType::f64 : ElementType::c128, spectrum);
    return spectrum;
  }

  Case case_;
  std::int64_t parts_, spectrum_points_;
  dense::Plan<double> plan_;
  std::vector<double> values_;
  std::map<Storage, std::vector<std::complex<double>>> expected_;
};

json timed(Timer& timer, const Work& work, std::size_t bytes) {
  const int repetitions = bytes > (std::size_t{1} << 26) ? 2 : 20;
  const Timing timing = timer.warm(work, repetitions);
  return {{"us", timing.us}, {"noise", timing.noise}};
}

json time_float(Timer& timer, const Case& what, Arena& arena, const dense::Plan<float>& plan) {
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
  row["relative_l2"] = arena.error(spectra, Storage::f32, Storage::f32, 0);
  row["engine"] = plan.engine_name();
  return row;
}

json time_compact(Timer& timer, Arena& arena, const CompactPlan& plan) {
  const dense::Options::Formats& formats = plan.options().formats;
  const DeviceBuffer signals = arena.signals(formats.signal), spectra(arena.spectrum_bytes(formats.spectrum)),
                     workspace(plan.device_workspace_bytes());
  json row = timed(
      timer,
      [&](cudaStream_t stream) {
        plan.enqueue_forward(signals.data(), spectra.data(), {workspace.data(), workspace.bytes()}, stream);
      },
      signals.bytes());
  row["exponent"] = plan.forward_info().exponent;
  row["relative_l2"] = arena.error(spectra, formats.signal, formats.spectrum, plan.forward_info().exponent);
  row["predicted"] = plan.forward_info().predicted_error;
  row["engine"] = plan.engine_name();
  row["reason"] = plan.reason();
  return row;
}

json time_cufft_half(Timer& timer, const Case& what, Arena& arena) {
  const auto plan = CufftHalf::make(what.extents, what.real, what.batch);
  if (plan == nullptr) return {{"refused", true}};
  const DeviceBuffer signals = arena.signals(Storage::f16), spectra(arena.spectrum_bytes(Storage::f16));
  json row = timed(
      timer, [&](cudaStream_t stream) { plan->enqueue(signals.data(), spectra.data(), stream); },
      signals.bytes());
  const double error = arena.error(spectra, Storage::f16, Storage::f16, 0);
  row["relative_l2"] = std::isfinite(error) ? json(error) : json("overflow");
  return row;
}

CompactPlan planned(const Case& what, Storage storage, Storage between, Planning planning) {
  return CompactPlan(
      what.shape(), what.real ? Domain::real : Domain::complex,
      {.planning = planning,
       .normalization = dense::Options::Normalization::none,
       .device = Device::gpu(),
       .batch = what.batch,
       .formats = {.signal = storage, .spectrum = storage, .between = between, .signal_peak = 1}});
}

/// Runs one case and returns every candidate's time and error. A candidate that fails gets a reason instead;
/// if it is one of this library's, `good` becomes false. Kernels are compiled concurrently and timed one
/// after the other.
json measure(Timer& timer, const Case& what, Planning planning, bool& good) {
  constexpr double kUsual = 1.5;  // the error of block16 depends on how the largest of 32 values fills an
                                  // octave
  const auto launch = planning == Planning::measure ? std::launch::deferred : std::launch::async;
  const auto compact = [&](Storage storage, Storage between) {
    return std::async(
        launch, [&what, storage, between, planning] { return planned(what, storage, between, planning); });
  };
  std::future<dense::Plan<float>> floats = std::async(launch, [&what] {
    return dense::Plan<float>(
        what.shape(), what.real ? Domain::real : Domain::complex,
        {.normalization = dense::Options::Normalization::none, .device = Device::gpu(), .batch = what.batch});
  });
  struct Candidate {
    const char* name;
    std::future<CompactPlan> plan;
  };
  std::vector<Candidate> candidates;
  candidates.push_back({"f16", compact(Storage::f16, Storage::f32)});
  if (what.extents.size() > 1 || what.extents[0] > (1 << 14))
    candidates.push_back({"f16 between", compact(Storage::f16, Storage::f16)});
  candidates.push_back({"bf16", compact(Storage::bf16, Storage::f32)});
  candidates.push_back({"block16", compact(Storage::block16, Storage::f32)});

  Arena arena(what);
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
  for (Candidate& candidate : candidates) candidate.plan.wait();  // nothing compiles during timing
  enter("float", true, [&] { return time_float(timer, what, arena, floats.get()); });
  enter("cufft f16", false, [&] { return time_cufft_half(timer, what, arena); });
  for (Candidate& candidate : candidates)
    enter(candidate.name, true, [&] { return time_compact(timer, arena, candidate.plan.get()); });
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  std::string out, filter, lengths, wisdom;
  Planning planning = Planning::estimate;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--measure") {
      planning = Planning::measure;
    } else if ((word == "--out" || word == "--filter" || word == "--lengths" || word == "--wisdom") &&
               i + 1 < argc) {
      (word == "--out"       ? out
       : word == "--filter"  ? filter
       : word == "--lengths" ? lengths
                             : wisdom) = argv[++i];
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
    for (const Case& what : cases(lengths)) {
      if (what.name().find(filter) == std::string::npos) continue;
      const json row = measure(timer, what, planning, good);
      fmt::print("{}\n", row.dump());
      std::fflush(stdout);
      result["rows"].push_back(row);
      write_json(out, result);
      if (!wisdom.empty()) dense::save_wisdom(wisdom);
    }
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cuda_compact: {}\n", error.what());
    return 2;
  }
}
