// From the sums that a transform collects to the account it gives of its errors: one place for every backend.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/common/portable.hpp"

namespace sfft::detail {

/// Sums over the support without f = 0, and the tail.
struct AccountSums {
  double error = 0;  ///< Σ standard_error²
  double norm = 0;   ///< Σ|X̂|²
  double held = 0;   ///< the same with both halves of a real spectrum
  double tail = 0;   ///< estimated Σ|X|² outside the support, both halves
  bool finite = true;
};

struct Account {
  double error_l2 = 0, relative_error = 0, tail_energy = 0, residual = 0;
  bool finite = true;
};

/// The account's roots before they are taken: error_l2² = error, relative_error² = error/norm, residual² =
/// tail/total; a denominator of 0 gives 0.
struct Ratios {
  double error, norm, tail, total;
  bool finite;
};

/// `epsilon` of the arithmetic: rounding adds a few units in the last place of what was summed.
SFFT_HOST_DEVICE Ratios account_ratios(const AccountSums& sums, double epsilon) {
  return {sums.error + 16 * epsilon * epsilon * sums.norm, sums.norm, sums.tail, sums.tail + sums.held,
          sums.finite && sums.norm - sums.norm == 0};
}

SFFT_HOST_DEVICE Account make_account(const AccountSums& sums, double epsilon) {
  const Ratios ratios = account_ratios(sums, epsilon);
  Account account;
  account.error_l2 = sqrt(ratios.error);
  account.relative_error = ratios.norm > 0 ? sqrt(ratios.error / ratios.norm) : 0;
  account.tail_energy = sums.tail;
  account.residual = ratios.total > 0 ? sqrt(ratios.tail / ratios.total) : 0;
  account.finite = ratios.finite;
  return account;
}

}  // namespace sfft::detail
