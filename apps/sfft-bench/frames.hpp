// SPDX-License-Identifier: Apache-2.0
// Reads the frames of a recording in order, and keeps the latest ones for timing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "timing.hpp"
#include "video/sources/source.hpp"

namespace sfft::apps {

/// The current frame as contenders receive it: just written, as by a decoder.
struct FrameBuffer {
  video::Frame frame;
  LineVector<float> samples;  ///< the same samples for the dense engines, converted before timing starts

  void load(const video::Frame& stored);
};

/// Parses "[LABEL=]INPUT", where INPUT is as for sfft-video. The default label is the file's name.
struct InputName {
  std::string label, input;

  explicit InputName(const std::string& argument);
};

/// Reads one frame ahead, so that it knows which frame is the last.
class Frames {
 public:
  /// Throws video::InputError if the input cannot be opened or has no frames.
  Frames(const InputName& name, std::int64_t max, bool loop);

  const video::Frame& next();
  const video::Frame& first() const { return ahead_; }
  const std::string& label() const { return label_; }
  bool last() const { return last_; }
  /// Throws the error that ended the recording, if it is damaged.
  void check_end() const;
  std::int64_t count() const { return count_; }
  /// Expected number of frames, for the progress bar.
  std::int64_t expected() const;

 private:
  bool read_ahead();

  std::string label_, input_;
  std::unique_ptr<video::FrameSource> source_;
  std::int64_t max_, count_ = 0;
  bool loop_;
  video::Frame frame_, ahead_;
  std::string damage_;
  bool last_ = false;
};

/// Keeps the latest frames in separate buffers that together exceed the caches.
class FrameRing {
 public:
  void keep(const video::Frame& frame);
  const std::vector<FrameBuffer>& frames() const { return frames_; }

 private:
  std::vector<FrameBuffer> frames_;
  std::size_t next_ = 0;
};

}  // namespace sfft::apps
