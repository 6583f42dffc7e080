// SPDX-License-Identifier: Apache-2.0
// Compact transforms on the CPU. Each signal is read as floats, scaled so that the largest is in [1, 2), and
// transformed by a plan for one signal. It is stored with the exponent that fits its largest result.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/dense/cpu/stored_values.hpp"
#include "kernels/dense/request/host/batch_threads.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

namespace {

using dense::CompactScale;

class CompactCpuRunner final : public Runner<CompactCall> {
 public:
  CompactCpuRunner(const CompactRequest& request, std::unique_ptr<const Runner<FullCall>> one)
      : request_(request),
        problem_(request.dense.problem),
        one_(std::move(one)),
        threads_(
            static_cast<int>(std::min<std::int64_t>(thread_count(request.dense.options), problem_.batch))),
        arithmetic_error_(arithmetic_error(problem_)) {
    samples_bytes_ = problem_.real ? floats(source_parts(problem_, Direction::forward)) : 0;
    spectrum_bytes_ = floats(target_parts(problem_, Direction::forward));
    slot_bytes_ = samples_bytes_ + spectrum_bytes_ + aligned_bytes(one_->workspace_bytes());
  }

  std::size_t workspace_bytes() const noexcept override {
    return slot_bytes_ * static_cast<std::size_t>(threads_.slots());
  }

  void run(const CompactCall& call) const override {
    const Direction direction = call.direction;
    const std::size_t from_bytes =
        storage_bytes(request_.formats.source(direction), source_parts(problem_, direction));
    const std::size_t to_bytes =
        storage_bytes(request_.formats.target(direction), target_parts(problem_, direction));
    threads_.run(problem_.batch, [&](std::int64_t b, int slot, cpu::ThreadPool*) {
      const auto at = static_cast<std::size_t>(b);
      const CompactScale scale =
          run_one(direction, static_cast<const std::byte*>(call.from) + at * from_bytes,
                  call.from_scales == nullptr ? CompactScale{} : call.from_scales[b],
                  static_cast<std::byte*>(call.to) + at * to_bytes,
                  call.workspace + static_cast<std::size_t>(slot) * slot_bytes_);
      if (call.to_scales != nullptr) call.to_scales[b] = scale;
    });
  }

  bool on_gpu() const noexcept override { return false; }
  std::string name() const override { return one_->name(); }

 private:
  static std::size_t floats(std::int64_t count) {
    return aligned_bytes(static_cast<std::size_t>(count) * sizeof(float));
  }

  CompactScale run_one(Direction direction, const void* from, const CompactScale& from_scale, void* to,
                       std::byte* workspace) const {
    const bool forward = direction == Direction::forward;
    auto* const spectrum = reinterpret_cast<float*>(workspace + samples_bytes_);
    // Complex transforms work in place.
    auto* const signal = problem_.real ? reinterpret_cast<float*>(workspace) : spectrum;
    float *const values = forward ? signal : spectrum, *const results = forward ? spectrum : signal;

    const std::int64_t source = source_parts(problem_, direction), target = target_parts(problem_, direction);
    const Census input = census_of(from, request_.formats.source(direction), source);
    read_stored(from, request_.formats.source(direction), source, -input.exponent, values);
    one_->run({direction, values, own_type<float>(problem_), results,
               workspace + samples_bytes_ + spectrum_bytes_});
    // The true results are 2^common times these values.
    const int common = input.exponent + from_scale.exponent;
    const Census found = census_of(results, dense::Storage::f32, target);
    Census output = found;
    output.exponent += output.zero ? 0 : common;
    const int exponent = storing_exponent(output, request_.formats.target(direction));
    const double stored = write_stored(results, target, exponent - common, found.exponent,
                                       request_.formats.target(direction), to);

    CompactScale scale{exponent, 0, input.finite && from_scale.finite};
    if (!scale.finite) {
      scale.relative_error = std::numeric_limits<double>::infinity();
    } else if (!output.zero) {
      const double own = from_scale.relative_error;
      scale.relative_error = std::sqrt(own * own + arithmetic_error_ * arithmetic_error_ + stored * stored);
    }
    return scale;
  }

  CompactRequest request_;
  DenseProblem problem_;
  std::unique_ptr<const Runner<FullCall>> one_;
  BatchThreads threads_;
  double arithmetic_error_;
  std::size_t samples_bytes_ = 0, spectrum_bytes_ = 0, slot_bytes_ = 0;
};

}  // namespace

Choice<CompactCall> choose_compact_on_cpu(const CompactRequest& request) {
  DenseRequest one = request.dense;
  one.problem = contiguous_problem(request.dense.problem, 1);
  one.options.batch = 1;
  one.options.threads = 1;
  Choice<FullCall> choice = choose_on_cpu<float>(one);
  return {std::make_unique<const CompactCpuRunner>(request, std::move(choice.runner)), choice.engine,
          std::move(choice.reason)};
}

}  // namespace sfft::detail
