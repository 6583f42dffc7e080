// SPDX-License-Identifier: Apache-2.0
// Evaluates the Dolph-Chebyshev response in closed form, integrates it over the box for a table of responses,
// and computes the taps with one inverse transform.
#include "bench/peers/flat_window.hpp"

#include <bit>
#include <numbers>

#include "bench/peers/bucket_fft.hpp"

namespace sfft::peers {

namespace {

/// The transform of the Dolph-Chebyshev window of 2h+1 taps, which is 1 at frequency 0 and at most `leakage`
/// beyond its main lobe: p(ν) = T_2h(x0 cos πν) / T_2h(x0) with x0 = cosh(β), β = acosh(1/leakage)/2h.
class Chebyshev {
 public:
  Chebyshev(std::int64_t half, double leakage)
      : degree_(2 * static_cast<double>(half)),
        leakage_(leakage),
        excess_(2 * square(std::sinh(std::acosh(1 / leakage) / degree_ / 2))) {}

  double operator()(double frequency) const {
    // y = x0 cos(πν) - 1 without cancellation, since x0 exceeds 1 by as little as 1e-9.
    const double cosine = std::cos(std::numbers::pi * frequency);
    const double y = excess_ * cosine - 2 * square(std::sin(std::numbers::pi * frequency / 2));
    if (y >= 0) return leakage_ * std::cosh(degree_ * std::log1p(y + std::sqrt(y * (y + 2))));
    return leakage_ * std::cos(degree_ * 2 * std::asin(std::sqrt(-y / 2)));
  }

 private:
  static double square(double x) { return x * x; }
  double degree_, leakage_, excess_;
};

}  // namespace

std::int64_t FlatWindowShape::half() const {
  // The main lobe ends where x0 cos(πν) = 1. Its half width in frequency is β/π, and should be lobe/B.
  const double width = std::acosh(1 / leakage) * static_cast<double>(buckets) / (std::numbers::pi * lobe);
  return static_cast<std::int64_t>(std::ceil(width / 2));
}

template <class Real>
FlatWindow<Real>::FlatWindow(const FlatWindowShape& shape) : shape_(shape), half_(shape.half()) {
  const Chebyshev chebyshev(half_, shape.leakage);
  const auto buckets = static_cast<double>(shape.buckets);

  // The response is the transform averaged over the box, computed from differences of its integral (Simpson,
  // half steps).
  const double step = 1 / (buckets * kSteps);
  const auto box = static_cast<std::int64_t>(std::llround(shape.box * kSteps));
  const auto reach = static_cast<std::int64_t>(std::ceil(shape.lobe * kSteps));
  std::vector<double> integral{0};  // from -(reach) steps until it stays constant
  for (std::int64_t i = -reach; i < reach; ++i) {
    const double from = static_cast<double>(i) * step;
    integral.push_back(integral.back() +
                       (chebyshev(from) + 4 * chebyshev(from + step / 2) + chebyshev(from + step)) / 6);
  }
  const auto at = [&](std::int64_t i) {
    return integral[static_cast<std::size_t>(std::clamp<std::int64_t>(i + reach, 0, 2 * reach))];
  };
  const double top = at(box) - at(-box);
  for (std::int64_t i = -1; i <= box + reach + 2; ++i) response_.push_back((at(i + box) - at(i - box)) / top);

  // The taps are those of the window, from samples of its transform (exact for a trigonometric polynomial),
  // times those of the box.
  const auto points = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(taps())));
  std::vector<std::complex<double>> window(static_cast<std::size_t>(points));
  for (std::int64_t i = 0; i <= points / 2; ++i) {
    const double value = chebyshev(static_cast<double>(i) / static_cast<double>(points));
    window[static_cast<std::size_t>(i)] = value;
    window[static_cast<std::size_t>((points - i) % points)] = value;
  }
  BucketFft<double>(points).forward(window);
  const double edge = static_cast<double>(box) / kSteps / buckets;  // half width of the box, as a frequency
  const double scale = 1 / (static_cast<double>(points) * top * step);
  taps_.resize(static_cast<std::size_t>(taps()));
  for (std::int64_t j = 0; j <= half_; ++j) {
    const double angle = std::numbers::pi * static_cast<double>(j);
    const double box_tap = j == 0 ? 2 * edge : std::sin(2 * edge * angle) / angle;
    const auto tap = static_cast<Real>(scale * box_tap * window[static_cast<std::size_t>(j)].real());
    taps_[static_cast<std::size_t>(half_ + j)] = tap;
    taps_[static_cast<std::size_t>(half_ - j)] = tap;
  }
}

template class FlatWindow<float>;
template class FlatWindow<double>;

}  // namespace sfft::peers
