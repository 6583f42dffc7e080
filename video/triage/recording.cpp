// SPDX-License-Identifier: Apache-2.0
// The decoder reads ahead on another thread. Changes come half a window after their frames, so small copies
// of frames are kept until it is known whether an event has its peak there.
#include "video/triage/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <deque>
#include <limits>
#include <memory>
#include <tuple>

#include "sfft/error.hpp"
#include "video/events/pace.hpp"
#include "video/report/input_log.hpp"
#include "video/report/page_parts.hpp"
#include "video/sources/decoder.hpp"
#include "video/triage/byte_archive.hpp"

namespace sfft::video {

namespace {

constexpr std::size_t kMaxPoints = 4096;  ///< of the timeline
constexpr std::int64_t kThumbnailSide = 200;
constexpr double kThumbnailsPerSecond = 5;
constexpr std::size_t kMaxThumbnails = 640;

/// CPU time of this thread in microseconds, which does not grow with the load of the machine.
double thread_us() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

/// Small copies of the latest frames, of which one may be the picture of an event.
class Thumbnails {
 public:
  /// Keeps some of the frames.
  void add(const SignalView& frame, std::int64_t number, double seconds) {
    if (seconds < next_s_) return;
    kept_.emplace_back(number, thumbnail(frame, kThumbnailSide));
    if (kept_.size() > kMaxThumbnails) kept_.pop_front();
    next_s_ = seconds + 1 / kThumbnailsPerSecond;
  }
  /// Frames before this number are no longer needed.
  void drop_before(std::int64_t number) {
    while (kept_.size() > 1 && kept_[1].first < number) kept_.pop_front();
  }
  /// Selects the copy that is nearest to the peak of the current event.
  void select(std::int64_t peak) {
    if (kept_.empty() || peak == peak_) return;
    const auto distance = [&](const std::pair<std::int64_t, Image>& one) {
      return std::abs(one.first - peak);
    };
    shown_ = std::ranges::min_element(kept_, {}, distance)->second;
    peak_ = peak;
  }
  /// The selected copy as a data URI; empty if none was selected for this peak.
  std::string of(std::int64_t peak) const {
    return peak_ == peak && !shown_.samples.empty() ? data_uri(shown_) : std::string();
  }

 private:
  std::deque<std::pair<std::int64_t, Image>> kept_;  ///< by the number of the frame
  Image shown_;
  std::int64_t peak_ = -1;
  double next_s_ = 0;
};

class Reading {
 public:
  Reading(const TriageOptions& options, const TriageCallbacks& callbacks, const std::atomic<bool>& stop,
          TriageFile& file)
      : options_(options), callbacks_(callbacks), stop_(stop), file_(file) {}

  void run(const TriagePart* part) {
    areas_.emplace(options_.areas);
    std::unique_ptr<FrameSource> source;
    if (part != nullptr) source = open_at(*part);
    if (!source) {
      SourceOptions reading = options_.source;
      reading.stop = &stop_;
      source = open_source(file_.path, reading);
      if (!meter_ || sequence_.pieces.empty()) {  // a part that cannot be used may have changed them
        file_.fps = source->frame_rate();
        meter_.emplace(options_.change, judged_rate(file_.fps));
        events_.emplace(options_.event, judged_rate(file_.fps));
      }
    }
    try {
      read(*source);
    } catch (...) {
      take_notes(*source);
      throw;
    }
    take_notes(*source);
    if (stop_) save_part();
    if (file_.frames == 0 && !stop_) throw InputError(fmt::format("'{}' holds no frames", file_.path));
  }

  /// Reads the next recording of a sequence, which continues the one before. Damage ends only this one.
  /// Returns whether others can be read.
  bool continue_with(const std::string& path) {
    if (callbacks_.on_recording) callbacks_.on_recording(sequence_.pieces.size());
    TriageFile& one = sequence_.pieces.emplace_back();
    one.path = path;
    if (sequence_.pieces.size() > 1) one.follows = sequence_.pieces[sequence_.pieces.size() - 2].path;
    one.sequence_s = sequence_.offset_s = file_.seconds;
    sequence_.first_frames.push_back(file_.frames);
    sequence_.begins = true;
    file_.path = path;
    file_.begin = {};
    file_.warnings.clear();
    file_.input_log = {};
    try {
      run(nullptr);
      one.status = RunStatus::complete;
      if (file_.frames == sequence_.first_frames.back() && !stop_)
        throw InputError(fmt::format("'{}' holds no frames", path));
    } catch (const std::exception&) {
      std::tie(one.status, one.message) = thrown_status();
    }
    one.frames = file_.frames - sequence_.first_frames.back();
    one.seconds = file_.seconds - sequence_.offset_s;
    one.begin = file_.begin;
    one.warnings = file_.warnings;
    one.input_log = file_.input_log;
    one.fps = file_.fps;
    one.width = file_.width;
    one.height = file_.height;
    if (stop_ && one.status < RunStatus::failed) {
      one.status = RunStatus::interrupted;
      one.message = fmt::format("interrupted after {} frames of '{}'", one.frames, path);
    }
    return one.status < RunStatus::failed;
  }

  std::vector<TriageFile> take_pieces() {
    for (std::size_t i = 0; i < sequence_.pieces.size(); ++i) {
      TriageFile& one = sequence_.pieces[i];
      one.us_per_frame = file_.us_per_frame;
      const double end = one.sequence_s + one.seconds;
      for (const TimelinePoint& point : file_.timeline) {
        const bool last = i + 1 == sequence_.pieces.size();
        if (point.seconds >= one.sequence_s && (last || point.seconds < end))
          one.timeline.push_back({point.seconds - one.sequence_s, point.value});
      }
    }
    return std::move(sequence_.pieces);
  }

  /// Analyses all that was read, no matter how the reading ended.
  void finish() {
    if (!meter_) return;
    const double start = thread_us();
    changes_.clear();
    meter_->finish(changes_);
    busy_us_ += thread_us() - start;
    take_changes();
    if (auto last = events_->finish()) keep(*last);
    file_.timeline = timeline_.points();
    if (file_.frames > 0) file_.us_per_frame = busy_us_ / static_cast<double>(file_.frames);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void read(FrameSource& source) {
    std::int64_t all = source.info().frames_expected;
    if (all >= 0) all += file_.frames;
    const std::int64_t expected =
        options_.frames > 0 && (all < 0 || all > options_.frames) ? options_.frames : all;
    const std::int64_t before = sequence_.first_frames.empty() ? 0 : sequence_.first_frames.back();
    const std::int64_t left = options_.frames > 0 ? options_.frames - file_.frames : 0;
    if (options_.frames > 0 && left <= 0) return;
    next_part_ = Clock::now() + part_interval();
    Decoder decoder(source, {.limit = left});
    while (!stop_) {
      const auto frames = decoder.next(4, 1, stop_);
      if (frames.empty()) return;
      if (!file_.begin.known()) file_.begin = begin_of(source, file_.path);
      for (const DecodedFrame& decoded : frames) take(decoded.frame);
      if (callbacks_.on_progress) callbacks_.on_progress(file_.frames - before, expected - before);
      if (Clock::now() >= next_part_) save_part();
    }
  }

  void take_notes(const FrameSource& source) {
    file_.begin = begin_of(source, file_.path);
    file_.warnings = source.warnings();
    file_.input_log = source.log();
    if (const std::string gaps = gaps_text(file_.input_log); !gaps.empty())
      file_.warnings.push_back(fmt::format("Gaps: {}.", gaps));
  }

  Clock::duration part_interval() const {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.part_every_s));
  }

  /// The state in a part that is neither a result of the file nor the state of the meter.
  template <class Archive>
  void archive(Archive& bytes) {
    std::uint32_t format = kFormat;
    bytes(format);
    if (format != kFormat) throw Error(ErrorCode::file_corrupt, "the state of a file is of another kind");
    bytes(resume_.frame, resume_.seconds, busy_us_, timeline_, *events_);
  }

  void save_part() {
    // A part can only go on with pictures like the first.
    if (!callbacks_.on_part || !sequence_.pieces.empty() || !meter_ || !events_->idle() ||
        latest_.segment > 0 || thinning_.on)
      return;
    const auto next = meter_->next_unknown();
    if (!next) return;
    next_part_ = Clock::now() + part_interval();
    resume_.frame = next->frame;
    resume_.seconds = next->seconds;
    ByteWriter bytes;
    archive(bytes);
    meter_->save(bytes);
    TriagePart part{file_, bytes.take()};
    part.file.timeline.clear();  // `memory` has it with full precision
    callbacks_.on_part(std::move(part));
  }

  /// Restores all state and opens the source at the part's next frame. Returns null if that frame is not
  /// found again.
  std::unique_ptr<FrameSource> open_at(const TriagePart& part) {
    const TriageFile fresh = file_;
    try {
      file_ = part.file;
      file_.status = fresh.status;
      meter_.emplace(options_.change, judged_rate(file_.fps));
      events_.emplace(options_.event, judged_rate(file_.fps));
      ByteReader bytes(part.memory);
      archive(bytes);
      const double tolerance = 0.25 / (file_.fps > 0 ? file_.fps : 25);
      Frame first;
      SourceOptions reading = options_.source;
      if (!open_source(file_.path, reading)->next(first)) throw InputError("no frame");
      meter_->resume(areas_->masked(first), resume_.frame, bytes);
      reading.selection.start_seconds = resume_.seconds - tolerance;
      Frame next;
      const double shown = open_source(file_.path, reading)->next(next) ? next.seconds : kNever;
      if (!(std::fabs(shown - resume_.seconds) <= tolerance) || next.width != first.width)
        throw InputError("the frame is not there");
      auto source = open_source(file_.path, reading);
      file_.resumed_at_frame = file_.frames = resume_.frame;
      last_seconds_ = resume_.seconds;
      for (const TriageEvent& event : file_.events)
        if (callbacks_.on_event) callbacks_.on_event(file_, event);
      return source;
    } catch (const std::exception&) {  // whatever is wrong with the part, the file can be read again
      file_ = fresh;
      last_seconds_ = busy_us_ = 0;
      timeline_ = Timeline(kMaxPoints);
      return nullptr;
    }
  }

  void take(const Frame& frame) {
    const double interval = 1 / (file_.fps > 0 ? file_.fps : 25);
    const double seconds = std::isfinite(frame.seconds)
                               ? std::max(sequence_.offset_s + frame.seconds, last_seconds_)
                               : static_cast<double>(file_.frames) * interval;
    last_seconds_ = seconds;
    if (file_.frames == 0) {
      file_.width = frame.width;
      file_.height = frame.height;
    } else {
      // Segments of another recording have other numbers.
      if (sequence_.begins) latest_.segment = frame.segment;
      if (sequence_.begins ? frame.format() != latest_ : frame.segment != latest_.segment) begin_segment();
    }
    latest_ = frame.format();
    sequence_.begins = false;
    changes_.clear();
    // At high rates, some of the frames are enough.
    if (judged_rate(file_.fps) < file_.fps) {
      thinning_.on = true;
      if (!thinning_.pace.due(seconds)) {
        ++file_.frames;
        file_.seconds = seconds + interval;
        return;
      }
      thinning_.judged.push_back(file_.frames);
    }
    const double start = thread_us();
    meter_->push(areas_->masked(frame), seconds, changes_);
    busy_us_ += thread_us() - start;
    if (options_.thumbnails) thumbnails_.add(frame.view(), file_.frames, seconds);
    ++file_.frames;
    file_.seconds = seconds + interval;
    take_changes();
  }

  /// Learns the usual scene again, because the pictures have another size or depth.
  void begin_segment() {
    changes_.clear();
    meter_->finish(changes_);
    take_changes();
    if (auto last = events_->finish()) keep(*last);
    meter_.emplace(options_.change, judged_rate(file_.fps));
    meter_begin_ = file_.frames;
    thinning_.judged.clear();
  }

  void take_changes() {
    for (Change& change : changes_) {
      change.frame += meter_begin_;
      if (!thinning_.judged.empty()) {
        change.frame = thinning_.judged.front();
        thinning_.judged.pop_front();
      }
      timeline_.add(change.seconds, change.score);
      note_zones(change);
      auto over = events_->add(change);
      if (over) keep(*over);
      if (const Change* const peak = events_->peak())
        thumbnails_.select(peak->frame);
      else
        thumbnails_.drop_before(change.frame - kHeld);
    }
  }

  /// Notes the zones of a change that is large enough for an event.
  void note_zones(const Change& change) {
    if (areas_->zones() == 0) return;
    if (events_->idle())
      while (std::ssize(zones_) > kHeld) zones_.pop_front();
    if (events_->lasts(change)) zones_.emplace_back(change.seconds, areas_->zones_at(change.x, change.y));
  }

  void keep(TriageEvent event) {
    std::uint64_t zones = 0;
    for (const auto& [seconds, where] : zones_)
      if (seconds >= event.change_start_s && seconds <= event.change_end_s) zones |= where;
    event.zones = areas_->names(zones);
    event.thumbnail = thumbnails_.of(event.peak_frame);
    TriageFile& file = sequence_.pieces.empty() ? file_ : place(event);
    file.events.push_back(std::move(event));
    if (callbacks_.on_event) callbacks_.on_event(file, file.events.back());
  }

  /// Returns the recording in which the event begins, and makes the event's times relative to it.
  TriageFile& place(TriageEvent& event) {
    const auto piece_at = [this](double seconds) {
      std::size_t piece = sequence_.pieces.size() - 1;
      while (piece > 0 && sequence_.pieces[piece].sequence_s > seconds + 1e-6) --piece;
      return piece;
    };
    const std::size_t first = piece_at(event.start_s);
    const std::size_t last = std::max(first, piece_at(event.end_s - 1e-3));
    if (last > first) {
      event.end_file = sequence_.pieces[last].path;
      event.end_file_s = event.end_s - sequence_.pieces[last].sequence_s;
    }
    TriageFile& file = sequence_.pieces[first];
    for (double* const seconds :
         {&event.start_s, &event.end_s, &event.peak_s, &event.change_start_s, &event.change_end_s})
      *seconds -= file.sequence_s;
    for (std::int64_t* const frame : {&event.start_frame, &event.end_frame, &event.peak_frame})
      *frame -= sequence_.first_frames[first];
    event.id = static_cast<std::int64_t>(file.events.size()) + 1;
    if (&file == &sequence_.pieces.back()) file.begin = file_.begin;
    return file;
  }

  static constexpr std::uint32_t kFormat = 0x54524935;
  static constexpr double kNever = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::int64_t kHeld = 96;  ///< a new event has its peak at most this many frames back

  const TriageOptions& options_;
  const TriageCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  TriageFile& file_;
  std::optional<Areas> areas_;
  std::deque<std::pair<double, std::uint64_t>> zones_;  ///< with the time of their change in seconds
  std::optional<ChangeMeter> meter_;
  std::optional<EventList> events_;
  std::vector<Change> changes_;
  Timeline timeline_{kMaxPoints};
  Thumbnails thumbnails_;
  FrameFormat latest_;            ///< of the latest frame
  std::int64_t meter_begin_ = 0;  ///< the first frame of the segment
  struct Sequence {
    std::vector<TriageFile> pieces;          ///< recordings of a sequence; none: a single recording
    std::vector<std::int64_t> first_frames;  ///< of the pieces
    double offset_s = 0;                     ///< where the current piece begins
    bool begins = false;                     ///< the next frame is the first of a piece
  };
  Sequence sequence_;
  struct Thinning {
    Pace pace;
    bool on = false;                  ///< frames are left out
    std::deque<std::int64_t> judged;  ///< frames that are not left out, with unknown changes
  };
  Thinning thinning_;
  double last_seconds_ = 0, busy_us_ = 0;
  Change resume_;  ///< in a part: frame and time of the first whose change is not known
  Clock::time_point next_part_{};
};

}  // namespace

std::vector<TriageFile> triage_sequence(std::span<const std::string> paths, const TriageOptions& options,
                                        const TriageCallbacks& callbacks,
                                        const std::atomic<bool>& stop) noexcept {
  std::vector<TriageFile> files;
  try {
    TriageFile whole;
    Reading reading(options, callbacks, stop, whole);
    for (const std::string& path : paths) {
      if (stop || !reading.continue_with(path)) break;
    }
    reading.finish();
    files = reading.take_pieces();
  } catch (const std::exception&) {
    TriageFile failed;
    std::tie(failed.status, failed.message) = thrown_status();
    files.assign(paths.size(), failed);
  }
  for (std::size_t i = files.size(); i < paths.size(); ++i) files.emplace_back();
  for (std::size_t i = 0; i < paths.size(); ++i) files[i].path = paths[i];
  return files;
}

TriageFile triage(const std::string& path, const TriageOptions& options, const TriageCallbacks& callbacks,
                  const std::atomic<bool>& stop, const TriagePart* part) noexcept {
  TriageFile file;
  try {
    file.path = path;
    Reading reading(options, callbacks, stop, file);
    try {
      reading.run(part);
      file.status = RunStatus::complete;
    } catch (const InputError&) {
      std::tie(file.status, file.message) = thrown_status();
    } catch (const Error&) {
      std::tie(file.status, file.message) = thrown_status();
    }
    if (stop && file.status < RunStatus::failed) {
      file.status = RunStatus::interrupted;
      file.message = fmt::format("interrupted after {} frames of '{}'", file.frames, path);
    }
    reading.finish();
  } catch (const std::exception&) {
    std::tie(file.status, file.message) = thrown_status();
  }
  return file;
}

}  // namespace sfft::video
