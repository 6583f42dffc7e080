// SPDX-License-Identifier: Apache-2.0
// The linear systems of a flat-window plan: which template frequencies are in a run of buckets, and the
// least-noise row of weights that reads one of them and rejects the others.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/filter.hpp"
#include "kernels/base/flat_data.hpp"
#include "template/flat/flat_lines.hpp"
#include "template/flat/flat_system.hpp"

namespace sfft::detail {

/// The frequencies that a plan must separate: S and, for a real signal, −S.
struct FlatMember {
  std::array<std::int64_t, 3> f;
  std::int64_t coefficient;  ///< index into the support, or -1 for the conjugate of one
};

class FlatRecovery {
 public:
  FlatRecovery(const Shape& shape, std::span<const FlatMember> members, const KaiserWindow& kaiser,
               FlatLines lines);

  /// E|X̂ − X|² per unit of white tail energy for the best row of member `i` (in the constructor's order);
  /// infinite if its buckets cannot separate it from its neighbours.
  double gain(std::size_t i);
  /// Appends that row and its gain, which must be finite, to `data`.
  void append_row(std::size_t i, FlatPlanData& data);
  /// Appends up to `count` rows from `first_bucket` on that reject the whole template. Returns the number
  /// appended.
  std::int64_t append_probes(std::int64_t first_bucket, std::int64_t count, std::uint64_t seed,
                             FlatPlanData& data);

  const FlatLines& lines() const noexcept { return lines_; }
  const std::vector<double>& window() const noexcept { return window_; }

 private:
  using Complex = std::complex<double>;

  void make_window(const KaiserWindow& kaiser);
  void whiten();
  void hash_members(const Shape& shape, std::span<const FlatMember> members, const KaiserWindow& kaiser);
  std::int64_t run_start(std::size_t sorted) const noexcept;
  bool load(std::int64_t start, std::int64_t last);
  void load_column(std::size_t sorted, std::int64_t start);
  void append_weights(std::int64_t start, const std::vector<Complex>& row, Complex scale,
                      FlatPlanData& data) const;

  FlatLines lines_;
  std::int64_t points_;
  double leakage_;
  double reach_ = 0;  ///< half width of the main lobe in buckets
  std::vector<double> window_;
  std::vector<double> whitener_;  ///< p×p, inverse of the Cholesky factor of the buckets' noise covariance

  // Members sorted by position on the circle of buckets.
  std::vector<std::size_t> sorted_of_;
  std::vector<std::int64_t> bucket_;
  std::vector<double> offset_;
  std::vector<double> position_;
  std::vector<double> response_;  ///< per member, at the `response_width_` buckets around it
  std::int64_t response_width_ = 0;
  std::vector<Complex> turns_;  ///< member × r: exp(2πi f·τ_j/n)

  FlatSystem system_;  ///< the last one loaded
};

}  // namespace sfft::detail
