// SPDX-License-Identifier: Apache-2.0
// Protects long runs: Ctrl-C loses no results, and cases that need too much memory are rejected in advance.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace sfft::apps {

/// Ends a run early; results so far are kept.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// The first Ctrl-C (or SIGTERM) lets the current transform finish; a second one ends the program at once.
void install_signals();
bool interrupt_requested() noexcept;
/// Throws Interrupted after a Ctrl-C.
void check_interrupt();

/// Throws Error(out_of_memory) if less than `bytes` are available: "`what` needs 40 GB …".
void require_memory(std::int64_t bytes, const std::string& what);

}  // namespace sfft::apps
