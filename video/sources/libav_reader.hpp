// SPDX-License-Identifier: Apache-2.0
// Demultiplexes and decodes one recording or stream with FFmpeg's libraries, and converts pictures to luma.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sfft/plan/device_pictures.hpp"
#include "video/sources/damage_watch.hpp"
#include "video/sources/libav.hpp"
#include "video/sources/source.hpp"
#include "video/sources/track.hpp"

namespace sfft::video {

/// Says in a sentence that the measured rate overrules the container's; empty if they agree or one is
/// unknown.
std::string overruled_rate(double claimed, double found);

class LibavReader {
 public:
  struct Options {
    /// Deliver frames as they arrive, without frame threads, which delay frames. Start at a key frame:
    /// earlier frames are predicted from frames that were never received.
    bool live = false;
    int timeout_seconds = 0;                  ///< for opening, and for each packet; 0: unlimited
    const std::atomic<bool>* stop = nullptr;  ///< once set, opening and reading end soon
    int threads = 0;                          ///< decoder threads; 0: one per core
    bool skip_loop_filter = false;
    bool on_gpu = false;  ///< decodes on the GPU where possible
    int device = 0;
    int track = 0;          ///< see choose_video_track()
    std::int64_t skip = 0;  ///< packets of that track to skip without decoding
  };

  /// Throws InputError with the reason but without the input's name. `interrupted` must outlive the reader;
  /// once it is set, opening and reading end soon.
  LibavReader(const std::string& url, const Options& options, const std::atomic<bool>& interrupted);
  LibavReader(const LibavReader&) = delete;
  LibavReader& operator=(const LibavReader&) = delete;

  /// Decodes the next picture. Returns false after the last one; end() then says why.
  bool next();
  /// The picture of the latest next(), as luma, rotated as the recording requires.
  void picture(Frame& frame);
  /// Like picture(), but the samples are made later. Null if the picture's format differs from the previous
  /// one's or the picture is in GPU memory.
  std::unique_ptr<UnmadeSamples> take_picture();
  /// Whether the latest picture is in GPU memory.
  bool picture_on_gpu() const;
  /// Copies the luma of a picture in GPU memory to `pictures` on the same GPU. Returns false if its size or
  /// depth differs from that of `frame`, or if it must be rotated.
  bool store_picture(const DevicePictures& pictures, std::size_t offset, Frame& frame) const;
  /// Why pictures are not decoded on a GPU as requested; empty if nothing is known to prevent it.
  const std::string& gpu_problem() const noexcept { return gpu_problem_; }
  /// The sentence of tell_video_track().
  const std::string& track_note() const noexcept { return track_note_; }
  /// Coding of the latest picture, with the display size.
  PictureFormat picture_format() const;
  /// Time stamp of the latest picture in seconds, on the recording's clock; NaN: none.
  double picture_seconds() const;
  /// Whether the latest picture is coded without reference to others.
  bool picture_is_key() const noexcept;
  bool picture_is_between() const noexcept;

  /// Seeks to a key frame at or before this stamp; false if impossible. Afterwards packet_frames() counts
  /// from there.
  bool seek(double stamp);
  /// Whether the container has an index by time stamps, so that seek() finds the right frame.
  bool has_index() const noexcept { return has_stamp_index(*format_); }

  std::int64_t width() const noexcept;  ///< from the container; 0: not stated
  std::int64_t height() const noexcept;
  /// Frames per second. If the container's claim disagrees with the first time stamps, the stamps win. 0:
  /// unknown.
  double frame_rate() const noexcept { return rate_.found; }
  /// A sentence if the container's claim and the stamps differ.
  const std::string& rate_note() const noexcept { return rate_.note; }
  /// The rate that the container claims; 0: none, or one that libavformat assumes.
  double claimed_rate() const noexcept;
  /// Whether stamps only count frames at the claimed rate, as in AVI, MXF and DV.
  bool stamps_count_frames() const noexcept;
  /// Whether the input has time stamps. The stamps of elementary streams and image pipes only number the
  /// pictures and are ignored.
  bool stamped() const noexcept;
  /// Adds the camera's rate, the pixel aspect ratio and the field order, as far as the file states them.
  void describe(SourceInfo& info) const;
  std::int64_t frames_expected() const noexcept;  ///< from the index, or duration times rate; -1: unknown
  /// Number of frames in the index of an MP4 or QuickTime file; -1: no index, or another container, whose
  /// index may also count gaps.
  std::int64_t indexed_frames() const noexcept;
  /// Whether the container's headers state its duration. Otherwise it was estimated from the file's contents
  /// and says nothing about what is missing.
  bool claims_duration() const noexcept;
  bool finite() const noexcept;  ///< whether the input has a size or a duration, so that it can end

  std::int64_t packet_frames() const noexcept { return count_->frames(); }  ///< PacketCount::frames()
  /// Damage and losses up to the picture of the latest next().
  const DamageWatch& damage() const noexcept { return damage_; }
  /// What ended next(): AVERROR_EOF, AVERROR_EXIT for an interruption, ETIMEDOUT for silence …
  int end() const noexcept { return limit_.exceeded ? AVERROR(ETIMEDOUT) : end_; }
  /// Whether reading ended for lack of data, without an error of the underlying file or connection.
  bool ended() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  static int asked_to_stop(void* reader);
  void open_input(const std::string& url);
  void open_decoder();
  /// Returns what avcodec_open2() does.
  int start_decoder(const AVCodec& codec, int threads);
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
  struct Limit {
    Clock::time_point deadline;
    bool exceeded = false;
  };
  Limit limit_;  ///< of the time for opening, or for the next packet
  libav::Format format_;
  int stream_number_ = -1;
  const AVStream* stream_ = nullptr;
  libav::Context decoder_;
  /// How packets come to the decoder.
  struct Feed {
    libav::Packet packet;
    std::int64_t number = 0;          ///< of the packet read last
    std::int64_t skip = 0;            ///< packets to skip
    std::deque<libav::Packet> ahead;  ///< packets already read to measure the rate
    bool held = false;   ///< a packet is pending until the decoder has output everything before it
    int failures = 0;    ///< consecutive failures
    int before_key = 0;  ///< packets dropped since the stream was opened; -1: decoding has begun
    std::vector<std::uint8_t> parameters;  ///< latest parameters from a dropped packet
  };
  Feed feed_;
  libav::Picture picture_;
  std::optional<PacketCount> count_;
  std::string gpu_problem_;
  std::string track_note_;
  Orientation shown_;
  struct Rate {
    double found = 0;  ///< determined when the input was opened
    double claimed = 0;
    std::string note;
  };
  Rate rate_;
  struct Layout {
    int width = 0, height = 0, format = -1;
  };
  Layout latest_;  ///< of the latest picture() in host memory
  int end_ = 0;
  DamageWatch damage_;
};

}  // namespace sfft::video
