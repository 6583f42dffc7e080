// SPDX-License-Identifier: Apache-2.0
// Interface of frame sources: recordings, image sequences, cameras, streams, YUV4MPEG2. Frames are luma.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sfft/plan/device_pictures.hpp"
#include "sfft/types.hpp"
#include "video/sources/wall_clock.hpp"

namespace sfft::video {

/// An input that cannot be opened or turns out damaged; the message is for people.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Frames of the same format can be compared pixel by pixel.
struct FrameFormat {
  std::int64_t width = 0, height = 0;
  bool bit_depth16 = false;
  std::int64_t segment = 0;
  bool operator==(const FrameFormat&) const = default;
};

/// If no key frame comes, at most this many pictures after a loss count as concealed.
inline constexpr int kMaxMadeUp = 600;

/// One grey frame, row-major. Samples are 16-bit if `bit_depth16`, else 8-bit.
struct Frame {
  std::int64_t width = 0, height = 0;
  bool bit_depth16 = false;
  /// Display time in seconds since the input's first frame. It comes from the frame's time stamp, from the
  /// frame rate if there is no stamp, or from the frame's arrival for a camera. NaN: unknown.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  bool key = false;        ///< coded without other frames; false if unknown
  bool between = false;    ///< coded from frames before and after it; false if unknown
  double gap_seconds = 0;  ///< how long a stream was lost or silent before this frame
  bool made_up = false;    ///< the decoder concealed parts of it, or of a reference frame
  /// How often the input's pictures have changed their size or depth so far. After such a change a region
  /// shows another part of the scene, or has another size.
  std::int64_t segment = 0;
  std::vector<std::byte> samples;

  SignalView view() const;
  FrameFormat format() const noexcept { return {width, height, bit_depth16, segment}; }
};

/// Order of the two fields of interlaced frames, which are half a frame interval apart in time.
enum class Fields : std::uint8_t { none, top_first, bottom_first };

struct SourceInfo {
  std::string path;
  std::int64_t width = 0, height = 0;
  double fps = 0;                     ///< 0: unknown
  std::int64_t frames_expected = -1;  ///< -1: unknown (cameras, streams, pipes); a guess for some containers
  double capture_fps = 0;   ///< rate of the camera, if the file says that it differs from `fps`; else 0
  double pixel_aspect = 1;  ///< width of a pixel divided by its height
  Fields fields = Fields::none;
  WallClock begin{};  ///< live sources know it from their first frame on
};

/// A time interval without frames: a stream was lost or silent, or a recording skips it.
struct Gap {
  std::int64_t frame = 0;    ///< the first frame after it
  double start_seconds = 0;  ///< time of the last frame before it (Frame::seconds)
  double seconds = 0;        ///< how long no frame came
  int attempts = 0;          ///< attempts to reconnect; 0: it came back by itself
  std::string reason;        ///< how it was lost
};

/// The coding of an input's pictures.
struct PictureFormat {
  std::int64_t width = 0, height = 0;
  int bits = 8;        ///< per luma sample
  std::string pixels;  ///< FFmpeg's name for the pixel format
  double fps = 0;      ///< nominal; 0: unknown
};
/// Like "1280x720 yuv420p, 25 fps".
std::string to_string(const PictureFormat& format);

/// A change of format between two frames, within a stream or when it came back.
struct FormatChange {
  std::int64_t frame = 0;  ///< the first frame after it
  double seconds = 0;      ///< its time (Frame::seconds)
  PictureFormat before, after;
};

/// Device that decodes recordings.
enum class DecodeOn : std::uint8_t {
  automatic,  ///< the CPU
  cpu,
  nvdec,  ///< an NVIDIA GPU if possible, else the CPU
};

/// Where the times of frames come from.
enum class TimeSource : std::uint8_t {
  none,          ///< there are neither times nor a rate
  stamps,        ///< time stamps of the container or the stream
  arrival,       ///< this machine's clock when a frame arrived
  claimed_rate,  ///< the number of the frame and the rate that the container claims
};
const char* to_string(TimeSource source) noexcept;

struct FrameTiming {
  TimeSource source = TimeSource::none;
  double claimed_fps = 0;   ///< the container's rate; 0: it claims none
  double measured_fps = 0;  ///< from stamps or arrivals, gaps excluded; 0: not measured
};

/// What is known about the reading of an input, apart from its frames.
struct SourceLog {
  std::string decoder;       ///< "cpu" or "nvdec"; empty if the source does not say
  std::string decoder_note;  ///< why it is not the requested one, or what it cannot report
  std::vector<Gap> gaps;
  std::vector<FormatChange> changes;
  std::int64_t damaged_packets = 0;  ///< undecodable, or marked as damaged
  std::int64_t damaged_frames = 0;   ///< decoded from damaged data, with concealment
  /// Frames missing according to the picture numbers (H.264, H.265).
  std::int64_t lost_frames = 0;
  std::int64_t frames_without_time = 0;  ///< stamps are missing or run backwards, so times come from the rate
  /// Shortest and longest interval between two frames, except across the loss of a stream. NaN for fewer than
  /// two frames or an input without times.
  double min_interval_seconds = std::numeric_limits<double>::quiet_NaN();
  double max_interval_seconds = std::numeric_limits<double>::quiet_NaN();
  FrameTiming timing;
};

/// A frame whose samples have not been made yet, with what is needed to make them.
class UnmadeSamples {
 public:
  virtual ~UnmadeSamples() = default;
  /// Adds the frame's size and samples, on any thread.
  virtual void make(Frame& frame) = 0;
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SourceInfo& info() const noexcept = 0;
  /// Nominal frames per second: the container's claim, or the rate of the first time stamps if they disagree
  /// with it; 0: unknown. Frame::seconds gives the real times.
  double frame_rate() const noexcept { return info().fps; }
  /// Reads the next frame. Returns false at a clean end; throws InputError for a damaged or changed input.
  virtual bool next(Frame& frame) {
    if (!advance(frame)) return false;
    load(frame);
    return true;
  }
  /// advance() and load() are the two steps of next(), for callers that skip frames: advance() finds the next
  /// frame and its times, and load() adds its size and samples. A source that cannot separate them overrides
  /// only next(); other sources override these two.
  virtual bool advance(Frame& frame) { return next(frame); }
  virtual void load(Frame& frame) { static_cast<void>(frame); }
  /// Replaces load(): returns an object that makes the samples later, while the source reads on. Null if this
  /// frame needs load().
  virtual std::unique_ptr<UnmadeSamples> load_later() { return nullptr; }
  /// Whether frames are decoded into GPU memory.
  virtual bool on_gpu() const noexcept { return false; }
  /// Like load(), but writes the samples to an offset of `pictures` without passing through the host. Returns
  /// false if this frame needs load(), for example because its size or depth differs from that of `frame`.
  virtual bool load_on_gpu(Frame& frame, const DevicePictures& pictures, std::size_t offset) {
    static_cast<void>(frame), static_cast<void>(pictures), static_cast<void>(offset);
    return false;
  }
  /// Call it before the first frame. Continues with a frame displayed at `seconds` (Frame::seconds) or not
  /// much earlier. Returns false if the source cannot seek.
  virtual bool seek(double seconds) {
    static_cast<void>(seconds);
    return false;
  }
  /// True for cameras, network streams and pipes: frames come in real time, and results are wanted at once.
  /// False for recordings, which are read as fast as possible.
  virtual bool live() const noexcept { return false; }
  /// Whether a live source may in fact be a recording, which delivers frames as fast as they are read. True
  /// for pipes.
  virtual bool may_be_recorded() const noexcept { return false; }
  /// Makes a blocked next() return soon. Callable from another thread. Do not read the source afterwards.
  /// Sources that cannot be woken return at their timeout.
  virtual void interrupt() noexcept {}
  /// Sentences about the input for the readers of a report; complete after the last frame.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// The facts about the input in a form for programs; complete after the last frame. Do not call it while
  /// another thread reads.
  virtual SourceLog log() const { return {}; }
};

/// A rectangle of a frame, in pixels from its upper left corner.
struct Region {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
};

/// Which frames of an input to read, and which region of each.
struct Selection {
  double start_seconds = 0;  ///< skips frames displayed before this time (Frame::seconds)
  double end_seconds = std::numeric_limits<double>::infinity();       ///< ends at this display time
  std::int64_t start_frame = 0;                                       ///< skips this many frames
  std::int64_t end_frame = std::numeric_limits<std::int64_t>::max();  ///< ends before that frame of the input
  std::int64_t every = 1;  ///< takes every N-th frame from the start
  std::optional<Region> roi{};

  /// Whether the range is from the first frame to the last.
  bool whole() const noexcept {
    return start_seconds <= 0 && std::isinf(end_seconds) && start_frame <= 0 &&
           end_frame == std::numeric_limits<std::int64_t>::max();
  }
  bool all() const noexcept { return whole() && every <= 1 && !roi; }
};

struct SourceOptions {
  int timeout_seconds = 8;                  ///< for opening and reading network streams
  double reconnect_seconds = 60;            ///< how long to try to recover a lost stream; 0: not at all
  const std::atomic<bool>* stop = nullptr;  ///< once set, opening and reading a stream end soon
  int decode_threads = 0;                   ///< 0: one per core
  bool skip_loop_filter = false;            ///< faster but inexact decoding: see docs/sfft-video.md
  DecodeOn decode_on = DecodeOn::automatic;
  int device = 0;  ///< the GPU that decodes
  int track = 0;   ///< video track, from 1; 0: the container's default, else the largest
  Selection selection{};
};

/// `input`: "-" or a .y4m file (YUV4MPEG2), a directory or printf pattern of images, a camera index, a URL,
/// or any file that FFmpeg's libraries decode. Throws InputError, and Error(invalid_argument) for a region
/// outside the frames, now or when the first frame is read.
std::unique_ptr<FrameSource> open_source(const std::string& input, const SourceOptions& options = {});

/// When the input's first frame was taken, from a recording's name, or else from the source.
WallClock begin_of(const FrameSource& source, const std::string& input);

/// The files that open_source() would read; empty for cameras, streams and standard input. Does not
/// throw InputError.
std::vector<std::string> input_files(const std::string& input);

/// Whether the input is a network stream or a camera, which may become available later.
bool may_come_later(const std::string& input);

/// Whether this build reads cameras and image sequences.
bool has_opencv() noexcept;
/// Whether this build reads recordings and streams with FFmpeg's libraries. A build with OpenCV alone also
/// reads them, but converts every frame to colour and back, and detects fewer errors.
bool has_libav() noexcept;

/// Returns one list, in order of time, per set of recordings that continue each other. Any other recording
/// has a list of one. The lists are in the order of the inputs. A recording continues another one if it
/// begins where the other one ends: by the dates within 2 s, or by the time stamps within 0.3 s. Their names
/// may differ only in numbers and dates, and their pictures must be coded alike. If recordings of one name
/// overlap, their dates are ignored. `track` is as in SourceOptions. A recording that cannot be opened has a
/// list of one.
std::vector<std::vector<std::string>> find_sequences(const std::vector<std::string>& inputs, int track,
                                                     const std::atomic<bool>& stop);

/// Throws Error(invalid_argument) for a selection that is empty for any source.
std::unique_ptr<FrameSource> select_frames(std::unique_ptr<FrameSource> source, const Selection& selection);

}  // namespace sfft::video
