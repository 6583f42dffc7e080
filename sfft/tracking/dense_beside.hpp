// SPDX-License-Identifier: Apache-2.0
// Frames of a stream that are also transformed densely, to compare or in place of a sparse transform.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// Dense transforms at a template's support. On a GPU, that of a frame which will be compared can be begun
/// while others go through their sparse transforms.
template <class Real>
class DenseBeside {
 public:
  /// `where`: backend, device and threads of the sparse plan.
  explicit DenseBeside(const PlanOptions& where) : where_(where) {}
  ~DenseBeside() { forget(); }
  DenseBeside(const DenseBeside&) = delete;
  DenseBeside& operator=(const DenseBeside&) = delete;

  /// The template is another.
  void renew() noexcept;
  /// Throws what Plan and Plan::execute() throw.
  void execute(const Template& tmpl, const SignalView& frame, Spectrum<Real>& spectrum);
  /// Begins with a frame, whose samples must stay what they are until it is executed or forgotten. Does
  /// nothing on a CPU, before the first frame and while another is under way.
  void begin(const SignalView& frame) noexcept;
  /// Nobody asks for this frame any more.
  void pass(const SignalView& frame) noexcept {
    if (under_way_ == frame.data()) forget();
  }
  /// Waits for what is under way and forgets it.
  void forget() noexcept;

 private:
  PlanOptions options() const;
  bool take_begun(const SignalView& frame, Spectrum<Real>& spectrum) noexcept;

  PlanOptions where_;
  std::optional<Plan<Real>> plan_;
  Workspace<Real> workspace_;
  std::int64_t executed_ = 0;
  const void* under_way_ = nullptr;      ///< samples of the frame that is
  std::vector<Spectrum<Real>> spectra_;  ///< its own
};

extern template class DenseBeside<float>;
extern template class DenseBeside<double>;

}  // namespace sfft::detail
