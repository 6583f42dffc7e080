// SPDX-License-Identifier: Apache-2.0
// The window of the flat-window path: a Kaiser window and its exactly known response.
//
// A flat passband (Hassanieh et al., SODA 2012) costs about twice the taps of a window of equal leakage. If
// the support is known, no frequency has to be located by its magnitude, and every coefficient is divided by
// the response at its offset. The narrowest window is therefore the best one. Among narrow windows, Kaiser's
// has both taps and response in closed form (Kaiser and Schafer, IEEE Trans. ASSP 28, 1980), which lets the
// planner set up its linear systems without a single transform.
//
// Uses C++17 without allocations or libraries beyond <cmath>, so that device code can include it.
#pragma once

#include <cmath>

namespace sfft::detail {

/// I0(x), the modified Bessel function, by its power series: all terms are positive, so the relative error
/// stays at rounding. For |x| up to about 60.
inline double bessel_i0(double x) noexcept {
  const double quarter = 0.25 * x * x;
  double term = 1;
  double sum = 1;
  for (int i = 1; term > 1e-18 * sum; ++i) {
    term *= quarter / (static_cast<double>(i) * i);
    sum += term;
  }
  return sum;
}

/// A window over M taps at t_m = (2m + 1 - M)/M in (-1, 1). Frequencies s are in cycles per M samples, which
/// is the window's resolution. The window is scaled to response(0) = 1.
struct KaiserWindow {
  double leakage = 0;
  double beta = 0;
  double half_width = 0;  ///< |response(s)| <= leakage for |s| >= half_width

  /// The narrowest window whose sidelobes stay below `leakage`, in (0, 0.1].
  static KaiserWindow for_leakage(double leakage) noexcept {
    // Beyond the main lobe, the response is sin(q)/q · β/sinh β; the largest sidelobe of sin(q)/q is
    // kSidelobe. The main lobe falls to that level at q = kLevel.
    constexpr double kSidelobe = 0.21723362821122166;
    constexpr double kLevel = 2.5536;
    constexpr double kPi = 3.14159265358979323846;
    double low = 0.1;
    double high = 60;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (kSidelobe * middle / std::sinh(middle) > leakage ? low : high) = middle;
    }
    KaiserWindow window;
    window.leakage = leakage;
    window.beta = high;
    window.half_width = std::sqrt(high * high + kLevel * kLevel) / kPi;
    return window;
  }

  /// M times the tap at t.
  double tap(double t) const noexcept {
    return beta / std::sinh(beta) * bessel_i0(beta * std::sqrt(t < 1 && t > -1 ? 1 - t * t : 0));
  }

  /// Σ_m g[m] cos(2π s (m − (M−1)/2) / M). This is the transform of the continuous window. Sampling adds an
  /// error that is about M times smaller than the leakage.
  double response(double s) const noexcept {
    constexpr double kPi = 3.14159265358979323846;
    const double q2 = beta * beta - kPi * kPi * s * s;
    const double q = std::sqrt(std::fabs(q2));
    const double scale = beta / std::sinh(beta);
    if (q < 1e-4) return scale * (1 + q2 / 6);
    return scale * (q2 > 0 ? std::sinh(q) : std::sin(q)) / q;
  }
};

}  // namespace sfft::detail
