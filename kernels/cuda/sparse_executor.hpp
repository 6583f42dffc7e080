// Comb and flat-window plans on the GPU: one matrix where that is small, fused where a lane fits a block's
// shared memory, else staged.
#pragma once

#include <optional>

#include "kernels/cuda/binning_tables.hpp"
#include "kernels/cuda/executor.hpp"
#include "kernels/cuda/fused.hpp"
#include "kernels/cuda/recover.hpp"
#include "kernels/cuda/small_fft.hpp"

namespace sfft::detail::cuda {

/// What the small FFTs of batches of `frames` are tuned for.
FftGoal goal_for(const DeviceInfo& device, int frames);

/// The policy for batches of `frames` on a device; nothing when no policy fits its shared memory.
template <class Real>
std::optional<FusedPolicy> choose_fused_policy(const Binning<Real>& plan, const DeviceInfo& device,
                                               int frames);

template <class Real>
class SparseExecutor final : public Executor<Real> {
 public:
  /// Which kernels run: fused where it fits unless one is asked for.
  enum class Kernels { automatic, product, fused, staged };

  SparseExecutor(BinningTables<Real> tables, const DeviceInfo& device, int frames,
                 Kernels kernels = Kernels::automatic);

  std::unique_ptr<State> make_state(int frames) const override;
  void enqueue(const Batch<Real>& batch, State& state, Stream stream) const override;
  const std::vector<std::int64_t>& sample_indices() const noexcept override { return indices_; }
  void enqueue_compact(const Batch<Real>& batch, State& state, Stream stream) const override;
  std::int64_t taps() const noexcept override { return tables_.view().taps(); }
  std::string describe() const override;

  const BinningTables<Real>& tables() const noexcept { return tables_; }
  void set_policy(const FusedPolicy& policy) {  ///< for tuning: the fused kernel, with it
    policy_ = policy;
    product_ = false;
  }

 private:
  void launch(const Binning<Real>& plan, const Batch<Real>& batch, State& state, Stream stream) const;
  void launch_staged(const Binning<Real>& plan, const Batch<Real>& batch, State& state, Stream stream) const;

  BinningTables<Real> tables_;
  std::vector<std::int64_t> indices_;
  bool product_ = false;
  std::optional<FusedPolicy> policy_;  ///< nothing: staged, or the product
  std::optional<SmallFft<Real>> fft_;  ///< of the staged kernels
};

}  // namespace sfft::detail::cuda
