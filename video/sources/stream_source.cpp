// SPDX-License-Identifier: Apache-2.0
// A network stream. When it breaks off it is opened again, after pauses that double. Time without frames is
// noted, whether it broke off or not.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "video/sources/format_watch.hpp"
#include "video/sources/libav_reader.hpp"
#include "video/sources/libav_source.hpp"
#include "video/sources/stream_clock.hpp"

namespace sfft::video {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kFirstPause = 0.25, kLongestPause = 15;  // seconds

class StreamSource final : public FrameSource {
 public:
  StreamSource(const std::string& url, const SourceOptions& options) : options_(options) {
    info_.path = url;
    try {
      open();
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("'{}' cannot be opened (gave up after at most {} s): {}: check the address "
                      "and that the server runs",
                      url, options.timeout_seconds, error.what()));
    }
    info_.width = reader_->width();
    info_.height = reader_->height();
    info_.fps = reader_->frame_rate();
    finite_ = reader_->finite();
    if (options_.decode_on == DecodeOn::nvdec)
      warnings_.emplace_back("NVDEC is not used: it decodes files, no streams. The CPU decodes.");
    times_.emplace(info_.fps);
  }

  const SourceInfo& info() const noexcept override { return info_; }
  bool live() const noexcept override { return true; }
  void interrupt() noexcept override { interrupted_ = true; }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> warnings = warnings_;
    formats_.warn(warnings);
    return warnings;
  }

  SourceLog log() const override {
    SourceLog log = log_;
    log.decoder = "cpu";
    log.changes = formats_.changes();
    if (options_.decode_on == DecodeOn::nvdec) log.decoder_note = "NVDEC decodes files, no streams";
    if (reader_) add_reader(log);
    times_->add_to(log);
    return log;
  }

  bool next(Frame& frame) override {
    asked_ = Clock::now();
    while (!stopped()) {
      if (reader_ && reader_->next()) return take(frame), true;
      if (stopped() || is_over() || !reconnect()) break;
    }
    return false;
  }

 private:
  bool stopped() const { return interrupted_ || (options_.stop != nullptr && *options_.stop); }

  void open() {
    reader_.emplace(info_.path,
                    LibavReader::Options{.live = true,
                                         .timeout_seconds = options_.timeout_seconds,
                                         .stop = options_.stop,
                                         .threads = options_.decode_threads,
                                         .skip_loop_filter = options_.skip_loop_filter},
                    interrupted_);
  }

  void take(Frame& frame) {
    reader_->picture(frame);
    const auto now = Clock::now();
    frame.gap_seconds = 0;
    frame.made_up = reader_->picture_made_up();
    if (lost_) {
      frame.gap_seconds = lost_->seconds = Seconds(now - last_arrival_).count();
      lost_->frame = count_;
      note(*lost_);
      lost_.reset();
      times_->jump(frame.gap_seconds);
    }
    const double before = times_->last();
    // A recording on a server is not late.
    const double waited = finite_ ? 0 : Seconds(now - asked_).count();
    frame.seconds = times_->next(reader_->picture_seconds(), {Seconds(now - opened_).count(), waited},
                                 reader_->lost_before_picture());
    if (times_->stalled_seconds() > 0) {
      frame.gap_seconds = times_->stalled_seconds();
      note({count_, before, frame.gap_seconds, 0, "no frames came"});
    }
    if (count_ == 0) {
      info_.width = frame.width;
      info_.height = frame.height;
    }
    formats_.note(reader_->picture_format(), count_, frame);
    last_arrival_ = now;
    ++count_;
  }

  void note(Gap gap) {
    constexpr std::size_t kMost = 10000;
    if (log_.gaps.size() == kMost) log_.gaps.erase(log_.gaps.begin());
    log_.gaps.push_back(std::move(gap));
  }

  /// Whether this was the end. A recording on a server has one, and begins anew when it is opened again; what
  /// can be read again of one that breaks off, libavformat has read.
  bool is_over() const {
    if (!finite_ || !reader_) return false;
    if (!reader_->ended()) {
      throw InputError(fmt::format("'{}' cannot be read after frame {}: {}", info_.path, count_,
                                   libav::error_text(reader_->end())));
    }
    return true;
  }

  void add_reader(SourceLog& log) const {
    log.damaged_packets += reader_->damaged_packets();
    log.damaged_frames += reader_->damaged_pictures();
    log.lost_frames += reader_->lost_pictures();
  }

  /// Opens the stream again. False for one that ended and did not come back; InputError for one that broke.
  bool reconnect() {
    if (reader_ && !lost_) {
      lost_.emplace();
      lost_->start_seconds = times_->last();
      ended_ = reader_->ended();
      lost_->reason = ended_ ? "the stream ended" : libav::error_text(reader_->end());
      if (count_ == 0) last_arrival_ = Clock::now();
      pause_ = kFirstPause;
    }
    if (reader_) add_reader(log_);
    reader_.reset();
    while (!stopped()) {
      const double left = options_.reconnect_seconds - Seconds(Clock::now() - last_arrival_).count();
      if (!(left > 0)) return give_up();
      wait(std::min(pause_, left));
      pause_ = std::min(2 * pause_, kLongestPause);
      if (stopped()) break;
      ++lost_->attempts;
      try {
        open();
        times_->set_rate(reader_->frame_rate());
        return true;
      } catch (const InputError&) {  // not yet
      }
    }
    return false;
  }

  bool give_up() {
    lost_->seconds = Seconds(Clock::now() - last_arrival_).count();
    lost_->frame = count_;
    note(*lost_);
    if (count_ == 0)
      throw InputError(fmt::format("'{}' opened but not a single frame can be decoded", info_.path));
    std::string text = fmt::format("'{}' was lost after frame {} ({})", info_.path, count_, lost_->reason);
    if (options_.reconnect_seconds > 0)
      text += fmt::format(" and did not come back within {:g} s", options_.reconnect_seconds);
    if (!ended_) throw InputError(text);
    warnings_.push_back(text + ".");
    return false;
  }

  void wait(double seconds) const {
    const auto until = Clock::now() + Seconds(seconds);
    while (!stopped() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  SourceOptions options_;
  SourceInfo info_;
  std::atomic<bool> interrupted_{false};
  std::optional<LibavReader> reader_;  ///< none between two connections
  std::optional<StreamClock> times_;
  FormatWatch formats_;
  bool finite_ = false;
  std::int64_t count_ = 0;
  Clock::time_point opened_ = Clock::now(), last_arrival_ = opened_, asked_ = opened_;
  std::optional<Gap> lost_;  ///< the stream, at the moment
  bool ended_ = false;       ///< it was lost by an end in good order
  double pause_ = kFirstPause;
  SourceLog log_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::unique_ptr<FrameSource> open_stream(const std::string& url, const SourceOptions& options) {
  return std::make_unique<StreamSource>(url, options);
}

}  // namespace sfft::video
