// SPDX-License-Identifier: Apache-2.0
// Packets are split where the clock restarts, sorted into display order, and timed as decoded pictures are.
#include "video/sources/recording_index.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include "video/sources/frame_times.hpp"
#include "video/sources/track.hpp"

namespace sfft::video {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// Max. number of packets that may be displayed before one that was decoded earlier.
constexpr std::size_t kMaxReordered = 32;

double seconds_of(std::int64_t stamp, AVRational unit) {
  return stamp == AV_NOPTS_VALUE ? kNone : static_cast<double>(stamp) * av_q2d(unit);
}

/// Finds the display order of packets without presentation times.
class OrderParser {
 public:
  explicit OrderParser(const AVCodecParameters& codec) {
    counted_ = codec.codec_id == AV_CODEC_ID_H264 || codec.codec_id == AV_CODEC_ID_HEVC;
    parser_.reset(av_parser_init(codec.codec_id));
    if (!parser_) return;
    parser_->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    context_.reset(libav::allocated(avcodec_alloc_context3(nullptr)));
    if (avcodec_parameters_to_context(context_.get(), &codec) < 0) throw std::bad_alloc();
  }

  void parse(const AVPacket& packet) {
    if (!parser_) return;
    std::uint8_t* out = nullptr;
    int bytes = 0;
    av_parser_parse2(parser_.get(), context_.get(), &out, &bytes, packet.data, packet.size, packet.pts,
                     packet.dts, packet.pos);
  }
  std::int64_t count() const { return parser_ ? parser_->output_picture_number : 0; }
  bool between() const { return parser_ && parser_->pict_type == AV_PICTURE_TYPE_B; }
  /// Whether count() gives the pictures' order; otherwise between() does.
  bool counted() const { return counted_; }

 private:
  libav::Context context_;
  libav::Parser parser_;
  bool counted_ = false;
};

}  // namespace

RecordingIndex::RecordingIndex(const std::string& path, int track, const std::atomic<bool>* stop,
                               double until_seconds) {
  if (!read(path, track, stop, until_seconds, false)) read(path, track, stop, until_seconds, true);
  give_times();
}

/// Returns false if stamps are missing that a parser can supply.
bool RecordingIndex::read(const std::string& path, int track, const std::atomic<bool>* stop, double until,
                          bool parse) {
  const libav::Format format = open_container(path, stop);
  const int number = choose_video_track(*format, track);
  AVStream* const stream = format->streams[number];
  const AVRational rate = av_guess_frame_rate(format.get(), stream, nullptr);
  if (rate.num > 0 && rate.den > 0) interval_ = av_q2d(av_inv_q(rate));
  indexed_ = has_stamp_index(*format);
  counts_on_ = lacks_decoding_stamps(*format, *stream);
  search_error_ = is_program_stream(*format) ? 0.5 : 0;
  const bool unstamped = (format->iformat->flags & AVFMT_NOTIMESTAMPS) != 0;
  std::optional<OrderParser> parser;
  if (parse) parser.emplace(*stream->codecpar);
  packets_.clear();
  std::vector<Order> order;
  std::size_t segment = 0;  // its first packet
  double latest = kNone;    // decoding stamp of the packet before
  double reach = kNone;     // largest presentation stamp of the segment
  double base = 0;          // approximate Frame::seconds of the segment's first packet
  double others = kNone;
  const libav::Packet packet(libav::allocated(av_packet_alloc()));
  const auto close = [&] {
    const std::span<Packet> part = std::span(packets_).subspan(segment);
    if (parser) fill_stamps(part, std::span<const Order>(order).subspan(segment), parser->counted());
    segment = packets_.size();
  };
  while (av_read_frame(format.get(), packet.get()) >= 0) {
    const bool wanted = packet->stream_index == number;
    const AVRational unit = format->streams[packet->stream_index]->time_base;
    Packet one{seconds_of(packet->pts, unit),
               seconds_of(packet->dts, unit),
               0,
               0,
               (packet->flags & AV_PKT_FLAG_KEY) != 0,
               others};
    if (wanted && parser) {
      parser->parse(*packet);
      order.push_back({parser->count(), parser->between()});
    }
    av_packet_unref(packet.get());
    if (!wanted && std::isfinite(one.decode_stamp)) others = std::fmax(others, one.decode_stamp);
    if (!wanted) continue;
    if (unstamped) one.stamp = one.decode_stamp = kNone;
    if (!parser && !std::isfinite(one.stamp)) return false;
    // The clock restarts where decoding stamps decrease. Presentation stamps also decrease where pictures are
    // reordered, so they get more slack.
    const double slack = std::max(1.0, static_cast<double>(kMaxReordered) * interval_);
    const bool falls = std::isfinite(one.decode_stamp) && std::isfinite(latest)
                           ? one.decode_stamp < latest - 1
                           : one.stamp < reach - slack;
    one.clock = packets_.empty() ? 0 : packets_.back().clock;
    if (falls) {
      base += std::isfinite(reach) ? reach - packets_[segment].stamp : 0;
      close();
      ++one.clock;
      reach = kNone;
    }
    if (std::isfinite(one.decode_stamp)) latest = one.decode_stamp;
    if (!(one.stamp <= reach)) reach = one.stamp;
    packets_.push_back(one);
    const double shown = std::isfinite(one.stamp) ? one.stamp - packets_[segment].stamp
                                                  : static_cast<double>(packets_.size()) * interval_;
    if (base + shown > until + 2 * slack) break;
  }
  close();
  return true;
}

void RecordingIndex::fill_stamps(std::span<Packet> packets, std::span<const Order> order,
                                 bool counted) const {
  const std::size_t count = packets.size();
  std::vector<std::size_t> shown;  // packets in display order
  if (counted) {
    std::size_t first = 0;
    std::int64_t largest = 0;
    const auto flush = [&](std::size_t end) {
      const std::size_t before = shown.size();
      for (std::size_t i = first; i < end; ++i) shown.push_back(i);
      std::stable_sort(shown.begin() + static_cast<std::ptrdiff_t>(before), shown.end(),
                       [&](std::size_t a, std::size_t b) { return order[a].count < order[b].count; });
      first = end;
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (i > first && packets[i].key && order[i].count <= largest) flush(i);
      largest = i == first ? order[i].count : std::max(largest, order[i].count);
    }
    flush(count);
  } else {
    std::optional<std::size_t> held;
    for (std::size_t i = 0; i < count; ++i) {
      if (!order[i].between && held) shown.push_back(*held);
      if (order[i].between)
        shown.push_back(i);
      else
        held = i;
    }
    if (held) shown.push_back(*held);
  }
  if (counts_on_)
    stamp_by_rate(packets, shown);
  else
    stamp_by_decoding(packets, shown);
}

/// Fills in missing stamps from the rate, as FrameTimes does.
void RecordingIndex::stamp_by_rate(std::span<Packet> packets, std::span<const std::size_t> shown) const {
  const auto stamped =
      std::ranges::find_if(shown, [&](std::size_t i) { return std::isfinite(packets[i].stamp); });
  const auto before = static_cast<double>(stamped - shown.begin());
  double last = (stamped == shown.end() ? 0 : packets[*stamped].stamp) - (before + 1) * interval_;
  for (const std::size_t i : shown) {
    double& stamp = packets[i].stamp;
    stamp = stamp > last ? stamp : last + interval_;
    last = stamp;
  }
}

/// The n-th picture in display order is due when the n-th packet is decoded, plus a constant delay. Pictures
/// with stamps determine the delay.
void RecordingIndex::stamp_by_decoding(std::span<Packet> packets, std::span<const std::size_t> shown) const {
  const std::size_t count = packets.size();
  std::vector<double> due(count);
  for (std::size_t i = 0; i < count; ++i) {
    due[i] = packets[i].decode_stamp;
    if (!std::isfinite(due[i])) due[i] = i > 0 ? due[i - 1] + interval_ : 0;
  }
  std::ranges::sort(due);
  const auto due_at = [&](std::size_t place) {
    return place < count ? due[place] : due[count - 1] + static_cast<double>(place - count + 1) * interval_;
  };
  std::map<std::size_t, std::size_t> votes;  // per delay, in pictures
  for (std::size_t place = 0; place < count; ++place) {
    const double stamp = packets[shown[place]].stamp;
    if (!std::isfinite(stamp)) continue;
    for (std::size_t delay = 0; delay <= 16; ++delay)
      if (std::fabs(due_at(place + delay) - stamp) < 0.3 * interval_) ++votes[delay];
  }
  std::size_t delay = 0;
  for (const auto& [one, number] : votes)
    if (number > votes[delay]) delay = one;
  for (std::size_t place = 0; place < count; ++place) {
    double& stamp = packets[shown[place]].stamp;
    if (!std::isfinite(stamp)) stamp = due_at(place + delay);
  }
}

void RecordingIndex::give_times() {
  if (packets_.empty()) return;
  std::vector<std::size_t> shown(packets_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::ranges::stable_sort(shown, {},
                           [&](std::size_t i) { return std::pair(packets_[i].clock, packets_[i].stamp); });
  // A decoder begins at a key frame, and drops pictures displayed before it.
  const auto key = std::ranges::find_if(packets_, &Packet::key);
  const Packet& first = key != packets_.end() ? *key : packets_.front();
  first_stamp_ = first.stamp;
  FrameTimes times(1 / interval_);
  bool begun = false;
  for (const std::size_t i : shown) {
    Packet& packet = packets_[i];
    begun = begun || (packet.clock == first.clock && packet.stamp >= first.stamp);
    packet.seconds = begun ? times.next(packet.stamp) : packet.stamp - first.stamp;
    if (!begun && packet.clock != first.clock) packet.seconds = -interval_;
  }
}

std::size_t RecordingIndex::begin_for(double seconds) const {
  const double tolerance = 0.01 * interval_;
  std::size_t first = packets_.size();
  std::size_t best = packets_.size();
  for (std::size_t i = 0; i < packets_.size(); ++i) {
    const Packet& packet = packets_[i];
    if (!packet.key || packet.seconds < 0) continue;
    if (first == packets_.size()) first = i;
    if (packet.seconds <= seconds + tolerance &&
        (best == packets_.size() || packet.seconds >= packets_[best].seconds))
      best = i;
  }
  if (best < packets_.size()) return best;
  return first < packets_.size() ? first : 0;
}

std::size_t RecordingIndex::end_for(std::size_t begin, double seconds) const {
  // A picture that is displayed later may have to be decoded earlier, and other packets may lie between them.
  double limit = seconds;
  std::size_t end = begin + 1;
  double reach = begin < packets_.size() ? packets_[begin].seconds : 0;
  for (std::size_t i = end; i < packets_.size(); ++i) {
    if (packets_[i].seconds >= limit) continue;
    for (; end <= i; ++end) reach = std::max(reach, packets_[end].seconds);
    limit = std::max(limit, reach);
  }
  return std::min(end, packets_.size());
}

}  // namespace sfft::video
