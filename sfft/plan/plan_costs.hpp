// SPDX-License-Identifier: Apache-2.0
// Predicts how long the paths of a plan take where it executes, and states the requirements for a comb
// search.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/base/flat_data.hpp"
#include "sfft/plan.hpp"
#include "template/comb/comb_planner.hpp"
#include "template/data/support_set.hpp"

namespace sfft::detail {

/// Times are microseconds per frame: on one CPU core, or for batches on a GPU (from host memory to results in
/// host memory if frames are page-locked). The constructor's arguments must outlive this object.
class PlanCosts {
 public:
  /// `epsilon`: machine epsilon of the arithmetic that executes.
  PlanCosts(const PlanOptions& options, const TemplateData& data, const SupportSet& support,
            const SpectralPrior& prior, double epsilon) noexcept
      : options_(options),
        data_(data),
        support_(support),
        prior_(prior),
        epsilon_(epsilon),
        on_device_(options.device.backend() == Backend::cuda) {}

  /// `tuned`: with kernels tuned for the shape.
  double dense_us(bool tuned) const;
  double direct_us() const;
  double flat_us(const FlatPlanData& flat) const;
  /// Blocks of the witness; more than one where a short burst must be seen.
  std::int64_t witness_blocks() const;
  /// Time of the witness's blocks beyond the first.
  double witness_us() const;
  /// Number of samples that a plan may read.
  std::int64_t max_samples() const { return max_samples(by_rows()); }

  /// The request for a comb that is no slower than `limit_us`.
  CombRequest comb_request(double limit_us, cpu::ThreadPool* pool) const;
  /// The same for a search. For page-locked frames, errors like those of frames in the GPU's memory are
  /// enough.
  CombRequest search_request(double limit_us, cpu::ThreadPool* pool) const;

 private:
  /// Number of frames per call and GPU.
  int batch() const {
    const int devices = std::max(1, static_cast<int>(options_.device.gpus().size()));
    return std::max(1, (options_.batch + devices - 1) / devices);
  }
  bool from_bus() const { return on_device_ && options_.page_locked_frames; }
  bool by_rows() const;
  std::int64_t element() const;
  std::int64_t frame_bytes() const { return data_.shape.points() * element(); }
  double with_bus(double us, std::int64_t bytes) const;
  std::int64_t scattered_bytes(std::int64_t samples) const;
  std::int64_t max_samples(bool by_rows) const;
  CombRequest request_there(double limit_us, cpu::ThreadPool* pool) const;

  const PlanOptions& options_;
  const TemplateData& data_;
  const SupportSet& support_;
  const SpectralPrior& prior_;
  double epsilon_;
  bool on_device_;
};

}  // namespace sfft::detail
