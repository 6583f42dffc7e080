// SPDX-License-Identifier: Apache-2.0
// One pass over the recording copies the packets of all clips. Times come from the recording's index.
// Decoding times are derived from the display order, because in containers they may be missing or run
// backwards.
#include "video/triage/triage_report.hpp"

#include <fmt/format.h>

#include "video/sources/source.hpp"

#if SFFT_HAVE_LIBAV
#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "kernels/runtime/output_file.hpp"
#include "sfft/error.hpp"
#include "video/sources/libav.hpp"
#include "video/sources/recording_index.hpp"
#include "video/sources/track.hpp"

extern "C" {
#include <libavutil/parseutils.h>
}

namespace sfft::video {

namespace {

constexpr AVRational kMicroseconds{1, 1000000};
/// Max. seconds between packets of different tracks that are neighbours in a file.
constexpr double kInterleaving = 5;

struct FreeOutput {
  void operator()(AVFormatContext* format) const {
    avio_closep(&format->pb);
    avformat_free_context(format);
  }
};

void require(int code, const std::string& path) {
  if (code == AVERROR(ENOMEM)) throw std::bad_alloc();
  if (code < 0)
    throw Error(ErrorCode::file_unreadable,
                fmt::format("the clip '{}' cannot be written: {}", path, libav::error_text(code)));
}

/// Libavformat's Matroska stores no rotation before version 60.15.
bool needs_quicktime(const AVStream& stream) {
  return avformat_version() < AV_VERSION_INT(60, 15, 100) && !orientation_of(stream).upright();
}

/// Computes decoding times from the display order. A decoder that holds back h pictures decodes packet n when
/// picture n - h of the display order is displayed.
std::vector<double> decode_times(std::span<const RecordingIndex::Packet> packets, double interval) {
  std::vector<std::size_t> shown(packets.size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  std::ranges::stable_sort(shown, {}, [&](std::size_t i) { return packets[i].seconds; });
  std::size_t held = 0;
  for (std::size_t place = 0; place < shown.size(); ++place)
    if (shown[place] > place) held = std::max(held, shown[place] - place);
  std::vector<double> times(packets.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i] = i >= held ? packets[shown[i - held]].seconds
                         : packets[shown[0]].seconds - static_cast<double>(held - i) * interval;
  }
  return times;
}

/// The output of one clip.
class ClipFile {
 public:
  ClipFile(const AVFormatContext& in, int picture, bool quicktime, double start_s, const std::string& path)
      : whole_(path), to_(in.nb_streams, -1), last_(in.nb_streams, AV_NOPTS_VALUE) {
    AVFormatContext* made = nullptr;
    require(avformat_alloc_output_context2(&made, nullptr, quicktime ? "mov" : "matroska", nullptr), path);
    out_.reset(made);
    copy_metadata(in.metadata, made->metadata, start_s);
    for (unsigned i = 0; i < in.nb_streams; ++i) {
      const AVStream& from = *in.streams[i];
      const bool sound =
          from.codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
          avformat_query_codec(made->oformat, from.codecpar->codec_id, FF_COMPLIANCE_NORMAL) == 1;
      if (static_cast<int>(i) == picture || sound) to_[i] = add_stream(from, start_s);
    }
    require(avio_open(&made->pb, ("file:" + whole_.temporary_path()).c_str(), AVIO_FLAG_WRITE), path);
    require(avformat_write_header(made, nullptr), path);
  }

  bool takes(int stream) const { return to_[static_cast<std::size_t>(stream)] >= 0; }

  /// `decoded` and `shown`: decoding and presentation time in seconds from the clip's beginning.
  void write(const AVPacket& packet, double decoded, double shown) {
    const libav::Packet copy(libav::allocated(av_packet_clone(&packet)));
    const auto from = static_cast<std::size_t>(packet.stream_index);
    copy->stream_index = to_[from];
    copy->pos = -1;
    const AVRational unit = out_->streams[to_[from]]->time_base;
    copy->duration = 0;
    copy->dts = av_rescale_q(std::llround(decoded * 1e6), kMicroseconds, unit);
    copy->pts = av_rescale_q(std::llround(shown * 1e6), kMicroseconds, unit);
    if (last_[from] != AV_NOPTS_VALUE) copy->dts = std::max(copy->dts, last_[from] + 1);
    copy->pts = std::max(copy->pts, copy->dts);
    last_[from] = copy->dts;
    require(av_interleaved_write_frame(out_.get(), copy.get()), whole_.path());
  }

  void commit() {
    require(av_write_trailer(out_.get()), whole_.path());
    require(avio_closep(&out_->pb), whole_.path());
    whole_.commit();
  }

 private:
  int add_stream(const AVStream& from, double start_s) {
    AVStream* const stream = libav::allocated(avformat_new_stream(out_.get(), nullptr));
    require(avcodec_parameters_copy(stream->codecpar, from.codecpar), whole_.path());
    stream->codecpar->codec_tag = 0;
    stream->time_base = from.time_base;
    stream->sample_aspect_ratio = from.sample_aspect_ratio;
    stream->disposition = from.disposition;
    copy_metadata(from.metadata, stream->metadata, start_s);
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(60, 30, 100)
    for (int i = 0; i < from.nb_side_data; ++i) {
      const AVPacketSideData& data = from.side_data[i];
      std::uint8_t* const to = libav::allocated(av_stream_new_side_data(stream, data.type, data.size));
      std::copy_n(data.data, data.size, to);
    }
#endif
    return stream->index;
  }

  /// Moves the date to the clip's beginning. Leaves out time code and duration, which would be wrong.
  static void copy_metadata(const AVDictionary* from, AVDictionary*& to, double start_s) {
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
      const std::string key = entry->key;
      if (key == "timecode" || key == "DURATION" || key == "encoder" || key.ends_with("brand") ||
          key.ends_with("brands") || key == "minor_version")
        continue;
      const std::string value = key == "creation_time" ? later(entry->value, start_s) : entry->value;
      if (!value.empty()) av_dict_set(&to, entry->key, value.c_str(), 0);
    }
  }

  /// The date, moved by `seconds`; empty if `date` is not a date.
  static std::string later(const char* date, double seconds) {
    std::int64_t microseconds = 0;
    if (av_parse_time(&microseconds, date, 0) < 0) return "";
    microseconds += std::llround(seconds * 1e6);
    const auto whole = static_cast<std::time_t>(microseconds / 1000000);
    std::tm parts{};
    gmtime_r(&whole, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, microseconds % 1000000);
  }

  detail::OutputFile whole_;
  std::unique_ptr<AVFormatContext, FreeOutput> out_;
  std::vector<int> to_;             ///< output stream of each input stream; -1: none
  std::vector<std::int64_t> last_;  ///< latest decoding times, by input stream
};

/// Converts stamps of sound to times of the pictures. Both clocks restart together, but not at the same
/// packet.
class SoundClock {
 public:
  /// The time of a stamp in seconds: the candidate nearest to the time of the current picture.
  double at(double stamp, double duration, const RecordingIndex::Packet& picture) {
    const double offset = picture.seconds - picture.stamp;
    if (offsets_.empty() || std::fabs(offsets_.back() - offset) > 0.5) offsets_.push_back(offset);
    double best = stamp + offset;
    for (const double one : offsets_) {
      if (std::fabs(stamp + one - picture.seconds) < std::fabs(best - picture.seconds)) best = stamp + one;
    }
    // If only the clock of the sound has restarted, the sound goes on without a gap.
    if (std::fabs(best - picture.seconds) > 2 * kInterleaving && std::isfinite(next_)) best = next_;
    next_ = best + duration;
    return best;
  }

 private:
  std::vector<double> offsets_;  ///< time less stamp, for the recording's clocks so far
  double next_ = std::numeric_limits<double>::quiet_NaN();
};

class Cutter {
 public:
  Cutter(const std::string& input, int track, std::vector<Clip>& clips, const std::atomic<bool>& stop,
         const std::function<void(const std::string&)>& may_write)
      : in_(open_container(input, &stop)),
        picture_(choose_video_track(*in_, track)),
        index_(input, track, &stop, last_end(clips)),
        stop_(stop),
        may_write_(may_write) {
    for (Clip& clip : clips) plan(clip);
  }

  void run() {
    const libav::Packet packet(libav::allocated(av_packet_alloc()));
    std::size_t number = 0;  // of the video track's next packet
    while (!stop_ && !parts_.empty() && av_read_frame(in_.get(), packet.get()) >= 0) {
      const bool shown = packet->stream_index == picture_;
      if (shown && number >= index_.packets().size()) break;
      const std::size_t at = std::min(number, index_.packets().size() - 1);
      open_and_close(index_.packets()[at]);
      if (shown)
        take_picture(*packet, number++);
      else
        take_sound(*packet, index_.packets()[at]);
      av_packet_unref(packet.get());
    }
    if (stop_) return;
    for (Part& part : parts_) close(part);
  }

 private:
  struct Part {
    Clip* clip;
    std::size_t begin, end;      ///< packets of the video track
    double start_s, end_s;       ///< when they are displayed
    std::vector<double> decode;  ///< decoding times
    std::string path{};          ///< of the file
    std::unique_ptr<ClipFile> file{};
    bool over = false;
  };

  static double last_end(const std::vector<Clip>& clips) {
    double end = 0;
    for (const Clip& clip : clips) end = std::max(end, clip.end_s);
    return end;
  }

  void plan(Clip& clip) {
    if (index_.empty()) {
      clip.problem = "no picture was found";
      return;
    }
    const std::size_t begin = index_.begin_for(clip.start_s);
    const std::size_t end = index_.end_for(begin, clip.end_s);
    const std::span<const RecordingIndex::Packet> packets = index_.packets().subspan(begin, end - begin);
    parts_.push_back(
        {&clip, begin, end, packets[0].seconds, clip.end_s, decode_times(packets, index_.interval())});
  }

  /// Runs an action for one clip, whose failure does not affect the other clips.
  template <class Action>
  void guarded(Part& part, Action&& action) {
    if (part.over) return;
    try {
      action();
      return;
    } catch (const Error& error) {
      part.clip->problem = error.what();
    }
    part.over = true;
    part.file.reset();
  }

  void open_and_close(const RecordingIndex::Packet& now) {
    for (Part& part : parts_) {
      if (part.file && now.seconds > part.end_s + kInterleaving) close(part);
      if (!part.over && !part.file && now.seconds >= part.start_s - kInterleaving) open(part);
    }
    std::erase_if(parts_, [](const Part& part) { return part.over; });
  }

  void open(Part& part) {
    guarded(part, [&] {
      const bool quicktime = needs_quicktime(*in_->streams[picture_]);
      part.path = part.clip->path + (quicktime ? ".mov" : ".mkv");
      if (may_write_) may_write_(part.path);
      part.file = std::make_unique<ClipFile>(*in_, picture_, quicktime, part.start_s, part.path);
    });
  }

  void close(Part& part) {
    if (part.over) return;
    if (!part.file) open(part);
    guarded(part, [&] {
      part.file->commit();
      part.clip->written = part.path;
    });
    part.over = true;
    part.file.reset();
  }

  void take_picture(const AVPacket& packet, std::size_t number) {
    const RecordingIndex::Packet& shown = index_.packets()[number];
    for (Part& part : parts_) {
      if (number < part.begin || number >= part.end || !part.file) continue;
      // Pictures displayed before the first key frame refer to earlier ones.
      if (index_.packets()[part.begin].key && shown.seconds < part.start_s) continue;
      guarded(part, [&] {
        part.file->write(packet, part.decode[number - part.begin] - part.start_s,
                         shown.seconds - part.start_s);
      });
    }
  }

  void take_sound(const AVPacket& packet, const RecordingIndex::Packet& picture) {
    const AVStream& stream = *in_->streams[packet.stream_index];
    const std::int64_t stamp = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    if (stamp == AV_NOPTS_VALUE || stream.codecpar->codec_type != AVMEDIA_TYPE_AUDIO) return;
    const double unit = av_q2d(stream.time_base);
    const double seconds = sound_[packet.stream_index].at(
        static_cast<double>(stamp) * unit, static_cast<double>(packet.duration) * unit, picture);
    for (Part& part : parts_) {
      if (!part.file || !part.file->takes(packet.stream_index)) continue;
      const double at = seconds - part.start_s;
      if (at < 0 || seconds >= part.end_s) continue;
      guarded(part, [&] { part.file->write(packet, at, at); });
    }
  }

  libav::Format in_;
  int picture_;
  RecordingIndex index_;
  const std::atomic<bool>& stop_;
  const std::function<void(const std::string&)>& may_write_;
  std::vector<Part> parts_;
  std::map<int, SoundClock> sound_;  ///< by stream
};

}  // namespace

void write_clips(const std::string& input, int track, std::vector<Clip>& clips, const std::atomic<bool>& stop,
                 const std::function<void(const std::string&)>& may_write) {
  if (clips.empty()) return;
  try {
    Cutter(input, track, clips, stop, may_write).run();
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("no clips of '{}': it is no recording that can be cut: {}", input, error.what()));
  }
}

}  // namespace sfft::video
#else

namespace sfft::video {

void write_clips(const std::string&, int, std::vector<Clip>&, const std::atomic<bool>&,
                 const std::function<void(const std::string&)>&) {
  throw InputError("this build cuts no clips: it has none of FFmpeg's libraries");
}

}  // namespace sfft::video
#endif
