// SPDX-License-Identifier: Apache-2.0
// The share of a frame's energy in a template's support.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "sfft/template.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// For each coefficient: 2 if the spectrum of a real signal contains a distinct conjugate, else 1.
std::vector<double> multiplicities(const Template& tmpl);
/// Energy Σ|X|² of `values`, a spectrum at the template's support, without f = 0. Counts both halves of a
/// real signal's spectrum.
double held_energy(const Template& tmpl, std::span<const std::complex<double>> values);
/// Energy Σ|X|² of a whole frame without f = 0, from the samples by Parseval's theorem.
double whole_energy(const SignalView& frame);
/// Whether `fresh`, a template learned from a frame, should replace a template that holds `held` of the
/// frame's energy `all` without f = 0. Either the old one holds less than `below` times the energy in the
/// fresh one, or the fresh one leaves less than `outside_below` times as much energy outside. In addition,
/// the gain must exceed what the largest coefficients of white noise hold by chance.
bool worth_replacing(double held, double all, double below, double outside_below, const Template& fresh);

}  // namespace sfft::detail
