// SPDX-License-Identifier: Apache-2.0
// Learns a new template on a thread of its own, while frames go on by the old one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sfft/plan.hpp"
#include "sfft/template.hpp"
#include "sfft/tracking/tone_drift.hpp"
#include "sfft/tracking/worker.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Whether a frame's own support is better than the one in force.
template <class Real>
struct LearnRequest {
  std::shared_ptr<const TemplateData> old;  ///< what may be replaced
  std::int64_t frame = 0;                   ///< number of the frame to learn from
  std::string reason;                       ///< why
  double held = 0;                          ///< energy of that frame in the old support
  double all = 0;                           ///< and in all frequencies but 0
  double better_below = 0;   ///< share of what a fresh support holds, below which the old one has to go
  double outside_below = 0;  ///< the same of the energy outside; 0: it does not matter
  bool sparse = true;        ///< the plan in force is sparse
  std::vector<DriftingTone> tones;  ///< of an earlier frame
  std::int64_t since_tones = 0;     ///< frames from that one to this
  LearnOptions learn;
  PlanOptions plan;
};
template <class Real>
struct LearnAnswer {
  std::optional<Template> fresh;    ///< nothing where the criterion finds no frequency
  double fresh_held = 0;            ///< energy of the frame in its support
  std::optional<Plan<Real>> plan;   ///< for the fresh template, if that is better
  std::vector<DriftingTone> tones;  ///< of this frame
};
template <class Real>
LearnAnswer<Real> learn_better(const SignalView& frame, const LearnRequest<Real>& request);

/// One at a time. Not thread-safe itself. The destructor waits for what is under way.
template <class Real>
class BackgroundLearning {
 public:
  struct Outcome {
    LearnRequest<Real> request;
    LearnAnswer<Real> answer;
    std::optional<Plan<Real>> exact;  ///< of dense transforms at the fresh template
  };
  /// Frames from the one that is learned from to the first that may go by the new template.
  static constexpr std::int64_t kDelay = 64;

  /// Makes room for a copy of a frame, and starts the thread.
  void prepare(std::size_t frame_bytes);
  bool under_way() const noexcept { return outcome_.valid(); }
  /// Frame from which take() may be called.
  std::int64_t due() const noexcept { return due_; }
  /// Copies the frame before it returns. `exact`: options of dense transforms. Does nothing where there is no
  /// thread to be had.
  void begin(const SignalView& frame, LearnRequest<Real> request, const PlanOptions& exact) noexcept;
  /// Waits for what was begun; nothing if it failed.
  std::optional<Outcome> take() noexcept;

 private:
  std::int64_t due_ = 0;
  std::vector<std::byte> samples_;  ///< of the frame that is learned from
  std::future<Outcome> outcome_;
  Worker worker_;
};

extern template LearnAnswer<float> learn_better(const SignalView&, const LearnRequest<float>&);
extern template LearnAnswer<double> learn_better(const SignalView&, const LearnRequest<double>&);
extern template class BackgroundLearning<float>;
extern template class BackgroundLearning<double>;

}  // namespace sfft::detail
