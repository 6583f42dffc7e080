// SPDX-License-Identifier: Apache-2.0
// The packets of a recording's video track with their times. Only in builds with FFmpeg.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "video/sources/libav.hpp"

namespace sfft::video {

/// Reads all packets once without decoding them, and gives each the time that FrameTimes gives to its decoded
/// picture. So seeks, clips and cut lists know where a picture is, whatever the container: time stamps need
/// not exist, rise, or belong to one clock.
class RecordingIndex {
 public:
  struct Packet {
    double stamp = 0;         ///< presentation time by the recording's own clock, in seconds
    double decode_stamp = 0;  ///< decoding time by that clock; NaN: not stated
    double seconds = 0;       ///< Frame::seconds of its picture; below 0 before the first one that is decoded
    int clock = 0;            ///< how often the recording's clock has restarted
    bool key = false;
    /// The latest decoding stamp in the other tracks' packets that precede this one in the file; NaN: none.
    double others = std::numeric_limits<double>::quiet_NaN();
  };

  /// Reads until what is displayed at `until_seconds` is known. Throws InputError with the reason alone.
  RecordingIndex(const std::string& path, int track, const std::atomic<bool>* stop = nullptr,
                 double until_seconds = std::numeric_limits<double>::infinity());

  /// In decoding order.
  std::span<const Packet> packets() const noexcept { return packets_; }
  bool empty() const noexcept { return packets_.empty(); }
  /// The packet to decode from for what is displayed at `seconds`: the last key frame displayed then or
  /// before, else the first one, else the first packet.
  std::size_t begin_for(double seconds) const;
  /// The first packet after `begin` that is not needed for what is displayed before `seconds`. What precedes
  /// it is displayed without a hole.
  std::size_t end_for(std::size_t begin, double seconds) const;
  /// The stamp at `seconds` on the clock of a packet.
  double stamp_at(const Packet& packet, double seconds) const noexcept {
    return packet.stamp + seconds - packet.seconds;
  }
  /// Whether the recording's clock restarts, so that stamps are ambiguous.
  bool restarts() const noexcept { return !packets_.empty() && packets_.back().clock > 0; }
  /// has_stamp_index() of the container.
  bool indexed() const noexcept { return indexed_; }
  /// Seconds by which a search by stamps may end late: in MPEG-PS it knows only where PES packets begin.
  double search_error() const noexcept { return search_error_; }
  /// The first decoded picture's stamp.
  double first_stamp() const noexcept { return first_stamp_; }
  /// A usual interval between two pictures, in seconds.
  double interval() const noexcept { return interval_; }

 private:
  struct Order {  ///< what a parser tells of a packet's place in display order
    std::int64_t count = 0;
    bool between = false;
  };
  bool read(const std::string& path, int track, const std::atomic<bool>* stop, double until, bool parse);
  void fill_stamps(std::span<Packet> packets, std::span<const Order> order, bool counted) const;
  void stamp_by_decoding(std::span<Packet> packets, std::span<const std::size_t> shown) const;
  void stamp_by_rate(std::span<Packet> packets, std::span<const std::size_t> shown) const;
  void give_times();

  std::vector<Packet> packets_;
  double interval_ = 0.04;
  double first_stamp_ = 0;
  bool indexed_ = false;
  double search_error_ = 0;
  bool counts_on_ = false;  ///< lacks_decoding_stamps()
};

}  // namespace sfft::video
