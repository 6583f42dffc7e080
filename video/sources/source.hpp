// SPDX-License-Identifier: Apache-2.0
// Sources of frames: recordings, image sequences, cameras, streams, YUV4MPEG2. Frames are luma.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::video {

/// An input that cannot be opened or turns out damaged; the message is meant for people.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One grey frame, row-major; `bit_depth16` says whether samples are 16-bit.
struct Frame {
  std::int64_t width = 0, height = 0;
  bool bit_depth16 = false;
  /// When the frame is shown, from the input's first frame on: by its time stamp, by the rate where there is
  /// none, or by its arrival from a camera. NaN: unknown.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double gap_seconds = 0;  ///< how long a stream was lost before this frame came; 0: it was not
  std::vector<std::byte> samples;

  SignalView view() const;
};

struct SourceInfo {
  std::string path;
  std::int64_t width = 0, height = 0;
  double fps = 0;                     ///< 0: unknown
  std::int64_t frames_expected = -1;  ///< -1: unknown (cameras, streams, pipes); some containers only guess
};

/// A stretch of time in which a stream was lost.
struct Gap {
  std::int64_t frame = 0;    ///< the first frame after it
  double start_seconds = 0;  ///< time of the last frame before it (Frame::seconds)
  double seconds = 0;        ///< how long no frame came
  int attempts = 0;          ///< to get it back
  std::string reason;        ///< how it was lost
};

/// What became of an input, beside its frames.
struct SourceLog {
  std::vector<Gap> gaps;
  std::int64_t damaged_packets = 0;  ///< not decodable, or marked as damaged
  std::int64_t damaged_frames = 0;   ///< decoded from damaged data, with what was missing made up
  std::int64_t frames_without_time =
      0;  ///< their time stamps are missing or run backwards; the rate gave them
  /// Between two frames, gaps excluded; NaN: fewer than two frames, or an input that has no times.
  double least_interval_seconds = std::numeric_limits<double>::quiet_NaN();
  double most_interval_seconds = std::numeric_limits<double>::quiet_NaN();
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SourceInfo& info() const noexcept = 0;
  /// Nominal frames per second, as the container states them; 0: unknown. Frame::seconds says when frames
  /// really come.
  double frame_rate() const noexcept { return info().fps; }
  /// Reads the next frame. False at a clean end; InputError for a damaged or changed one.
  virtual bool next(Frame& frame) = 0;
  /// Whether frames come when something happens, and whoever looks at the results wants each at once:
  /// cameras, network streams, pipes. False: a recording, read as fast as it can be.
  virtual bool live() const noexcept { return false; }
  /// Called from another thread: makes a blocked next() return soon; the source is not read again. Sources
  /// that cannot be woken return at their own timeout.
  virtual void interrupt() noexcept {}
  /// What readers of a report should know about the input, in whole sentences; complete after the last frame.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// The same for programs; complete after the last frame, and not to be asked for while another thread
  /// reads.
  virtual SourceLog log() const { return {}; }
};

struct SourceOptions {
  int timeout_seconds = 8;        ///< for opening and reading network streams
  double reconnect_seconds = 60;  ///< how long to try to get a lost stream back; 0: not at all
  int decode_threads = 0;         ///< 0: one per core
  bool skip_loop_filter = false;  ///< decode faster and slightly wrong: see docs/sfft-video.md
};

/// `input`: "-" or a .y4m file (YUV4MPEG2), a directory or printf pattern of images, a camera index, a URL,
/// or any file that FFmpeg's libraries decode. Throws InputError.
std::unique_ptr<FrameSource> open_source(const std::string& input, const SourceOptions& options = {});

/// The files that open_source() would read; empty for cameras, streams and standard input. Does not throw
/// InputError.
std::vector<std::string> input_files(const std::string& input);

/// Whether this build reads cameras and image sequences.
bool has_opencv() noexcept;
/// Whether this build reads recordings and streams with FFmpeg's libraries. With OpenCV alone it reads them,
/// too, but converts every frame to colours and back, and sees less of what is wrong with them.
bool has_libav() noexcept;

}  // namespace sfft::video
