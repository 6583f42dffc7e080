// SPDX-License-Identifier: Apache-2.0
// The decoder reads ahead on a separate thread. A live source is checked twice a second, so that silence also
// becomes an event.
#include "video/guard/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "sfft/error.hpp"
#include "video/guard/snapshots.hpp"
#include "video/sources/decoder.hpp"
#include "video/sources/masked_url.hpp"
#include "video/sources/thread.hpp"

namespace sfft::video {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxEvents = 20000;
/// Time between two recordings, in seconds, above which something happened between them that nobody saw.
constexpr double kLongestSeam = 2;

/// Sets a flag every 500 ms until it is destroyed, and every 50 ms once the run has to stop.
class Waker {
 public:
  Waker(std::atomic<bool>& flag, const std::atomic<bool>& stop)
      : thread_(start_thread("the clock of an input", [this, &flag, &stop] {
          std::unique_lock lock(mutex_);
          auto next = Clock::now() + kPause;
          while (!over_) {
            changed_.wait_for(lock, kGlance);
            if (!stop && Clock::now() < next) continue;
            flag = true;
            next = Clock::now() + kPause;
          }
        })) {}
  ~Waker() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

 private:
  static constexpr auto kGlance = std::chrono::milliseconds(50);
  static constexpr auto kPause = std::chrono::milliseconds(500);
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

class Watch {
 public:
  Watch(std::span<const std::string> inputs, const WatchOptions& options, const EventCallback& on_event,
        const std::atomic<bool>& stop, WatchReport& report)
      : inputs_(inputs), options_(options), on_event_(on_event), stop_(stop), report_(report) {}

  void run() {
    report_.input.path = masked_url(inputs_.front());
    if (!options_.snapshots.empty()) snapshots_.emplace(options_.snapshots, options_.may_write);
    GuardOptions guard_options = options_.guard;
    guard_options.source = report_.input.path;
    guard_.emplace(guard_options);
    areas_.emplace(options_.areas);
    std::exception_ptr failure;  // of the first recording that was damaged
    for (const std::string& input : inputs_) {
      if (stop_ || done()) break;
      try {
        watch(input);
      } catch (const InputError&) {
        if (inputs_.size() == 1) throw;
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

  /// A stream that broke is offline.
  void broke() {
    if (guard_ && live_ && report_.frames > 0 && !stop_) go_offline(report_.seconds);
  }

  void finish() {
    report_.us_per_frame = report_.frames > 0 ? busy_us_ / static_cast<double>(report_.frames) : 0;
  }

 private:
  void watch(const std::string& input) {
    const auto source = open(input);
    if (!source) return;
    if (report_.frames == 0) {
      const WallClock waited = report_.input.begin;
      report_.input = source->info();
      report_.input.begin = waited;
    }
    frames_before_ = report_.frames;
    recording_begins_ = true;
    try {
      read(*source, input);
    } catch (...) {
      take_notes(*source);
      throw;
    }
    take_notes(*source);
    if (report_.frames == frames_before_ && !stop_)
      throw InputError(fmt::format("'{}' holds no frames", masked_url(input)));
    // Cameras and streams do not end by themselves.
    if (source->live() && input != "-" && !stop_ && !done()) go_offline(report_.seconds);
  }

  /// Puts a recording behind those before it: where its date says, else right behind them.
  void begin_recording(const FrameSource& source, const std::string& input, const Frame& frame) {
    const WallClock begin = begin_of(source, input);
    if (frames_before_ == 0 && !report_.input.begin.known()) report_.input.begin = begin;
    if (inputs_.size() == 1) return;
    const double fps = report_.input.fps > 0 ? report_.input.fps : 25;
    const double behind = frames_before_ == 0 ? 0 : report_.seconds + 1 / fps;
    const WallClock& first = report_.input.begin;
    const bool dated = begin.known() && begin.source == first.source && begin.utc == first.utc;
    offset_s_ = dated ? std::max(behind, begin.seconds - first.seconds) : behind;
    segment_ = frame.segment;  // recordings that continue each other are coded alike
    if (frames_before_ > 0 && offset_s_ - report_.seconds > kLongestSeam) guard_->gap();
    report_.recordings.push_back({masked_url(input), offset_s_, 0});
  }

  /// Opens the source, and waits for one that may come later. Null: the run is to stop.
  std::unique_ptr<FrameSource> open(const std::string& input) {
    constexpr double kFirstPause = 0.25, kLongestPause = 15;  // seconds
    SourceOptions source = options_.source;
    source.stop = &stop_;
    const auto begin = Clock::now();
    const auto waited = [begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    Gap absent;
    for (double pause = kFirstPause; !stop_; pause = std::min(2 * pause, kLongestPause)) {
      try {
        auto opened = open_source(input, source);
        absent.seconds = waited();
        if (absent.attempts > 0) absent_ = absent;
        return opened;
      } catch (const InputError& error) {
        const double left = options_.source.reconnect_seconds - waited();
        if (!may_come_later(input) || !(left > 0)) {
          if (absent.attempts == 0 || stop_) throw;
          throw InputError(
              fmt::format("{} ({} attempts in {:.0f} s)", error.what(), absent.attempts + 1, waited()));
        }
        pause = std::min(pause, left);
        absent.reason = error.what();
      }
      ++absent.attempts;
      for (const double until = waited() + pause; !stop_ && waited() < until;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (waited() < options_.silence_s) continue;
        if (!report_.input.begin.known()) report_.input.begin = present_clock(waited());
        go_offline(0, absent.reason);
      }
    }
    return nullptr;
  }

  void take_notes(const FrameSource& source) {
    for (std::string& warning : source.warnings())
      if (std::ranges::find(report_.warnings, warning) == report_.warnings.end())
        report_.warnings.push_back(std::move(warning));
    SourceLog log = source.log();
    if (frames_before_ == 0) {
      report_.input_log = std::move(log);
    } else {
      add_log(std::move(log));
    }
    if (absent_) report_.input_log.gaps.insert(report_.input_log.gaps.begin(), *absent_);
    if (report_.made_up > 0 && !told_of_concealment_) {
      told_of_concealment_ = true;
      report_.warnings.push_back(
          fmt::format("The decoder made up parts of {} frames, or of those that they were predicted from: no "
                      "event begins "
                      "in the first {} of a row.",
                      report_.made_up, kMaxMadeUp));
    }
  }

  /// Adds what a later recording's source noted.
  void add_log(SourceLog log) {
    SourceLog& all = report_.input_log;
    for (Gap& gap : log.gaps) {
      gap.frame += frames_before_;
      gap.start_seconds += offset_s_;
      all.gaps.push_back(std::move(gap));
    }
    for (FormatChange& change : log.changes) {
      change.frame += frames_before_;
      change.seconds += offset_s_;
      all.changes.push_back(std::move(change));
    }
    all.damaged_packets += log.damaged_packets;
    all.damaged_frames += log.damaged_frames;
    all.lost_frames += log.lost_frames;
    all.frames_without_time += log.frames_without_time;
    all.min_interval_seconds = std::fmin(all.min_interval_seconds, log.min_interval_seconds);
    all.max_interval_seconds = std::fmax(all.max_interval_seconds, log.max_interval_seconds);
  }

  bool done() const { return options_.frames > 0 && report_.frames >= options_.frames; }

  void read(FrameSource& source, const std::string& input) {
    live_ = source.live();
    std::atomic<bool> wake{false};
    Decoder decoder(source, {.limit = options_.frames > 0 ? options_.frames - report_.frames : 0});
    const Waker waker(wake, stop_);
    last_arrival_ = Clock::now();
    while (!stop_) {
      wake = false;
      const auto frames = decoder.next(1, 1, wake);
      if (frames.empty()) {
        if (!wake) break;  // over
        if (live_) look_for_silence();
        continue;
      }
      if (std::exchange(recording_begins_, false)) begin_recording(source, input, frames[0].frame);
      take(frames[0].frame);
    }
  }

  /// Time of a frame: the source's, or else by number and rate. It counts from the first frame, or from the
  /// start of the silence before it if that was an event.
  double seconds_of(const Frame& frame) const {
    const double begin =
        offset_s_ + (absent_ && absent_->seconds >= options_.silence_s ? absent_->seconds : 0);
    if (std::isfinite(frame.seconds)) return begin + frame.seconds;
    const double fps = report_.input.fps > 0 ? report_.input.fps : 25;
    return begin + static_cast<double>(report_.frames - frames_before_) / fps;
  }

  void take(const Frame& frame) {
    const double seconds = seconds_of(frame);
    if (report_.frames == 0) {
      report_.first_frame = frame;
      report_.input.width = frame.width;
      report_.input.height = frame.height;
    }
    if (frame.gap_seconds >= options_.silence_s) go_offline(seconds - frame.gap_seconds);
    if (frame.gap_seconds > 0) guard_->gap();
    if (frame.segment != segment_) tell(guard_->restart(seconds));
    segment_ = frame.segment;
    if (snapshots_) snapshots_->take(frame, seconds);
    const auto start = Clock::now();
    const GuardFrame& result = guard_->push(areas_->masked(frame), seconds, frame.made_up);
    busy_us_ += std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    ++report_.frames;
    if (!report_.recordings.empty()) ++report_.recordings.back().frames;
    if (frame.made_up) ++report_.made_up;
    report_.seconds = std::max(report_.seconds, seconds);
    last_arrival_ = Clock::now();
    if (result.seen) {
      const Observation& seen = *result.seen;
      const double shift = result.findings[static_cast<std::size_t>(EventKind::moved)].shift_px;
      report_.shift.add(seconds, std::isfinite(shift) ? shift : 0);
      report_.changed.add(seconds, seen.changed);
      report_.sharpness.add(seconds, seen.sharpness);
      report_.level.add(seconds, seen.level);
    }
    tell(result);
  }

  void look_for_silence() {
    const double silent = std::chrono::duration<double>(Clock::now() - last_arrival_).count();
    if (silent >= options_.silence_s) go_offline(report_.seconds);
  }

  void go_offline(double since, const std::string& why = {}) { tell(guard_->offline(since, why)); }

  void tell(const GuardFrame& result) {
    for (const auto& [phase, event] : result.events) {
      if (phase == EventPhase::start) zones_of_[event.id] = zones_of(event.kind, result);
      const Event whole = completed(event, phase);
      if (phase == EventPhase::end) zones_of_.erase(event.id);
      keep(whole, phase);
      on_event_(whole, phase);
    }
    // Updates open events in the report, because they may have changed since they began.
    for (const Event& open : guard_->open_events()) {
      const auto kept = std::ranges::find(report_.events, open.id, &Event::id);
      if (kept != report_.events.end()) *kept = completed(open, EventPhase::end);
    }
  }

  /// The event completed by what the guard does not know: its date, its zones and its picture.
  Event completed(Event event, EventPhase phase) {
    event.zones = areas_->names(zones_of_[event.id]);
    event.wall_clock = iso_8601(report_.input.begin, event.start_s);
    for (const WatchReport::Recording& recording : report_.recordings) {
      if (recording.start_s > event.start_s + 1e-6 && !event.file.empty()) break;
      event.file = recording.path;
      event.file_s = std::max(0.0, event.start_s - recording.start_s);
    }
    if (phase == EventPhase::start && snapshots_) {
      event.snapshot = snapshots_->write(event);
      report_.snapshot_problem = snapshots_->problem();
    } else if (const auto kept = std::ranges::find(report_.events, event.id, &Event::id);
               kept != report_.events.end()) {
      event.snapshot = kept->snapshot;
    }
    return event;
  }

  /// The zones in which an event is seen: all of them, but for a cover only those in which at least half of
  /// the landmarks are hidden.
  std::uint64_t zones_of(EventKind kind, const GuardFrame& result) const {
    const auto all = areas_->zones() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << areas_->zones()) - 1;
    if (kind != EventKind::covered || all == 0 || !result.seen) return all;
    const double width = static_cast<double>(report_.input.width) / kTileColumns;
    const double height = static_cast<double>(report_.input.height) / kTileRows;
    std::uint64_t hidden = 0;
    std::array<int, 64> usable{}, gone{};
    for (int t = 0; t < kTiles; ++t) {
      const std::uint64_t here =
          areas_->zones_in(t % kTileColumns * width, t / kTileColumns * height, width, height);
      for (int zone = 0; zone < areas_->zones(); ++zone) {
        if ((here >> zone & 1) == 0) continue;
        usable[static_cast<std::size_t>(zone)] += result.seen->landmarks.usable[static_cast<std::size_t>(t)];
        gone[static_cast<std::size_t>(zone)] += result.seen->landmarks.gone[static_cast<std::size_t>(t)];
      }
    }
    // A zone without landmarks may be covered.
    for (int zone = 0; zone < areas_->zones(); ++zone)
      if (2 * gone[static_cast<std::size_t>(zone)] >= usable[static_cast<std::size_t>(zone)])
        hidden |= std::uint64_t{1} << zone;
    return hidden;
  }

  void keep(const Event& event, EventPhase phase) {
    if (phase == EventPhase::start) {
      ++report_.counts[static_cast<std::size_t>(event.kind)];
      if (report_.events.size() >= kMaxEvents) {
        report_.events.erase(report_.events.begin());
        ++report_.events_left_out;
      }
      report_.events.push_back(event);
      return;
    }
    const auto kept = std::ranges::find(report_.events, event.id, &Event::id);
    if (kept != report_.events.end()) *kept = event;
  }

  std::span<const std::string> inputs_;
  const WatchOptions& options_;
  const EventCallback& on_event_;
  const std::atomic<bool>& stop_;
  WatchReport& report_;
  std::optional<Guard> guard_;
  std::optional<Snapshots> snapshots_;
  std::optional<Areas> areas_;
  std::map<std::int64_t, std::uint64_t> zones_of_;  ///< zones of open events, by id
  bool live_ = false;
  std::int64_t segment_ = 0;        ///< of the latest frame
  std::int64_t frames_before_ = 0;  ///< of earlier recordings
  double offset_s_ = 0;             ///< time of the recording's first frame
  bool recording_begins_ = true, told_of_concealment_ = false;
  double busy_us_ = 0;
  std::optional<Gap> absent_;  ///< wait before the first frame
  Clock::time_point last_arrival_;
};

}  // namespace

WatchReport watch(std::span<const std::string> inputs, const WatchOptions& options,
                  const EventCallback& on_event, const std::atomic<bool>& stop) noexcept {
  WatchReport report;
  try {
    Watch run(inputs, options, on_event, stop, report);
    try {
      run.run();
    } catch (const InputError&) {
      std::tie(report.status, report.message) = thrown_status();
      run.broke();
    } catch (const Error&) {
      std::tie(report.status, report.message) = thrown_status();
    }
    if (stop && report.status < RunStatus::failed) {
      report.status = RunStatus::interrupted;
      report.message = fmt::format("interrupted after {} frames", report.frames);
    }
    run.finish();
  } catch (const std::exception&) {
    std::tie(report.status, report.message) = thrown_status();
  }
  return report;
}

}  // namespace sfft::video
