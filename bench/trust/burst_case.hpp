// SPDX-License-Identifier: Apache-2.0
// One template with its plan and a frame that it explains; measures what happens when a part of the frame's
// samples is disturbed.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/trust/tone_case.hpp"
#include "bench/trust/tone_places.hpp"
#include "bench/trust/truth.hpp"

namespace sfft::trust {

/// Which samples are disturbed: a random set, one stretch in memory order, 2 to 8 stretches, a rectangle of
/// an image, one sample in each period.
enum class BurstPlace : std::uint8_t { scattered, stretch, stretches, block, train };
inline constexpr std::array kBurstPlaces{BurstPlace::scattered, BurstPlace::stretch, BurstPlace::stretches,
                                         BurstPlace::block, BurstPlace::train};
const char* to_string(BurstPlace place);

/// What happens to them: Gaussian noise of one size is added, one value is added, they become 0, change their
/// sign, repeat the first one's value, or are replaced by values of another range.
enum class BurstContent : std::uint8_t { noise, offset, zero, flipped, held, wild };
inline constexpr std::array kBurstContents{BurstContent::noise,   BurstContent::offset, BurstContent::zero,
                                           BurstContent::flipped, BurstContent::held,   BurstContent::wild};
const char* to_string(BurstContent content);

struct BurstSettings {
  Shape shape{4096};
  bool real = false;
  std::int64_t k = 64;
  Origin origin = Origin::learned;
  std::optional<double> snr_db;  ///< signal-to-noise ratio of the frame; no noise if empty
  bool runs = false;             ///< frequencies in runs of neighbours
  bool reference = false;  ///< the template contains a reference, and its coefficients have changed since
  double burst = 0;        ///< PlanOptions::burst
  std::uint64_t seed = 1;
};

struct BurstResult {
  std::int64_t samples = 0;      ///< disturbed
  double true_l2 = 0, norm = 0;  ///< over the support without f = 0
  double reported_l2 = 0;

  static constexpr double kRounding = 2e-6;
  bool silent() const { return true_l2 > 5 * reported_l2 + kRounding * norm; }
};

template <class Real>
class BurstCase {
 public:
  explicit BurstCase(const BurstSettings& settings);

  const PlanInfo& plan() const { return plan_->info(); }
  /// Disturbs about `samples` samples of the frame and transforms it.
  BurstResult measure(std::int64_t samples, BurstPlace place, BurstContent content, Random& random);
  /// Transforms the frame undisturbed.
  BurstResult undisturbed();

 private:
  std::vector<std::complex<double>> frame(double change, std::uint64_t part) const;
  SignalView view(const std::vector<std::complex<double>>& samples);
  std::vector<std::int64_t> draw(std::int64_t samples, BurstPlace place, Random& random) const;
  void disturb(const std::vector<std::int64_t>& at, BurstContent content, Random& random);
  BurstResult compare();

  BurstSettings settings_;
  Places places_;
  std::vector<std::complex<double>> values_;
  std::vector<std::complex<double>> base_, samples_;
  std::vector<Real> real_samples_;
  std::vector<std::complex<Real>> complex_samples_;
  double power_ = 0;  ///< mean |x|²
  std::optional<Plan<Real>> plan_;
  Workspace workspace_;
  Spectrum<Real> spectrum_;
  Truth truth_;
};

extern template class BurstCase<float>;
extern template class BurstCase<double>;

}  // namespace sfft::trust
