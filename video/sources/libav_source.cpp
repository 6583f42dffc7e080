// SPDX-License-Identifier: Apache-2.0
// Decodes a recording file with a reader, and compares its end with what the container promises.
#include "video/sources/libav_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "video/sources/format_watch.hpp"
#include "video/sources/frame_times.hpp"
#include "video/sources/libav_reader.hpp"
#include "video/sources/recording_end.hpp"
#include "video/sources/recording_index.hpp"

namespace sfft::video {

namespace {

constexpr double kTimeTolerance = 1e-6;

class FileSource final : public FrameSource {
 public:
  FileSource(const std::string& path, const SourceOptions& options)
      // The prefix "file:" allows names that contain colons.
      : url_("file:" + path), options_(options) {
    open(options.decode_on == DecodeOn::nvdec);
    if (options.decode_on == DecodeOn::nvdec) look_at_first_picture();
    times_.emplace(reader_->frame_rate());
    info_.path = path;
    info_.width = reader_->width();
    info_.height = reader_->height();
    info_.fps = reader_->frame_rate();
    info_.frames_expected = reader_->frames_expected();
    reader_->describe(info_);
    for (const std::string& note : {reader_->track_note(), reader_->rate_note()})
      if (!note.empty()) warnings_.push_back(note);
  }

  const SourceInfo& info() const noexcept override { return info_; }
  void interrupt() noexcept override { interrupted_ = true; }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> warnings = warnings_;
    formats_.warn(warnings);
    return warnings;
  }

  SourceLog log() const override {
    SourceLog log;
    log.decoder = on_gpu_ ? "nvdec" : "cpu";
    log.decoder_note =
        on_gpu_ ? "NVDEC conceals damaged pictures and does not tell: they are not counted" : gpu_problem_;
    log.damaged_packets = reader_->damage().packets();
    log.damaged_frames = reader_->damage().pictures();
    log.gaps = holes_;
    log.lost_frames = reader_->damage().lost();
    log.changes = formats_.changes();
    times_->add_to(log);
    log.timing.claimed_fps = reader_->claimed_rate();
    if (log.timing.source == TimeSource::stamps && reader_->stamps_count_frames())
      log.timing = {TimeSource::claimed_rate, log.timing.claimed_fps, 0};
    return log;
  }

  bool advance(Frame& frame) override {
    if (!found_ && !reader_->next()) {
      if (!interrupted_) end();
      return false;
    }
    found_ = false;
    const double before = times_->last();
    frame.seconds = times_->next(reader_->picture_seconds(), reader_->damage().lost_before());
    note_hole(before, frame.seconds);
    frame.made_up = reader_->damage().made_up();
    frame.key = reader_->picture_is_key();
    frame.between = reader_->picture_is_between();
    frame.segment = formats_.segment();
    ++count_;
    return true;
  }

  void load(Frame& frame) override {
    reader_->picture(frame);
    formats_.note(reader_->picture_format(), count_ - 1, frame);
    if (loaded_) return;
    info_.width = frame.width;
    info_.height = frame.height;
    loaded_ = true;
  }

  std::unique_ptr<UnmadeSamples> load_later() override { return loaded_ ? reader_->take_picture() : nullptr; }

  /// Times are relative to the first picture, so it is decoded first. Containers without an index are read up
  /// to the wanted key frame. Their stamps may belong to several clocks, and a search by stamps may end
  /// anywhere.
  bool seek(double seconds) override {
    if (!found_) found_ = reader_->next();
    const double first = reader_->picture_seconds();
    if (!found_ || !std::isfinite(first)) return false;
    if (reader_->has_index()) {
      for (const double margin : {0.0, 2.0, 10.0}) {
        if (seconds <= margin || !reader_->seek(first + seconds - margin)) break;
        found_ = reader_->next();
        if (found_ && reader_->picture_seconds() - first <= seconds + kTimeTolerance) {
          from_the_start_ = false;
          times_->set_origin(first);
          return true;
        }
      }
    }
    const RecordingIndex index(info_.path, options_.track, nullptr, seconds);
    const std::size_t begin = index.begin_for(seconds);
    open(on_gpu_, static_cast<std::int64_t>(begin));
    found_ = false;
    if (index.empty() || begin == 0) return true;
    from_the_start_ = false;
    const RecordingIndex::Packet& key = index.packets()[begin];
    times_->set_origin(first + key.stamp - key.seconds - index.first_stamp());
    return true;
  }

  bool on_gpu() const noexcept override { return on_gpu_; }
  bool load_on_gpu(Frame& frame, const DevicePictures& pictures, std::size_t offset) override {
    return loaded_ && reader_->store_picture(pictures, offset, frame);
  }

 private:
  /// Notes a hole in the recording: frames much further apart than before.
  void note_hole(double before, double now) {
    constexpr double kMin = 2, kTimes = 10;  // seconds; multiple of the usual interval
    constexpr std::int64_t kFew = 5;
    constexpr std::size_t kMaxHoles = 10000;
    const double interval = now - before;
    if (count_ == 0) hidden_ = now;
    const double usual = (before - hidden_) / static_cast<double>(std::max<std::int64_t>(1, count_ - 1));
    if (count_ < kFew || interval < kMin || interval < kTimes * usual) return;
    hidden_ += interval;
    times_->leave_out_interval();
    if (holes_.size() == kMaxHoles) holes_.erase(holes_.begin());
    holes_.push_back({count_, before, interval, 0, "the time stamps jump"});
  }

  void open(bool on_gpu, std::int64_t skip = 0) {
    reader_.emplace(url_,
                    LibavReader::Options{.threads = options_.decode_threads,
                                         .skip_loop_filter = options_.skip_loop_filter,
                                         .on_gpu = on_gpu,
                                         .device = options_.device,
                                         .track = options_.track,
                                         .skip = skip},
                    interrupted_);
  }

  /// The first picture shows whether the GPU decodes the recording. If not, decoding restarts on the CPU.
  void look_at_first_picture() {
    gpu_problem_ = reader_->gpu_problem();
    if (gpu_problem_.empty()) {
      found_ = reader_->next();
      on_gpu_ = found_ && reader_->picture_on_gpu();
      if (on_gpu_) return;
      gpu_problem_ =
          "the GPU or its driver does not decode this recording (its codec, profile or size, or "
          "libnvcuvid.so.1 is missing)";
    }
    found_ = false;
    open(false);
    warnings_.push_back(fmt::format("NVDEC is not used: {}. The CPU decodes.", gpu_problem_));
  }

  void end() {
    if (count_ == 0)
      throw InputError(fmt::format("'{}' opened but not a single frame can be decoded", info_.path));
    const std::string warning = check_recording_end(
        {.path = info_.path,
         .frames = count_,
         .frames_expected = from_the_start_ ? info_.frames_expected : -1,
         .frames_indexed = reader_->indexed_frames(),
         .frames_held = reader_->packet_frames(),
         .claims_duration = reader_->claims_duration(),
         .frame_rate = info_.fps,
         .last_seconds = times_->last(),
         .read_error = reader_->end() == AVERROR_EOF ? "" : libav::error_text(reader_->end())});
    if (!warning.empty()) warnings_.push_back(warning);
    add_damage();
  }

  void add_damage() {
    const SourceLog found = log();
    if (found.damaged_packets > 0)
      warnings_.push_back(fmt::format("{} packets are damaged.", found.damaged_packets));
    if (found.damaged_frames > 0) {
      warnings_.push_back(fmt::format("{} frames were decoded with parts of them made up by the decoder.",
                                      found.damaged_frames));
    }
    warn_of_losses(found, warnings_);
    // One or two frames without a time are usual at the ends of an MPEG program stream.
    if (found.frames_without_time > std::max<std::int64_t>(2, count_ / 200)) {
      warnings_.push_back(
          fmt::format("{} frames have no time stamp, or one that runs backwards: their times "
                      "follow from the rate.",
                      found.frames_without_time));
    }
  }

  std::string url_;
  SourceOptions options_;
  std::atomic<bool> interrupted_{false};
  std::optional<LibavReader> reader_;
  std::optional<FrameTimes> times_;
  FormatWatch formats_;
  std::vector<Gap> holes_;
  double hidden_ = 0;  ///< seconds in holes, and before the first frame
  bool on_gpu_ = false;
  std::string gpu_problem_;
  SourceInfo info_;
  std::int64_t count_ = 0;
  bool loaded_ = false;         ///< a frame has been loaded
  bool from_the_start_ = true;  ///< no frames were skipped
  bool found_ = false;          ///< the reader has a picture that was not delivered yet
  std::vector<std::string> warnings_;
};

}  // namespace

void warn_of_losses(const SourceLog& log, std::vector<std::string>& warnings) {
  if (log.lost_frames == 0) return;
  warnings.push_back(fmt::format(
      "{} frame{} missing, as the numbers of the pictures tell: those that follow are wrong until "
      "the next key frame.",
      log.lost_frames, log.lost_frames == 1 ? " is" : "s are"));
}

std::unique_ptr<FrameSource> open_recording_file(const std::string& path, const SourceOptions& options) {
  try {
    return std::make_unique<FileSource>(path, options);
  } catch (const InputError& error) {
    if (lacks_index(path)) {
      throw InputError(fmt::format(
          "'{}' has no index (moov), without which an MP4 cannot be read. It is written last: the "
          "recorder was cut off or still writes, or a part of the file was copied. Copy it again, "
          "or have untrunc rebuild the index from a whole recording of the same camera",
          path));
    }
    throw InputError(fmt::format("'{}' is not a recording that can be decoded: {}", path, error.what()));
  }
}

}  // namespace sfft::video
