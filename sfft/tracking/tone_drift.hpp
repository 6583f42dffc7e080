// SPDX-License-Identifier: Apache-2.0
// Tones that drift from bin to bin: how fast, and which frequencies they will use next.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "template/data/template_data.hpp"

namespace sfft::detail {

/// A peak of a spectrum. Positions are in bins, between bins as well; velocities in bins per frame.
struct DriftingTone {
  std::array<double, 3> position{}, velocity{};
  double energy = 0;  ///< |X|² that the tone would have on its nearest bin
  bool drifts() const noexcept;
};

/// The tones with a fiftieth of the energy of `values` on an ascending support, the strongest first.
std::vector<DriftingTone> find_tones(const TemplateData& data, std::span<const std::complex<double>> values);

/// Fills in the velocities of tones found `frames` frames after `before`. A tone that nothing before
/// explains keeps velocity 0. True: at least one drifts.
bool find_velocities(const Shape& shape, std::span<const DriftingTone> before, std::int64_t frames,
                     std::span<DriftingTone> tones);

/// Frequencies with the power that a drifting tone brings at times.
struct DriftSupport {
  std::vector<std::int64_t> support;  ///< ascending
  std::vector<double> power;          ///< 0: as learned
  /// Energy of the tones outside, where they are between two bins.
  double largest_tail = 0;
};

/// The frequencies that drifting tones use within `frames` frames, with `reach` bins on either side, and
/// those of a freshly learned template that drifting tones do not explain.
DriftSupport support_for_drift(const TemplateData& fresh, std::span<const DriftingTone> tones, double frames,
                               int reach);

}  // namespace sfft::detail
