// SPDX-License-Identifier: Apache-2.0
// Lists the published problems with their targets, group by group, and computes the bytes and operations on
// which quoted rates are based.
#include "bench/cuda/dense/case.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

namespace sfft::bench {

namespace {

constexpr std::int64_t kBatchedBytes = std::int64_t{256} << 20;

DenseCase complex_case(const std::string& group, std::vector<std::int64_t> extents,
                       std::optional<double> target, bool double_precision = false) {
  DenseCase made;
  made.group = group;
  const std::int64_t n = extents.back();
  const bool power = (n & (n - 1)) == 0;
  const std::string size = extents.size() == 3 ? fmt::format("{}^3", n)
                           : power             ? fmt::format("2^{}", std::lround(std::log2(n)))
                                               : fmt::format("{}", n);
  made.name = fmt::format("{}D C2C {}{}", extents.size(), double_precision ? "double " : "", size);
  made.problem = {.extents = std::move(extents), .double_precision = double_precision};
  made.input = double_precision ? ElementType::c128 : ElementType::c64;
  made.target = target;
  return made;
}

struct FrameOptions {
  ElementType input = ElementType::f32;
  bool inverse = false;
  bool double_precision = false;
};

DenseCase frames(const std::string& group, std::int64_t width, std::int64_t height, std::int64_t batch,
                 std::optional<double> target, const FrameOptions& options = {}) {
  DenseCase made;
  made.group = group;
  made.name = fmt::format("2D {} {}{}x{}, batch {}{}", options.inverse ? "C2R" : "R2C",
                          options.double_precision ? "double " : "", width, height, batch,
                          options.input == ElementType::u8 ? ", 8 bits" : "");
  made.problem = {.extents = {height, width},
                  .real = true,
                  .batch = batch,
                  .inverse = options.inverse,
                  .double_precision = options.double_precision};
  made.input = options.double_precision ? ElementType::f64 : options.input;
  made.target = target;
  return made;
}

void add_lines(std::vector<DenseCase>& cases) {
  for (int bits = 16; bits <= 20; ++bits) cases.push_back(complex_case("1d", {std::int64_t{1} << bits}, 1.0));
  for (const int bits : {22, 24, 26, 28}) {
    cases.push_back(complex_case("large", {std::int64_t{1} << bits}, 1.6));
    cases.back().selected = bits == 24;
  }
}

void add_frames(std::vector<DenseCase>& cases) {
  cases.push_back(frames("2d", 1920, 1080, 32, 1.5));
  cases.push_back(frames("2d", 1920, 1080, 32, 1.8, {.input = ElementType::u8}));
  cases.push_back(frames("2d", 1920, 1080, 1, 1.5));
  for (DenseCase& full_hd : std::span(cases).last(3)) full_hd.selected = true;
  cases.push_back(frames("2d", 640, 480, 32, 1.3));
  cases.push_back(frames("2d", 768, 432, 32, 1.3));
  cases.push_back(frames("2d", 1280, 720, 32, 1.3));
  cases.push_back(frames("2d", 3840, 2160, 8, 1.3));
}

void add_cubes(std::vector<DenseCase>& cases) {
  const std::pair<std::int64_t, double> sizes[] = {{64, 1.2}, {128, 1.3}, {256, 1.4}, {384, 1.3}, {512, 1.3}};
  for (const auto& [n, target] : sizes) {
    cases.push_back(complex_case("3d", {n, n, n}, target));
    cases.back().selected = n == 256;
  }
}

void add_batched_lines(std::vector<DenseCase>& cases) {
  for (const std::int64_t n : {60,  100, 192, 240, 360, 384, 432, 480,  500,  512,  576,  600,  640,
                               720, 768, 800, 864, 900, 960, 972, 1000, 1024, 1080, 1920, 3000, 5000}) {
    cases.push_back(batched_lines("batched", n));
    cases.back().target = 1.0;
    cases.back().target_passes = 1.1;
  }
  for (const std::int64_t n : {127, 251, 509, 1021}) {
    cases.push_back(batched_lines("primes", n));
    cases.back().target = 1.8;
  }
}

void add_without_target(std::vector<DenseCase>& cases) {
  for (const int bits : {20, 24})
    cases.push_back(complex_case("double", {std::int64_t{1} << bits}, {}, true));
  cases.push_back(frames("double", 1920, 1080, 32, {}, {.double_precision = true}));
  cases.push_back(complex_case("double", {256, 256, 256}, {}, true));
  for (const std::int64_t n : {512, 1000}) cases.push_back(batched_lines("double", n, true));
  cases.push_back(frames("inverse", 1920, 1080, 32, {}, {.inverse = true}));
}

}  // namespace

int DenseCase::min_passes() const {
  return problem.extents.size() == 1 && problem.points() <= (1 << 14) ? 1 : 2;
}

std::size_t DenseCase::input_bytes() const {
  const auto points = static_cast<std::size_t>(problem.batch * problem.points());
  return problem.inverse ? problem.input_bytes() : points * element_bytes(input);
}

std::size_t DenseCase::min_bytes() const {
  const auto more = static_cast<std::size_t>(min_passes() - 1);
  return input_bytes() + problem.output_bytes() + more * 2 * problem.spectrum_bytes();
}

double DenseCase::operations() const {
  const auto n = static_cast<double>(problem.points());
  return (problem.real ? 2.5 : 5) * n * std::log2(n) * static_cast<double>(problem.batch);
}

std::string DenseCase::shape() const {
  return Shape(problem.extents).to_string();
}

DenseCase batched_lines(const std::string& group, std::int64_t n, bool double_precision) {
  DenseCase made = complex_case(group, {n}, {}, double_precision);
  made.problem.batch = kBatchedBytes / ((double_precision ? 16 : 8) * n);
  made.name = fmt::format("1D C2C {}{}, batched", double_precision ? "double " : "", n);
  return made;
}

std::vector<DenseCase> dense_cases() {
  std::vector<DenseCase> cases;
  add_lines(cases);
  add_frames(cases);
  add_cubes(cases);
  add_batched_lines(cases);
  add_without_target(cases);
  return cases;
}

}  // namespace sfft::bench
