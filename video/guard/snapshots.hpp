// SPDX-License-Identifier: Apache-2.0
// Writes a picture of each event.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "video/events/event.hpp"
#include "video/report/encoding.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// Keeps pictures of the last seconds, because events are recognised after they begin. For one source.
class Snapshots {
 public:
  /// Files are named PREFIX-ID-KIND.png. `may_write` is called with each name before it is written, and may
  /// throw Error to prevent that.
  Snapshots(std::string prefix, std::function<void(const std::string&)> may_write);

  void take(const Frame& frame, double seconds);
  /// Writes the first picture at or after the event's start, or else the latest one. Returns the name of the
  /// file, or an empty string if none was written.
  std::string write(const Event& event);
  /// The first reason why a picture could not be written; empty: none.
  const std::string& problem() const noexcept { return problem_; }

 private:
  struct Picture {
    double seconds = 0;
    Image image;
  };
  std::string prefix_;
  std::function<void(const std::string&)> may_write_;
  std::deque<Picture> pictures_;
  std::size_t bytes_ = 0;
  std::string problem_;
};

}  // namespace sfft::video
