// SPDX-License-Identifier: Apache-2.0
// One template with its plan and a frame that it explains; measures what happens when tones are added to that
// frame.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/trust/tone_places.hpp"
#include "bench/trust/truth.hpp"

namespace sfft::trust {

/// Origin of a template: learned from a frame without noise, from one with the noise of the following frames,
/// or a bare support.
enum class Origin : std::uint8_t { learned, learned_noisy, support };
const char* to_string(Origin origin);

struct ToneSettings {
  Shape shape{4096};
  bool real = false;
  std::int64_t k = 64;
  Origin origin = Origin::learned;
  std::optional<double> snr_db;  ///< signal-to-noise ratio of the frame; no noise if empty
  bool runs = false;             ///< frequencies in runs of neighbours
  std::uint64_t seed = 1;
};

struct AddedTone {
  std::int64_t flat = 0;
  std::complex<double> value;  ///< X there
};

/// The errors of one frame with added tones.
struct ToneResult {
  double true_l2 = 0, norm = 0;  ///< over the support, which does not contain f = 0
  double reported_l2 = 0;
  double tail = 0;   ///< sqrt(Spectrum::tail_energy)
  double added = 0;  ///< sqrt of the energy of the added tones, both halves of a real signal's spectrum

  static constexpr double kRounding = 2e-6;
  bool harmless() const { return true_l2 <= kRounding * norm; }
  bool silent() const { return true_l2 > 5 * reported_l2 + kRounding * norm; }
  bool seen() const { return harmless() || reported_l2 >= true_l2 / 2 || tail >= true_l2 / 2; }
  bool noticed() const { return tail >= added / 2; }
};

template <class Real>
class ToneCase {
 public:
  explicit ToneCase(const ToneSettings& settings);

  ToneResult measure(const std::vector<AddedTone>& tones);
  /// Adds a tone and transforms the whole frame densely, to check the reference of measure(). Throws
  /// std::logic_error.
  void check_reference(Random& random);

  const Places& places() const { return places_; }
  const PlanInfo& plan() const { return plan_->info(); }
  double typical_amplitude() const { return typical_; }  ///< median |X| of the template
  double norm() const { return norm_; }                  ///< ‖X‖ over the support

 private:
  std::vector<std::complex<double>> synthesise() const;
  void add_noise(std::vector<std::complex<double>>& samples, std::uint64_t part) const;
  SignalView view(const std::vector<std::complex<double>>& samples);
  void transform(const std::vector<std::complex<double>>& samples, Truth& truth) const;
  void add_tone(const AddedTone& tone);

  ToneSettings settings_;
  Places places_;
  std::vector<std::complex<double>> values_;  ///< X of the noiseless frame, in the order of places_.support()
  std::vector<std::complex<double>> base_;    ///< samples of the frame to which tones are added
  std::vector<std::complex<double>> samples_;  ///< base_ with tones added
  std::vector<Real> real_samples_;
  std::vector<std::complex<Real>> complex_samples_;
  std::optional<Plan<Real>> plan_;
  Workspace workspace_;
  Spectrum<Real> spectrum_;
  std::vector<std::complex<double>> exact_;  ///< X of the frame at the plan's support, noise included
  double typical_ = 0, norm_ = 0;
};

extern template class ToneCase<float>;
extern template class ToneCase<double>;

}  // namespace sfft::trust
