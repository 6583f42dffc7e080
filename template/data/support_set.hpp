// SPDX-License-Identifier: Apache-2.0
// The template's frequencies as the planner needs them: with conjugates, coordinates and cells.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "template/data/template_data.hpp"

namespace sfft::detail {

struct SupportMember {
  std::array<std::int64_t, 3> f;  ///< coordinates
  std::int64_t coefficient;       ///< index into the support
  bool conjugate;                 ///< represents −f of that coefficient
};

/// S and, for a real signal, −S: all template frequencies in the spectrum.
struct SupportSet {
  Shape shape{1};
  bool real = false;
  std::int64_t k = 0;
  std::int64_t mean_coefficient = -1;  ///< the coefficient of f = 0, or -1
  std::vector<SupportMember> members;

  explicit SupportSet(const TemplateData& data) : shape(data.shape), real(data.real), k(data.k()) {
    members.reserve(static_cast<std::size_t>(real ? 2 * k : k));
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t flat = (*data.support)[static_cast<std::size_t>(i)];
      if (flat == 0) mean_coefficient = i;
      const std::array<std::int64_t, 3> f = coordinates(shape, flat);
      members.push_back({f, i, false});
      if (!real) continue;
      std::array<std::int64_t, 3> mirrored = f;
      for (int d = 0; d < shape.rank(); ++d) {
        std::int64_t& c = mirrored[static_cast<std::size_t>(d)];
        c = c == 0 ? 0 : shape[d] - c;
      }
      if (mirrored != f) members.push_back({mirrored, i, true});
    }
  }

  /// Indices of a real signal's coefficients that are their own conjugates, without f = 0.
  std::vector<std::int64_t> self_conjugate() const;
};

/// Assumptions about future frames, which determine how samples are weighted.
struct SpectralPrior {
  /// E|X[f]|² of each coefficient; empty: nothing is known and recovery is least squares.
  std::vector<double> support_power;
  /// E|X[f]|² outside the support; all zero: white, of unknown level.
  Envelope tail;
  /// support_power and tail share one unknown scale: differences to a reference frame.
  bool common_scale = false;

  bool least_squares() const noexcept { return support_power.empty(); }
};

/// The prior of a template: for differences to its reference (`reference`), else for whole frames.
SpectralPrior make_prior(const TemplateData& data, const SupportSet& support, bool reference);

/// Σ prior power outside the support, and inside it without f = 0; both are above 0.
struct PriorEnergies {
  double tail, support;
};
PriorEnergies prior_energies(const SupportSet& support, const SpectralPrior& prior);

}  // namespace sfft::detail
