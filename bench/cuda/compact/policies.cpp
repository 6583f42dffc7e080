// SPDX-License-Identifier: Apache-2.0
// Times given policies of the tuned kernels, one per line of a file.
//   bench_cuda_policies FILE [--out FILE.json]
// A line has the kind (c2c or r2c), the shape, the batch, the formats of signals, of spectra and between
// steps, and the policy as in wisdom files:
//   c2c 240 139810 f16 f16 f32 kernel radices=16.15 threads_per_transform=16 transforms_per_block=8
// Adjacent lines with the same problem are compiled together and share data. Times are medians of graph
// replays, in microseconds. A policy whose spectra disagree with those of cuFFT is reported as wrong.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/command_line.hpp"
#include "bench/result_file.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/trial_bench.hpp"

namespace {

using namespace sfft;
using dense::Storage;
using detail::tuned::Candidate;
using nlohmann::json;

struct Line {
  std::string problem, policy;
};

std::vector<Line> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    constexpr int kWordsOfProblem = 6;
    std::size_t at = 0;
    for (int word = 0; word < kWordsOfProblem; ++word) {
      at = text.find(' ', at) + 1;
      if (at == 0) throw std::runtime_error("no policy in: " + text);
    }
    lines.push_back({text.substr(0, at - 1), text.substr(at)});
  }
  return lines;
}

Storage storage_of(const std::string& word) {
  for (const Storage storage : {Storage::f32, Storage::f16, Storage::bf16}) {
    if (word == to_string(storage)) return storage;
  }
  throw std::runtime_error("no format of these kernels: " + word);
}

struct Problem {
  detail::DenseProblem dense;
  detail::tuned::Formats formats;
};

Problem problem_of(const std::string& text) {
  std::istringstream words(text);
  std::string kind, shape, signal, spectrum, between;
  std::int64_t batch = 0;
  words >> kind >> shape >> batch >> signal >> spectrum >> between;
  std::vector<std::int64_t> extents;
  std::istringstream numbers(shape);
  for (std::string number; std::getline(numbers, number, 'x');) extents.push_back(std::stoll(number));
  detail::DenseProblem dense;
  dense.shape = Shape(std::span<const std::int64_t>(extents));
  dense.real = kind == "r2c";
  dense.batch = batch;
  dense = detail::contiguous_problem(dense, batch);
  detail::tuned::Formats formats{storage_of(signal), storage_of(spectrum), storage_of(between)};
  if (formats.between == Storage::f16) formats.peak = 1;
  return {dense, formats};
}

void time_all(std::span<const Line> lines, json& rows) {
  const Problem problem = problem_of(lines[0].problem);
  detail::tuned::TrialBench<float> bench(problem.dense, problem.formats);
  std::vector<Candidate> all;
  for (const Line& line : lines) {
    const auto policy = detail::tuned::parse_policy(line.policy);
    if (!policy) throw std::runtime_error("no policy: " + line.policy);
    all.push_back({.policy = *policy});
  }
  bench.compile(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    json row{{"problem", lines[i].problem}, {"policy", lines[i].policy}};
    const auto us = bench.time(all[i]);
    if (us && bench.check(all[i])) row["us"] = *us;
    if (!all[i].failure.empty()) row["failure"] = all[i].failure.substr(0, 400);
    fmt::print("{:8.2f} {} {} {}\n", us.value_or(0), lines[i].problem, lines[i].policy,
               all[i].failure.substr(0, 100));
    std::fflush(stdout);
    rows.push_back(row);
    all[i].executable.reset();
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::string out;
    std::vector<std::string> files;
    bench::parse_options(argc, argv, {{"--out", out}}, &files);
    if (files.size() != 1) throw std::invalid_argument("give a file of policies");
    const std::vector<Line> lines = lines_of(files[0]);
    json rows = json::array();
    for (std::size_t first = 0; first < lines.size();) {
      std::size_t end = first;
      while (end < lines.size() && lines[end].problem == lines[first].problem) ++end;
      time_all(std::span(lines).subspan(first, end - first), rows);
      first = end;
      bench::write_json(out, rows);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cuda_policies: {}\n", error.what());
    return 2;
  }
}
