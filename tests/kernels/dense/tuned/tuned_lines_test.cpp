// SPDX-License-Identifier: Apache-2.0
// Tests kernels for lines of one dimension of an array against direct sums. They are compiled by the host's
// compiler and run on the CPU.
#include "kernels/dense/tuned/plan/lines.hpp"

#include <gtest/gtest.h>

#include "tests/support/dense_reference.hpp"
#include "tests/support/tuned_emulator.hpp"

namespace sfft::test::tuned_lines_test {
namespace {

using detail::tuned::Lines;
using detail::tuned::Program;

struct Case {
  Lines lines;
  std::int64_t groups = 1;
};

/// The kernels that a volume of 3 × 20 × 12 in slabs needs, and extents that tiles do not divide.
std::vector<Case> cases() {
  const Lines::Strides plane{240, 1, 12}, block{24, 1, 120}, odd{21, 1, 105};
  std::vector<Case> all;
  for (const bool inverse : {false, true}) {
    all.push_back({{20, 12, plane, plane, inverse, false}, 3});               // columns
    all.push_back({{12, 10, {240, 12, 1}, {120, 12, 1}, inverse, true}, 3});  // half the rows
    all.push_back({{12, 7, {240, 12, 1}, {240, 12, 1}, inverse, true}, 3});
    all.push_back({{3, 24, block, block, inverse, false}, 5});  // lines of two rows at once
    all.push_back({{15, 21, odd, odd, inverse, false}, 5});
    all.push_back({{17, 21, odd, odd, inverse, true}, 3});
  }
  return all;
}

std::int64_t offset(const Lines::Strides& s, std::int64_t group, std::int64_t inner, std::int64_t element) {
  return group * s.group + inner * s.inner + element * s.element;
}

template <class Real>
void check(const Case& c, const EmulatedKernels& kernels, std::size_t at, const Program& program) {
  using Value = std::complex<Real>;
  const Lines& lines = c.lines;
  const auto extent = [&](const Lines::Strides& s) {
    return static_cast<std::size_t>(offset(s, c.groups - 1, lines.inner - 1, lines.points - 1) + 1);
  };
  const auto input = as_samples<Value>(random_signal(extent(lines.in), 31));
  const Value poison(-77, 77);
  std::vector<Value> output(extent(lines.out) + 16, poison), expected = output;
  detail::tuned::Tables tables(sizeof(Real) == 4, copy_to_host);
  const auto& step = program.kernels[0].step;
  device::Arguments arguments{};
  arguments.input = input.data();
  arguments.output = output.data();
  arguments.tiles = static_cast<unsigned>(step.tiles() * c.groups);
  arguments.resident_blocks = 4;
  arguments.per_multiprocessor = 0.5f;
  arguments.scale = 0.25;
  arguments.tables = tables.of(step);
  kernels.run(at, arguments, arguments.tiles, program.kernels[0].threads());
  for (std::int64_t g = 0; g < c.groups; ++g) {
    for (std::int64_t i = 0; i < lines.inner; ++i) {
      std::vector<std::complex<double>> x;
      for (std::int64_t e = 0; e < lines.points; ++e) {
        const Value value = input[static_cast<std::size_t>(offset(lines.in, g, i, e))];
        x.emplace_back(lines.inverse ? std::conj(value) : value);
      }
      x = direct_dft_axis(x, 1, lines.points, 1);
      for (std::int64_t e = 0; e < lines.points; ++e) {
        std::complex<double> value = x[static_cast<std::size_t>(e)] * (lines.scaled ? 0.25 : 1.0);
        if (lines.inverse) value = std::conj(value);
        expected[static_cast<std::size_t>(offset(lines.out, g, i, e))] = Value(value);
      }
    }
  }
  EXPECT_LE(relative_l2(output, expected), 4 * fft_bound<Real>(static_cast<double>(lines.points)));
}

template <class Real>
void check_all() {
  constexpr bool kSingle = sizeof(Real) == 4;
  std::vector<Program> programs;
  std::vector<std::string> sources;
  for (const Case& c : cases()) {
    detail::tuned::LineNeed need = need_of(c.lines);
    need.lines = 0;  // tiles may be larger than the number of lines
    const auto policies = candidates(need, kSingle, kHopper, 1);
    ASSERT_FALSE(policies.empty());
    programs.push_back(program_of(c.lines, policy_of(policies[0])));
    sources.push_back(source_of(programs.back().kernels[0], kSingle));
  }
  const ScratchFolder folder;
  const EmulatedKernels kernels(sources, folder.path(), "lines");
  for (std::size_t i = 0; i < programs.size(); ++i) {
    SCOPED_TRACE(i);
    check<Real>(cases()[i], kernels, i, programs[i]);
  }
}

TEST(TunedLines, EqualSumsInSingleAndDouble) {
  check_all<float>();
  check_all<double>();
}

}  // namespace
}  // namespace sfft::test::tuned_lines_test
