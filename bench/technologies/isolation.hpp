// SPDX-License-Identifier: Apache-2.0
// Runs every technology in a separate process, so that a driver that crashes or hangs gives a row with the
// reason.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/technologies/measure.hpp"

namespace sfft::technologies {

/// Receives the child's reports in the parent. `poll` is called a few times per second; it may throw, which
/// ends the child.
struct Sink {
  std::function<void(const std::string& what)> doing;
  std::function<void(const nlohmann::ordered_json&)> facts, row;
  std::function<void()> poll;
};

/// Fills signal and spectra in a child, because FFTW's threads do not survive a fork. Throws Failure with the
/// child's reason.
void fill_material(Material& material, double patience_seconds, const Sink& sink);

/// Measures a technology in a child. If the child dies, or reports nothing for `patience_seconds`, the
/// problem gets a row that says so, and another child continues after it. This happens a few times at most.
void run_isolated(const Entry& entry, const Material& material, const Course& course, double patience_seconds,
                  const Sink& sink);

}  // namespace sfft::technologies
