// SPDX-License-Identifier: Apache-2.0
// A picture of each event.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "video/events/event.hpp"
#include "video/report/png.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// Holds pictures of the last seconds, because events are recognised after they begin. One source.
class Snapshots {
 public:
  /// Files are PREFIX-ID-KIND.png. `may_write` is called with each name before, and may throw Error.
  Snapshots(std::string prefix, std::function<void(const std::string&)> may_write);

  void take(const Frame& frame, double seconds);
  /// Writes the first picture from the event's start on, or else the latest one. Returns the file's name;
  /// empty if there is none.
  std::string write(const Event& event);
  /// Why a picture could not be written, the first time.
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
