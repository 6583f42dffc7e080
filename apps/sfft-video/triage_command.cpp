// SPDX-License-Identifier: Apache-2.0
// sfft-video triage: reads files in parallel, prints events in file order, and writes reports at the end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <tuple>

#include "inputs.hpp"
#include "kernels/runtime/host_resources.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "streams.hpp"
#include "video/sources/thread.hpp"
#include "video/triage/triage_report.hpp"
#include "video/triage/triage_state.hpp"

namespace sfft::apps {

namespace {

/// Collects lines of several concurrent files, and prints them in file order.
class Lines {
 public:
  Lines(std::size_t files, bool printed) : printed_(printed), waiting_(files), over_(files) {}

  void add(std::size_t file, const std::string& line) {
    if (!printed_) return;
    waiting_[file] += line;
    if (file == first_) flush();
  }
  void finish(std::size_t file) {
    over_[file] = true;
    while (first_ < over_.size() && over_[first_]) {
      flush();
      ++first_;
    }
    if (first_ < over_.size()) flush();
  }

 private:
  void flush() {
    if (waiting_[first_].empty()) return;
    put(stdout, waiting_[first_]);
    std::fflush(stdout);
    waiting_[first_].clear();
  }
  bool printed_;
  std::size_t first_ = 0;
  std::vector<std::string> waiting_;
  std::vector<bool> over_;
};

/// Saves each event as FOLDER/NAME-ID.mkv. If it continues in the recordings that follow, its parts there
/// become NAME-ID-2.mkv …
void save_clips(const TriageCommand& command, std::vector<video::TriageFile>& files,
                const std::vector<std::string>& inputs, ReportFiles& outputs, const std::atomic<bool>& stop) {
  const std::vector<std::string> names = short_names(inputs);
  const auto all_parts = video::event_parts(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (stop) return;
    std::vector<video::Clip> clips;
    for (const video::EventPart& part : all_parts[i]) {
      const std::string number = part.number == 0 ? "" : fmt::format("-{}", part.number + 1);
      clips.push_back({part.start_s, part.end_s,
                       fmt::format("{}/{}-{:04}{}", command.clips, names[part.file],
                                   files[part.file].events[part.event].id, number)});
    }
    outputs.guarded([&] {
      const auto may_write = [&](const std::string& path) { outputs.refuse(path); };
      video::write_clips(files[i].path, command.options.source.track, clips, stop, may_write);
    });
    for (std::size_t j = 0; j < clips.size(); ++j) {
      const video::EventPart& part = all_parts[i][j];
      files[part.file].events[part.event].clips.push_back(clips[j].written);
      if (clips[j].problem.empty()) continue;
      outputs.guarded([&] { throw Error(ErrorCode::file_unreadable, clips[j].problem); });
    }
  }
}

/// Reads all files of one call. `lengths`: numbers of files in their sequences.
class TriageRun {
 public:
  TriageRun(std::vector<std::string> inputs, std::vector<std::size_t> lengths, video::TriageOptions options,
            video::TriageState& state, ReportFiles& outputs, bool quiet, const std::atomic<bool>& stop)
      : inputs_(std::move(inputs)),
        lengths_(std::move(lengths)),
        options_(std::move(options)),
        state_(state),
        outputs_(outputs),
        stop_(stop),
        files_(inputs_.size()),
        lines_(inputs_.size(), !outputs.on_standard_output()),
        progress_(inputs_, quiet) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) files_[i].path = inputs_[i];
  }

  std::vector<video::TriageFile> run(std::size_t jobs) {
    video::ThreadGroup threads;
    for (std::size_t i = 0; i < jobs; ++i) start(threads, i == 0);
    {
      std::unique_lock lock(mutex_);
      while (running_ > 0) {
        changed_.wait_for(lock, std::chrono::milliseconds(100));
        progress_.show();
      }
    }
    threads.join();
    progress_.close();
    outputs_.guarded([this] { state_.save(); });
    return std::move(files_);
  }

 private:
  /// If a further thread cannot be started, the running threads read all files. If the first thread cannot be
  /// started, the first file says why, and none is read.
  void start(video::ThreadGroup& threads, bool first) {
    {
      const std::lock_guard lock(mutex_);
      ++running_;
    }
    try {
      threads.start("reading a recording", [this] { work(); });
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex_);
      --running_;
      if (first) std::tie(files_[0].status, files_[0].message) = video::thrown_status();
    }
  }

  void work() {
    while (!stop_) {
      std::size_t first = 0;
      std::size_t count = 0;
      {
        const std::lock_guard lock(mutex_);
        if (next_ >= lengths_.size()) break;
        first = next_file_;
        count = lengths_[next_++];
        next_file_ += count;
      }
      if (count == 1)
        read(first);
      else
        read_sequence(first, count);
    }
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  void read(std::size_t file) {
    std::optional<video::TriageFile> result;
    std::optional<video::TriagePart> part;
    {
      const std::lock_guard lock(mutex_);
      outputs_.guarded([&] {
        result = state_.find(inputs_[file]);
        if (const video::TriagePart* const found = state_.find_part(inputs_[file])) part = *found;
      });
    }
    const video::TriageCallbacks callbacks{
        [&](const video::TriageFile& found, const video::TriageEvent& event) { tell(file, found, event); },
        [&](std::int64_t read, std::int64_t expected) { progress_.update(file, read, expected); },
        [&](video::TriagePart so_far) {
          const std::lock_guard lock(mutex_);
          outputs_.guarded([&] { state_.keep_part(std::move(so_far)); });
        }};
    if (result) {
      for (const video::TriageEvent& event : result->events) callbacks.on_event(*result, event);
    } else {
      result = video::triage(inputs_[file], options_, callbacks, stop_, part ? &*part : nullptr);
    }
    finish(file, std::move(*result), "");
  }

  /// Stored results are valid only if no file of the sequence has changed.
  void read_sequence(std::size_t first, std::size_t count) {
    const std::span<const std::string> paths = std::span(inputs_).subspan(first, count);
    const std::string context = video::sequence_stamp(paths);
    std::vector<video::TriageFile> results;
    {
      const std::lock_guard lock(mutex_);
      outputs_.guarded([&] {
        for (const std::string& path : paths)
          if (auto found = state_.find(path, context)) results.push_back(std::move(*found));
      });
    }
    if (results.size() == count) {
      for (std::size_t i = 0; i < count; ++i)
        for (const video::TriageEvent& event : results[i].events) tell(first + i, results[i], event);
    } else {
      std::size_t at = first;
      const auto place = [&](const video::TriageFile& file) {
        return first + static_cast<std::size_t>(std::ranges::find(paths, file.path) - paths.begin());
      };
      const video::TriageCallbacks callbacks{
          [&](const video::TriageFile& found, const video::TriageEvent& event) {
            tell(place(found), found, event);
          },
          [&](std::int64_t read, std::int64_t expected) { progress_.update(at, read, expected); },
          {},
          [&](std::size_t recording) {
            if (recording > 0) progress_.finished(at, false);
            at = first + recording;
          }};
      results = video::triage_sequence(paths, options_, callbacks, stop_);
    }
    for (std::size_t i = 0; i < results.size(); ++i) finish(first + i, std::move(results[i]), context);
  }

  void tell(std::size_t file, const video::TriageFile& found, const video::TriageEvent& event) {
    const std::lock_guard lock(mutex_);
    lines_.add(file, video::triage_line(found, event));
  }

  void finish(std::size_t file, video::TriageFile result, const std::string& context) {
    progress_.finished(file, result.resumed);
    const std::lock_guard lock(mutex_);
    lines_.finish(file);
    if (!result.resumed) outputs_.guarded([&] { state_.keep(result, context); });
    files_[file] = std::move(result);
  }

  std::vector<std::string> inputs_;
  std::vector<std::size_t> lengths_;
  video::TriageOptions options_;
  video::TriageState& state_;
  ReportFiles& outputs_;
  const std::atomic<bool>& stop_;
  std::vector<video::TriageFile> files_;
  Lines lines_;
  TriageProgress progress_;
  std::size_t next_ = 0, next_file_ = 0;  ///< next sequence, and its first file
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
};

}  // namespace

int triage_command(const TriageCommand& command, const std::atomic<bool>& stop) {
  std::vector<std::string> inputs;
  std::vector<std::size_t> lengths;
  for (std::vector<std::string>& sequence :
       sequences_of(expand_inputs(command.inputs), command.options.source,
                    command.separate || command.options.frames > 0, stop)) {
    lengths.push_back(sequence.size());
    std::ranges::move(sequence, std::back_inserter(inputs));
  }
  ReportFiles outputs(inputs, {{"json", command.json},
                               {"csv", command.csv},
                               {"edl", command.edl},
                               {"html", command.html},
                               {"svg", command.svg}});
  if (!command.state.empty()) outputs.refuse(command.state);
  if (!command.clips.empty()) make_folder(command.clips);
  video::TriageOptions options = command.options;
  options.event.threshold /= command.sensitivity;
  options.thumbnails = !command.html.empty() || !command.state.empty();
  const auto cores = static_cast<std::size_t>(detail::usable_processors());
  const std::size_t jobs =
      std::min(lengths.size(), command.jobs > 0 ? static_cast<std::size_t>(command.jobs) : cores);
  if (jobs > 1 && options.source.decode_threads == 0)
    options.source.decode_threads = static_cast<int>(std::max<std::size_t>(1, cores / jobs));

  std::optional<video::TriageState> state;
  try {
    state.emplace(command.state, options);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  if (state->other_options())
    complain("the state file was made with other options: all files are read again");
  std::vector<video::TriageFile> files =
      TriageRun(inputs, lengths, options, *state, outputs, command.quiet, stop).run(jobs);

  if (!command.clips.empty()) save_clips(command, files, inputs, outputs, stop);
  const double threshold = options.event.threshold;
  outputs.save("json", [&] { return video::triage_json(files, command.sensitivity); });
  outputs.save("csv", [&] { return video::triage_csv(files); });
  outputs.save("edl", [&] {
    if (command.edl.ends_with(".edl")) return video::triage_edl(files);
    std::vector<std::string> problems;
    std::string list = video::triage_ffconcat(files, options.source.track, problems);
    for (const std::string& problem : problems) complain(problem);
    return list;
  });
  outputs.save("html",
               [&] { return video::triage_page(files, command.sensitivity, threshold, command.html); });
  outputs.save("svg", [&] { return video::triage_svg(files, threshold); });
  if (!command.quiet) put(stderr, video::triage_summary(files));
  video::RunStatus worst = stop ? video::RunStatus::interrupted : video::RunStatus::complete;
  for (const video::TriageFile& file : files) {
    if (file.status > video::RunStatus::not_read) complain(file.message);
    worst = std::max(worst, file.status);
  }
  return outputs.failed() ? kUsage : exit_code(worst);
}

}  // namespace sfft::apps
