// SPDX-License-Identifier: Apache-2.0
// Transforms of arrays in host memory that exceed what a card may use, by the card and the host together,
// after Chen and Li (IPCCC 2013).
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/platform/pool_cache.hpp"
#include "kernels/dense/out_of_card/dealt_round.hpp"

namespace sfft::detail {

struct OutOfCardOptions {
  std::size_t device_memory = 0;  ///< bytes; 0: what is free
  double host_share = -1;         ///< of both rounds, 0 … 1; negative: by the load model
  int threads = 1;                ///< of the host, besides those that attend to the streams
  /// Smaller pieces do not reach the full speed of the bus: a round has fewer pieces then. Tests make it
  /// small.
  std::size_t least_piece_bytes = std::size_t{32} << 20;
};

/// Complex transforms of two and three dimensions in two rounds, each one trip of the array: columns along
/// the slowest dimension, then what lies within each of its slabs. Arrays are in host memory, in place or
/// apart; a call needs no other memory as large as they are. Thread-safe: calls take turns. If a call fails,
/// what it writes to is partly transformed; memory for it is allocated before an array is touched.
template <class Real>
class OutOfCardFft {
 public:
  /// Without a card the host does everything. Throws Error: backend_unavailable for shapes that it does not
  /// take, out_of_memory for a budget in which not even one column group and one slab fit.
  OutOfCardFft(const Shape& shape, std::unique_ptr<Card<Real>> card, const OutOfCardOptions& options);

  static bool takes(const Shape& shape) noexcept;

  /// Bytes of 64-byte aligned host memory for one call.
  std::size_t workspace_bytes() const noexcept;
  void transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse, Real scale,
                 std::byte* workspace) const;

  /// Two profiling runs and a few shares around the predicted one, for each round, on scratch memory; then
  /// deals out the best. Does nothing without a card.
  void measure();
  /// The host's shares of the two rounds.
  std::array<double, 2> host_shares() const noexcept;
  void set_host_shares(const std::array<double, 2>& shares);

  /// What the plan does, and predicted and last measured times: a few lines of text.
  std::string explain() const;
  /// The last call's times.
  std::array<RoundTimes, 2> measured() const;
  std::array<RoundTimes, 2> predicted() const;
  std::string name() const;

 private:
  struct Part {
    std::unique_ptr<DealtRound<Real>> round;
    RoundProfile profile;
    double correction = 1;  ///< measured over predicted time
  };

  std::unique_ptr<Round<Real>> make_round(int number, const CardArray& array) const;
  void fit_streams(std::size_t budget);
  void assume_profiles();
  void measure(int number);
  /// The share of the array that can stay on the card between the rounds.
  double residency() const noexcept;
  /// The profile of a round when so much stays.
  RoundProfile with_residency(std::size_t round, double share) const noexcept;
  void plan_residency();
  CardSlots<Real>& slots_for(bool staged) const;

  CardArray array_;
  std::unique_ptr<Card<Real>> card_;
  OutOfCardOptions options_;
  int streams_ = 0;
  std::size_t slot_bytes_ = 0, budget_ = 0;
  Residency resident_;  ///< without its memory
  bool profiled_ = false;
  std::array<Part, 2> parts_;
  mutable std::mutex mutex_;  ///< of the following
  mutable std::unique_ptr<CardSlots<Real>> slots_;
  mutable std::shared_ptr<std::byte> kept_;  ///< the memory of what stays on the card
  mutable std::size_t kept_bytes_ = 0;
  mutable std::optional<std::array<RoundTimes, 2>> measured_;
  mutable cpu::PoolCache pools_;
};

extern template class OutOfCardFft<float>;
extern template class OutOfCardFft<double>;

}  // namespace sfft::detail
