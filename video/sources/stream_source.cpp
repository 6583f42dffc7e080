// SPDX-License-Identifier: Apache-2.0
// Reads a network stream. A stream that breaks is reopened, after pauses that double. Time without frames is
// recorded, whether the stream broke or not.
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "video/sources/format_watch.hpp"
#include "video/sources/frame_times.hpp"
#include "video/sources/libav_reader.hpp"
#include "video/sources/libav_source.hpp"
#include "video/sources/masked_url.hpp"
#include "video/sources/reconnection.hpp"

namespace sfft::video {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

class StreamSource final : public FrameSource {
 public:
  StreamSource(const std::string& url, const SourceOptions& options)
      : options_(options), url_(url), connection_(masked_url(url), options, interrupted_) {
    info_.path = masked_url(url);
    try {
      open();
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("'{}' cannot be opened (gave up after at most {} s): {}: check the address "
                      "and that the server runs",
                      info_.path, options.timeout_seconds, error.what()));
    }
    info_.width = reader_->width();
    info_.height = reader_->height();
    finite_ = reader_->finite();
    if (finite_) info_.begin = stated_begin();
    by_arrival_ = !finite_ && !reader_->stamped() && !url.starts_with("file:");
    if (by_arrival_)
      warnings_.emplace_back(
          "The stream has no time stamps: the times of its frames are those of their arrival.");
    else
      info_.fps = reader_->frame_rate();
    claimed_fps_ = reader_->claimed_rate();
    if (options_.decode_on == DecodeOn::nvdec)
      warnings_.emplace_back("NVDEC is not used: it decodes files, no streams. The CPU decodes.");
    times_.emplace(info_.fps);
  }

  const SourceInfo& info() const noexcept override { return info_; }
  bool live() const noexcept override { return true; }
  void interrupt() noexcept override { interrupted_ = true; }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> warnings = warnings_;
    if (!connection_.warning().empty()) warnings.push_back(connection_.warning());
    formats_.warn(warnings);
    const SourceLog so_far = log();
    warn_of_losses(so_far, warnings);
    if (std::string note = overruled_rate(claimed_fps_, so_far.timing.measured_fps); !note.empty())
      warnings.push_back(std::move(note));
    return warnings;
  }

  SourceLog log() const override {
    SourceLog log = log_;
    log.decoder = "cpu";
    log.gaps = connection_.gaps();
    log.changes = formats_.changes();
    if (options_.decode_on == DecodeOn::nvdec) log.decoder_note = "NVDEC decodes files, no streams";
    if (reader_) add_reader(log);
    times_->add_to(log);
    if (by_arrival_ && count_ > 0) log.timing.source = TimeSource::arrival;
    log.timing.claimed_fps = claimed_fps_;
    return log;
  }

  bool next(Frame& frame) override {
    asked_ = Clock::now();
    while (!connection_.stopped()) {
      if (reader_ && reader_->next()) return take(frame), true;
      if (connection_.stopped() || is_over() || !reconnect()) break;
    }
    return false;
  }

 private:
  void open() {
    reader_.emplace(url_,
                    LibavReader::Options{.live = true,
                                         .timeout_seconds = options_.timeout_seconds,
                                         .stop = options_.stop,
                                         .threads = options_.decode_threads,
                                         .skip_loop_filter = options_.skip_loop_filter,
                                         .track = options_.track},
                    interrupted_);
  }

  /// The beginning that a recording on a server states.
  WallClock stated_begin() const {
    SourceInfo stated;
    reader_->describe(stated);
    return stated.begin;
  }

  void take(Frame& frame) {
    reader_->picture(frame);
    const auto now = Clock::now();
    frame.made_up = reader_->damage().made_up();
    frame.gap_seconds = connection_.arrive(count_);
    if (frame.gap_seconds > 0) times_->jump(frame.gap_seconds);
    const double before = times_->last();
    // A recording on a server is never late, so its waiting time does not count.
    const double waited = finite_ ? 0 : Seconds(now - asked_).count();
    const double arrival = Seconds(now - opened_).count();
    frame.seconds = times_->next(by_arrival_ ? arrival : reader_->picture_seconds(), {arrival, waited},
                                 reader_->damage().lost_before());
    if (times_->stalled_seconds() > 0) {
      frame.gap_seconds = times_->stalled_seconds();
      connection_.note({count_, before, frame.gap_seconds, 0, "no frames came"});
    }
    if (count_ == 0) {
      if (!finite_) info_.begin = present_clock(frame.seconds);
      info_.width = frame.width;
      info_.height = frame.height;
    }
    formats_.note(reader_->picture_format(), count_, frame);
    ++count_;
  }

  /// Whether the stream is over. A recording on a server has an end, and would restart if reopened;
  /// libavformat has already retried a broken one.
  bool is_over() const {
    if (!finite_ || !reader_) return false;
    if (!reader_->ended()) {
      throw InputError(fmt::format("'{}' cannot be read after frame {}: {}", info_.path, count_,
                                   libav::error_text(reader_->end())));
    }
    return true;
  }

  void add_reader(SourceLog& log) const {
    log.damaged_packets += reader_->damage().packets();
    log.damaged_frames += reader_->damage().pictures();
    log.lost_frames += reader_->damage().lost();
  }

  /// Reopens the stream. Returns false if it ended for good; throws InputError if it broke and cannot be
  /// reopened.
  bool reconnect() {
    if (reader_) {
      const bool ended = reader_->ended();
      connection_.lose(ended ? "the stream ended" : libav::error_text(reader_->end()), ended, times_->last());
      add_reader(log_);
    }
    reader_.reset();
    return connection_.again(count_, [this] {
      open();
      if (!by_arrival_) times_->set_rate(reader_->frame_rate());
    });
  }

  SourceOptions options_;
  std::string url_;  ///< with its password, which info_.path hides
  SourceInfo info_;
  std::atomic<bool> interrupted_{false};
  Reconnection connection_;
  std::optional<LibavReader> reader_;  ///< none between two connections
  std::optional<StreamClock> times_;
  FormatWatch formats_;
  bool finite_ = false;
  bool by_arrival_ = false;  ///< there are no time stamps
  double claimed_fps_ = 0;
  std::int64_t count_ = 0;
  Clock::time_point opened_ = Clock::now(), asked_ = opened_;
  SourceLog log_;  ///< damage and losses of earlier connections
  std::vector<std::string> warnings_;
};

}  // namespace

std::unique_ptr<FrameSource> open_stream(const std::string& url, const SourceOptions& options) {
  return std::make_unique<StreamSource>(url, options);
}

}  // namespace sfft::video
