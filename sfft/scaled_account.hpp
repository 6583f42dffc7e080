// The account of a spectrum whose powers leave the range of double.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

#include "kernels/common/account.hpp"
#include "sfft/plan_impl.hpp"

namespace sfft::detail {

/// What PlanImpl::run() reckons, in units of 2^stats.exponent; for executors without a reference. Energies
/// that double cannot hold come out as 0 or infinite, ratios are right.
template <class Real>
void put_scaled_account(const PlanDesign<Real>& design, const cpu::ExecutionStats& stats,
                        Spectrum<Real>& spectrum) noexcept {
  const double unit = std::ldexp(1.0, -stats.exponent);
  AccountSums sums;
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    if (static_cast<std::int64_t>(i) == design.mean_coefficient) continue;
    const double power = std::norm(std::complex<double>(spectrum.values[i]) * unit);
    const double error = static_cast<double>(spectrum.standard_error[i]) * unit;
    sums.error += error * error;
    sums.norm += power;
    sums.held += design.multiplicity[i] * power;
  }
  sums.tail = stats.tail_energy;
  sums.finite = stats.finite;
  const Account account = make_account(sums, std::numeric_limits<Real>::epsilon());
  spectrum.error_l2 = std::ldexp(account.error_l2, stats.exponent);
  spectrum.relative_error = account.relative_error;
  spectrum.tail_energy = std::ldexp(account.tail_energy, 2 * stats.exponent);
  spectrum.residual = account.residual;
  spectrum.finite = account.finite;
}

}  // namespace sfft::detail
