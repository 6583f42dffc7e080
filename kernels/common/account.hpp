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

/// `epsilon` of the arithmetic: rounding adds a few units in the last place of what was summed.
SFFT_HOST_DEVICE Account make_account(const AccountSums& sums, double epsilon) {
  Account account;
  const double error = sums.error + 16 * epsilon * epsilon * sums.norm;
  account.error_l2 = sqrt(error);
  account.relative_error = sums.norm > 0 ? sqrt(error / sums.norm) : 0;
  account.tail_energy = sums.tail;
  const double total = sums.tail + sums.held;
  account.residual = total > 0 ? sqrt(sums.tail / total) : 0;
  account.finite = sums.finite && sums.norm - sums.norm == 0;
  return account;
}

}  // namespace sfft::detail
