// SPDX-License-Identifier: Apache-2.0
// Feeds the packets of one video stream to a decoder, which has frame threads unless the input is live.
// Counts damage, and limits the time that the network takes.
#include "video/sources/libav_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/runtime/host_resources.hpp"
#include "video/sources/luma.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace sfft::video {

namespace {

constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

/// FFmpeg would choose one thread more, which costs time if another thread reads the pictures. The limit of
/// 16 is FFmpeg's.
int thread_per_core() {
  return std::min(detail::usable_processors(), 16);
}

/// Attaches a number to a packet, which the decoded picture inherits. The mechanism depends on the FFmpeg
/// version.
void number_packet(AVCodecContext& decoder, AVPacket& packet, std::int64_t number) {
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
  static_cast<void>(decoder);
  packet.opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(number));
#else
  static_cast<void>(packet);
  decoder.reordered_opaque = number;
#endif
}

std::int64_t packet_of(const AVFrame& picture) {
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(picture.opaque));
#else
  return picture.reordered_opaque;
#endif
}

class HeldPicture final : public UnmadeSamples {
 public:
  HeldPicture(libav::Picture picture, const Orientation& shown)
      : picture_(std::move(picture)), shown_(shown) {}
  void make(Frame& frame) override { to_luma(*picture_, shown_, frame); }

 private:
  libav::Picture picture_;
  Orientation shown_;
};

class Dictionary {
 public:
  Dictionary() = default;
  ~Dictionary() { av_dict_free(&entries_); }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  void set(const char* key, const char* value) { av_dict_set(&entries_, key, value, 0); }
  AVDictionary** get() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

bool same_rate(double claimed, double found) {
  constexpr double kSame = 0.2;  // relative to the claimed rate
  return claimed > 0 && std::fabs(found / claimed - 1) <= kSame;
}

}  // namespace

std::string overruled_rate(double claimed, double found) {
  if (!(claimed > 0) || !(found > 0) || same_rate(claimed, found)) return "";
  return fmt::format(
      "The container claims {:.4g} frames per second, and its time stamps tell {:.4g}: the latter are "
      "used.",
      claimed, found);
}

LibavReader::LibavReader(const std::string& url, const Options& options, const std::atomic<bool>& interrupted)
    : options_(options), interrupted_(interrupted) {
  feed_.skip = options.skip;
  feed_.before_key = options.live ? 0 : -1;
  av_log_set_level(AV_LOG_QUIET);  // FFmpeg writes to standard error by default
  feed_.packet.reset(libav::allocated(av_packet_alloc()));
  picture_.reset(libav::allocated(av_frame_alloc()));
  open_input(url);
  open_decoder();
  find_rate();
}

int LibavReader::asked_to_stop(void* reader) {
  auto* const self = static_cast<LibavReader*>(reader);
  if (self->interrupted_) return 1;
  if (self->options_.stop != nullptr && *self->options_.stop) return 1;
  if (self->options_.timeout_seconds <= 0 || Clock::now() < self->limit_.deadline) return 0;
  self->limit_.exceeded = true;
  return 1;
}

void LibavReader::start_clock() {
  limit_.deadline = Clock::now() + std::chrono::seconds(options_.timeout_seconds);
}

void LibavReader::open_input(const std::string& url) {
  AVFormatContext* format = libav::allocated(avformat_alloc_context());
  format->interrupt_callback = {&asked_to_stop, this};
  format->correct_ts_overflow = 0;  // FrameTimes follows a clock that restarts
  Dictionary entries;
  entries.set("rtsp_transport", "tcp");  // a camera's lost packets cost more than TCP's delays
  if (url.starts_with("http")) entries.set("reconnect", "1");  // resumes at the byte where it broke off
  start_clock();
  const auto check = [this](int code) {
    if (limit_.exceeded) throw InputError(fmt::format("no answer within {} s", options_.timeout_seconds));
    if (code < 0) throw InputError(libav::error_text(code));
  };
  const int opened =
      avformat_open_input(&format, url.c_str(), nullptr, entries.get());  // frees it on failure
  if (opened >= 0) format_.reset(format);
  check(opened);
  check(avformat_find_stream_info(format, nullptr));
  stream_number_ = choose_video_track(*format, options_.track);
  stream_ = format->streams[stream_number_];
  shown_ = orientation_of(*stream_);
  track_note_ = tell_video_track(*format, stream_number_);
  for (unsigned i = 0; i < format->nb_streams; ++i)
    format->streams[i]->discard = static_cast<int>(i) == stream_number_ ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  count_.emplace(*stream_);
}

void LibavReader::open_decoder() {
  const AVCodec* const codec = avcodec_find_decoder(stream_->codecpar->codec_id);
  if (codec == nullptr)
    throw InputError(fmt::format("no decoder for {}", avcodec_get_name(stream_->codecpar->codec_id)));
  int opened = start_decoder(*codec, options_.threads > 0 ? options_.threads : thread_per_core());
  // If no more threads can be started, the thread that reads also decodes.
  if (opened == AVERROR(EAGAIN)) opened = start_decoder(*codec, 1);
  if (opened == AVERROR(ENOMEM)) throw std::bad_alloc();
  if (opened < 0) throw InputError(fmt::format("its decoder does not start: {}", libav::error_text(opened)));
}

int LibavReader::start_decoder(const AVCodec& codec, int threads) {
  decoder_.reset(libav::allocated(avcodec_alloc_context3(&codec)));
  if (avcodec_parameters_to_context(decoder_.get(), stream_->codecpar) < 0) throw std::bad_alloc();
  decoder_->pkt_timebase = stream_->time_base;
  decoder_->thread_count = threads;
  decoder_->thread_type = options_.live ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
  decoder_->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
#endif
  if (options_.skip_loop_filter) decoder_->skip_loop_filter = AVDISCARD_ALL;
  if (options_.on_gpu) {
    gpu_problem_ = nvdec::attach(*decoder_, codec, options_.device);
    if (gpu_problem_.empty()) decoder_->thread_count = 1;  // the GPU decodes
  }
  return avcodec_open2(decoder_.get(), &codec, nullptr);
}

/// Finds the rate: the container's claim, or for files what the first time stamps show.
void LibavReader::find_rate() {
  constexpr std::size_t kLooked = 120, kMaxAhead = 600;
  const AVRational claimed = av_guess_frame_rate(format_.get(), const_cast<AVStream*>(stream_), nullptr);
  if (claimed.num > 0 && claimed.den > 0) rate_.found = rate_.claimed = av_q2d(claimed);
  if (options_.live || options_.skip > 0 || !stamped()) return;
  std::vector<double> stamps;
  double decoded = -std::numeric_limits<double>::infinity();
  while (stamps.size() < kLooked && feed_.ahead.size() < kMaxAhead) {
    libav::Packet packet(libav::allocated(av_packet_alloc()));
    if (av_read_frame(format_.get(), packet.get()) < 0) break;
    const AVPacket& read = *packet;
    feed_.ahead.push_back(std::move(packet));
    if (read.stream_index != stream_number_) continue;
    if (read.pts == AV_NOPTS_VALUE) return;
    const double unit = av_q2d(stream_->time_base);
    if (read.dts != AV_NOPTS_VALUE) {
      if (static_cast<double>(read.dts) * unit < decoded - 1) break;  // the clock restarts
      decoded = static_cast<double>(read.dts) * unit;
    }
    stamps.push_back(static_cast<double>(read.pts) * unit);
  }
  compare_rates(std::move(stamps));
}

void LibavReader::compare_rates(std::vector<double> stamps) {
  constexpr std::size_t kFew = 10;
  constexpr double kHole = 3;  // in usual intervals
  if (stamps.size() < kFew) return;
  std::ranges::sort(stamps);
  std::vector<double> intervals;
  for (std::size_t i = 1; i < stamps.size(); ++i) intervals.push_back(stamps[i] - stamps[i - 1]);
  std::vector<double> ordered = intervals;
  std::ranges::sort(ordered);
  const double usual = ordered[ordered.size() / 2];
  double sum = 0;
  double count = 0;
  for (const double interval : intervals) {
    if (interval > kHole * usual) continue;
    sum += interval;
    ++count;
  }
  if (!(sum > 0)) return;
  const double found = count / sum;
  if (same_rate(rate_.found, found)) return;
  // The two fields of a frame may be separate packets.
  const AVFieldOrder fields = stream_->codecpar->field_order;
  if (found > rate_.found && rate_.found > 0 && fields != AV_FIELD_PROGRESSIVE && fields != AV_FIELD_UNKNOWN)
    return;
  rate_.note = overruled_rate(rate_.found, found);
  rate_.found = found;
}

int LibavReader::read_packet() {
  if (feed_.ahead.empty()) return av_read_frame(format_.get(), feed_.packet.get());
  av_packet_move_ref(feed_.packet.get(), feed_.ahead.front().get());
  feed_.ahead.pop_front();
  return 0;
}

/// Passes the next packet to the decoder, or the end of the stream.
bool LibavReader::feed() {
  start_clock();
  const int read = read_packet();
  if (read == AVERROR(EAGAIN) && !interrupted_) return true;
  if (read < 0) {
    end_ = read;
    return avcodec_send_packet(decoder_.get(), nullptr) >= 0;
  }
  if (feed_.packet->stream_index != stream_number_) {
    av_packet_unref(feed_.packet.get());
    return true;
  }
  if (feed_.skip > 0) {
    --feed_.skip;
    av_packet_unref(feed_.packet.get());
    return true;
  }
  if (precedes_key_frame()) {
    av_packet_unref(feed_.packet.get());
    return true;
  }
  feed_.held = count_->add(*feed_.packet, ++feed_.number);
  damage_.expect_losses(count_->take_losses());
  if (feed_.held) return avcodec_send_packet(decoder_.get(), nullptr) >= 0;
  send();
  return true;
}

/// Whether to drop the packet, because no key frame has come yet. Streams with gradual refresh have none, so
/// the number of dropped packets is limited.
bool LibavReader::precedes_key_frame() {
  constexpr int kMaxPacketsBeforeKey = 300;
  if (feed_.before_key < 0) return false;
  const std::span<const std::uint8_t> parameters = libav::new_parameters(*feed_.packet);
  if (!parameters.empty()) feed_.parameters.assign(parameters.begin(), parameters.end());
  const bool key = (feed_.packet->flags & AV_PKT_FLAG_KEY) != 0;
  if (!key && ++feed_.before_key <= kMaxPacketsBeforeKey) return true;
  feed_.before_key = -1;
  if (parameters.empty() && !feed_.parameters.empty()) {
    std::uint8_t* const to = libav::allocated(
        av_packet_new_side_data(feed_.packet.get(), AV_PKT_DATA_NEW_EXTRADATA, feed_.parameters.size()));
    std::ranges::copy(feed_.parameters, to);
  }
  return false;
}

void LibavReader::send() {
  number_packet(*decoder_, *feed_.packet, feed_.number);
  const int sent = avcodec_send_packet(decoder_.get(), feed_.packet.get());
  if (sent == AVERROR(ENOMEM)) throw std::bad_alloc();
  if (sent < 0 || (feed_.packet->flags & AV_PKT_FLAG_CORRUPT) != 0) damage_.damaged_packet();
  av_packet_unref(feed_.packet.get());
}

/// Sends the pending packet. Returns false if there is none.
bool LibavReader::send_held() {
  if (!feed_.held) return false;
  feed_.held = false;
  avcodec_flush_buffers(decoder_.get());
  send();
  return true;
}

bool LibavReader::next() {
  constexpr int kMaxFailures = 10000;  // limit for a decoder that fails endlessly
  while (!interrupted_) {
    const int got = avcodec_receive_frame(decoder_.get(), picture_.get());
    if (got >= 0) {
      damage_.add(*picture_, packet_of(*picture_));
      feed_.failures = 0;
      return true;
    }
    if (got == AVERROR(ENOMEM)) throw std::bad_alloc();
    if (got == AVERROR_EOF) {
      if (send_held()) continue;
      return false;
    }
    if (got != AVERROR(EAGAIN)) {  // any other error concerns one packet
      damage_.damaged_packet();
      if (++feed_.failures < kMaxFailures) continue;
      end_ = got;
      return false;
    }
    if (end_ != 0 || !feed()) return false;
  }
  end_ = AVERROR_EXIT;
  return false;
}

void LibavReader::picture(Frame& frame) {
  if (picture_on_gpu()) return to_luma(*nvdec::download(*picture_), shown_, frame);
  to_luma(*picture_, shown_, frame);
  latest_.width = picture_->width;
  latest_.height = picture_->height;
  latest_.format = picture_->format;
}

PictureFormat LibavReader::picture_format() const {
  const bool turned = shown_.quarter_turns % 2 != 0;
  const bool on_gpu = picture_->hw_frames_ctx != nullptr;
  const auto id = on_gpu
                      ? reinterpret_cast<const AVHWFramesContext*>(picture_->hw_frames_ctx->data)->sw_format
                      : static_cast<AVPixelFormat>(picture_->format);
  const AVPixFmtDescriptor* const pixels = av_pix_fmt_desc_get(id);
  return {turned ? picture_->height : picture_->width, turned ? picture_->width : picture_->height,
          pixels != nullptr ? pixels->comp[0].depth : 0, pixels != nullptr ? pixels->name : "unknown",
          rate_.found};
}

std::unique_ptr<UnmadeSamples> LibavReader::take_picture() {
  const bool alike = picture_->width == latest_.width && picture_->height == latest_.height;
  if (!alike || picture_->format != latest_.format) return nullptr;
  libav::Picture next(libav::allocated(av_frame_alloc()));
  picture_.swap(next);
  return std::make_unique<HeldPicture>(std::move(next), shown_);
}

bool LibavReader::picture_on_gpu() const {
  return nvdec::holds(*picture_);
}

bool LibavReader::store_picture(const DevicePictures& pictures, std::size_t offset, Frame& frame) const {
  if (!picture_on_gpu() || !shown_.upright()) return false;
  const DevicePlane plane = nvdec::plane_of(*picture_);
  if (plane.width != frame.width || plane.height != frame.height || (plane.bits > 8) != frame.bit_depth16)
    return false;
  pictures.store(plane, offset);
  return true;
}

double LibavReader::picture_seconds() const {
  if (!stamped()) return kNever;
  const std::int64_t time =
      lacks_decoding_stamps(*format_, *stream_) ? picture_->pts : picture_->best_effort_timestamp;
  return time == AV_NOPTS_VALUE ? kNever : static_cast<double>(time) * av_q2d(stream_->time_base);
}

/// For elementary streams and image pipes libavformat's stamps only number the pictures, at an assumed rate.
bool LibavReader::stamped() const noexcept {
  const std::string_view name = format_->iformat->name;
  return (format_->iformat->flags & AVFMT_NOTIMESTAMPS) == 0 && name != "mpjpeg" &&
         name.find("_pipe") == std::string_view::npos;
}

double LibavReader::claimed_rate() const noexcept {
  // A bare sequence of JPEG pictures states no rate, and libavformat assumes 25.
  return !stamped() && stream_->codecpar->codec_id == AV_CODEC_ID_MJPEG ? 0 : rate_.claimed;
}

bool LibavReader::stamps_count_frames() const noexcept {
  const std::string_view name = format_->iformat->name;
  return name == "avi" || name == "mxf" || name == "dv";
}

bool LibavReader::picture_is_key() const noexcept {
  return picture_->pict_type == AV_PICTURE_TYPE_I;
}

bool LibavReader::picture_is_between() const noexcept {
  return picture_->pict_type == AV_PICTURE_TYPE_B;
}

bool LibavReader::seek(double stamp) {
  const auto time = static_cast<std::int64_t>(std::floor(stamp / av_q2d(stream_->time_base) + 1e-3));
  start_clock();
  if (av_seek_frame(format_.get(), stream_number_, time, AVSEEK_FLAG_BACKWARD) < 0) return false;
  avcodec_flush_buffers(decoder_.get());
  av_packet_unref(feed_.packet.get());
  feed_.ahead.clear();
  count_.emplace(*stream_);
  feed_.held = false;
  end_ = feed_.failures = 0;
  return true;
}

std::int64_t LibavReader::width() const noexcept {
  return shown_.quarter_turns % 2 == 0 ? stream_->codecpar->width : stream_->codecpar->height;
}

std::int64_t LibavReader::height() const noexcept {
  return shown_.quarter_turns % 2 == 0 ? stream_->codecpar->height : stream_->codecpar->width;
}

void LibavReader::describe(SourceInfo& info) const {
  info.begin = stated_begin(*format_, rate_.found);
  const AVDictionaryEntry* const capture =
      av_dict_get(format_->metadata, "com.android.capture.fps", nullptr, 0);
  const double hz = capture != nullptr ? std::strtod(capture->value, nullptr) : 0;
  if (std::isfinite(hz) && hz > 0) info.capture_fps = hz;
  const AVRational shape =
      av_guess_sample_aspect_ratio(format_.get(), const_cast<AVStream*>(stream_), nullptr);
  if (shape.num > 0 && shape.den > 0)
    info.pixel_aspect = shown_.quarter_turns % 2 == 0 ? av_q2d(shape) : 1 / av_q2d(shape);
  // Fields are lines of the picture as coded, and make no sense after a rotation.
  if (!shown_.upright()) return;
  const AVFieldOrder order = stream_->codecpar->field_order;
  if (order == AV_FIELD_TT || order == AV_FIELD_BT) info.fields = Fields::top_first;
  if (order == AV_FIELD_BB || order == AV_FIELD_TB) info.fields = Fields::bottom_first;
}

std::int64_t LibavReader::frames_expected() const noexcept {
  if (stream_->nb_frames > 0) return stream_->nb_frames;
  double seconds = 0;
  if (format_->duration > 0)
    seconds = static_cast<double>(format_->duration) / AV_TIME_BASE;
  else if (stream_->duration > 0)
    seconds = static_cast<double>(stream_->duration) * av_q2d(stream_->time_base);
  const double frames = std::floor(seconds * frame_rate() + 0.5);
  return frames > 0 && frames < 1e15 ? static_cast<std::int64_t>(frames) : -1;
}

std::int64_t LibavReader::indexed_frames() const noexcept {
  const bool boxes = std::strstr(format_->iformat->name, "mp4") != nullptr;
  return boxes && stream_->nb_frames > 0 ? stream_->nb_frames : -1;
}

bool LibavReader::claims_duration() const noexcept {
  return format_->duration_estimation_method == AVFMT_DURATION_FROM_STREAM;
}

bool LibavReader::ended() const noexcept {
  if (end() == AVERROR_EOF) return true;
  AVIOContext* const bytes = format_->pb;
  if (limit_.exceeded || bytes == nullptr || bytes->eof_reached == 0) return false;
  // Some containers report their end as an error, as does HTTP for an unannounced length.
  return bytes->error >= 0 || (bytes->error == AVERROR(EIO) && avio_size(bytes) <= 0);
}

bool LibavReader::finite() const noexcept {
  return format_->duration > 0 || (format_->pb != nullptr && avio_size(format_->pb) > 0);
}

}  // namespace sfft::video
