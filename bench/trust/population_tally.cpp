// SPDX-License-Identifier: Apache-2.0
// Adds up tallies and prints their table.
#include "bench/trust/population_tally.hpp"

#include <fmt/format.h>

namespace sfft::bench {

void Tally::operator+=(const Tally& other) {
  signals += other.signals;
  found += other.found;
  dense += other.dense;
  unverified += other.unverified;
  refused += other.refused;
  silent += other.silent;
  missed += other.missed;
  values += other.values;
  tail += other.tail;
  exempt += other.exempt;
  exempt_of_read += other.exempt_of_read;
  dense_silent += other.dense_silent;
  if (other.worst_signal >= 0 && !(other.worst <= worst)) {
    worst = other.worst;
    worst_signal = other.worst_signal;
  }
  silent_signals.insert(silent_signals.end(), other.silent_signals.begin(), other.silent_signals.end());
}

nlohmann::json report(const Tallies& tallies, const std::string& total, bool rows_too) {
  nlohmann::json rows = nlohmann::json::array();
  Tally all;
  if (rows_too)
    fmt::print("{:26} {:>8} {:>8} {:>8} {:>10} {:>7} | {:>6} {:>6} {:>6} {:>6} | {:>6} | {:>8} {}\n",
               "family", "signals", "found", "dense", "unverified", "refused", "silent", "missed", "values",
               "tail", "exempt", "worst", "of signal");
  const auto row = [&](const std::string& name, const Tally& t, bool print) {
    if (print)
      fmt::print("{:26} {:8} {:8} {:8} {:10} {:7} | {:6} {:6} {:6} {:6} | {:6} | {:8.3g} {}\n", name,
                 t.signals, t.found, t.dense, t.unverified, t.refused, t.silent, t.missed, t.values, t.tail,
                 t.exempt, t.worst, t.worst_signal);
    rows.push_back({{"family", name},
                    {"signals", t.signals},
                    {"verified_by_discovery", t.found},
                    {"dense", t.dense},
                    {"unverified", t.unverified},
                    {"refused", t.refused},
                    {"silent", t.silent},
                    {"silent_missed", t.missed},
                    {"silent_values", t.values},
                    {"silent_tail", t.tail},
                    {"exempt", t.exempt},
                    {"exempt_though_energy_checked", t.exempt_of_read},
                    {"worst_over_allowed", t.worst},
                    {"worst_signal", t.worst_signal},
                    {"silent_signals", t.silent_signals}});
  };
  for (const auto& [name, t] : tallies) {
    row(name, t, rows_too);
    all += t;
  }
  if (!total.empty()) row(total, all, true);
  return rows;
}

}  // namespace sfft::bench
