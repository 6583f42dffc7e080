// SPDX-License-Identifier: Apache-2.0
// Regroups the planner's weights by lane, so that threads read adjacent rows, and packs what the fused kernel
// prefetches into one blob.
#include "kernels/cuda/executors/sparse_executor.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/base/math/lattice_line.hpp"
#include "kernels/base/tables/lane_weights.hpp"
#include "kernels/cuda/runtime/convert.hpp"
#include "kernels/cuda/small_fft/fft_schedule.hpp"
#include "kernels/cuda/stages/host_block.hpp"
#include "kernels/cuda/stages/stages.hpp"
#include "kernels/runtime/step_trace.hpp"

namespace sfft::detail::cuda {

template <class Real>
struct BinningTables<Real>::Parts {
  std::vector<Complex<Real>> table_values, later_table;
  std::vector<FftPass> passes;
  std::vector<BucketPair> buckets;
  std::vector<Real> gain, bias, fit;
  std::vector<Real> power_weight;
  std::vector<DeviceTailTerm<Real>> tail;
  std::vector<std::uint8_t> flags;
  std::vector<std::vector<Complex<Real>>> lanes;    ///< alpha, then beta
  std::vector<Real> rows;                           ///< rows of the witness
  std::array<std::vector<std::int64_t>, 2> places;  ///< places of the witness's samples in compact frames
  bool makes_witness_rows = false;                  ///< whether the GPU makes the witness's rows
  /// Places of tables in the staged allocation.
  struct Offsets {
    std::size_t table = 0, blob = 0, witness_rows = 0, witness_samples = 0, compact_witness = 0;
    std::size_t rows_witness = 0, support = 0, tap_offsets = 0, window = 0, compact_taps = 0;
  } at;
};

template <class Real>
void BinningTables<Real>::set_fft(const std::int64_t* grid, int rank, bool load_first, Parts& parts) {
  grid_.assign(grid, grid + rank);
  const FftTables tables = make_schedule(grid, rank, load_first);
  view_.fft = tables.schedule;
  parts.table_values = as_device<Real>(tables.table);
  parts.at.table = tables_.add(parts.table_values);
  parts.later_table.assign(parts.table_values.begin() + view_.fft.first_twiddles, parts.table_values.end());
}

/// `weights` are in the planner's order, (row·row_buckets + q)·delays + delay; kernels read adjacent rows.
template <class Real>
void BinningTables<Real>::set_weights(std::int64_t delays, const std::vector<std::complex<double>>& weights,
                                      Parts& parts) {
  const auto rows = static_cast<std::size_t>(view_.rows);
  const auto row_buckets = static_cast<std::size_t>(view_.row_buckets);
  const auto streams = static_cast<std::size_t>(delays);
  const auto as_real = [](std::complex<double> w) {
    return Complex<Real>{static_cast<Real>(w.real()), static_cast<Real>(w.imag())};
  };
  const std::size_t beta = (rows * row_buckets + 1) / 2 * 2;
  view_.lane_beta = static_cast<int>(beta * sizeof(Complex<Real>));
  const auto lanes = static_cast<std::size_t>(view_.lanes);
  for (std::size_t l = 0; l < lanes; ++l)
    parts.lanes.emplace_back(view_.real ? beta + rows * row_buckets : beta, Complex<Real>{0, 0});
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t q = 0; q < row_buckets; ++q) {
      const std::complex<double>* const row = &weights[(i * row_buckets + q) * streams];
      const std::size_t at = q * rows + i;
      for (std::size_t l = 0; l < lanes; ++l) {
        if (!view_.real) {
          parts.lanes[l][at] = as_real(row[l]);
          continue;
        }
        const LaneWeights pair = real_lane_weights(row[2 * l], 2 * l + 1 < streams ? row[2 * l + 1] : 0.0);
        parts.lanes[l][at] = as_real(pair.alpha);
        parts.lanes[l][beta + at] = as_real(pair.beta);
      }
    }
  }
}

template <class Real>
void BinningTables<Real>::set_errors(const ErrorTable& errors, std::vector<std::uint8_t> flags,
                                     Parts& parts) {
  view_.errors = errors.model;
  view_.reciprocals = reciprocals_of(errors.model);
  parts.gain = as_device<Real>(errors.gain);
  parts.bias = as_device<Real>(errors.bias);
  if (!errors.unbiased()) parts.fit = as_device<Real>(errors.fit);
  parts.flags = std::move(flags);
}

/// The weights of the tail's scale (of buckets, or of a halved comb's terms), scaled so that the
/// largest is 1.
template <class Real>
void BinningTables<Real>::set_tail(const std::vector<double>& bucket_weight,
                                   const std::vector<TailTerm>& tail, Parts& parts) {
  // Several independent maxima shorten the dependency chains.
  std::array<double, 8> largest{};
  for (std::size_t b = 0; b < bucket_weight.size(); ++b)
    largest[b % largest.size()] = std::max(largest[b % largest.size()], bucket_weight[b]);
  for (const TailTerm& term : tail) largest[0] = std::max(largest[0], term.weight);
  const double unit = view_.power_unit = *std::max_element(largest.begin(), largest.end());
  const auto relative = [&](double weight) { return static_cast<Real>(unit > 0 ? weight / unit : 0); };
  parts.power_weight.resize(bucket_weight.size());
  for (std::size_t b = 0; b < bucket_weight.size(); ++b) parts.power_weight[b] = relative(bucket_weight[b]);
  parts.tail.reserve(tail.size());
  for (const TailTerm& term : tail) {
    parts.tail.push_back({{static_cast<std::int32_t>(term.at), static_cast<std::int32_t>(term.mirror)},
                          relative(term.weight),
                          static_cast<Real>(term.root.real()),
                          static_cast<Real>(term.root.imag())});
  }
  view_.tail_terms = static_cast<int>(tail.size());
}

/// For a complex signal only the rows of real parts are stored; those of imaginary parts hold the
/// same numbers.
template <class Real>
void BinningTables<Real>::set_witness(const WitnessData& witness, Parts& parts) {
  if (witness.empty()) return;
  witness_samples_ = witness.samples;
  parts.at.witness_samples = tables_.add(witness.samples);
  view_.witness.pitch = view_.k + view_.k % 2;
  view_.witness.count = static_cast<int>(witness.samples.size());
  view_.witness.trimmed = witness.trimmed;
  parts.makes_witness_rows = witness.columns.empty();
  if (parts.makes_witness_rows) return;
  const auto used = 2 * static_cast<std::size_t>(view_.k),
             pitch = 2 * static_cast<std::size_t>(view_.witness.pitch);
  parts.rows.assign(witness.samples.size() * pitch, Real(0));  // pairs of reals are complex numbers
  const std::size_t block = witness.block_samples();
  for (std::size_t s = 0; s < witness.samples.size(); ++s) {
    const double* const column = &witness.columns[s / block * kWitnessReals * used + s % block];
    for (std::size_t j = 0; j < used; ++j)
      parts.rows[s * pitch + j] = static_cast<Real>(column[j * kWitnessReals]);
  }
  parts.at.witness_rows = tables_.add(parts.rows);
}

template <class Real>
std::size_t BinningTables<Real>::add_witness_places(std::int64_t first, std::vector<std::int64_t>& places) {
  places.resize(witness_samples_.size());
  std::iota(places.begin(), places.end(), first);
  return tables_.add(places);
}

/// Delays whose grids begin in the same row share their rows.
template <class Real>
void BinningTables<Real>::set_row_set(const CombData& data) {
  if (data.shape.rank() != 2) return;
  row_set_.rows = view_.rows_per_slab;
  row_set_.step = view_.strides[1];
  row_set_.row_elements = data.shape[1];
  row_set_.delays = data.delay_count();
  row_set_.row_samples = view_.row_points;
  const auto witness = static_cast<std::int64_t>(witness_samples_.size());
  row_set_.witness_rows = (witness + row_set_.row_elements - 1) / row_set_.row_elements;
  std::vector<std::int64_t>& starts = row_set_.starts;
  for (std::int64_t j = 0; j < data.delay_count(); ++j) {
    const std::int64_t start = view_.offsets[j] / row_set_.row_elements * row_set_.row_elements;
    if (std::find(starts.begin(), starts.end(), start) == starts.end()) starts.push_back(start);
  }
}

/// Makes the views of compact frames; call it after view_ is bound.
template <class Real>
void BinningTables<Real>::set_compact_views(const CombData& data, const Parts& parts) {
  compact_ = view_;
  compact_.strides[0] = static_cast<std::int64_t>(view_.rows_per_slab) * view_.row_points;
  compact_.strides[1] = view_.row_points;
  compact_.strides[2] = 1;
  for (std::int64_t j = 0; j < data.delay_count(); ++j) compact_.offsets[j] = j * data.bucket_count();
  if (view_.witness.count > 0) compact_.witness.samples = tables_.at<std::int64_t>(parts.at.compact_witness);
  if (row_set_.starts.empty()) return;
  rows_ = view_;
  rows_.strides[1] = row_set_.row_elements;
  for (std::int64_t j = 0; j < data.delay_count(); ++j) {
    const std::int64_t in_row = view_.offsets[j] % row_set_.row_elements;
    const auto set = std::find(row_set_.starts.begin(), row_set_.starts.end(), view_.offsets[j] - in_row);
    rows_.offsets[j] = (set - row_set_.starts.begin()) * row_set_.rows * row_set_.row_elements + in_row;
  }
  if (view_.witness.count > 0) rows_.witness.samples = tables_.at<std::int64_t>(parts.at.rows_witness);
}

template <class Real>
void BinningTables<Real>::make_blob(Parts& parts) {
  parts.passes.assign(view_.fft.pass, view_.fft.pass + view_.fft.passes);
  struct Piece {
    std::size_t at;
    const void* data;
    std::size_t bytes;
  };
  std::vector<Piece> pieces;
  std::size_t bytes = 0;
  const auto append = [&](const auto& values) {
    pieces.push_back({bytes, values.data(), values.size() * sizeof values[0]});
    bytes = (bytes + pieces.back().bytes + 15) / 16 * 16;
    return static_cast<int>(pieces.back().at);
  };
  view_.passes_at = append(parts.passes);
  view_.table_at = append(parts.later_table);
  view_.bucket_at = append(parts.buckets);
  view_.gain_at = append(parts.gain);
  view_.bias_at = append(parts.bias);
  view_.fit_at = append(parts.fit);
  view_.flags_at = append(parts.flags);
  view_.power_at = append(parts.power_weight);
  view_.tail_at = append(parts.tail);
  view_.lanes_at = static_cast<int>(bytes);
  for (const auto& lane : parts.lanes) append(lane);
  view_.lane_bytes = (static_cast<int>(bytes) - view_.lanes_at) / view_.lanes;
  parts.at.blob = tables_.add(bytes);
  for (const Piece& piece : pieces) tables_.put(parts.at.blob + piece.at, piece.data, piece.bytes);
}

template <class Real>
void BinningTables<Real>::bind(Parts& parts, const std::int64_t* comb_buckets) {
  if (parts.makes_witness_rows) {
    parts.at.witness_rows =
        tables_.add_room(static_cast<std::size_t>(view_.witness.count) *
                         static_cast<std::size_t>(view_.witness.pitch) * sizeof(Complex<Real>));
  }
  step_done("tables: places");
  constexpr std::size_t kMaxLocked = std::size_t{1} << 20;  // learning has kept a block of this size
  const HostBlock host(tables_.host_bytes(), kMaxLocked);
  WaitOnError waiting(nullptr);
  tables_.upload(host.data());
  step_done("tables: allocate, queue copies");
  view_.table = tables_.at<Complex<Real>>(parts.at.table);
  view_.blob = tables_.at<unsigned char>(parts.at.blob);
  view_.bucket = reinterpret_cast<const BucketPair*>(view_.blob + view_.bucket_at);
  view_.gain = reinterpret_cast<const Real*>(view_.blob + view_.gain_at);
  view_.bias = reinterpret_cast<const Real*>(view_.blob + view_.bias_at);
  if (!parts.fit.empty()) view_.fit = reinterpret_cast<const Real*>(view_.blob + view_.fit_at);
  view_.flags = view_.blob + view_.flags_at;
  if (!parts.power_weight.empty())
    view_.power_weight = reinterpret_cast<const Real*>(view_.blob + view_.power_at);
  if (!parts.tail.empty())
    view_.tail = reinterpret_cast<const DeviceTailTerm<Real>*>(view_.blob + view_.tail_at);
  view_.alpha = view_.blob + view_.lanes_at;
  GridShape grid;
  grid.rank = shape_.rank();
  for (int d = 0; d < grid.rank; ++d) grid.extents[d] = shape_[d];
  const auto* support = tables_.at<std::int64_t>(parts.at.support);
  if (comb_buckets != nullptr) {
    launch_comb_hash(
        grid, comb_buckets, support, view_.k,
        reinterpret_cast<BucketPair*>(tables_.at<unsigned char>(parts.at.blob) + view_.bucket_at), nullptr);
  }
  if (view_.witness.count > 0) {
    auto* rows = tables_.at<Complex<Real>>(parts.at.witness_rows);
    view_.witness.rows = rows;
    view_.witness.samples = tables_.at<std::int64_t>(parts.at.witness_samples);
    if (parts.makes_witness_rows) {
      launch_witness_rows({.shape = grid,
                           .real = view_.real,
                           .support = support,
                           .flags = view_.flags,
                           .k = view_.k,
                           .samples = view_.witness.samples,
                           .count = view_.witness.count,
                           .pitch = view_.witness.pitch},
                          rows, nullptr);
    }
  }
  step_done("tables: queue kernels");
  synchronize(nullptr);  // streams that do not wait for the default one would read too early
  waiting.done();
  step_done("tables: wait");
}

template <class Real>
BinningTables<Real>::BinningTables(const CombData& data, const std::vector<std::int64_t>& support,
                                   std::vector<std::uint8_t> flags, const ErrorTable& errors,
                                   const WitnessData& witness, const std::vector<TailTerm>& tail)
    : shape_(data.shape) {
  Parts parts;
  const int rank = data.shape.rank();
  view_.real = data.real;
  view_.lanes = static_cast<int>(data.delay_count() / (data.real ? 2 : 1));
  view_.k = view_.rows = static_cast<int>(support.size());
  step_done("tables: before");
  set_fft(data.buckets.data(), rank, false, parts);
  step_done("tables: FFT");

  std::int64_t stride = 1;
  std::int64_t row_major[3] = {0, 0, 0};
  for (int d = rank - 1; d >= 0; --d) {
    row_major[d] = stride;
    view_.strides[3 - rank + d] = data.stride(d) * stride;
    stride *= data.shape[d];
  }
  for (std::size_t j = 0; j < data.delays.size(); ++j) {
    for (int d = 0; d < rank; ++d)
      view_.offsets[j] += data.delays[j][static_cast<std::size_t>(d)] * row_major[d];
  }
  view_.row_points = static_cast<int>(data.buckets[static_cast<std::size_t>(rank - 1)]);
  view_.rows_per_slab = rank >= 2 ? static_cast<int>(data.buckets[static_cast<std::size_t>(rank - 2)]) : 1;
  view_.by_rows = FastDivisor(static_cast<std::uint32_t>(view_.rows_per_slab));

  set_weights(data.delay_count(), data.weights, parts);
  step_done("tables: weights");
  set_errors(errors, std::move(flags), parts);
  set_witness(witness, parts);
  set_tail(data.bucket_weight, tail, parts);
  parts.buckets.resize(support.size());  // left to the GPU
  step_done("tables: errors, tail");
  make_blob(parts);
  step_done("tables: blob");
  set_row_set(data);
  parts.at.compact_witness = add_witness_places(data.delay_count() * data.bucket_count(), parts.places[0]);
  parts.at.rows_witness = add_witness_places(row_set_.copied_elements(), parts.places[1]);
  parts.at.support = tables_.add(support);
  bind(parts, data.buckets.data());
  set_compact_views(data, parts);
}

template <class Real>
BinningTables<Real>::BinningTables(const FlatPlanData& data, const std::vector<std::int64_t>& support,
                                   std::vector<std::uint8_t> flags, const ErrorTable& errors,
                                   const WitnessData& witness)
    : shape_(data.shape) {
  Parts parts;
  view_.real = data.real;
  view_.lanes = static_cast<int>(data.lanes());
  view_.k = static_cast<int>(data.coefficients());
  view_.rows = static_cast<int>(data.rows());
  view_.row_buckets = static_cast<int>(data.row_buckets);
  view_.folds = static_cast<int>(data.taps() / data.buckets);
  set_fft(&data.buckets, 1, true, parts);
  view_.row_points = static_cast<int>(data.buckets);

  const std::int64_t streams = data.lanes() * (data.real ? 2 : 1);
  for (std::int64_t j = 0; j < streams; ++j) {  // an odd last line is read twice; the copy is unused
    const auto& delay = data.delays[static_cast<std::size_t>(std::min(j, data.delay_count() - 1))];
    walk_line(data.shape.extents().data(), data.shape.rank(), data.sigma, delay, data.taps(),
              [&](std::int64_t flat) { tap_offsets_.push_back(flat); });
  }
  parts.at.tap_offsets = tables_.add(tap_offsets_);
  const std::vector<Real> window = as_device<Real>(data.window);
  parts.at.window = tables_.add(window);

  for (std::int64_t q = 0; q < data.row_buckets; ++q) {
    for (const std::int64_t first : data.first_bucket) {
      const std::int64_t at = (first + q) % data.buckets;
      parts.buckets.push_back(
          {static_cast<std::int32_t>(at), static_cast<std::int32_t>((data.buckets - at) % data.buckets)});
    }
  }
  set_weights(data.delay_count(), data.weights, parts);
  for (const std::int64_t i : data.self_conjugate) flags[static_cast<std::size_t>(i)] |= kRealValue;
  set_errors(errors, std::move(flags), parts);
  set_witness(witness, parts);
  make_blob(parts);
  view_.power_unit = data.probes() > 0 ? 1 / static_cast<double>(data.probes()) : 0;
  std::vector<std::int64_t> identity(tap_offsets_.size());
  std::iota(identity.begin(), identity.end(), 0);
  parts.at.compact_taps = tables_.add(identity);
  parts.at.compact_witness = add_witness_places(streams * view_.taps(), parts.places[0]);
  parts.at.support = tables_.add(support);
  bind(parts, nullptr);
  view_.tap_offsets = tables_.at<std::int64_t>(parts.at.tap_offsets);
  view_.window = tables_.at<Real>(parts.at.window);

  compact_ = view_;
  compact_.tap_offsets = tables_.at<std::int64_t>(parts.at.compact_taps);
  if (view_.witness.count > 0) compact_.witness.samples = tables_.at<std::int64_t>(parts.at.compact_witness);
}

template <class Real>
std::vector<std::int64_t> BinningTables<Real>::sample_indices() const {
  std::vector<std::int64_t> indices = tap_offsets_;
  const int streams = view_.lanes * (view_.real ? 2 : 1);
  const int rows = view_.fft.points / view_.row_points;
  for (int j = 0; j < streams && !view_.flat(); ++j) {
    for (int row = 0; row < rows; ++row) {
      const std::int64_t start = view_.offsets[j] + row / view_.rows_per_slab * view_.strides[0] +
                                 row % view_.rows_per_slab * view_.strides[1];
      for (int i = 0; i < view_.row_points; ++i) indices.push_back(start + i * view_.strides[2]);
    }
  }
  indices.insert(indices.end(), witness_samples_.begin(), witness_samples_.end());
  return indices;
}

template class BinningTables<float>;
template class BinningTables<double>;

}  // namespace sfft::detail::cuda
