// SPDX-License-Identifier: Apache-2.0
// One recording or stream: demultiplexed and decoded with FFmpeg's libraries, into luma.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sfft/device_pictures.hpp"
#include "video/sources/damage_watch.hpp"
#include "video/sources/libav.hpp"
#include "video/sources/packet_count.hpp"
#include "video/sources/source.hpp"
#include "video/sources/track.hpp"

namespace sfft::video {

/// Sentence that a rate which a container claims is overruled; empty if it agrees with the found one.
std::string overruled_rate(double claimed, double found);

class LibavReader {
 public:
  struct Options {
    /// Deliver frames as they arrive, without threads that hold some back, and only from a key frame on:
    /// earlier ones are predicted from frames that were never received.
    bool live = false;
    int timeout_seconds = 0;                  ///< for opening, and for each frame; 0: unlimited
    const std::atomic<bool>* stop = nullptr;  ///< once set, opening and reading end soon
    int threads = 0;                          ///< of the decoder; 0: one per core
    bool skip_loop_filter = false;
    bool on_gpu = false;  ///< decodes on the GPU where possible
    int device = 0;
    int track = 0;          ///< choose_video_track()
    std::int64_t skip = 0;  ///< packets of that track to leave out, without decoding them
  };

  /// Throws InputError with the reason, without the name. `interrupted` must outlive the reader; once it is
  /// set, opening and reading end soon.
  LibavReader(const std::string& url, const Options& options, const std::atomic<bool>& interrupted);
  LibavReader(const LibavReader&) = delete;
  LibavReader& operator=(const LibavReader&) = delete;

  /// Decodes the next picture. False after the last one; end() then says why.
  bool next();
  /// The picture of the latest next(), as luma, rotated as the recording requires.
  void picture(Frame& frame);
  /// The same for later. Null if the picture differs from the previous one or is in GPU memory.
  std::unique_ptr<UnmadeSamples> take_picture();
  /// Whether that picture is in GPU memory.
  bool picture_on_gpu() const;
  /// Stores such a picture's luma, which must have this size, in memory of that GPU; false if its size
  /// differs or it must be rotated.
  bool store_picture(const DevicePictures& pictures, std::size_t offset, Frame& frame) const;
  /// Why pictures are not decoded on a GPU as requested; empty if they are, as far as known.
  const std::string& gpu_problem() const noexcept { return gpu_problem_; }
  /// tell_video_track()
  const std::string& track_note() const noexcept { return track_note_; }
  /// Its coding, with the display size.
  PictureFormat picture_format() const;
  /// Its time stamp in seconds, on the recording's own clock; NaN: none.
  double picture_seconds() const;
  /// Whether it is coded without reference to other pictures.
  bool picture_is_key() const noexcept;
  bool picture_is_between() const noexcept;

  /// Seeks to a key frame at or before this stamp; false if impossible. packet_frames() then counts from
  /// there.
  bool seek(double stamp);
  /// Whether the container has an index by time stamps, so that seek() finds the right frame.
  bool has_index() const noexcept { return has_stamp_index(*format_); }

  std::int64_t width() const noexcept;  ///< from the container; 0: not stated
  std::int64_t height() const noexcept;
  /// As the first time stamps tell where the container claims another rate; 0: unknown.
  double frame_rate() const noexcept { return rate_; }
  /// A sentence where they differ.
  const std::string& rate_note() const noexcept { return rate_note_; }
  /// The rate that the container claims; 0: none, or one that libavformat assumes.
  double claimed_rate() const noexcept;
  /// Whether stamps only count the frames at that rate: AVI, MXF, DV.
  bool stamps_count_frames() const noexcept;
  /// Whether the input has time stamps; those of bare pictures only count them.
  bool stamped() const noexcept;
  /// Adds the camera's rate, the shape of pixels and the order of fields, as far as the file states them.
  void describe(SourceInfo& info) const;
  std::int64_t frames_expected() const noexcept;  ///< from the index, or duration times rate; -1: unknown
  /// Number of frames in the index of an MP4 or QuickTime file; -1: there is no index, or it also
  /// counts gaps.
  std::int64_t indexed_frames() const noexcept;
  /// Whether the container's headers state its duration. Otherwise it was estimated from the file's contents
  /// and says nothing about what is missing.
  bool claims_duration() const noexcept;
  bool finite() const noexcept;  ///< whether the input has a size or a duration, so that it can end

  std::int64_t packet_frames() const noexcept { return count_->frames(); }  ///< PacketCount::frames()
  /// Damage and losses up to the picture of the latest next().
  const DamageWatch& damage() const noexcept { return damage_; }
  /// What ended next(): AVERROR_EOF, AVERROR_EXIT for an interruption, ETIMEDOUT for silence …
  int end() const noexcept { return timed_out_ ? AVERROR(ETIMEDOUT) : end_; }
  /// Whether it ended for lack of data, without an error below the container.
  bool ended() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  static int asked_to_stop(void* reader);
  void open_input(const std::string& url);
  void open_decoder();
  void find_rate();
  void compare_rates(std::vector<double> stamps);
  int read_packet();
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
  std::string track_note_;
  Orientation shown_;
  std::int64_t skip_;  ///< packets to leave out
  double rate_ = 0;    ///< as when the input was opened
  double claimed_rate_ = 0;
  std::string rate_note_;
  std::deque<libav::Packet> ahead_;                      ///< read to measure the rate
  int width_ = 0, height_ = 0, format_of_samples_ = -1;  ///< of the latest picture() on the host
  int end_ = 0;
  bool held_ = false;   ///< a packet waits until the decoder has output everything before it
  int failures_ = 0;    ///< consecutive failures
  int before_key_ = 0;  ///< packets dropped since the stream was opened; -1: a key frame has come
  std::vector<std::uint8_t> parameters_;  ///< the last that a dropped packet brought
  DamageWatch damage_;
  std::int64_t packet_number_ = 0;  ///< of the packet read last
};

}  // namespace sfft::video
