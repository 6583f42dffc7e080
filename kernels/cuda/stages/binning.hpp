// SPDX-License-Identifier: Apache-2.0
// A comb or flat-window plan as kernels see it. One structure serves both, because a comb is a flat window
// with one tap per sample and one bucket per row. Plain data passed by value; pointers are to device memory
// that BinningTables owns.
#pragma once

#include <cstdint>

#include "kernels/base/math/fast_divisor.hpp"
#include "kernels/base/tables/error_estimate.hpp"
#include "kernels/base/tables/witness_reals.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/small_fft/fft_pass.hpp"

namespace sfft::detail::cuda {

constexpr int kMaxCombOffsets = 32;

struct BucketPair {
  std::int32_t at, mirror;  ///< linear indices of the buckets of f and −f
};

/// A TailTerm of a halved comb.
template <class Real>
struct DeviceTailTerm {
  BucketPair pair;
  Real weight;
  Real root_re, root_im;
};

/// A plan's check samples (kernels/base/tables/witness_data.hpp).
template <class Real>
struct WitnessTable {
  /// [sample][pitch], of which k are used. The real part of the prediction is Σ_i rows.re re X̂_i + rows.im
  /// im X̂_i, the imaginary part of a complex one Σ_i rows.re im X̂_i − rows.im re X̂_i.
  const Complex<Real>* rows = nullptr;
  const std::int64_t* samples = nullptr;  ///< linear indices in a frame
  int pitch = 0;                          ///< k, rounded up to an even number
  int count = 0;  ///< in blocks of 32 for real frames, of 16 for complex ones; 0: no witness
  bool trimmed = false;
};

/// Sums over the samples of a witness beyond the first block.
struct WitnessSums {
  double residue = 0;  ///< Σ|x − x̂|²
  double samples = 0;  ///< Σ|x|²
};

template <class Real>
struct Binning {
  // Members that every thread reads come first, close together: parameters are cached in lines of 64 bytes.
  const Complex<Real>* table = nullptr;  ///< twiddle factors of the FFT
  int lanes = 0;                         ///< complex FFTs per frame; for a real frame each carries two delays
  bool real = false;

  // Comb: sample (m0, m1, m2) of delay j is at offsets[j] + Σ m_d strides[d]. A grid of fewer dimensions uses
  // the last ones.
  std::int64_t strides[3] = {};
  int row_points = 1;  ///< B of the last dimension
  int rows_per_slab = 1;
  FastDivisor by_rows;  ///< by rows_per_slab, B of the middle dimension

  // Flat window: tap m of line j is at tap_offsets[j·taps + m]; bucket b takes taps b, b + B, … of `window`.
  const std::int64_t* tap_offsets = nullptr;  ///< nullptr for a comb
  const Real* window = nullptr;
  int folds = 1;  ///< taps = folds·B

  // Recovery: row i reads row_buckets buckets of every lane; rows past k are probes of the tail.
  int k = 0, rows = 0, row_buckets = 1;
  const BucketPair* bucket = nullptr;  ///< [q·rows + i]
  /// Lane l's weights on Z[at] are at alpha + l·lane_bytes, in the order [q·rows + i]. For a real frame,
  /// those on conj Z[mirror] follow lane_beta bytes later.
  const unsigned char* alpha = nullptr;
  const Real* power_weight = nullptr;          ///< B, comb only: of |Z|² in the tail's scale; largest is 1
  const Real* gain = nullptr;                  ///< k, as in ErrorTable
  const Real* bias = nullptr;                  ///< k
  const Real* fit = nullptr;                   ///< k; nullptr: there is no prior whose scale can be fitted
  const std::uint8_t* flags = nullptr;         ///< k
  const DeviceTailTerm<Real>* tail = nullptr;  ///< halved combs have these instead; largest weight is 1
  int tail_terms = 0;
  double power_unit = 1;  ///< of power_weight or of `tail`; 1/probes for flat windows
  ErrorModel errors;
  ErrorReciprocals reciprocals;  ///< of `errors`
  WitnessTable<Real> witness;

  /// What the fused kernel prefetches to shared memory. The size of every section is a multiple of 16 bytes;
  /// the pointers above also point into it.
  const unsigned char* blob = nullptr;
  int passes_at = 0;  ///< FftPass[], the whole schedule
  int table_at = 0;   ///< twiddles of the later passes
  int bucket_at = 0;  ///< as `bucket`
  int gain_at = 0;    ///< then bias, fit and flags
  int bias_at = 0, fit_at = 0, flags_at = 0;
  int power_at = 0;  ///< as `power_weight`
  int tail_at = 0;   ///< as `tail`
  int lanes_at = 0;  ///< per lane: alpha, then beta
  int lane_bytes = 0;
  int lane_beta = 0;  ///< from a lane's alpha to its beta, in bytes

  std::int64_t offsets[kMaxCombOffsets] = {};
  FftSchedule fft;

  /// Whether the witness has more than its first block. Only staged kernels compare the further blocks.
  SFFT_HOST_DEVICE bool more_witness() const { return witness.count > kWitnessReals / (real ? 1 : 2); }

  int points() const { return fft.points; }
  int taps() const { return folds * fft.points; }
  bool flat() const { return tap_offsets != nullptr; }
};

/// A batch of frames and where their results go. All arrays are in device memory; frames may be in mapped
/// host memory.
template <class Real>
struct Batch {
  const void* frames = nullptr;
  Element type = Element::f32;
  std::int64_t frame_pitch = 0;  ///< elements from one frame to the next
  int count = 0;
  const Complex<Real>* reference_samples = nullptr;  ///< [lane][tap]; nullptr: none
  /// Present if there are reference_samples: kWitnessReals for the first block, then the parts of each
  /// further sample.
  const Real* reference_witness = nullptr;
  const Complex<Real>* reference_values = nullptr;  ///< k
  double reference_error = 0;                       ///< as in ErrorSums
  Complex<Real>* values = nullptr;                  ///< [frame][k]
  Real* standard_error = nullptr;                   ///< [frame][k]
  DeviceErrors* errors = nullptr;                   ///< [frame]
};

}  // namespace sfft::detail::cuda
