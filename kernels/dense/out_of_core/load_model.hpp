// SPDX-License-Identifier: Apache-2.0
// The load model of out-of-core transforms (Chen and Li, IPCCC 2013): how long a round takes when the host
// does a share of it.
#pragma once

#include <cstdint>
#include <utility>

namespace sfft::detail {

/// How a round's units are partitioned.
struct Partition {
  std::int64_t device_units = 0;  ///< the first ones; the host does the others
  std::int64_t piece_units = 0;   ///< of each piece but the last
  std::int64_t pieces = 0;
  std::int64_t devices = 1;  ///< which have as many pieces each, one behind the other, or one more

  /// Pieces of a device: the first one, and the first of the next device.
  std::pair<std::int64_t, std::int64_t> pieces_of(std::int64_t device) const noexcept {
    return {pieces * device / devices, pieces * (device + 1) / devices};
  }
  /// The same of units.
  std::pair<std::int64_t, std::int64_t> units_of(std::int64_t device) const noexcept;
};

/// What bounds the pieces of a round.
struct PieceLimits {
  std::int64_t units = 1;  ///< of the round
  std::int64_t grain = 1;  ///< pieces begin at multiples of it
  std::int64_t max = 1;    ///< units of a piece that fit a stream's memory
  std::int64_t min = 1;    ///< units of a piece that keep the bus busy
  int streams = 1;
  std::int64_t good = 1;       ///< pieces of a multiple of it are copied faster: a multiple of the grain
  int devices = 1;             ///< with as many streams each
  std::int64_t host_part = 1;  ///< units that a thread of the host takes at a time
  int threads = 1;             ///< of the host
};
/// The host's share is rounded to whole grains. Several pieces for every stream, where they are large enough.
Partition make_partition(const PieceLimits& limits, double host_share);

/// Profiling runs: one piece through the device step by step, the device alone with arrays that it reads and
/// with others, and the host's threads together.
struct RoundProfile {
  double in_us = 0, kernel_us = 0, out_us = 0;  ///< of one unit
  double host_us = 0;                           ///< of one unit, all threads working
  double copied_us = 0;    ///< of one unit on its way to and from page-locked buffers, likewise
  double overlap = 1;      ///< how much longer steps take when others happen at the same time
  double device_loss = 0;  ///< the part of the time while the host works, too, that the devices lose by it
  double host_loss = 0;    ///< the same of the host while the devices work
};

struct RoundTimes {
  double us = 0;
  double device_us = 0, host_us = 0;  ///< of each processor; the round takes as long as the slower one
};
/// OutOfCoreDevice: passes of a piece per stream, in which the three steps of different streams overlap, each
/// step's pieces one after another. Host: its units; its threads copy pieces that pass through buffers after
/// that. Each takes longer for as long as the other works.
RoundTimes predict(const RoundProfile& profile, const PieceLimits& limits, double host_share);

/// The factor that makes the prediction for the device alone come true.
double overlap_of(const RoundProfile& profile, const PieceLimits& limits, double device_us);

/// What one takes longer than alone and for how long the other worked beside it, run by run: the loss that
/// fits them best, by least squares.
class Loss {
 public:
  void add(double alone_us, double us, double beside_us) noexcept {
    const double both = us < beside_us ? us : beside_us;
    product_ += (us - alone_us) * both;
    square_ += both * both;
  }
  double value() const noexcept {
    constexpr double kMax = 0.9;
    const double fitting = square_ > 0 ? product_ / square_ : 0;
    return fitting < 0 ? 0 : fitting > kMax ? kMax : fitting;
  }

 private:
  double product_ = 0, square_ = 0;
};

/// Times of shares that differ by less than this factor are the same: predictions are no better.
constexpr double kWorthAShare = 0.97;

/// The share with the shortest predicted time, or none where that saves little.
double best_host_share(const RoundProfile& profile, const PieceLimits& limits);

}  // namespace sfft::detail
