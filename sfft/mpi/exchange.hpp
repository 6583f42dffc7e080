// SPDX-License-Identifier: Apache-2.0
// Messages that convert a distributed array from one layout to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sfft/mpi/comm.hpp"
#include "sfft/mpi/layout.hpp"

namespace sfft::mpi::detail {

/// Message buffers: after a failure, nothing is written to the caller's memory.
struct Staging {
  Bytes sent, received;
};

class Exchange {
 public:
  /// Both layouts have a box for each process.
  Exchange(const Comm& comm, const Layout& from, const Layout& to, std::size_t element_bytes);

  /// Makes room for run(). Local.
  void reserve(Staging& staging) const;
  /// Collective. `from` and `to` are this process's boxes and do not overlap. Throws Error(communication).
  void run(Comm& comm, const std::byte* from, std::byte* to, Staging& staging) const;

  std::int64_t bytes_sent() const noexcept;  ///< by this process to others
  int partners() const noexcept { return static_cast<int>(sends_.size()); }

 private:
  /// The data sent to or received from one process.
  struct Part {
    int rank;
    Box box;
    std::size_t place;  ///< in the staging memory, in bytes
    std::size_t bytes;
  };
  std::size_t add_parts(const Box& own, const std::vector<Box>& others, int rank,
                        std::vector<Part>& parts) const;

  Box from_, to_;
  Three from_strides_, to_strides_;
  std::size_t element_bytes_;
  std::vector<Part> sends_, receives_;
  std::size_t send_bytes_ = 0, receive_bytes_ = 0;
};

}  // namespace sfft::mpi::detail
