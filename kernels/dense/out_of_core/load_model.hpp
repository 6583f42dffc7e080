// SPDX-License-Identifier: Apache-2.0
// The load model of out-of-core transforms (Chen and Li, IPCCC 2013): it predicts the time of a round from
// the host's share of it.
#pragma once

#include <cstdint>
#include <utility>

namespace sfft::detail {

/// How a round's units are partitioned.
struct Partition {
  std::int64_t device_units = 0;  ///< the first units; the host does the others
  std::int64_t piece_units = 0;   ///< units per piece; the last piece may have fewer
  std::int64_t pieces = 0;
  std::int64_t devices = 1;  ///< each has one contiguous run of pieces; the runs are nearly equal

  /// The first piece of a device, and the first piece of the next device.
  std::pair<std::int64_t, std::int64_t> pieces_of(std::int64_t device) const noexcept {
    return {pieces * device / devices, pieces * (device + 1) / devices};
  }
  /// The same range in units.
  std::pair<std::int64_t, std::int64_t> units_of(std::int64_t device) const noexcept;
};

/// Bounds on the pieces of a round.
struct PieceLimits {
  std::int64_t units = 1;  ///< units in the round
  std::int64_t grain = 1;  ///< pieces begin at multiples of it
  std::int64_t max = 1;    ///< maximum units per piece that fit a stream's memory
  std::int64_t min = 1;    ///< minimum units per piece that keep the bus busy
  int streams = 1;
  std::int64_t good = 1;       ///< multiples of it copy faster; divisible by the grain
  int devices = 1;             ///< each with `streams` streams
  std::int64_t host_part = 1;  ///< units that a host thread takes at a time
  int threads = 1;             ///< host threads
};
/// Rounds the host's share to whole grains. Makes several pieces for every stream if they are large enough.
Partition make_partition(const PieceLimits& limits, double host_share);

/// Results of profiling runs: the steps of one piece on the device, the device alone with arrays that it can
/// access directly and with staged arrays, and all host threads together.
struct RoundProfile {
  double in_us = 0, kernel_us = 0, out_us = 0;  ///< per unit
  double host_us = 0;                           ///< per unit, with all threads working
  double copied_us = 0;    ///< per unit, to copy it to and from page-locked buffers, with all threads working
  double overlap = 1;      ///< factor by which steps are slower when others run at the same time
  double device_loss = 0;  ///< fraction of their time that the devices lose while the host also works
  double host_loss = 0;    ///< fraction of its time that the host loses while the devices also work
};

struct RoundTimes {
  double us = 0;
  double device_us = 0, host_us = 0;  ///< of devices and host; the slower determines `us`
};
/// Device: the three steps of different pieces overlap, and each step handles one piece at a time. Host: it
/// transforms its units first; then its threads copy pieces that are staged through buffers. Each is slowed
/// down while the other works.
RoundTimes predict(const RoundProfile& profile, const PieceLimits& limits, double host_share);

/// The overlap factor with which the prediction for the device alone matches `device_us`.
double overlap_of(const RoundProfile& profile, const PieceLimits& limits, double device_us);

/// Estimates the loss from runs, by least squares. Each run gives a processor's time alone, its time while
/// the other processor also works, and the time of that other processor.
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

/// The accuracy of predictions: shares whose times differ by less than this factor count as equal.
constexpr double kMinGain = 0.97;

/// The share with the shortest predicted time, or 0 if it saves less than kMinGain requires.
double best_host_share(const RoundProfile& profile, const PieceLimits& limits);

}  // namespace sfft::detail
