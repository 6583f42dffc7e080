// SPDX-License-Identifier: Apache-2.0
// Solvers for the small systems of discovery: a few frequencies in one bucket at a few delays.
#pragma once

#include <complex>
#include <cstdint>

namespace sfft::detail {

constexpr int kDiscoveryDelays = 16;  ///< largest number of delays per bucket
constexpr int kDiscoveryMembers = 6;  ///< largest number of frequencies that may explain a bucket

using DiscoveryVector = std::complex<double>[kDiscoveryDelays];

/// Solves the n×n system a·x = b by elimination with pivoting, in place; b becomes x. False if singular.
bool solve_small(int n, std::complex<double> a[kDiscoveryMembers][kDiscoveryMembers],
                 std::complex<double>* b) noexcept;

struct DiscoveryFit {
  std::complex<double> values[kDiscoveryMembers];
  double gain[kDiscoveryMembers];  ///< variance of a value relative to that of one delay
  double residual = 0;             ///< Σ_j |y_j − Σ_i values_i roots_i[j]|²
  bool ok = false;
};

/// Fits y by least squares with `members` known phase vectors.
DiscoveryFit fit_bucket(int members, int delays, const DiscoveryVector* roots,
                        const DiscoveryVector& y) noexcept;

/// Largest number of frequencies of one bucket that prony() separates; this takes twice as many equally
/// spaced delays.
constexpr int kPronyFrequencies = 6;

/// The `order` (1 to kPronyFrequencies) frequencies of y_j = Σ_i c_i exp(2 pi i u_i j), j = 0 … delays-1, as
/// turns u_i in [0, 1), by linear prediction (Prony). False if the system is singular or has fewer than
/// 2·order delays.
bool prony(const DiscoveryVector& y, int delays, int order, double* turns) noexcept;

}  // namespace sfft::detail
