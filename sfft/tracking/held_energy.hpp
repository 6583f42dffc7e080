// SPDX-License-Identifier: Apache-2.0
// What part of a frame's energy a template's support holds.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "sfft/template.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// For each coefficient: 2 where the spectrum of a real signal holds a distinct conjugate, else 1.
std::vector<double> multiplicities(const Template& tmpl);
/// Energy of a spectrum's coefficients at the template's support without f = 0, both halves of a real
/// signal's.
double held_energy(const Template& tmpl, std::span<const std::complex<double>> values);
/// Energy of all of a frame's coefficients but f = 0, by Parseval's theorem from the samples.
double whole_energy(const SignalView& frame);
/// Whether a template learned from a frame should replace one that holds `held` of the frame's energy `all`
/// without f = 0. The old one has to hold less than `below` times what the fresh one holds, or the fresh one
/// has to leave less than `outside_below` times as much outside. What it gains has to be more than the
/// largest of a white noise's coefficients hold by chance.
bool worth_replacing(double held, double all, double below, double outside_below, const Template& fresh);

}  // namespace sfft::detail
