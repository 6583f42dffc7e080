// SPDX-License-Identifier: Apache-2.0
// Split-half transforms on tensor cores compared with cuFFT in float and half precision, this library's float
// kernels, and fp16 products without the split, at the lengths that the engine tensor has: batches of short
// lines and of primes, and single lines of 2^13 to 2^15 points.
//   bench_cuda_tensor [--out FILE.json] [--filter SUBSTRING] [--lengths N,...] [--search] [--calls]
// --lengths: only batches of lines of these lengths. --search: finds this library's float kernels by a search
// rather than by wisdom and rules. Signals are uniform in [−1, 1). Errors cover the whole batch: relative L2,
// and the sum of absolute differences, against cuFFT in double. Times are medians of graph replays. With
// --calls there are also times of whole calls: planning, allocation, and copies from and to host memory. Exit
// status 1: the error of tensor exceeds 6e-7.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "bench/cuda/cufft_half.hpp"
#include "bench/cuda/library_on_gpu.hpp"
#include "bench/cuda/peers.hpp"
#include "bench/cuda/tensor/arrays.hpp"
#include "bench/cuda/timing.hpp"
#include "bench/result_file.hpp"
#include "kernels/cuda/tensor/tensor_transform.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
namespace tensor = sfft::detail::tensor;
using dense::Engine;
using nlohmann::json;

constexpr double kPromised = 6e-7;

struct Case {
  std::int64_t points, batch;
  std::int64_t total() const { return points * batch; }
  std::string name() const { return fmt::format("{} batch {}", points, batch); }
};

struct Settings {
  std::string out, filter;
  std::vector<std::int64_t> lengths;
  bool search = false, calls = false;
};

std::vector<Case> cases(const Settings& settings) {
  std::vector<Case> all;
  constexpr std::int64_t kTotal = std::int64_t{1} << 25;
  for (const std::int64_t n : settings.lengths) all.push_back({n, kTotal / n});
  if (!all.empty()) return all;
  for (int log = tensor::kMinLog; log <= tensor::kMaxShortLog; ++log)
    all.push_back({1 << log, kTotal >> log});
  // Primes without good factors of n - 1.
  for (const std::int64_t n : {47, 83, 107, 167, 191, 223, 227}) all.push_back({n, kTotal / n});
  for (int log = tensor::kMinLongLog; log <= tensor::kMaxLongLog; ++log) all.push_back({1 << log, 1});
  return all;
}

dense::Options options(const Case& what, Engine engine, bool search = false) {
  return {.engine = engine,
          .planning = search ? dense::Options::Planning::measure : dense::Options::Planning::estimate,
          .normalization = dense::Options::Normalization::none,
          .device = Device::gpu(),
          .batch = what.batch};
}

/// The device memory that all candidates of a case share.
class Arena {
 public:
  explicit Arena(const Case& what)
      : what_(what),
        floats(static_cast<std::size_t>(what.total()) * 8),
        halves(static_cast<std::size_t>(what.total()) * 4),
        expected_(static_cast<std::size_t>(what.total()) * 16) {
    const DeviceBuffer doubles(expected_.bytes());
    fill_uniform(what.total(), floats.data(), doubles.data(), halves.data(), nullptr);
    gpu(cudaDeviceSynchronize());
    const auto exact = make_cufft({.extents = {what.points}, .batch = what.batch, .double_precision = true});
    exact->load(doubles.data(), nullptr);
    exact->enqueue(nullptr);
    gpu(cudaMemcpy(expected_.data(), exact->result(), expected_.bytes(), cudaMemcpyDeviceToDevice));
  }
  /// Adds the error of `spectra`. cuFFT's half-precision results may overflow.
  void add_error(json& row, const void* spectra, bool half) const {
    const SpectrumError error = spectrum_error(spectra, half, expected_.data(), what_.total());
    if (!std::isfinite(error.relative_l2)) {
      row["relative_l2"] = "overflow";
      return;
    }
    row["relative_l2"] = error.relative_l2;
    row["absolute_sum"] = error.absolute_sum;
  }

 private:
  Case what_;

 public:
  DeviceBuffer floats, halves;

 private:
  DeviceBuffer expected_;
};

json timed(Timer& timer, const Case& what, const Work& work) {
  const Timing timing = timer.warm(work, what.total() > (std::int64_t{1} << 22) ? 2 : 20, 15);
  return {{"us", timing.us}, {"noise", timing.noise}};
}

/// Median wall clock of three calls, after a first one that does not count.
double whole_call_us(const std::function<void()>& call) {
  return 1e6 * median_seconds(3, call);
}

using Host = std::vector<std::complex<float>>;

json with_cufft(Timer& timer, const Case& what, const Arena& arena, const Host* host) {
  const PeerProblem problem{.extents = {what.points}, .batch = what.batch};
  const auto peer = make_cufft(problem);
  peer->load(arena.floats.data(), timer.stream());
  json row = timed(timer, what, [&](cudaStream_t stream) { peer->enqueue(stream); });
  arena.add_error(row, peer->result(), false);
  if (host == nullptr) return row;
  Host out(host->size());
  row["call_us"] = whole_call_us([&] {
    const auto once = make_cufft(problem);
    const DeviceBuffer in = upload(*host);
    once->load(in.data(), nullptr);
    once->enqueue(nullptr);
    gpu(cudaMemcpy(out.data(), once->result(), in.bytes(), cudaMemcpyDeviceToHost));
  });
  return row;
}

json with_plan(Timer& timer, const Case& what, const Arena& arena, Engine engine, bool search,
               const Host* host) {
  const Shape shape{what.points};
  const dense::Plan<float> plan(shape, Domain::complex, options(what, engine, search));
  const DeviceBuffer spectra(arena.floats.bytes()), workspace(plan.device_workspace_bytes());
  json row = timed(timer, what, [&](cudaStream_t stream) {
    plan.enqueue_forward(arena.floats.data(), ElementType::c64, spectra.as<std::complex<float>>(),
                         {workspace.data(), workspace.bytes()}, stream);
  });
  arena.add_error(row, spectra.data(), false);
  row["engine"] = plan.engine_name();
  if (host == nullptr) return row;
  Host out(host->size());
  row["call_us"] = whole_call_us([&] {
    const dense::Plan<float> once(shape, Domain::complex, options(what, engine));
    once.forward(host->data(), ElementType::c64, out);
  });
  return row;
}

json with_half(Timer& timer, const Case& what, const Arena& arena) {
  const auto plan = CufftHalf::make({what.points}, false, what.batch);
  if (plan == nullptr) return {{"refused", true}};
  const DeviceBuffer spectra(arena.halves.bytes());
  json row = timed(timer, what,
                   [&](cudaStream_t stream) { plan->enqueue(arena.halves.data(), spectra.data(), stream); });
  arena.add_error(row, spectra.data(), true);
  return row;
}

json without_split(Timer& timer, const Case& what, const Arena& arena) {
  const auto bits = static_cast<std::uint64_t>(what.points);
  const int log = std::bit_width(bits) - 1;
  const bool folded = tensor::is_folded(what.points);
  if (!folded && !(std::has_single_bit(bits) && tensor::has_passes(log, what.batch)))
    return {{"refused", true}};
  const auto run = [&](const auto& transform) {
    const DeviceBuffer spectra(arena.floats.bytes()), workspace(transform.workspace_bytes());
    json row = timed(timer, what, [&](cudaStream_t stream) {
      transform.run({arena.floats.data(), spectra.data(), false, 1, workspace.data(), false}, stream);
    });
    arena.add_error(row, spectra.data(), false);
    return row;
  };
  if (folded) return run(sfft::detail::cuda::FoldedTransform(static_cast<int>(what.points), what.batch, 0));
  return run(sfft::detail::cuda::TensorTransform(log, what.batch, 0, true));
}

json measure(Timer& timer, const Case& what, const Settings& settings, bool& good) {
  const Arena arena(what);
  Host host;
  if (settings.calls && what.batch == 1)
    host = download(arena.floats.as<std::complex<float>>(), static_cast<std::size_t>(what.total()));
  const Host* given = host.empty() ? nullptr : &host;
  json row{{"name", what.name()}, {"points", what.points}, {"batch", what.batch}};
  const auto enter = [&](const char* name, const std::function<json()>& contender) {
    try {
      row[name] = contender();
    } catch (const std::exception& error) {
      row[name] = {{"failed", error.what()}};
      cudaGetLastError();
    }
  };
  enter("tensor", [&] { return with_plan(timer, what, arena, Engine::tensor, false, given); });
  enter("cufft f32", [&] { return with_cufft(timer, what, arena, given); });
  enter("tuned f32", [&] { return with_plan(timer, what, arena, Engine::tuned, settings.search, nullptr); });
  enter("cufft f16", [&] { return with_half(timer, what, arena); });
  enter("unsplit f16", [&] { return without_split(timer, what, arena); });
  const json& error = row["tensor"]["relative_l2"];
  good = good && error.is_number() && error.get<double>() <= kPromised;
  return row;
}

/// Returns false for an unknown option or one without its value, which is argument `at`.
bool parse(int argc, char** argv, Settings& settings, int& at) {
  for (at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word == "--calls" || word == "--search") {
      (word == "--calls" ? settings.calls : settings.search) = true;
      continue;
    }
    if (at + 1 == argc) return false;
    const std::string value = argv[at + 1];
    if (word == "--lengths") {
      std::stringstream lengths(value);
      for (std::string length; std::getline(lengths, length, ',');)
        settings.lengths.push_back(std::max(2, std::atoi(length.c_str())));
    } else if (word == "--out" || word == "--filter") {
      (word == "--out" ? settings.out : settings.filter) = value;
    } else {
      return false;
    }
    ++at;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  int at = 0;
  if (!parse(argc, argv, settings, at)) {
    fmt::print(stderr, "bench_cuda_tensor: unknown option {}, or one without its value\n", argv[at]);
    return 2;
  }
  try {
    Timer timer;
    bool good = true;
    json result{{"device", gpu_name()}, {"commit", SFFT_COMMIT}, {"rows", json::array()}};
    for (const Case& what : cases(settings)) {
      if (what.name().find(settings.filter) == std::string::npos) continue;
      const json row = measure(timer, what, settings, good);
      const auto us = [&](const char* name) { return row[name].value("us", 0.0); };
      fmt::print(
          "{:<22} tensor {:9.2f} us {:.2e}  cufft {:9.2f}  tuned {:9.2f}  half {:9.2f}  unsplit {:9.2f}\n",
          what.name(), us("tensor"),
          row["tensor"].contains("relative_l2") && row["tensor"]["relative_l2"].is_number()
              ? row["tensor"]["relative_l2"].get<double>()
              : NAN,
          us("cufft f32"), us("tuned f32"), us("cufft f16"), us("unsplit f16"));
      std::fflush(stdout);
      result["rows"].push_back(row);
      write_json(settings.out, result);
    }
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cuda_tensor: {}\n", error.what());
    return 2;
  }
}
