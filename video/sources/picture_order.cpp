// SPDX-License-Identifier: Apache-2.0
// Pictures wait until all pictures that can overtake them have come. Then the steps between them are compared
// with the most frequent step.
#include "video/sources/picture_order.hpp"

#include <algorithm>

namespace sfft::video {

namespace {

constexpr int kDeepest = 16;  ///< max. number of pictures that a decoder delays
constexpr int kSure = 12, kMaxVotes = 48;
/// A larger number is corrupt, not a count of pictures.
constexpr std::int64_t kMaxLost = 2000;

}  // namespace

void PictureOrder::add(std::int64_t count, bool key, std::int64_t packet) {
  if (key && (!waiting_.empty() || begun_) && count <= max_) {  // the count restarts
    std::ranges::sort(waiting_, {}, &Waiting::count);
    for (const Waiting& one : waiting_) show(one);
    waiting_.clear();
    begun_ = false;
    max_ = count;
  }
  max_ = std::max(max_, count);
  if (begun_ && !key && count < last_ && last_ - count <= kDeepest * std::max<std::int64_t>(1, step_)) {
    depth_ = std::min(depth_ + 1, kDeepest);  // the picture came later than the current depth allows
    votes_ = 0;
    return;
  }
  waiting_.push_back({count, packet});
  while (waiting_.size() > static_cast<std::size_t>(depth_)) {
    const auto next = std::ranges::min_element(waiting_, {}, &Waiting::count);
    show(*next);
    waiting_.erase(next);
  }
}

void PictureOrder::show(const Waiting& picture) {
  const std::int64_t step = picture.count - last_;
  last_ = picture.count;
  if (!begun_) {
    begun_ = true;
    return;
  }
  if (step <= 0) {  // the key frame between them was lost
    if (votes_ >= kSure) found_.push_back({picture.packet, 1});
    max_ = picture.count;
    return;
  }
  const std::int64_t missing = step_ > 0 ? step / step_ - 1 : 0;
  if (votes_ >= kSure && missing > 0 && step % step_ == 0 && missing <= kMaxLost)
    found_.push_back({picture.packet, missing});
  if (step == step_) {
    votes_ = std::min(votes_ + 1, kMaxVotes);
  } else if (--votes_ <= 0) {
    step_ = step;
    votes_ = 1;
  }
}

}  // namespace sfft::video
