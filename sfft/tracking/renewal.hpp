// SPDX-License-Identifier: Apache-2.0
// What gives a tracker another template or plan: learning in the background, tones that drift from bin to
// bin, and searches for better plans.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/runtime/memory_budget.hpp"
#include "sfft/plan.hpp"
#include "sfft/template.hpp"
#include "sfft/tracking/worker.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// A peak of a spectrum. Positions are fractional bins, and velocities are in bins per frame.
struct DriftingTone {
  std::array<double, 3> position{}, velocity{};
  double energy = 0;  ///< |X|² that the tone would have if it were exactly on a bin
  bool drifts() const noexcept;
};

/// The tones that have at least a fiftieth of the energy of `values`, the strongest first. The template's
/// support must be in ascending order.
std::vector<DriftingTone> find_tones(const TemplateData& data, std::span<const std::complex<double>> values);

/// Sets the velocities of tones that were found `frames` frames after `before`. A tone that matches no
/// earlier one keeps velocity 0. Returns whether at least one tone drifts.
bool find_velocities(const Shape& shape, std::span<const DriftingTone> before, std::int64_t frames,
                     std::span<DriftingTone> tones);

/// A support, with the maximum power that a drifting tone brings to each frequency.
struct DriftSupport {
  std::vector<std::int64_t> support;  ///< ascending
  std::vector<double> power;          ///< max |X|² from drifting tones; 0: use the learned power
  /// Energy of the drifting tones outside the support when they are between two bins.
  double largest_tail = 0;
};

/// The frequencies that drifting tones use within `frames` frames, with `reach` bins on either side, plus
/// those of a freshly learned template that drifting tones do not explain.
DriftSupport support_for_drift(const TemplateData& fresh, std::span<const DriftingTone> tones, double frames,
                               int reach);

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

/// Learns a new template on a separate thread, while frames are transformed with the old one. Learns one
/// template at a time. Not thread-safe. The destructor waits for learning in progress.
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

/// What is known from templates learned so far, and learning in the background.
template <class Real>
struct Relearning {
  /// Records what learning from a frame of this number found. `all`: the frame's energy without f = 0.
  void learned(std::int64_t frame, const LearnAnswer<Real>& answer, double all) noexcept;
  /// Keeps the tones of a frame that gave a fresh template. If none drifts and their number is the same,
  /// earlier tones are kept for 64 frames, because a velocity can be measured only after tones have moved.
  void note_tones(const LearnAnswer<Real>& answer, std::int64_t frame);
  /// Whether a support that holds `held` of the energy `all` of a frame probably holds less than a fresh one,
  /// by more than half of what `relearn_below` allows. The share of a scene's energy in fresh frequencies
  /// changes slowly, so the last known share counts for 256 frames; later, the answer is true.
  bool worthwhile(std::int64_t frame, double held, double all, double relearn_below) const noexcept;

  BackgroundLearning<Real> background;
  std::optional<LearnRequest<Real>> request;  ///< to learn from the current frame in the background
  std::vector<DriftingTone> tones;            ///< tones of a frame that a template was learned from
  std::int64_t tones_at = -1;                 ///< the number of that frame

 private:
  double fresh_share_ = 0;  ///< share of a frame's energy in the support last learned from that frame
  std::int64_t learned_at_ = std::numeric_limits<std::int64_t>::min() / 2;  ///< the number of that frame
};

extern template struct Relearning<float>;
extern template struct Relearning<double>;

/// Searches for a better plan on a separate thread, while frames use the plan in force. Runs one search at a
/// time. Not thread-safe. The destructor waits for a search in progress.
template <class Real>
class Refinement {
 public:
  struct Outcome {
    std::shared_ptr<const TemplateData> source;  ///< the template that the plan is for
    std::optional<Plan<Real>> plan;              ///< empty if the search failed
    std::string problem;                         ///< why the search failed
  };

  /// Starts a search. If another one is in progress, the new search starts when that has ended, and replaces
  /// any other that is waiting.
  void start(const Template& tmpl, const PlanOptions& options);
  /// The outcome of a search that has ended since the last call, if any. Does not wait.
  std::optional<Outcome> poll();
  bool searching() const noexcept { return search_.valid(); }

  std::string note;                                  ///< the outcome of the latest search, in words
  std::shared_ptr<const TemplateData> searched_for;  ///< template of the latest search

 private:
  struct Request {
    Template tmpl;
    PlanOptions options;
  };
  void begin(const Request& request);

  std::optional<Request> next_;
  std::future<Outcome> search_;
};

}  // namespace sfft::detail
