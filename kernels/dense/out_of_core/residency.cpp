// SPDX-License-Identifier: Apache-2.0
// Decides which slabs stay on the device between two rounds, so that the second round finds them there.
#include <algorithm>

#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

namespace sfft::detail {

OutOfCoreFft::Pair OutOfCoreFft::find_pair(bool in_place) const {
  const std::vector<std::size_t> steps = order(in_place, false);
  if (devices_.empty() || steps.size() != 2 || grid_.real_line) return {};
  const auto is_columns = [&](std::size_t r) { return parts_[r].step.kind == Step::Kind::columns; };
  const bool slabs_first = !is_columns(steps[0]);
  if (is_columns(steps[slabs_first ? 0 : 1])) return {};  // both rounds are columns
  const std::size_t slabs = steps[slabs_first ? 0 : 1], columns = steps[slabs_first ? 1 : 0];
  if (parts_[columns].round == nullptr || parts_[columns].step.repeats > 1 || parts_[slabs].step.repeats > 1)
    return {};
  // Only one device runs an ordered round, and would find little of its data there.
  if (devices_.size() > 1 && parts_[slabs].step.kind == Step::Kind::exchanged) return {};
  return {static_cast<int>(slabs), static_cast<int>(columns), slabs_first};
}

std::int64_t OutOfCoreFft::slots_bytes() const noexcept {
  std::int64_t slot = 0;
  for (const Part& part : parts_)
    if (part.round != nullptr) slot = std::max(slot, part.round->slot_bytes());
  return streams_ * slot;
}

void OutOfCoreFft::plan_residency() {
  for (const std::size_t calls : {0, 1}) {
    const Pair& pair = pairs_[calls];
    resident_[calls].assign(devices_.size(), {});
    if (pair.slabs < 0) continue;
    const Partition& columns = parts_[static_cast<std::size_t>(pair.columns)].round->partition();
    for (std::size_t c = 0; columns.pieces > 0 && c < devices_.size(); ++c)
      resident_[calls][c] = residency(pair, columns, static_cast<std::int64_t>(c));
  }
}

/// Keeps whole pieces of the round of slabs.
Residency OutOfCoreFft::residency(const Pair& pair, const Partition& columns, std::int64_t device) const {
  const PartitionedRound& slabs = *parts_[static_cast<std::size_t>(pair.slabs)].round;
  const std::int64_t slots = slots_bytes(), free = budget_ > slots ? budget_ - slots : 0;
  const auto [first, end] = slabs.partition().units_of(device);
  const auto [first_column, end_column] = columns.units_of(device);
  Residency fitting{nullptr, 0, end_column - first_column, first, first_column}, more = fitting;
  while (fitting.columns > 0 && fitting.slabs < end - first) {
    more.slabs = std::min(fitting.slabs + slabs.partition().piece_units, end - first);
    if (slabs.kept_bytes(more) > free) break;
    fitting = more;
  }
  return fitting;
}

double OutOfCoreFft::staying(std::size_t round, bool in_place) const noexcept {
  const Pair& pair = pairs_[in_place ? 1 : 0];
  if (!pair.has(round)) return 0;
  double values = 0;
  for (const Residency& resident : resident_[in_place ? 1 : 0])
    values += static_cast<double>(resident.slabs) * static_cast<double>(resident.columns);
  const Round& of = parts_[round].round->round();
  return values == 0
             ? 0
             : values / static_cast<double>(parts_[round].round->partition().device_units * of.unit_points());
}

RoundProfile OutOfCoreFft::profile_of(std::size_t round, double staying, double buffered) const noexcept {
  RoundProfile profile = parts_[round].profile;
  profile.copied_us *= buffered;
  const Pair& pair = pair_of(round);
  if (!pair.has(round)) return profile;
  (pair.first(round, false) ? profile.out_us : profile.in_us) *= 1 - staying;
  profile.copied_us *= 1 - staying / 2;
  return profile;
}

}  // namespace sfft::detail
