// SPDX-License-Identifier: Apache-2.0
// Long calls that are stopped at random moments: the time from the request until the call has ended.
//   bench_run_control [--points N] [--rows N] [--columns N] [--threads N …] [--moments N] [--seed N]
//   [--out FILE.json]
// Each kind of call runs to its end first, then once per moment, which is uniform over its usual time. If the
// call ends before the moment, the moment does not count.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <thread>

#include "bench/command_line.hpp"
#include "bench/long_calls.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;

struct Arguments {
  std::int64_t points = 1 << 24, rows = 1080, columns = 1920;
  std::vector<int> threads;
  int moments = 50;
  std::uint64_t seed = 1;
  std::string out;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  bench::parse_options(argc, argv,
                       {{"--points", arguments.points},
                        {"--rows", arguments.rows},
                        {"--columns", arguments.columns},
                        {"--threads", arguments.threads},
                        {"--moments", arguments.moments},
                        {"--seed", arguments.seed},
                        {"--out", arguments.out}});
  if (arguments.threads.empty()) arguments.threads.push_back(1);
  return arguments;
}

/// Seconds from the request to the end of the call, or nothing if the call ended before the request.
std::optional<double> stopping_seconds(const bench::LongCall& call, double wait_s) {
  using Clock = std::chrono::steady_clock;
  std::stop_source source;
  Clock::time_point requested;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
    requested = Clock::now();
    source.request_stop();
  });
  bool stopped = false;
  try {
    run_with_control(source.get_token(), {}, [&] { static_cast<void>(call.run()); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::stopped) throw;
    stopped = true;
  }
  const Clock::time_point ended = Clock::now();
  other.join();
  if (!stopped) return std::nullopt;
  return std::chrono::duration<double>(ended - requested).count();
}

json row(const bench::LongCall& call, int threads, const Arguments& arguments) {
  const double usual_s = bench::seconds_of([&] { static_cast<void>(call.run()); });
  std::mt19937_64 random(arguments.seed);
  std::vector<double> ms;
  for (int n = 0; n < arguments.moments; ++n) {
    const double wait_s = std::uniform_real_distribution<double>(0, usual_s)(random);
    if (const auto seconds = stopping_seconds(call, wait_s)) ms.push_back(1e3 * *seconds);
  }
  json row{{"call", call.name}, {"threads", threads}, {"usual_ms", 1e3 * usual_s}, {"stopped", ms.size()}};
  if (ms.empty()) return row;
  row["median_ms"] = bench::median(ms);
  row["longest_ms"] = *std::max_element(ms.begin(), ms.end());
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    fmt::print("{:<28} {:>7} {:>10} {:>8} {:>10} {:>11}\n", "call", "threads", "usual ms", "stopped",
               "median ms", "longest ms");
    for (const int threads : arguments.threads) {
      for (const bench::LongCall& call :
           bench::long_calls(arguments.points, arguments.rows, arguments.columns, threads)) {
        const json one = row(call, threads, arguments);
        fmt::print("{:<28} {:>7} {:>10.1f} {:>8} {:>10.2f} {:>11.2f}\n", call.name, threads,
                   one["usual_ms"].get<double>(), one["stopped"].get<int>(), one.value("median_ms", 0.0),
                   one.value("longest_ms", 0.0));
        std::fflush(stdout);
        file["rows"].push_back(one);
        bench::write_json(arguments.out, file);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
