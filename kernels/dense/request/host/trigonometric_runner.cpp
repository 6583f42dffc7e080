// SPDX-License-Identifier: Apache-2.0
// Cosine, sine and Hartley transforms on the CPU: one pass over the array per dimension, the first from the
// input to the output, the others in place. Small signals of a batch are transposed in groups, so that
// vectors span several signals.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cpu/platform/isa.hpp"
#include "kernels/cpu/small_fft/small_fft_kernels.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/cpu/trigonometric_fft.hpp"
#include "kernels/dense/request/host/batch_threads.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/argument_checks.hpp"

namespace sfft::detail {

namespace {

using TrigonometricKind = dense::Options::Trigonometric;

/// The passes over `batch` signals, fastest dimension first. `together`: values of that many signals follow
/// each other in memory.
template <class Real>
struct TrigonometricPasses {
  TrigonometricPasses(const DenseRequest& request, std::span<const TrigonometricKind> kinds,
                      std::int64_t batch, std::int64_t together) {
    const Shape& shape = request.problem.shape;
    const auto normalization = request.options.normalization;
    double logical = 1;
    for (int d = 0; d < shape.rank(); ++d)
      logical *= static_cast<double>(logical_points(kinds[static_cast<std::size_t>(d)], shape[d]));
    const DenseScales scales = scales_of(normalization, logical);
    std::int64_t inner = together;
    for (int d = shape.rank() - 1; d >= 0; inner *= shape[d--]) {
      LineGrid grid{shape[d], inner, batch * shape.points() * together / (inner * shape[d]), inner,
                    together == 1};
      if (inner == 1) {
        const bool alone = shape.points() == shape[d];  // the lines are separate signals
        grid.units = alone ? 1 : batch;
        grid.lines = batch * shape.points() / shape[d] / grid.units;
        grid.one_signal = !alone;
      }
      const TrigonometricKind kind = kinds[static_cast<std::size_t>(d)];
      const bool last = d == 0, orthogonal = normalization == dense::Options::Normalization::unitary;
      forward.emplace_back(kind, grid, last ? scales.forward : 1, orthogonal);
      inverse.emplace_back(inverse_of(kind), grid, last ? scales.inverse : 1, orthogonal);
      for (const auto* lines : {&forward.back(), &inverse.back()})
        bytes = std::max(bytes, lines->workspace_bytes());
    }
  }
  void run(Direction direction, const Real* from, Real* to, const EngineScratch& scratch) const {
    for (const auto& lines : direction == Direction::forward ? forward : inverse) {
      lines.transform(from, to, scratch);
      from = to;
    }
  }

  std::vector<TrigonometricLines<Real>> forward, inverse;
  std::size_t bytes = 0;  ///< of the workspace of a thread
};

template <class Real>
class TrigonometricRunner final : public Runner<FullCall> {
  using Passes = TrigonometricPasses<Real>;

 public:
  TrigonometricRunner(const DenseRequest& request, std::span<const TrigonometricKind> kinds)
      : points_(request.problem.shape.points()),
        batch_(request.problem.batch),
        threads_(1,
                 std::max(1, threads_worth(total_points(request.problem), thread_count(request.options)))) {
    // Groups of larger signals leave the cache, and their lines fill vectors anyway.
    constexpr std::int64_t kMaxPoints = 1024, kGroupPoints = 1 << 13, kMaxGroup = 64;
    const std::int64_t vectors = std::clamp<std::int64_t>(kGroupPoints / points_ / 16, 1, kMaxGroup / 16);
    if (batch_ > 1 && points_ <= kMaxPoints) together_ = std::min(batch_, 16 * vectors);
    passes_.emplace_back(request, kinds, together_ > 1 ? 1 : batch_, together_);
    if (together_ > 1 && batch_ % together_ > 0) passes_.emplace_back(request, kinds, 1, batch_ % together_);
    for (const Passes& passes : passes_) bytes_ = std::max(bytes_, passes.bytes);
    if (together_ > 1)
      group_bytes_ = aligned_bytes(static_cast<std::size_t>(points_ * together_) * sizeof(Real));
  }

  std::size_t workspace_bytes() const noexcept override {
    return (bytes_ + 2 * group_bytes_) * static_cast<std::size_t>(threads_.within());
  }
  void run(const FullCall& call) const override {
    const auto* from = static_cast<const Real*>(call.from);
    auto* const to = static_cast<Real*>(call.to);
    threads_.run(1, [&](std::int64_t, int, cpu::ThreadPool* pool) {
      const EngineScratch scratch{call.workspace, pool};
      if (together_ == 1) return passes_[0].run(call.direction, from, to, scratch);
      over_parts(scratch, bytes_ + 2 * group_bytes_, (batch_ + together_ - 1) / together_,
                 [&](std::int64_t part, std::byte* workspace) {
                   const std::int64_t first = part * together_;
                   group(call.direction, std::min(together_, batch_ - first), from + first * points_,
                         to + first * points_, workspace);
                 });
    });
  }
  bool on_gpu() const noexcept override { return false; }
  std::string name() const override { return fmt::format("built-in {}", cpu::isa_name()); }

 private:
  void group(Direction direction, std::int64_t signals, const Real* from, Real* to,
             std::byte* workspace) const {
    auto* const one = reinterpret_cast<Real*>(workspace + bytes_);
    auto* const other = reinterpret_cast<Real*>(workspace + bytes_ + group_bytes_);
    const auto& kernels = cpu::small_fft_kernels<Real>(cpu::best_isa());
    kernels.transpose(from, signals, points_, one);
    passes_[signals == together_ ? 0 : 1].run(direction, one, other, {workspace, nullptr});
    kernels.transpose(other, points_, signals, to);
  }

  std::int64_t points_, batch_;
  std::int64_t together_ = 1;   ///< signals of a group
  std::vector<Passes> passes_;  ///< of a group or the whole batch, and of the last group
  BatchThreads threads_;
  std::size_t bytes_ = 0, group_bytes_ = 0;
};

}  // namespace

template <class Real>
Choice<FullCall> choose_trigonometric(const DenseRequest& request, std::span<const TrigonometricKind> kinds) {
  require_plain_cpu(request, "trigonometric transforms");
  for (std::size_t d = 0; d < kinds.size(); ++d) {
    check_enumerator(kinds[d], TrigonometricKind::hartley, "the kind of a trigonometric transform");
    if (kinds[d] == TrigonometricKind::dct1 && request.problem.shape[static_cast<int>(d)] == 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("dct1 needs two points, and dimension {} of {} has one", d + 1,
                              request.problem.shape.to_string()));
    }
  }
  return {std::make_unique<const TrigonometricRunner<Real>>(request, kinds), dense::Engine::built_in,
          "cosine, sine and Hartley transforms have one engine"};
}

template Choice<FullCall> choose_trigonometric<float>(const DenseRequest&,
                                                      std::span<const TrigonometricKind>);
template Choice<FullCall> choose_trigonometric<double>(const DenseRequest&,
                                                       std::span<const TrigonometricKind>);

}  // namespace sfft::detail
