// SPDX-License-Identifier: Apache-2.0
// The best linear estimate of the frequencies that share one bucket, from the bucket's values at r delays.
#pragma once

#include <Eigen/Dense>
#include <complex>
#include <vector>

namespace sfft::detail {

/// Values y_j = Σ_i response_ij X_i + tail_j of one bucket, for FFTs scaled by N/B.
struct BucketProblem {
  static constexpr int kMost = 24;  ///< delays or members

  int delays = 0, members = 0;
  const std::complex<double>* response = nullptr;  ///< exp(2 pi i Σ_d f_d τ_d/n_d) at [member*delays + delay]
  const double* power = nullptr;                   ///< prior E|X_i|² of each member; 0 for least squares
  /// The near tail between delays, column by column, of which the lower triangle is read; null: there is
  /// none.
  const std::complex<double>* covariance = nullptr;
  double far_tail = 0;  ///< power of the tail that is white between delays
  double aliases = 1;   ///< N/B, frequencies that share a bucket
  bool ridge = false;   ///< shrink towards the prior; false: least squares
  bool white = false;   ///< the tail has power 1 at every frequency outside the template
};

/// Weights and errors of a bucket's own coefficients.
struct BucketSolution {
  Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor,
                2 * BucketProblem::kMost,
                BucketProblem::kMost>
      weights;                   ///< members × delays
  std::vector<double> noise;     ///< E|error|² from the tail, unit scale
  std::vector<double> bias;      ///< E|error|² from shrinking and from the bucket's other members
  std::vector<double> response;  ///< E|estimate|² from the bucket's members
};

/// False where the delays cannot tell the members apart, or there are more than kMost of either.
bool solve_bucket(const BucketProblem& problem, BucketSolution& solution);

}  // namespace sfft::detail
