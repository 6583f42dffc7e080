// SPDX-License-Identifier: Apache-2.0
// The device tables that a comb or flat-window plan needs.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/comb_data.hpp"
#include "kernels/base/error_table.hpp"
#include "kernels/base/flat_data.hpp"
#include "kernels/base/halved_comb.hpp"
#include "kernels/base/witness_data.hpp"
#include "kernels/cuda/runtime/staged_tables.hpp"
#include "kernels/cuda/stages/binning.hpp"
#include "kernels/cuda/stages/row_set.hpp"

namespace sfft::detail::cuda {

/// Owns what a Binning points to, on the device that is current at construction.
template <class Real>
class BinningTables {
 public:
  /// `flags`: kDistinctConjugate and kMean of each coefficient. `witness` may be empty. `tail`: for a halved
  /// comb (kernels/base/halved_comb.hpp).
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

}  // namespace sfft::detail::cuda
