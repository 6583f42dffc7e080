// SPDX-License-Identifier: Apache-2.0
// Times are CPU times of the thread, the median of all measurements at one distance; both methods see the
// same pixels.
#include "bench/guard/shifts.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "bench/timing.hpp"
#include "video/guard/observer.hpp"

namespace sfft::bench {

namespace {

double processor_us() {
  return 1e6 * thread_cpu_seconds();
}

}  // namespace

nlohmann::ordered_json shifts(const Clip& clip) {
  const video::Region region = video::plannable({0, 0, clip.frames[0].cols, clip.frames[0].rows});
  const cv::Rect inside(static_cast<int>(region.x), static_cast<int>(region.y),
                        static_cast<int>(region.width), static_cast<int>(region.height));
  const double samples = std::min(0.25, 64e3 / static_cast<double>(region.width * region.height));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const double distance : {0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0}) {
    std::vector<double> own, peer, own_us, peer_us, claimed;
    for (const std::size_t part : {1, 2, 3}) {
      const cv::Mat& frame = clip.frames[part * (clip.frames.size() - 1) / 4];
      video::Learning learning(region, 1000, samples);
      learning.add(view(frame(inside)));
      const video::Observer learned(learning.finish(), 255);
      cv::Mat before;
      frame(inside).convertTo(before, CV_32F);
      for (int direction = 0; direction < 8; ++direction) {
        const double angle = 2 * CV_PI * direction / 8 + 0.2;
        const double x = distance * std::cos(angle);
        const double y = distance * std::sin(angle);
        const cv::Mat moved = shifted(frame, x, y)(inside).clone();
        video::Observer observer(learned);
        observer.observe(view(frame(inside)));
        double start = processor_us();
        const video::Registration found = observer.observe(view(moved)).registration;
        own_us.push_back(processor_us() - start);
        own.push_back(std::hypot(found.x - x, found.y - y));
        claimed.push_back(found.standard_error);
        start = processor_us();
        cv::Mat after;
        moved.convertTo(after, CV_32F);
        const cv::Point2d phase = cv::phaseCorrelate(before, after);
        peer_us.push_back(processor_us() - start);
        peer.push_back(std::hypot(phase.x - x, phase.y - y));
      }
    }
    rows.push_back({{"shift_px", distance},
                    {"error_median_px", median(own)},
                    {"error_largest_px", std::ranges::max(own)},
                    {"standard_error_median_px", median(claimed)},
                    {"us", median(own_us)},
                    {"phase_correlate_error_median_px", median(peer)},
                    {"phase_correlate_error_largest_px", std::ranges::max(peer)},
                    {"phase_correlate_us", median(peer_us)},
                    {"times_faster", median(peer_us) / median(own_us)}});
  }
  return rows;
}

}  // namespace sfft::bench
