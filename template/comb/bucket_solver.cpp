// SPDX-License-Identifier: Apache-2.0
// Small dense least squares, whitened by the tail's covariance and solved by QR. Systems come in a few sizes
// with fixed room, because clearing room for the largest would take longer than solving the usual ones.
#include "template/comb/bucket_solver.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;
using Table = Eigen::Map<const Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>>;
/// Room for M delays and members, and one more row for each member.
template <int M>
using Matrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 2 * M, M>;
template <int M>
using Vector = Eigen::Matrix<Complex, Eigen::Dynamic, 1, 0, M, 1>;

template <int M>
bool solve_sized(const BucketProblem& problem, BucketSolution& solution) {
  const Eigen::Index r = problem.delays;
  const Eigen::Index c = problem.members;
  const Matrix<M> response = Table(problem.response, r, c);
  solution.noise.assign(static_cast<std::size_t>(c), 0.0);
  solution.bias.assign(static_cast<std::size_t>(c), 0.0);
  solution.response.assign(static_cast<std::size_t>(c), 0.0);
  if (c == 1 && problem.covariance == nullptr) {  // alone in white noise: the matched filter, shrunk
    const double shrink =
        static_cast<double>(r) + (problem.power[0] > 0 ? problem.far_tail / problem.power[0] : 0.0);
    solution.weights = response.adjoint() / shrink;
    const double kept = static_cast<double>(r) / shrink;
    solution.noise[0] = problem.white ? std::max(0.0, problem.aliases * kept / shrink - kept * kept)
                                      : problem.far_tail * kept / shrink;
    solution.bias[0] = problem.power[0] * (1 - kept) * (1 - kept);
    solution.response[0] = problem.power[0] * kept * kept;
    return true;
  }

  // The tail's covariance between delays, as its Cholesky factor.
  Matrix<M> factor = Matrix<M>::Identity(r, r) * std::sqrt(problem.far_tail);
  if (problem.covariance != nullptr) {
    Matrix<M> covariance = Table(problem.covariance, r, r);
    for (Eigen::Index j = 0; j < r; ++j) covariance(j, j) += problem.far_tail;
    const Eigen::LLT<Matrix<M>> cholesky(covariance);
    if (cholesky.info() != Eigen::Success) return false;
    factor = cholesky.matrixL();
  }
  const auto lower = factor.template triangularView<Eigen::Lower>();
  if (c == 1) {  // alone: the same filter after whitening
    const Vector<M> whitened = lower.solve(response.col(0));
    const double gain = whitened.squaredNorm();
    const double sum = gain + (problem.ridge ? 1 / std::max(problem.power[0], 1e-300) : 0.0);
    if (!(sum > 0)) return false;
    const Vector<M> filter = lower.adjoint().solve(whitened) / sum;
    solution.weights = filter.adjoint();
    const double kept = gain / sum;
    solution.noise[0] = problem.white ? std::max(0.0, problem.aliases * filter.squaredNorm() - kept * kept)
                                      : gain / (sum * sum);
    solution.bias[0] = problem.ridge ? problem.power[0] * (1 - kept) * (1 - kept) : 0;
    solution.response[0] = problem.ridge ? problem.power[0] * kept * kept : 0;
    return true;
  }

  // Least squares on the whitened system, with one more row per member that pulls it towards its prior.
  const Matrix<M> whitener = lower.solve(Matrix<M>::Identity(r, r));
  Matrix<M> system = Matrix<M>::Zero(r + (problem.ridge ? c : 0), c);
  system.topRows(r) = whitener * response;
  if (problem.ridge) {
    for (Eigen::Index i = 0; i < c; ++i) system(r + i, i) = 1 / std::sqrt(std::max(problem.power[i], 1e-300));
  }
  if (system.rows() < c) return false;
  const Eigen::HouseholderQR<Matrix<M>> qr(system);
  const auto diagonal = qr.matrixQR().diagonal().cwiseAbs2();
  if (!(diagonal.minCoeff() > 1e-14 * diagonal.maxCoeff())) return false;
  Matrix<M> right = Matrix<M>::Zero(system.rows(), r);
  right.topRows(r) = whitener;
  const Matrix<M> weights = qr.solve(right);
  solution.weights = weights;

  const Matrix<M> leak = weights * response;
  const Matrix<M> coloured = weights * factor;
  for (Eigen::Index i = 0; i < c; ++i) {
    // When the tail is white, the covariance over all aliases is exactly N/B times the identity less the
    // template's own part.
    solution.noise[static_cast<std::size_t>(i)] =
        problem.white
            ? std::max(0.0, problem.aliases * weights.row(i).squaredNorm() - leak.row(i).squaredNorm())
            : coloured.row(i).squaredNorm();
    double bias = 0;
    double response_power = 0;
    for (Eigen::Index m = 0; problem.ridge && m < c; ++m) {
      bias += problem.power[m] * std::norm(leak(i, m) - (i == m ? 1.0 : 0.0));
      response_power += problem.power[m] * std::norm(leak(i, m));
    }
    solution.bias[static_cast<std::size_t>(i)] = bias;
    solution.response[static_cast<std::size_t>(i)] = response_power;
  }
  return true;
}

}  // namespace

bool solve_bucket(const BucketProblem& problem, BucketSolution& solution) {
  const int size = std::max(problem.delays, problem.members);
  if (size <= 4) return solve_sized<4>(problem, solution);
  if (size <= 8) return solve_sized<8>(problem, solution);
  if (size <= 12) return solve_sized<12>(problem, solution);
  if (size <= BucketProblem::kMost) return solve_sized<BucketProblem::kMost>(problem, solution);
  return false;
}

}  // namespace sfft::detail
