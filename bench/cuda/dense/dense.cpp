// SPDX-License-Identifier: Apache-2.0
// Dense transforms on the GPU against cuFFT and VkFFT: the published tables of the dense engine.
//   bench_cuda_dense [--out FILE.json] [--group NAMES] [--filter SUBSTRING] [--wisdom-in FILE]
//   [--wisdom-out FILE] [--tune] [--planning estimate|quick|measure] [--drawn COUNT [--seed N]] [--list]
// Groups, separated by commas: 1d, large, 2d, 3d, batched, primes, double, inverse, host, selective, memory,
// ablation. --tune ignores the shipped wisdom. --drawn measures problems that are drawn from the seed
// instead, planned by `automatic` alone; set SFFT_CACHE to an empty folder to see planning for the first
// time. Both files are written after every row. Times are medians of graph replays, or of wall clocks if host
// memory takes part. Every row states its accuracy. Exit status 1: a row failed or is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "bench/command_line.hpp"
#include "bench/cuda/dense/groups.hpp"
#include "bench/cuda/dense/kernels.hpp"
#include "bench/cuda/library_on_gpu.hpp"
#include "bench/result_file.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;
using nlohmann::json;

struct Arguments {
  std::string out, group, filter, wisdom_in, wisdom_out;
  std::string planning = "measure";
  int drawn = 0;
  std::uint64_t seed = 1;
  bool tune = false, list = false;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_options(argc, argv,
                {{"--out", arguments.out},
                 {"--group", arguments.group},
                 {"--filter", arguments.filter},
                 {"--wisdom-in", arguments.wisdom_in},
                 {"--wisdom-out", arguments.wisdom_out},
                 {"--tune", arguments.tune},
                 {"--planning", arguments.planning},
                 {"--drawn", arguments.drawn},
                 {"--seed", arguments.seed},
                 {"--list", arguments.list}});
  return arguments;
}

dense::Options::Planning parse_planning(const std::string& name) {
  using Planning = dense::Options::Planning;
  if (name == "estimate") return Planning::estimate;
  if (name == "quick") return Planning::quick;
  if (name == "measure") return Planning::measure;
  throw std::invalid_argument("--planning is estimate, quick or measure, not " + name);
}

/// A row to measure.
struct Task {
  std::string group, name;
  std::function<json(Timer&, const DenseSettings&)> measure;
};

Task dense_task(const DenseCase& what) {
  return {what.group, what.name,
          [what](Timer& timer, const DenseSettings& settings) { return time_dense(timer, what, settings); }};
}

std::vector<Task> all_tasks() {
  std::vector<Task> tasks;
  for (const DenseCase& what : dense_cases()) tasks.push_back(dense_task(what));
  const std::pair<std::int64_t, std::int64_t> cubes[] = {{256, 1}, {256, 8}, {512, 1}};
  for (const auto& [n, batch] : cubes) {
    tasks.push_back(
        {"host", host_cubes_name(n, batch), [n = n, batch = batch](Timer&, const DenseSettings& settings) {
           return time_host_cubes(n, batch, settings);
         }});
  }
  for (const DenseCase& what : dense_cases()) {
    if (!what.selected) continue;
    tasks.push_back({"selective", selection_name(what), [what](Timer& timer, const DenseSettings& settings) {
                       return time_selection(timer, what, settings);
                     }});
  }
  for (const int bits : {24, 26}) {
    tasks.push_back({"memory", memory_name(bits),
                     [bits](Timer& timer, const DenseSettings&) { return time_memory(timer, bits); }});
  }
#if SFFT_BENCH_ABLATION
  for (const std::int64_t n : {256, 512, 240, 1000}) {
    tasks.push_back({"ablation", tuning_trials_name(n),
                     [n](Timer&, const DenseSettings& settings) { return time_tuning_trials(n, settings); }});
  }
#endif
  return tasks;
}

std::vector<Task> chosen_tasks(const Arguments& arguments) {
  std::vector<Task> tasks;
  if (arguments.drawn > 0) {
    for (const DenseCase& what : drawn_cases(arguments.seed, arguments.drawn))
      tasks.push_back(dense_task(what));
  } else {
    tasks = all_tasks();
  }
  std::erase_if(tasks,
                [&](const Task& task) { return task.name.find(arguments.filter) == std::string::npos; });
  if (arguments.group.empty()) return tasks;
  std::vector<Task> chosen;
  std::istringstream groups(arguments.group);
  for (std::string group; std::getline(groups, group, ',');)
    std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(chosen),
                 [&](const Task& task) { return task.group == group; });
  return chosen;
}

/// TB/s that copies read and write, at the size of the batched rows and at a large size.
json copy_bandwidths(Timer& timer) {
  json found;
  for (const std::size_t mib : {256, 2048}) {
    const std::size_t bytes = mib << 20;
    const DeviceBuffer a(bytes), b(bytes);
    const auto tb_s = [&](const Work& copy) {
      return 2.0 * static_cast<double>(bytes) / timer.warm(copy, 2).us * 1e-6;
    };
    found[fmt::format("memcpy, {} MiB", mib)] = tb_s([&](cudaStream_t stream) {
      gpu(cudaMemcpyAsync(b.data(), a.data(), bytes, cudaMemcpyDeviceToDevice, stream));
    });
    found[fmt::format("kernel, {} MiB", mib)] =
        tb_s([&](cudaStream_t stream) { copy_by_kernel(a.data(), b.data(), bytes, stream); });
  }
  return found;
}

json stamp(int argc, char** argv) {
  int driver = 0, runtime = 0;
  gpu(cudaDriverGetVersion(&driver));
  gpu(cudaRuntimeGetVersion(&runtime));
  json result{{"device", gpu_name()},
              {"driver", driver},
              {"runtime", runtime},
              {"cufft", cufft_version()},
              {"commit", SFFT_COMMIT}};
#if SFFT_BENCH_VKFFT
  result["vkfft"] = vkfft_version();
#endif
  std::string command = "build/bin/bench_cuda_dense";
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  result["command"] = command;
  return result;
}

void take_wisdom(const std::string& file, json& result) {
  const dense::WisdomReport report = dense::load_wisdom(file);
  fmt::print("wisdom: {} taken, {} ignored {}\n", report.taken, report.ignored, report.reason);
  result["wisdom"] = {{"taken", report.taken}, {"ignored", report.ignored}, {"reason", report.reason}};
}

std::string cell(const json& row, const char* contender, const char* key, const char* format) {
  if (!row.contains(contender) || !row[contender].contains(key) || !row[contender][key].is_number())
    return "-";
  return fmt::format(fmt::runtime(format), row[contender][key].get<double>());
}

void print(const json& row) {
  if (!row.contains("target")) {
    fmt::print("{}\n", row.dump());
  } else {
    fmt::print(
        "{:34} tuned {:>9} auto {:>9} cuFFT {:>9} VkFFT {:>9} us, {:>6}x {:>6}x  {} passes, error {} {}\n",
        row["name"].get<std::string>(), cell(row, "tuned", "batch_us", "{:.2f}"),
        cell(row, "automatic", "batch_us", "{:.2f}"), cell(row, "cuFFT", "batch_us", "{:.2f}"),
        cell(row, "VkFFT", "batch_us", "{:.2f}"), cell(row, "tuned", "ratio", "{:.3f}"),
        cell(row, "automatic", "ratio", "{:.3f}"), cell(row, "tuned", "passes", "{:.2f}"),
        cell(row, "tuned", "relative_l2", "{:.1e}"),
        row.contains("missing") ? row["missing"].dump() : std::string());
  }
  std::fflush(stdout);
}

/// Returns whether all rows were measured and are correct. After an error that leaves the GPU unusable, it
/// skips the rest.
bool measure(const std::vector<Task>& tasks, const Arguments& arguments, json& result) {
  Timer timer;
  DenseSettings settings;
  settings.planning = parse_planning(arguments.planning);
  settings.automatic_only = arguments.drawn > 0;
  result["copies_tb_s"] = copy_bandwidths(timer);
  for (const auto& [way, tb_s] : result["copies_tb_s"].items())
    settings.copy_bandwidth_tb_s = std::max(settings.copy_bandwidth_tb_s, tb_s.get<double>());
  fmt::print("copy bandwidth {:.2f} TB/s\n", settings.copy_bandwidth_tb_s);
  result["copy_bandwidth_tb_s"] = settings.copy_bandwidth_tb_s;
  result["planning"] = arguments.planning;
  result["rows"] = json::array();
  bool good = true;
  for (const Task& task : tasks) {
    json row;
    try {
      row = task.measure(timer, settings);
      good = good && row.value("correct", true);
    } catch (const std::exception& error) {
      good = false;
      row = {{"group", task.group}, {"name", task.name}, {"failed", error.what()}};
    }
    print(row);
    result["rows"].push_back(row);
    write_json(arguments.out, result);
    if (!arguments.wisdom_out.empty()) dense::save_wisdom(arguments.wisdom_out);
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    const std::vector<Task> tasks = chosen_tasks(arguments);
    if (tasks.empty()) throw std::invalid_argument("no row is in that group and has that name");
    if (arguments.list) {
      for (const Task& task : tasks) fmt::print("{:10} {}\n", task.group, task.name);
      return 0;
    }
    json result = stamp(argc, argv);
    if (arguments.tune) dense::forget_wisdom();
    if (!arguments.wisdom_in.empty()) take_wisdom(arguments.wisdom_in, result);
    return measure(tasks, arguments, result) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cuda_dense: {}\n", error.what());
    return 2;
  }
}
