// SPDX-License-Identifier: Apache-2.0
// A duplicated communicator with timeouts, and agreement on errors.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sfft/error.hpp"
#include "sfft/mpi.hpp"

namespace sfft::mpi::detail {

/// An error in this process.
struct Failure {
  ErrorCode code;
  std::string message;
};

/// Runs work local to this process. An exception becomes a value, so that the
/// process can go on to agree().
std::optional<Failure> attempt(const std::function<void()>& action);

/// Uninitialised bytes.
struct Bytes {
  std::unique_ptr<std::byte[]> data;
  std::size_t size = 0;

  explicit Bytes(std::size_t count = 0) : data(new std::byte[count]), size(count) {}
};

class Comm {
 public:
  /// Collective. Throws Error(invalid_argument), and Error(communication) if a process does not join.
  Comm(MPI_Comm outer, double timeout_seconds);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  MPI_Comm get() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  double timeout_seconds() const noexcept { return timeout_seconds_; }

  /// Waits for all requests. Throws Error(communication) after `timeout_seconds`, or if MPI reports an error;
  /// from then on every call throws. Negative: this communicator's own limit.
  void wait(std::span<MPI_Request> requests, double timeout_seconds = -1);
  /// Memory that requests may still write to after a failure; it is then never freed.
  void keep_if_failed(Bytes bytes);

  /// Collective: if any process failed, all throw the failure of the lowest rank.
  void agree(const std::optional<Failure>& mine, double timeout_seconds = -1);
  /// attempt(), then agree().
  void together(const std::function<void()>& action, double timeout_seconds = -1);
  /// Collective: throws Error(invalid_argument, `what`) unless all processes pass the same values.
  void same(std::vector<std::int64_t> values, const char* what, double timeout_seconds = -1);
  /// Collective: `values` of all processes, concatenated.
  std::vector<std::int64_t> gather(std::vector<std::int64_t> values, double timeout_seconds = -1);
  /// Collective: the largest value of all processes.
  double largest(double value, double timeout_seconds = -1);

 private:
  void check(int code);
  [[noreturn]] void fail(const std::string& why);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  double timeout_seconds_;
  bool failed_ = false;
};

struct CommunicatorAccess {
  static const std::shared_ptr<Comm>& comm_of(const Communicator& communicator) noexcept {
    return communicator.comm_;
  }
};
inline const std::shared_ptr<Comm>& comm_of(const Communicator& communicator) noexcept {
  return CommunicatorAccess::comm_of(communicator);
}

}  // namespace sfft::mpi::detail
