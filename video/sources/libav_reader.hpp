// SPDX-License-Identifier: Apache-2.0
// One recording or stream, opened once: demultiplexed and decoded with FFmpeg's libraries, into luma.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sfft/device_pictures.hpp"
#include "video/sources/damage_watch.hpp"
#include "video/sources/libav.hpp"
#include "video/sources/packet_count.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

class LibavReader {
 public:
  struct Options {
    /// Frames are wanted as they come, without threads that hold some back, and from a key frame on: what
    /// comes before is predicted from frames that were never received.
    bool live = false;
    int timeout_seconds = 0;                  ///< for opening, and for each frame; 0: none
    const std::atomic<bool>* stop = nullptr;  ///< once set, opening and reading end soon, too
    int threads = 0;                          ///< of the decoder; 0: one per core
    bool skip_loop_filter = false;
    bool on_gpu = false;  ///< decodes there where it can
    int device = 0;
  };

  /// Throws InputError with the reason, without the name. `interrupted` must outlive the reader; once it is
  /// set, opening and reading end soon.
  LibavReader(const std::string& url, const Options& options, const std::atomic<bool>& interrupted);
  LibavReader(const LibavReader&) = delete;
  LibavReader& operator=(const LibavReader&) = delete;

  /// Decodes the next picture. False after the last one, and then end() says why.
  bool next();
  /// The picture that next() decoded, as luma, turned as the recording says.
  void picture(Frame& frame);
  /// The same for later. Null where the picture is unlike the one before, or in a GPU's memory.
  std::unique_ptr<UnmadeSamples> take_picture();
  /// Whether that picture is in a GPU's memory.
  bool picture_on_gpu() const;
  /// Puts such a picture's luma, which must have this size, into memory of that GPU; false where it has
  /// another one or must be turned.
  bool store_picture(const DevicePictures& pictures, std::size_t offset, Frame& frame) const;
  /// Why pictures are not decoded on a GPU though this was asked for; empty: they are, as far as is known.
  const std::string& gpu_problem() const noexcept { return gpu_problem_; }
  /// How it is coded, with the size that it is shown at.
  PictureFormat picture_format() const;
  /// Its time stamp in seconds, on the recording's own clock; NaN: it has none.
  double picture_seconds() const;
  /// Whether it is coded without other pictures.
  bool picture_is_key() const noexcept;
  bool picture_is_between() const noexcept;

  /// Moves to a key frame near `seconds` after start_seconds(), before it if the container has an index;
  /// false where it cannot. Then packet_frames() is no longer a count of the whole recording.
  bool seek(double seconds);

  std::int64_t width() const noexcept;  ///< as the container says; 0: it does not
  std::int64_t height() const noexcept;
  double frame_rate() const noexcept;     ///< 0: unknown
  double start_seconds() const noexcept;  ///< time of the first picture, if the container says; NaN: not
  std::int64_t frames_expected() const noexcept;  ///< by index, or by duration and rate; -1: unknown
  /// Number of frames in the index of an MP4 or QuickTime file; -1: the container has no index, or one that
  /// also counts gaps.
  std::int64_t indexed_frames() const noexcept;
  /// Whether the container's headers state its duration. Otherwise the duration was estimated from what the
  /// file holds and says nothing about what is missing.
  bool claims_duration() const noexcept;
  bool finite() const noexcept;  ///< whether the input has a size or a duration: its end is one

  std::int64_t packet_frames() const noexcept { return count_->frames(); }  ///< PacketCount::frames()
  /// What is damaged or missing, up to the picture that next() decoded.
  const DamageWatch& damage() const noexcept { return damage_; }
  /// What ended next(): AVERROR_EOF, AVERROR_EXIT for an interruption, ETIMEDOUT for silence …
  int end() const noexcept { return timed_out_ ? AVERROR(ETIMEDOUT) : end_; }
  /// Whether it ended because there was no more, without an error below the container.
  bool ended() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  static int asked_to_stop(void* reader);
  void open_input(const std::string& url);
  void open_decoder();
  void find_turns();
  bool feed();
  void send();
  bool send_held();
  bool precedes_key_frame();
  void start_clock();

  Options options_;
  const std::atomic<bool>& interrupted_;
  Clock::time_point deadline_;
  bool timed_out_ = false;
  libav::Format format_;
  int stream_number_ = -1;
  const AVStream* stream_ = nullptr;
  libav::Context decoder_;
  libav::Packet packet_;
  libav::Picture picture_;
  std::optional<PacketCount> count_;
  std::string gpu_problem_;
  int quarter_turns_ = 0;
  double rate_ = 0;                                      ///< as it was when the input was opened
  int width_ = 0, height_ = 0, format_of_samples_ = -1;  ///< of the last picture() on the host
  int end_ = 0;
  bool held_ = false;   ///< a packet waits until the decoder has given out all that came before it
  int failures_ = 0;    ///< in a row
  int before_key_ = 0;  ///< packets left out since the stream was opened; -1: a key frame has come
  DamageWatch damage_;
  std::int64_t packet_number_ = 0;  ///< of the one that was read last
};

}  // namespace sfft::video
