// SPDX-License-Identifier: Apache-2.0
// Every technology in a process of its own, so that a driver that crashes or hangs is a row with its reason.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/technologies/measure.hpp"

namespace sfft::technologies {

/// What the parent is told. `poll` is called a few times a second and may throw, which ends the child.
struct Sink {
  std::function<void(const std::string& what)> doing;
  std::function<void(const nlohmann::ordered_json&)> facts, row;
  std::function<void()> poll;
};

/// Fills signal and spectra in a child: FFTW's threads do not survive a fork. Throws Failure with its reason.
void fill_material(Material& material, double patience_seconds, const Sink& sink);

/// Measures a technology in a child. Where that dies, or says nothing for `patience_seconds`, the problem
/// gets a row that says so, and another child goes on behind it, a few times.
void run_isolated(const Entry& entry, const Material& material, const Course& course, double patience_seconds,
                  const Sink& sink);

}  // namespace sfft::technologies
