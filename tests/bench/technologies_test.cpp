// SPDX-License-Identifier: Apache-2.0
// The launches, the reference by direct sums, and the GPU's kernels emulated on the processor at every
// setting.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/technologies/reference.hpp"
#include "bench/technologies/schedule.hpp"
#include "bench/technologies/technology.hpp"

namespace sfft::technologies {
namespace {

std::vector<Problem> small_problems() {
  std::vector<Problem> problems;
  for (int bits = 1; bits <= 13; ++bits) problems.push_back({bits, 1, 1, false});
  for (int bits = 1; bits <= 7; ++bits) problems.push_back({bits, 2, 1, false});
  problems.push_back({1, 1, 37, false});  // part of a group
  problems.push_back({3, 1, 129, false});
  problems.push_back({6, 1, 5, false});
  problems.push_back({11, 1, 3, false});
  return problems;
}

TEST(Schedule, HasTheLaunchesOfTheSource) {
  for (int bits = 1; bits <= 26; ++bits) {
    for (const int block_bits : {6, 9, 11}) {
      const Setting setting{1 << (block_bits - 1), 32, false};
      const Schedule schedule = make_schedule({bits, 1, 1, false}, setting, 65535);
      EXPECT_EQ(schedule.size(), static_cast<std::size_t>(std::max(bits - block_bits, 0) + 1));
      for (const Launch& launch : schedule) {
        EXPECT_LE(launch.parameters.groups_x, 65535U);
        EXPECT_GE(launch.parameters.groups_x * launch.groups_y(), launch.groups);
        EXPECT_GE(static_cast<std::int64_t>(launch.groups) * launch.group_threads,
                  std::int64_t{1} << (bits - 1));
      }
    }
  }
}

TEST(Schedule, LeavesTheInputAlone) {
  for (const Problem& problem : small_problems()) {
    for (const Launch& launch : make_schedule(problem, {32, 16, false}, 64))
      EXPECT_NE(launch.target, Array::input);
  }
}

TEST(Reference, TwoPassesAreTheDefinition) {
  const Problem problem{11, 1, 1, false};
  Material material({problem});
  material.fill_signal();
  const auto sums = direct_spectrum(problem, material.signal());
  for (const std::int64_t f : {0, 1, 2, 31, 1024, 1500, 2047}) {
    std::complex<double> sum = 0;
    for (std::int64_t t = 0; t < 2048; ++t) {
      const double angle = -2 * std::acos(-1.0) * static_cast<double>(f * t % 2048) / 2048;
      sum += std::complex<double>(material.signal()[t]) * std::polar(1.0, angle);
    }
    EXPECT_LT(std::abs(sums[static_cast<std::size_t>(f)] - sum), 1e-10);
  }
}

/// The relative error of a technology, forward and inverse.
void check(Technology& technology, const std::vector<Problem>& problems, const Setting& setting) {
  Material material(problems);
  material.fill_signal();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    material.fill_spectrum(i);
    for (const bool inverse : {false, true}) {
      Problem problem = problems[i];
      problem.inverse = inverse;
      technology.prepare(problem, setting);
      technology.upload(material.signal());
      std::vector<Complex> spectrum(static_cast<std::size_t>(problem.points()));
      for (int again = 0; again < 2; ++again) technology.run();
      technology.download(spectrum.data());
      EXPECT_LE(material.error(i, inverse, spectrum.data()), problem.bound())
          << problem.name() << (inverse ? " inverse, " : ", ") << setting.threads << " threads, tile "
          << setting.tile;
    }
  }
}

TEST(Emulation, IsRightAtEverySetting) {
  const auto technology = open_emulation(0);
  for (const int threads : {16, 32, 64, 256, 1024})
    check(*technology, small_problems(), {threads, 16, false});
  for (const int tile : {32, 64})
    check(*technology, {{5, 2, 1, false}, {6, 2, 1, false}, {7, 2, 1, false}}, {64, tile, false});
}

TEST(Emulation, RefusesWhatDoesNotFit) {
  const auto technology = open_emulation(0);
  EXPECT_THROW(technology->prepare({10, 1, 1, false}, {2048, 16, false}), Failure);
  EXPECT_THROW(technology->prepare({10, 2, 1, false}, {64, 128, false}),
               Failure);  // its tile exceeds shared memory
}

TEST(Cpu, IsRight) {
  check(*open_cpu(0), small_problems(), {});
}

TEST(Hip, CompilesTheKernelsForEveryTile) {
  for (const int tile : {16, 32, 64}) {
    try {
      EXPECT_FALSE(compile_hip_for("gfx90a", tile).empty());
    } catch (const Failure& failure) {
      if (std::string(failure.what()).find("HIPRTC does not compile") != std::string::npos)
        FAIL() << failure.what();
      GTEST_SKIP() << failure.what();
    }
  }
}

TEST(Cpu, AWrongAnswerIsFound) {
  const Problem problem{10, 1, 1, false};
  Material material({problem});
  material.fill_signal();
  material.fill_spectrum(0);
  const auto technology = open_cpu(0);
  technology->prepare(problem, {});
  technology->upload(material.signal());
  technology->run();
  std::vector<Complex> spectrum(1024);
  technology->download(spectrum.data());
  spectrum[17] += 1e-2F;
  EXPECT_GT(material.error(0, false, spectrum.data()), problem.bound());
  spectrum[17] = Complex(NAN, 0);
  EXPECT_FALSE(material.error(0, false, spectrum.data()) <= problem.bound());
}

}  // namespace
}  // namespace sfft::technologies
