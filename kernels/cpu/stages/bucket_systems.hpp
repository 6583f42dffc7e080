// SPDX-License-Identifier: Apache-2.0
// Stage "recover" at plan time: the best linear estimates of the frequencies that share a bucket, for eight
// buckets at a time. Results are the same on every instruction set.
#pragma once

namespace sfft::detail::cpu {

inline constexpr int kSystemLanes = 8;  ///< buckets at a time
inline constexpr int kSystemMax = 24;   ///< maximum number of delays or members
inline constexpr int kPair =
    2 * kSystemLanes;  ///< doubles of a complex number per lane: real parts, then imaginary
/// The maximum number of near aliases of a bucket, along all its dimensions; the last dimension is
/// contiguous.
inline constexpr int kSystemAliases = 64;

/// Eight systems, one per lane: y_j = Σ_i a_ij X_i + tail_j, for `delays` values of j. Lanes with fewer than
/// `members` frequencies are padded with absent ones. Complex arrays hold pairs of kPair doubles.
struct BucketSystems {
  int delays, members;
  const double* responses;  ///< a_ij: pair [response_at[j]*members + i]
  const int* response_at;   ///< per delay
  const double* tails;  ///< E[tail_i conj(tail_j)]: pair [tail_at[i*(i−1)/2 + j]] for i > j; null: all zero
  const int* tail_at;   ///< per pair of delays
  const double* tail_power;     ///< E|tail_j|² per lane
  const double* inverse_power;  ///< 1/E|X_i|² at [i][lane]; 0 for absent ones and for least squares
  const double* present;        ///< 1 or 0 at [i][lane]
  bool least_squares;           ///< then the tail is white, of power 1
};

/// Near aliases of eight buckets: their power at [alias][lane] over a box of extents[0] × extents[1] ×
/// extents[2] <= kSystemAliases steps.
struct NearAliases {
  const double* power;
  int extents[3];
};

/// Scratch of the solver: square tables of pairs, with as many rows as the larger of delays and members.
struct BucketScratch {
  int side;
  double* factor;   ///< Cholesky factor of the tail's covariance
  double* white;    ///< whitened responses, member by member
  double* gram;     ///< products of the whitened responses, then their factor
  double* inverse;  ///< inverse of that factor, then of the products

  static constexpr long doubles(int side) noexcept { return 4L * side * side * kPair; }
  BucketScratch(int rows, double* memory) noexcept
      : side(rows),
        factor(memory),
        white(factor + doubles(rows) / 4),
        gram(white + doubles(rows) / 4),
        inverse(gram + doubles(rows) / 4) {}
};

struct BucketSystemKernels {
  /// variance[i][lane] = E|X̂_i − X_i|² of the best estimate. For least squares this is the squared norm of
  /// its row, because the tail has power 1. False if least squares cannot separate the members.
  bool (*variances)(const BucketSystems& systems, const BucketScratch& scratch, double* variance);
  /// Call it after variances(). Writes the rows w of X̂_i = Σ_j w_ij y_j as pairs [i*delays + j]. Also writes
  /// at [i][lane] the error from the tail (`noise`), the error from shrinking and from other members
  /// (`bias`), and E|X̂_i|² from the members (`response`).
  void (*rows)(const BucketSystems& systems, const BucketScratch& scratch, double* weights, double* noise,
               double* bias, double* response);
  /// out[n] = Σ_c first[first_at[n]*cells + c] · second[second_at[n]*cells + c] for n < count; `cells` is a
  /// multiple of kSystemLanes.
  void (*products)(const double* first, const int* first_at, const double* second, const int* second_at,
                   int cells, int count, double* out);
  /// out[c] = Σ_n weights[n] · rows[n*cells + c] for n < count, c < cells; `cells` is a multiple of
  /// kSystemLanes.
  void (*mixture)(const double* weights, const double* rows, int count, int cells, double* out);
  /// Splits the tails of eight buckets, each `power` of `frequencies`, into the part of `count` near aliases
  /// and a white rest. If `level_is_white`, the near part is only what exceeds the level of all other
  /// aliases; otherwise it is all the power of the near aliases. `near`, at [alias][lane], keeps the near
  /// part, or zeros if it is too small to matter; `power` is the sum of both parts. Returns false if all are
  /// zeros.
  bool (*separate)(double* near, int count, double* power, const double* frequencies, bool level_is_white);
  /// tail = Σ_q power_q Π_d phase_d[q_d], written as a pair. Phases are complex, real part first.
  void (*tail)(const NearAliases& aliases, const double* const phases[3], double* tail);
};

const BucketSystemKernels& bucket_system_kernels() noexcept;

}  // namespace sfft::detail::cpu
