// SPDX-License-Identifier: Apache-2.0
// An error of one process is thrown by all of them, and a process that does not come is missed in time.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "sfft/mpi.hpp"
#include "tests/mpi/parts.hpp"

namespace sfft::mpi {
namespace {

/// Runs in every process: each gets this code, and a sentence with this word.
void expect_error(ErrorCode code, const std::string& word, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(MpiErrors, WhatNoEngineDoesIsRefused) {
  const Communicator world = Communicator::world();
  Options options;
  expect_error(ErrorCode::invalid_argument, "one dimension",
               [&] { Plan<float>(world, Shape{64}, Domain::complex); });
  options.decomposition = Decomposition::pencils;
  expect_error(ErrorCode::invalid_argument, "three dimensions", [&] {
    Plan<float>(world, {8, 8}, Domain::complex, options);
  });
  options.grid = {world.size() + 1, 1};
  expect_error(ErrorCode::invalid_argument, "does not fit", [&] {
    Plan<float>(world, {8, 8, 8}, Domain::complex, options);
  });
  options.grid = {-1, 0};
  expect_error(ErrorCode::invalid_argument, "grid", [&] {
    Plan<float>(world, {8, 8, 8}, Domain::complex, options);
  });
  options = {};
  options.decomposition = Decomposition::slabs;
  options.grid = {1, world.size()};
  expect_error(ErrorCode::invalid_argument, "pencils", [&] {
    Plan<float>(world, {8, 8, 8}, Domain::complex, options);
  });
  options = {};
  options.timeout_seconds = -1;
  expect_error(ErrorCode::invalid_argument, "time limit", [&] {
    Plan<float>(world, {8, 8, 8}, Domain::complex, options);
  });
  for (const Engine engine : {Engine::fftw, Engine::cufftmp}) {
    options = {};
    options.engine = engine;
    if (const Availability here = availability(engine); !here)
      expect_error(ErrorCode::backend_unavailable, here.reason, [&] {
        Plan<float>(world, {8, 8, 8}, Domain::complex, options);
      });
    options.decomposition = Decomposition::pencils;
    expect_error(ErrorCode::backend_unavailable, "", [&] {
      Plan<float>(world, {8, 8, 8}, Domain::complex, options);
    });
  }
}

TEST(MpiErrors, ProcessesThatDisagreeFailTogether) {
  const Communicator world = Communicator::world();
  if (world.size() == 1) return;
  const bool odd = world.rank() == world.size() - 1;
  expect_error(ErrorCode::invalid_argument, "same shape and options", [&] {
    Plan<float>(world, Shape{8, odd ? 9 : 8}, Domain::complex);
  });
  expect_error(ErrorCode::invalid_argument, "same shape and options", [&] {
    Plan<float>(world, {8, 8}, odd ? Domain::real : Domain::complex);
  });
  Options options;
  options.engine = odd ? Engine::fftw : Engine::automatic;
  expect_error(ErrorCode::invalid_argument, "same shape and options", [&] {
    Plan<float>(world, {8, 8}, Domain::complex, options);
  });
}

TEST(MpiErrors, OneProcessesErrorIsThrownByAll) {
  const Communicator world = Communicator::world();
  const int odd = world.size() - 1;
  const bool mine = world.rank() == odd;
  const std::string who = world.size() == 1 ? "" : "rank " + std::to_string(odd);
  const Plan<float> plan(world, {8, 9, 10}, Domain::complex);
  std::vector<std::complex<float>> signal(static_cast<std::size_t>(plan.signal_box().points()));
  std::vector<std::complex<float>> spectrum(static_cast<std::size_t>(plan.spectrum_box().points()));
  const std::span<const std::complex<float>> good(signal);
  for (int again = 0; again < 3; ++again) {
    expect_error(ErrorCode::shape_mismatch, who,
                 [&] { plan.forward(mine ? good.subspan(0, good.size() - 1) : good, spectrum); });
    expect_error(ErrorCode::shape_mismatch, who, [&] {
      plan.inverse(std::span<const std::complex<float>>(spectrum),
                   mine ? std::span(signal).subspan(1) : std::span(signal));
    });
    plan.forward(good, spectrum);  // nothing is left over
  }
  std::vector<float> real(signal.size());
  expect_error(ErrorCode::type_mismatch, "", [&] { plan.forward(std::span<const float>(real), spectrum); });
  expect_error(ErrorCode::invalid_argument, "root", [&] { plan.gather_signal(good, {}, world.size()); });
  expect_error(ErrorCode::shape_mismatch, "", [&] { plan.gather_signal(good, {}); });
  if (world.size() > 1)
    expect_error(ErrorCode::invalid_argument, "same root",
                 [&] { plan.gather_signal(good, {}, mine ? 1 : 0); });
  expect_error(ErrorCode::file_corrupt, who + (who.empty() ? "" : ": ") + "damaged",
               [&] { world.agree(ErrorCode::file_corrupt, mine ? "damaged" : ""); });
  world.agree(ErrorCode::device, "");
}

/// Lets this process have no more memory than it has, and a little, while this lives.
class MemoryLimit {
 public:
  explicit MemoryLimit(bool on) {
    getrlimit(RLIMIT_AS, &before_);
    if (!on) return;
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur =
        static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
    setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(MpiErrors, AllProcessesReportOneWithoutMemory) {
  const Communicator world = Communicator::world();
  const int odd = world.size() - 1;
  {
    const MemoryLimit limit(world.rank() == odd);
    expect_error(ErrorCode::out_of_memory, world.size() == 1 ? "" : "rank " + std::to_string(odd), [&] {
      Plan<double>(world, {512, 512, 256}, Domain::complex);
    });  // a gigabyte in all, and its scratch
  }
  const Plan<double> plan(world, {8, 8, 8}, Domain::complex);
  EXPECT_EQ(plan.engine(), Engine::built_in);
}

TEST(MpiErrors, BoxesAreChecked) {
  const Communicator world = Communicator::world();
  const Box own{{0, world.rank(), 0}, {4, 1, 1}};
  std::vector<double> values(4), got(4);
  const auto move = [&](const Box& from, const Box& to) {
    redistribute<double>(world, std::span<const double>(values), from, std::span<double>(got), to);
  };
  move(own, own);
  expect_error(ErrorCode::invalid_argument, "no process has", [&] {
    move(own, Box{{1, world.rank(), 0}, {4, 1, 1}});
  });
  expect_error(ErrorCode::shape_mismatch, "box", [&] { move(own, Box{{0, 0, 0}, {5, 1, 1}}); });
  expect_error(ErrorCode::invalid_argument, "box", [&] { move(own, Box{{-1, 0, 0}, {4, 1, 1}}); });
  if (world.size() > 1)
    expect_error(ErrorCode::invalid_argument, "overlap", [&] {
      move(Box{{0, 0, 0}, {4, 1, 1}}, Box{{0, 0, 0}, {4, 1, 1}});
    });
  const Box huge{{0, 0, 0}, {std::int64_t{1} << 39, std::int64_t{1} << 39, 4}};
  expect_error(ErrorCode::invalid_argument, "box", [&] { move(own, huge); });
}

TEST(MpiErrors, WrongHandlesAreRefused) {
  EXPECT_THROW(Communicator(MPI_Comm_c2f(MPI_COMM_NULL)), Error);
  EXPECT_THROW(Communicator(MPI_Comm_c2f(MPI_COMM_WORLD), -1), Error);
}

// The last test: its communicators have failed.
TEST(MpiErrors, TheOneWhoDoesNotComeIsMissedInTime) {
  const Communicator world = Communicator::world();
  if (world.size() == 1) return;
  Options options;
  options.timeout_seconds = 0.5;
  const Plan<double> plan(world, {12, 10}, Domain::complex, options);
  std::vector<std::complex<double>> signal(static_cast<std::size_t>(plan.signal_box().points()));
  std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(plan.spectrum_box().points()));
  if (world.rank() != world.size() - 1) {
    const auto forward = [&] { plan.forward(std::span<const std::complex<double>>(signal), spectrum); };
    expect_error(ErrorCode::communication, "did not answer within 0.5 s", forward);
    expect_error(ErrorCode::communication, "an earlier call", forward);
  }
  // The communicator that the plan came from is as it was.
  world.agree(ErrorCode::device, "");
}

}  // namespace
}  // namespace sfft::mpi
