// SPDX-License-Identifier: Apache-2.0
// Lists the packets of a recording's video track with their times. Only for builds with FFmpeg.
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
/// picture. Seeks, clips and cut lists can thus locate a picture in any container, even if time stamps are
/// missing, run backwards or belong to several clocks.
class RecordingIndex {
 public:
  struct Packet {
    double stamp = 0;         ///< presentation time by the recording's clock, in seconds
    double decode_stamp = 0;  ///< decoding time by that clock; NaN: not stated
    double seconds = 0;       ///< Frame::seconds of its picture; negative before the first decoded one
    int clock = 0;            ///< how often the recording's clock has restarted
    bool key = false;
    /// The latest decoding stamp among other tracks' packets before this one in the file; NaN: none.
    double others = std::numeric_limits<double>::quiet_NaN();
  };

  /// Reads until the picture displayed at `until_seconds` is known. Throws InputError with the reason alone.
  RecordingIndex(const std::string& path, int track, const std::atomic<bool>* stop = nullptr,
                 double until_seconds = std::numeric_limits<double>::infinity());

  /// The packets in decoding order.
  std::span<const Packet> packets() const noexcept { return packets_; }
  bool empty() const noexcept { return packets_.empty(); }
  /// Index of the packet from which to decode what is displayed at `seconds`: the last key frame displayed at
  /// or before that time, else the first key frame, else the first packet.
  std::size_t begin_for(double seconds) const;
  /// Index of the first packet after `begin` that is not needed for pictures displayed before `seconds`. The
  /// packets before it are displayed without a hole.
  std::size_t end_for(std::size_t begin, double seconds) const;
  /// The stamp that corresponds to `seconds` on the clock of `packet`.
  double stamp_at(const Packet& packet, double seconds) const noexcept {
    return packet.stamp + seconds - packet.seconds;
  }
  /// Whether the recording's clock restarts, so that stamps are ambiguous.
  bool restarts() const noexcept { return !packets_.empty() && packets_.back().clock > 0; }
  /// The container's has_stamp_index().
  bool indexed() const noexcept { return indexed_; }
  /// Seconds by which a search by stamps may end late, because in MPEG-PS it finds only the beginnings of PES
  /// packets.
  double search_error() const noexcept { return search_error_; }
  /// The first decoded picture's stamp.
  double first_stamp() const noexcept { return first_stamp_; }
  /// The usual interval between two pictures, in seconds.
  double interval() const noexcept { return interval_; }

 private:
  struct Order {  ///< a packet's place in display order, from a parser
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
  bool counts_on_ = false;  ///< result of lacks_decoding_stamps()
};

}  // namespace sfft::video
