// SPDX-License-Identifier: Apache-2.0
// Runs comb and flat-window plans on the GPU: with one fused kernel if a lane fits in a block's shared
// memory, else with one launch per stage.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/base/tables/comb_data.hpp"
#include "kernels/base/tables/error_table.hpp"
#include "kernels/base/tables/flat_data.hpp"
#include "kernels/base/tables/halved_comb.hpp"
#include "kernels/base/tables/witness_data.hpp"
#include "kernels/cuda/executors/executor.hpp"
#include "kernels/cuda/fused/fused.hpp"
#include "kernels/cuda/runtime/staged_tables.hpp"
#include "kernels/cuda/small_fft/small_fft.hpp"
#include "kernels/cuda/stages/binning.hpp"
#include "kernels/cuda/stages/row_set.hpp"
#include "kernels/cuda/stages/stages.hpp"

namespace sfft::detail::cuda {

/// Owns what a Binning points to, on the device that is current at construction.
template <class Real>
class BinningTables {
 public:
  /// `flags`: kDistinctConjugate and kMean of each coefficient. `witness` may be empty. `tail`: for a halved
  /// comb (kernels/base/tables/halved_comb.hpp).
  BinningTables(const CombData& data, const std::vector<std::int64_t>& support,
                std::vector<std::uint8_t> flags, const ErrorTable& errors, const WitnessData& witness,
                const std::vector<TailTerm>& tail = {});
  BinningTables(const FlatPlanData& data, const std::vector<std::int64_t>& support,
                std::vector<std::uint8_t> flags, const ErrorTable& errors, const WitnessData& witness);

  const Binning<Real>& view() const noexcept { return view_; }
  /// The same plan for compact frames, which consist of one frame's samples in the order of sample_indices().
  const Binning<Real>& compact_view() const noexcept { return compact_; }
  /// The rows of an image that contain its samples; empty for other frames and for flat windows.
  const RowSet& row_set() const noexcept { return row_set_; }
  /// The same plan for the compact frames of row_set().
  const Binning<Real>& rows_view() const noexcept { return rows_; }
  const Shape& shape() const noexcept { return shape_; }
  /// The grid that the FFT transforms, slowest dimension first.
  const std::vector<std::int64_t>& grid() const noexcept { return grid_; }

  /// The linear sample index of every tap of every stream, stream slowest. A stream is a delay or a line; a
  /// lane carries one stream of a complex frame or two of a real one. The witness's samples come last.
  std::vector<std::int64_t> sample_indices() const;
  /// The number of elements of a reference: one complex number for every tap of every lane.
  std::int64_t reference_points() const noexcept {
    return static_cast<std::int64_t>(view_.lanes) * view_.folds * view_.fft.points;
  }

 private:
  struct Parts;  ///< the tables on the host, and their places on the device
  void set_fft(const std::int64_t* grid, int rank, bool load_first, Parts& parts);
  void set_weights(std::int64_t delays, const std::vector<std::complex<double>>& weights, Parts& parts);
  void set_tail(const std::vector<double>& bucket_weight, const std::vector<TailTerm>& tail, Parts& parts);
  void set_errors(const ErrorTable& errors, std::vector<std::uint8_t> flags, Parts& parts);
  void make_blob(Parts& parts);
  void set_witness(const WitnessData& witness, Parts& parts);
  void set_row_set(const CombData& data);
  void set_compact_views(const CombData& data, const Parts& parts);
  /// Adds the places of the witness's samples, which come last in a compact frame; `first` is the first.
  std::size_t add_witness_places(std::int64_t first, std::vector<std::int64_t>& places);
  /// Uploads, points the views at the tables, and launches the kernels that fill in the rest.
  void bind(Parts& parts, const std::int64_t* comb_buckets);

  Shape shape_;
  Binning<Real> view_, compact_, rows_;
  RowSet row_set_;
  std::vector<std::int64_t> grid_;
  StagedTables tables_;
  std::vector<std::int64_t> tap_offsets_;  ///< of a flat window, as sample_indices()
  std::vector<std::int64_t> witness_samples_;
};

/// The policy for batches of `frames` on a device; nullopt if no policy fits its shared memory.
template <class Real>
std::optional<FusedPolicy> choose_fused_policy(const Binning<Real>& plan, const DeviceInfo& device,
                                               int frames);

/// The dimension to halve (kernels/base/tables/halved_comb.hpp) for batches of `frames`: if multiprocessors
/// are to spare, twice as many then share a frame's samples. −1: none.
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
