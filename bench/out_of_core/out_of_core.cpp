// SPDX-License-Identifier: Apache-2.0
// Transforms arrays in page-locked host memory that exceed a budget of GPU memory, with host shares from 0 to
// 1, and compares them with FFTW, if available, on the same array.
//   bench_out_of_core --shape 1024x1024x1024 … [--budget BYTES …] [--share S …] [--auto] [--no-gpu]
//                     [--gpus N,N…] [--real] [--apart] [--lock] [--pageable] [--packed] [--threads N]
//                     [--repeat N] [--fftw-threads N,N…] [--fftw-estimate] [--fftw-seconds S]
//                     [--out FILE.json]
//   bench_out_of_core --bus [--out FILE.json]
// Transforms are float and forward, in place or, with --apart, into another array; FFTW runs likewise. Shapes
// have one to three dimensions. Signals are complex, or real in rows with room for half spectra in place.
// --auto measures the best shares (Options::Planning::measure); the result also predicts the times of the
// requested shares. --gpus: the first N GPUs share the array, each with the budget; there are rows for each
// N. Times are medians of wall clocks after a warm-up call (--repeat 0: of that call), and the file is
// written after every row.
// --lock page-locks ordinary memory that is already filled, which is faster for large arrays; neither is part
// of "ms". --pageable leaves the memory pageable. --packed: values cross the bus in block16. Ten thousand
// outputs are compared with direct sums. --bus measures only copies of columns.
#include <fmt/format.h>

#ifdef SFFT_BENCH_FFTW
#include <fftw3.h>
#endif

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "bench/command_line.hpp"
#include "bench/large_arrays.hpp"
#include "bench/out_of_core/bus.hpp"
#include "bench/out_of_core/product_signal.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/dense/out_of_core/real_fft.hpp"
#include "sfft/error.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;
using Complex = std::complex<float>;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kValueBytes = sizeof(Complex);

struct Arguments {
  std::vector<Shape> shapes;
  std::vector<double> budgets, shares;
  std::vector<int> fftw, gpus;
  bool automatic = false, no_gpu = false, real = false, apart = false, lock = false, bus = false,
       pageable = false, packed = false;
  bool fftw_estimate = false;
  double fftw_seconds = 600;
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency())), repeat = 3;
  std::string out, command;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  arguments.command = bench::joined(argc, argv);
  bench::parse_options(
      argc, argv,
      {{"--shape", [&](const std::string& text) { arguments.shapes.push_back(bench::parse_shape(text)); }},
       {"--budget", arguments.budgets},
       {"--share", arguments.shares},
       {"--auto", arguments.automatic},
       {"--real", arguments.real},
       {"--apart", arguments.apart},
       {"--lock", arguments.lock},
       {"--pageable", arguments.pageable},
       {"--packed", arguments.packed},
       {"--bus", arguments.bus},
       {"--no-gpu", arguments.no_gpu},
       {"--threads", arguments.threads},
       {"--gpus", arguments.gpus},
       {"--repeat", arguments.repeat},
       {"--fftw-threads", arguments.fftw},
       {"--fftw-estimate", arguments.fftw_estimate},
       {"--fftw-seconds", arguments.fftw_seconds},
       {"--out", arguments.out}});
  if (arguments.shapes.empty() && !arguments.bus) throw std::invalid_argument("give at least one --shape");
  if (arguments.budgets.empty()) arguments.budgets.push_back(0);
  if (arguments.gpus.empty()) arguments.gpus.push_back(1);
  return arguments;
}

class Bench {
 public:
  explicit Bench(Arguments arguments) : arguments_(std::move(arguments)) {
    file_ = bench::result_file(SFFT_COMMIT, arguments_.command);
    file_.update({{"threads", arguments_.threads},
                  {"real", arguments_.real},
                  {"apart", arguments_.apart},
                  {"pageable", arguments_.pageable},
                  {"packed", arguments_.packed}});
    if (arguments_.no_gpu) return;
    file_["device"] = detail::make_gpu_device(0, kValueBytes)->name();
    file_["bus_gb_s"] = bench::bus_rates(1);
    for (const int gpus : arguments_.gpus)
      if (gpus > 1) file_["buses_gb_s"][std::to_string(gpus)] = bench::bus_rates(gpus);
    if (arguments_.bus) file_["columns_gb_s"] = bench::column_rates();
    write();
  }

  void run() {
    for (const Shape& shape : arguments_.shapes) {
      const auto bytes = static_cast<std::size_t>(values_of(shape)) * sizeof(Complex);
      const bench::ProductSignal signal(shape, arguments_.real);
      array_row_ = json::object();
      const std::shared_ptr<std::byte> memory = array(bytes),
                                       other = arguments_.apart ? array(bytes) : memory;
      const Arrays arrays{reinterpret_cast<Complex*>(memory.get()), reinterpret_cast<Complex*>(other.get()),
                          signal};
      for (const int gpus : arguments_.gpus)
        for (const double budget : arguments_.budgets) shares(shape, gpus, budget, arrays);
      for (const int threads : arguments_.fftw) fftw(shape, threads, arrays);
    }
  }

 private:
  struct Arrays {
    Complex *from, *to;  ///< may be the same
    const bench::ProductSignal& signal;
  };

  /// Adds the times of allocation, in seconds, to the following rows.
  std::shared_ptr<std::byte> array(std::size_t bytes) {
    const auto timed = [&](const char* name, const auto& job) {
      const auto start = Clock::now();
      auto result = job();
      array_row_[name] = array_row_.value(name, 0.0) + bench::seconds_since(start);
      return result;
    };
    if (!arguments_.no_gpu && !arguments_.lock && !arguments_.pageable)
      return timed("allocate_s", [&] {
        return detail::make_gpu_device(0, kValueBytes)->allocate_on_host(static_cast<std::int64_t>(bytes));
      });
    std::shared_ptr<std::byte> memory = timed("touch_s", [&] {
      std::shared_ptr<std::byte> fresh{detail::cpu::make_large_buffer(bytes)};
      bench::touch(fresh.get(), bytes, arguments_.threads);
      return fresh;
    });
    if (arguments_.no_gpu || arguments_.pageable) return memory;
    return timed("lock_s", [&] { return bench::page_locked(std::move(memory), bytes); });
  }

  /// Values of the spectrum, which is the larger array. In place, a real signal has the room of its half
  /// spectrum.
  std::int64_t values_of(const Shape& shape) const {
    const std::int64_t row = shape[shape.rank() - 1];
    return shape.points() / row * (arguments_.real ? row / 2 + 1 : row);
  }
  std::unique_ptr<detail::OutOfCorePlan> plan(const Shape& shape, int gpus, double budget) const {
    detail::OutOfCoreDevices devices;
    for (int gpu = 0; gpu < gpus && !arguments_.no_gpu; ++gpu)
      devices.push_back(detail::make_gpu_device(gpu, kValueBytes));
    const double share = arguments_.no_gpu ? 1 : -1;
    detail::OutOfCoreOptions options{static_cast<std::int64_t>(budget), share, arguments_.threads};
    options.packed = arguments_.packed;
    if (!arguments_.real) return std::make_unique<detail::OutOfCoreFft>(shape, kValueBytes, devices, options);
    return std::make_unique<detail::OutOfCoreRealFft<float>>(shape, 1, real_pitch(shape), devices, options);
  }
  std::int64_t real_pitch(const Shape& shape) const {
    const std::int64_t row = shape[shape.rank() - 1];
    return arguments_.apart ? row : 2 * (row / 2 + 1);
  }

  void add(json row) {
    fmt::print("{}\n", row.dump());
    std::fflush(stdout);
    file_["rows"].push_back(std::move(row));
    write();
  }
  void write() const { bench::write_json(arguments_.out, file_); }

  /// Median time of transforms of fresh data, in milliseconds.
  template <class Transform>
  double measured_ms(const Shape& shape, const Arrays& arrays, const Transform& transform) const {
    std::vector<double> times;
    for (int i = 0; i <= arguments_.repeat; ++i) {
      // Repeated in-place transforms would overflow.
      if (i == 0 || !arguments_.apart)
        arrays.signal.fill(reinterpret_cast<float*>(arrays.from), real_pitch(shape), arguments_.threads);
      const auto start = Clock::now();
      transform();
      if (i > 0 || arguments_.repeat == 0) times.push_back(1e3 * bench::seconds_since(start));
    }
    return bench::median(times);
  }

  /// Measures one plan with the shares that it chooses and with the requested ones.
  void shares(const Shape& shape, int gpus, double budget, const Arrays& arrays) {
    json row = array_row_;
    row.update({{"shape", shape.to_string()}, {"budget_bytes", budget}, {"gpus", gpus}});
    try {
      const auto planning = Clock::now();
      const auto fft = plan(shape, gpus, budget);
      if (arguments_.automatic) fft->measure();
      const double plan_s = bench::seconds_since(planning);
      const std::size_t steps = fft->host_shares().size();
      std::vector<double> shares = arguments_.shares;
      if (arguments_.automatic) shares.insert(shares.begin(), -1);
      for (const double share : shares) {
        if (share >= 0) fft->set_host_shares(std::vector<double>(steps, share));
        json one = row;
        one["asked_share"] = share;
        one["plan_s"] = plan_s;
        shared_row(shape, *fft, arrays, std::move(one));
      }
    } catch (const sfft::Error& failure) {
      json refused = row;
      refused["error"] = failure.what();
      add(std::move(refused));
    }
  }

  void shared_row(const Shape& shape, const detail::OutOfCorePlan& fft, const Arrays& arrays, json row) {
    const detail::cpu::LargeBuffer workspace =
        detail::cpu::make_large_buffer(static_cast<std::size_t>(fft.workspace_bytes()) + 64);
    row["ms"] = measured_ms(shape, arrays, [&] { fft.forward(arrays.from, arrays.to, 1, workspace.get()); });
    const std::vector<double> shares = fft.host_shares();
    const auto measured = fft.measured(), predicted = fft.predicted();
    for (std::size_t r = 0; r < measured.size(); ++r) {
      if (measured[r].us > 0) {  // the call takes this step
        if (measured.size() == shares.size()) row["host_shares"].push_back(shares[r]);
        row["rounds"].push_back({{"ms", measured[r].us / 1e3},
                                 {"device_ms", measured[r].device_us / 1e3},
                                 {"host_ms", measured[r].host_us / 1e3},
                                 {"predicted_ms", predicted[r].us / 1e3}});
      }
    }
    if (measured.size() != shares.size()) row["host_shares"] = shares;
    row["relative_l2_to_sums"] = arrays.signal.error(arrays.to, arguments_.threads);
    row["explain"] = fft.explain();
    add(std::move(row));
  }

#ifdef SFFT_BENCH_FFTW
  void fftw(const Shape& shape, int threads, const Arrays& arrays) {
    json row{{"shape", shape.to_string()}, {"engine", std::string(fftwf_version)}, {"fftw_threads", threads}};
    static const bool ready = fftwf_init_threads() != 0;
    if (!ready) throw std::runtime_error("FFTW has no threads");
    fftwf_plan_with_nthreads(threads);
    fftwf_set_timelimit(arguments_.fftw_seconds);
    std::vector<int> extents;
    for (const std::int64_t n : shape.extents()) extents.push_back(static_cast<int>(n));
    auto* const from = reinterpret_cast<fftwf_complex*>(arrays.from);
    auto* const to = reinterpret_cast<fftwf_complex*>(arrays.to);
    const auto planning = Clock::now();
    const unsigned flags = arguments_.fftw_estimate ? FFTW_ESTIMATE : FFTW_MEASURE;
    const fftwf_plan plan =
        arguments_.real
            ? fftwf_plan_dft_r2c(shape.rank(), extents.data(), reinterpret_cast<float*>(from), to, flags)
            : fftwf_plan_dft(shape.rank(), extents.data(), from, to, FFTW_FORWARD, flags);
    row["plan_s"] = bench::seconds_since(planning);
    row["flags"] = arguments_.fftw_estimate ? "estimate" : "measure";
    row["ms"] = measured_ms(shape, arrays, [&] { fftwf_execute(plan); });
    row["relative_l2_to_sums"] = arrays.signal.error(arrays.to, arguments_.threads);
    fftwf_destroy_plan(plan);
    add(std::move(row));
  }
#else
  void fftw(const Shape&, int, const Arrays&) const {
    throw std::runtime_error("this build has found no FFTW with threads");
  }
#endif

  Arguments arguments_;
  json file_, array_row_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Bench(parse(argc, argv)).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
