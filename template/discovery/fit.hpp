// SPDX-License-Identifier: Apache-2.0
// The small systems of blind discovery: a few frequencies in one bucket at a few delays.
#pragma once

#include <complex>
#include <cstdint>

namespace sfft::detail {

constexpr int kBlindDelays = 16;  ///< largest number of delays per bucket
constexpr int kBlindMembers = 6;  ///< largest number of frequencies that may explain a bucket

using BlindVector = std::complex<double>[kBlindDelays];

/// Solves the n×n system a·x = b by elimination with pivoting, in place; b becomes x. False if singular.
bool solve_small(int n, std::complex<double> a[kBlindMembers][kBlindMembers],
                 std::complex<double>* b) noexcept;

struct BlindFit {
  std::complex<double> values[kBlindMembers];
  double gain[kBlindMembers];  ///< variance of a value relative to that of one delay
  double residual = 0;         ///< Σ_j |y_j − Σ_i values_i roots_i[j]|²
  bool ok = false;
};

/// Least squares of y over `members` known phase vectors.
BlindFit fit_bucket(int members, int delays, const BlindVector* roots, const BlindVector& y) noexcept;

/// Largest number of frequencies of one bucket that can be separated, by twice as many equally spaced delays.
constexpr int kPronyFrequencies = 6;

/// The `order` (1 to kPronyFrequencies) frequencies of y_j = Σ_i c_i exp(2 pi i u_i j), j = 0 … delays-1, as
/// turns u_i in [0, 1), by linear prediction (Prony). False if the system is singular.
bool prony(const BlindVector& y, int delays, int order, double* turns) noexcept;

}  // namespace sfft::detail
