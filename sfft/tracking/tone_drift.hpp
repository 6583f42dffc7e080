// SPDX-License-Identifier: Apache-2.0
// Finds tones that drift from bin to bin, their velocities, and the frequencies that they will use next.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "template/data/template_data.hpp"

namespace sfft::detail {

/// A peak of a spectrum. Positions are fractional bins, and velocities are in bins per frame.
struct DriftingTone {
  std::array<double, 3> position{}, velocity{};
  double energy = 0;  ///< |X|² that the tone would have if it were exactly on a bin
  bool drifts() const noexcept;
};

/// The tones that have at least a fiftieth of the energy of `values`, the strongest first. The template's
/// support must be in ascending order.
std::vector<DriftingTone> find_tones(const TemplateData& data, std::span<const std::complex<double>> values);

/// Sets the velocities of tones that were found `frames` frames after `before`. A tone that matches no
/// earlier one keeps velocity 0. Returns whether at least one tone drifts.
bool find_velocities(const Shape& shape, std::span<const DriftingTone> before, std::int64_t frames,
                     std::span<DriftingTone> tones);

/// A support, with the maximum power that a drifting tone brings to each frequency.
struct DriftSupport {
  std::vector<std::int64_t> support;  ///< ascending
  std::vector<double> power;          ///< max |X|² from drifting tones; 0: use the learned power
  /// Energy of the drifting tones outside the support when they are between two bins.
  double largest_tail = 0;
};

/// The frequencies that drifting tones use within `frames` frames, with `reach` bins on either side, plus
/// those of a freshly learned template that drifting tones do not explain.
DriftSupport support_for_drift(const TemplateData& fresh, std::span<const DriftingTone> tones, double frames,
                               int reach);

}  // namespace sfft::detail
