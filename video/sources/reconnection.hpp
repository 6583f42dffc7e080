// SPDX-License-Identifier: Apache-2.0
// Reopens lost streams and cameras. The pauses between attempts double, the total time is limited, and gaps
// are listed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "video/sources/source.hpp"

namespace sfft::video {

class Reconnection {
 public:
  /// `interrupted` must outlive this object.
  Reconnection(std::string path, const SourceOptions& options, const std::atomic<bool>& interrupted);

  bool stopped() const { return interrupted_ || (stop_ != nullptr && *stop_); }
  /// Notes that the input delivers no more frames. `in_order`: it announced its end. `seconds`: time of its
  /// last frame.
  void lose(const std::string& reason, bool in_order, double seconds);
  bool lost() const noexcept { return lost_.has_value(); }
  /// Blocks, and calls `open` until it does not throw InputError. Returns false if stopped. At the time
  /// limit, returns false if the input had delivered frames and ended in order, and otherwise throws
  /// InputError. `count`: number of the next frame.
  bool again(std::int64_t count, const std::function<void()>& open);
  /// Notes that frame `number` has come. Returns the seconds without frames if the input was lost, otherwise
  /// 0.
  double arrive(std::int64_t number);
  /// Adds a gap during which the input stayed open.
  void note(Gap gap);

  const std::vector<Gap>& gaps() const noexcept { return gaps_; }
  /// Why there are no more frames; empty if no warning is needed.
  const std::string& warning() const noexcept { return warning_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool give_up(std::int64_t count);
  void wait(double seconds) const;
  double silent() const { return std::chrono::duration<double>(Clock::now() - last_arrival_).count(); }

  std::string path_;
  double for_seconds_;
  const std::atomic<bool>* stop_;
  const std::atomic<bool>& interrupted_;
  Clock::time_point last_arrival_ = Clock::now();
  std::optional<Gap> lost_;  ///< the current loss
  bool in_order_ = false;
  double pause_ = 0;
  std::vector<Gap> gaps_;
  std::string warning_;
};

/// A camera that has been opened.
class Capture {
 public:
  virtual ~Capture() = default;
  /// Size and rate that the camera states; 0: not stated.
  virtual SourceInfo info() const = 0;
  /// Blocks until a frame comes. Returns false if none will come.
  virtual bool read(Frame& frame) = 0;
};
/// Opens a camera, or throws InputError.
using OpenCapture = std::function<std::unique_ptr<Capture>()>;

/// Opens the camera or throws InputError. Frame times are arrival times.
std::unique_ptr<FrameSource> watch_camera(const std::string& name, const SourceOptions& options,
                                          const OpenCapture& open);

}  // namespace sfft::video
