// SPDX-License-Identifier: Apache-2.0
// Wraps sfft-video's sources as a stream that reads one frame ahead, so that its end is known in time; builds
// without the video library refuse.
#include "bench/trust/video_streams.hpp"
#include "sfft/error.hpp"
#if TRUST_HAVE_VIDEO
#include "video/sources/source.hpp"
#endif

namespace sfft::trust {

#if TRUST_HAVE_VIDEO

namespace {

class RecordingStream : public Stream {
 public:
  explicit RecordingStream(const std::string& path) : source_(video::open_source(path)) { advance(); }

  bool more() override { return more_; }
  SignalView next() override {
    shown_ = std::move(ahead_);
    advance();
    return shown_.view();
  }

 private:
  void advance() { more_ = source_->next(ahead_); }

  std::unique_ptr<video::FrameSource> source_;
  video::Frame ahead_, shown_;
  bool more_ = false;
};

}  // namespace

StreamRecipe recording(const std::string& path) {
  return {"recording", path.substr(path.rfind('/') + 1), 0,
          [path] { return std::make_unique<RecordingStream>(path); }};
}

#else

StreamRecipe recording(const std::string&) {
  throw Error(ErrorCode::backend_unavailable,
              "this build has no video library: configure with SFFT_BUILD_APPS=ON to measure recordings");
}

#endif

}  // namespace sfft::trust
