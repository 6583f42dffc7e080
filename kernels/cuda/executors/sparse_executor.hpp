// SPDX-License-Identifier: Apache-2.0
// Runs comb and flat-window plans on the GPU: with one fused kernel if a lane fits in a block's shared
// memory, else with one launch per stage.
#pragma once

#include <mutex>
#include <optional>

#include "kernels/base/comb_data.hpp"
#include "kernels/cuda/executors/executor.hpp"
#include "kernels/cuda/fused/fused.hpp"
#include "kernels/cuda/fused/generated_kernel.hpp"
#include "kernels/cuda/small_fft/small_fft.hpp"
#include "kernels/cuda/stages/binning_tables.hpp"
#include "kernels/cuda/stages/recover.hpp"

namespace sfft::detail::cuda {

/// The policy for batches of `frames` on a device; nullopt if no policy fits its shared memory.
template <class Real>
std::optional<FusedPolicy> choose_fused_policy(const Binning<Real>& plan, const DeviceInfo& device,
                                               int frames);

/// The dimension to halve (kernels/base/halved_comb.hpp) for batches of `frames`: if multiprocessors are to
/// spare, twice as many then share a frame's samples. −1: none.
int dimension_to_halve(const CombData& data, const DeviceInfo& device, int frames);

template <class Real>
class SparseExecutor final : public Executor<Real> {
 public:
  /// Which kernels run. `automatic`: fused if it fits, else staged.
  enum class Kernels { automatic, fused, staged };

  SparseExecutor(BinningTables<Real> tables, const DeviceInfo& device, int frames,
                 Kernels kernels = Kernels::automatic);
  /// Compiles a kernel for frames of `type`, which enqueue() then uses. If that fails, the library's kernels
  /// run, and describe() says why.
  void compile_for(Element type, const DeviceInfo& device);

  std::unique_ptr<State> make_state(int frames) const override;
  void enqueue(const Batch<Real>& batch, State& state, Stream stream) const override;
  const std::vector<std::int64_t>& sample_indices() const override;
  void enqueue_compact(const Batch<Real>& batch, State& state, Stream stream) const override;
  const RowSet& row_set() const noexcept override { return tables_.row_set(); }
  void fetch_rows(const void* frames, std::size_t element, int count, void* compact,
                  Stream stream) const override;
  void enqueue_rows(const Batch<Real>& batch, State& state, Stream stream) const override;
  std::int64_t taps() const noexcept override { return tables_.view().taps(); }
  std::int64_t witness_samples() const noexcept override { return tables_.view().witness.count; }
  std::int64_t reference_points() const noexcept override { return tables_.reference_points(); }
  void read_reference(const void* frame, Element type, Complex<Real>* samples, Real* witness,
                      Stream stream) const override;
  std::string describe() const override;

  const BinningTables<Real>& tables() const noexcept { return tables_; }
  void set_policy(const FusedPolicy& policy) { policy_ = policy; }  ///< for tuning

 private:
  void launch(const Binning<Real>& plan, const Batch<Real>& batch, State& state, Stream stream) const;
  void launch_staged(const Binning<Real>& plan, const Batch<Real>& batch, State& state, Stream stream) const;

  BinningTables<Real> tables_;
  mutable std::once_flag indices_once_;
  mutable std::vector<std::int64_t>
      indices_;                        ///< built for the first frame in host memory or the first reference
  std::optional<FusedPolicy> policy_;  ///< nothing: staged
  std::optional<SmallFft<Real>> fft_;  ///< for the staged kernels
  std::unique_ptr<const GeneratedKernel> generated_;  ///< for float plans
  std::string generation_;                            ///< outcome of compile_for()
};

}  // namespace sfft::detail::cuda
