// SPDX-License-Identifier: Apache-2.0
// Learns a new template on a separate thread, while frames are transformed with the old one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/memory_budget.hpp"
#include "sfft/plan.hpp"
#include "sfft/template.hpp"
#include "sfft/tracking/tone_drift.hpp"
#include "sfft/tracking/worker.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Asks whether a support learned from a frame is better than the one in force.
template <class Real>
struct LearnRequest {
  std::shared_ptr<const TemplateData> old;  ///< template that may be replaced
  std::int64_t frame = 0;                   ///< number of the frame to learn from
  std::string reason;                       ///< why to learn
  double held = 0;                          ///< energy of that frame in the old support
  double all = 0;                           ///< energy of that frame in all frequencies but 0
  /// The old support is replaced if it holds less than this share of the energy in a fresh support.
  double better_below = 0;
  /// It is also replaced if a fresh support leaves less than this share of the energy outside; 0: never.
  double outside_below = 0;
  bool sparse = true;               ///< the plan in force is sparse
  std::vector<DriftingTone> tones;  ///< tones of an earlier frame
  std::int64_t since_tones = 0;     ///< frames between the two frames
  LearnOptions learn;
  PlanOptions plan;
};
template <class Real>
struct LearnAnswer {
  std::optional<Template> fresh;    ///< empty if no frequency meets the criterion
  double fresh_held = 0;            ///< energy of the frame in the fresh support
  std::optional<Plan<Real>> plan;   ///< for the fresh template, if that is better
  std::vector<DriftingTone> tones;  ///< tones of this frame
};
template <class Real>
LearnAnswer<Real> learn_better(const SignalView& frame, const LearnRequest<Real>& request);

/// Learns one template at a time. Not thread-safe. The destructor waits for learning in progress.
template <class Real>
class BackgroundLearning {
 public:
  struct Outcome {
    LearnRequest<Real> request;
    LearnAnswer<Real> answer;
    std::optional<Plan<Real>> exact;  ///< plan for dense transforms at the fresh template's support
  };
  /// Frames from the one that the template is learned from to the first that may use it.
  static constexpr std::int64_t kDelay = 32;

  /// Allocates memory for a copy of a frame, and starts the thread.
  void prepare(std::size_t frame_bytes);
  bool under_way() const noexcept { return outcome_.valid(); }
  /// Frame from which take() may be called.
  std::int64_t due() const noexcept { return due_; }
  /// Copies the frame before it returns. `exact`: options for dense transforms. Does nothing while learning
  /// is in progress, or if memory or a thread cannot be obtained.
  void begin(const SignalView& frame, LearnRequest<Real> request, const PlanOptions& exact) noexcept;
  /// Waits for the result of begin(); empty if learning failed.
  std::optional<Outcome> take() noexcept;

 private:
  std::int64_t due_ = 0;
  CountedVector<std::byte> samples_;  ///< copy of the frame that the template is learned from
  std::future<Outcome> outcome_;
  Worker worker_;
};

extern template LearnAnswer<float> learn_better(const SignalView&, const LearnRequest<float>&);
extern template LearnAnswer<double> learn_better(const SignalView&, const LearnRequest<double>&);
extern template class BackgroundLearning<float>;
extern template class BackgroundLearning<double>;

}  // namespace sfft::detail
