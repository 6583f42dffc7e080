// SPDX-License-Identifier: Apache-2.0
// Predicts how long the paths of a plan take where it executes, and states the requirements for a comb
// search.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "kernels/base/tables/flat_data.hpp"
#include "sfft/error.hpp"
#include "sfft/plan.hpp"
#include "template/comb/comb_planner.hpp"
#include "template/data/support_set.hpp"

namespace sfft::detail {

/// Samples per coefficient that the automatic budget allows, and the share of the frame.
inline constexpr std::int64_t kSamplesPerCoefficient = 28;
inline constexpr std::int64_t kBudgetDivisor = 12;
/// The same if whole rows cross a bus, where further samples of a row cost little.
inline constexpr std::int64_t kRowSamplesPerCoefficient = 84, kRowBudgetDivisor = 4;
/// More may be read of a short frame: N/12 samples are too few to tell its frequencies apart. Up to 256
/// samples take less time than a dense transform, unless they are more than a quarter of the frame.
inline constexpr std::int64_t kFewSamples = 256, kFewDivisor = 4;
/// Samples in the rows that cross a bus: the larger of a number per coefficient and a share of the frame.
inline constexpr std::int64_t kInRowsPerCoefficient = 400, kInRowsDivisor = 6;

/// The number of samples that a plan of `k` coefficients may read from a frame of `points` samples. `share`:
/// the caller's limit, as a share of the frame; 0: the automatic budget, which is the whole frame if least
/// squares needs it. `by_rows`: whole rows cross a bus. Throws `invalid_argument` for a share of less than
/// one sample.
inline std::int64_t sample_budget(double share, std::int64_t points, std::int64_t k, bool least_squares,
                                  bool by_rows = false) {
  if (share > 0) {
    const double samples = share * static_cast<double>(points);
    if (samples < 1)  // 0 samples would be taken for no limit
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("max_samples = {} allows not one sample of {}: give a larger share", share, points));
    return static_cast<std::int64_t>(samples);
  }
  if (least_squares) return points;
  const std::int64_t per_coefficient = by_rows ? kRowSamplesPerCoefficient : kSamplesPerCoefficient;
  const std::int64_t of_frame = std::max(points / (by_rows ? kRowBudgetDivisor : kBudgetDivisor),
                                         std::min(points / kFewDivisor, kFewSamples));
  return std::max<std::int64_t>(1, std::min(of_frame, per_coefficient * k));
}

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
