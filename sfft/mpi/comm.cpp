// SPDX-License-Identifier: Apache-2.0
// Uses only non-blocking MPI calls and tests them until a deadline, so that a dead process cannot block
// the others for ever.
#include "sfft/mpi/comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include "kernels/runtime/elapsed.hpp"
#include "sfft/mpi.hpp"

namespace sfft::mpi {

namespace detail {

namespace {

/// Contents of an agreement message.
struct Told {
  std::int32_t code;
  char text[1020];
};

bool initialised() {
  int is = 0;
  int was = 0;
  MPI_Initialized(&is);
  MPI_Finalized(&was);
  return is != 0 && was == 0;
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

}  // namespace

std::optional<Failure> attempt(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const Error& error) {
    return Failure{error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return Failure{ErrorCode::out_of_memory, "not enough memory for this process's part of the transform"};
  } catch (const std::exception& error) {
    return Failure{ErrorCode::invalid_argument, error.what()};
  }
}

Comm::Comm(MPI_Comm outer, double timeout_seconds) : timeout_seconds_(timeout_seconds) {
  if (!initialised())
    throw Error(ErrorCode::invalid_argument, "MPI is not initialised: call MPI_Init_thread() before");
  if (outer == MPI_COMM_NULL)
    throw Error(ErrorCode::invalid_argument, "the communicator is MPI_COMM_NULL: give one of processes");
  if (!(timeout_seconds >= 0))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a time limit of {} s: give 0 for none, or more", timeout_seconds));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(outer, &comm_, &request));
  wait({&request, 1});
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(comm_, &rank_));
  check(MPI_Comm_size(comm_, &size_));
}

Comm::~Comm() {
  // Not after a failure: freeing may wait for processes that do not answer.
  if (comm_ != MPI_COMM_NULL && !failed_ && initialised()) MPI_Comm_free(&comm_);
}

void Comm::check(int code) {
  if (code != MPI_SUCCESS) fail(fmt::format("MPI reports: {}", text_of(code)));
}

void Comm::fail(const std::string& why) {
  failed_ = true;
  throw Error(ErrorCode::communication, why);
}

void Comm::wait(std::span<MPI_Request> requests, double timeout_seconds) {
  if (failed_)
    throw Error(ErrorCode::communication,
                "an earlier call lost another process: make a new communicator of those that live, or end");
  constexpr int kQuickTests = 200;
  const double limit = timeout_seconds < 0 ? timeout_seconds_ : timeout_seconds;
  const auto start = std::chrono::steady_clock::now();
  for (int test = 0;; ++test) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) return;
    if (test < kQuickTests) continue;
    std::this_thread::yield();
    if (limit > 0 && sfft::detail::seconds_since(start) > limit)
      fail(
          fmt::format("another process did not answer within {} s: it has died, or it is slower than "
                      "Options::timeout_seconds allows",
                      limit));
  }
}

void Comm::keep_if_failed(Bytes bytes) {
  if (failed_) static_cast<void>(bytes.data.release());
}

void Comm::agree(const std::optional<Failure>& mine, double timeout_seconds) {
  // Allocated separately, because requests may outlive a failure.
  Bytes memory(2 * sizeof(std::int32_t) + sizeof(Told));
  auto* const lowest = reinterpret_cast<std::int32_t*>(memory.data.get());
  auto* const told = reinterpret_cast<Told*>(lowest + 2);
  lowest[0] = mine ? rank_ : size_;
  std::optional<Failure> agreed;
  int who = 0;
  try {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(lowest, lowest + 1, 1, MPI_INT32_T, MPI_MIN, comm_, &request));
    wait({&request, 1}, timeout_seconds);
    who = lowest[1];
    if (who == size_) return;
    std::memset(told, 0, sizeof *told);
    if (mine && who == rank_) {
      told->code = static_cast<std::int32_t>(mine->code);
      std::memcpy(told->text, mine->message.data(), std::min(mine->message.size(), sizeof told->text - 1));
    }
    check(MPI_Ibcast(told, sizeof *told, MPI_BYTE, who, comm_, &request));
    wait({&request, 1}, timeout_seconds);
    agreed = Failure{static_cast<ErrorCode>(told->code), told->text};
  } catch (const Error&) {
    keep_if_failed(std::move(memory));
    throw;
  }
  throw Error(agreed->code, size_ == 1 ? agreed->message : fmt::format("rank {}: {}", who, agreed->message));
}

void Comm::together(const std::function<void()>& action, double timeout_seconds) {
  agree(attempt(action), timeout_seconds);
}

std::vector<std::int64_t> Comm::gather(std::vector<std::int64_t> values, double timeout_seconds) {
  const std::size_t count = values.size();
  Bytes memory((static_cast<std::size_t>(size_) + 1) * count * sizeof(std::int64_t));
  auto* const own = reinterpret_cast<std::int64_t*>(memory.data.get());
  std::copy(values.begin(), values.end(), own);
  try {
    MPI_Request request = MPI_REQUEST_NULL;
    const int sent = static_cast<int>(count);
    check(MPI_Iallgather(own, sent, MPI_INT64_T, own + count, sent, MPI_INT64_T, comm_, &request));
    wait({&request, 1}, timeout_seconds);
  } catch (const Error&) {
    keep_if_failed(std::move(memory));
    throw;
  }
  return {own + count, own + (static_cast<std::size_t>(size_) + 1) * count};
}

void Comm::same(std::vector<std::int64_t> values, const char* what, double timeout_seconds) {
  const std::vector<std::int64_t> all = gather(values, timeout_seconds);
  for (int other = 0; other < size_; ++other) {
    if (std::equal(values.begin(), values.end(),
                   all.begin() + other * static_cast<std::ptrdiff_t>(values.size())))
      continue;
    // If any two processes differ, every process differs from at least one other, so all throw.
    throw Error(ErrorCode::invalid_argument, fmt::format("the processes do not give the same {}", what));
  }
}

double Comm::largest(double value, double timeout_seconds) {
  // Times are compared in nanoseconds.
  const std::vector<std::int64_t> all = gather({static_cast<std::int64_t>(value * 1e9)}, timeout_seconds);
  return 1e-9 * static_cast<double>(*std::max_element(all.begin(), all.end()));
}

}  // namespace detail

Communicator::Communicator(int fortran_handle, double timeout_seconds) {
  if (!detail::initialised())
    throw Error(ErrorCode::invalid_argument, "MPI is not initialised: call MPI_Init_thread() before");
  comm_ = std::make_shared<detail::Comm>(MPI_Comm_f2c(fortran_handle), timeout_seconds);
}

Communicator Communicator::world() {
  if (!detail::initialised())
    throw Error(ErrorCode::invalid_argument, "MPI is not initialised: call MPI_Init_thread() before");
  return Communicator(MPI_Comm_c2f(MPI_COMM_WORLD));
}

int Communicator::rank() const noexcept {
  return comm_->rank();
}

int Communicator::size() const noexcept {
  return comm_->size();
}

void Communicator::agree(ErrorCode code, const std::string& message) const {
  comm_->agree(message.empty() ? std::nullopt : std::optional(detail::Failure{code, message}));
}

}  // namespace sfft::mpi
