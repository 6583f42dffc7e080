// SPDX-License-Identifier: Apache-2.0
// What an out-of-core plan reports about itself: steps, shares, predicted and measured times.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

namespace sfft::detail {

std::vector<RoundTimes> OutOfCoreFft::measured() const {
  const std::lock_guard lock(mutex_);
  return measured_;
}

bool OutOfCoreFft::predicts_in_place() const {
  const std::lock_guard lock(mutex_);
  return options_.in_place || measured_in_place_;
}

std::vector<RoundTimes> OutOfCoreFft::predicted() const {
  std::vector<double> buffered(parts_.size(), buffered_always());
  {
    const std::lock_guard lock(mutex_);
    if (!buffered_.empty()) buffered = buffered_;
  }
  return predicted(predicts_in_place(), buffered);
}

std::vector<RoundTimes> OutOfCoreFft::predicted(bool in_place, const std::vector<double>& buffered) const {
  std::vector<RoundTimes> times;
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    const Part& part = parts_[r];
    if (!part.step.taken(in_place)) {
      times.emplace_back();
      continue;
    }
    const auto repeats = static_cast<double>(part.step.repeats);
    if (part.round == nullptr) {
      times.push_back({part.profile.host_us * repeats, 0, part.profile.host_us * repeats});
      continue;
    }
    const RoundTimes one = predict(profile_of(r, staying(r, in_place), buffered[r]), part.round->limits(),
                                   part.round->host_share());
    times.push_back({one.us * repeats, one.device_us * repeats, one.host_us * repeats});
  }
  return times;
}

std::string OutOfCoreFft::name() const {
  if (devices_.empty()) return "out of core, host alone";
  const std::string device = devices_[0]->name();
  return devices_.size() == 1 ? fmt::format("out of core, {} and host", device)
                              : fmt::format("out of core, {} × {} and host", devices_.size(), device);
}

std::string OutOfCoreFft::describe(const Part& part) const {
  using enum Step::Calls;
  std::string text = part.step.calls == apart      ? "of calls that are not in place, "
                     : part.step.calls == in_place ? "of calls in place, "
                                                   : "";
  if (part.step.repeats > 1) text += fmt::format("{} times ", part.step.repeats);
  if (part.round == nullptr) {
    return text + fmt::format("transposition: the host exchanges {} × {} elements in {} passes",
                              part.step.array.slabs, part.step.array.slab[0], part.transposition->passes());
  }
  const PartitionedRound& round = *part.round;
  const Partition& partition = round.partition();
  text += fmt::format("{}: {} points each, the host does {:.1f} % of {}", round.round().name(),
                      round.round().unit_points(), 100 * round.host_share(), round.limits().units);
  if (partition.pieces == 0) return text;
  const std::int64_t streams = streams_ * partition.devices;
  text += fmt::format(", the {} {} in {} passes of {} streams, {} bytes a piece",
                      partition.devices == 1 ? "device" : fmt::format("{} devices", partition.devices),
                      partition.device_units, (partition.pieces + streams - 1) / streams, streams,
                      round.piece_bytes());
  if (!profiled_) return text;
  const auto ms = [&](double unit_us) { return unit_us * static_cast<double>(partition.piece_units) / 1e3; };
  const RoundProfile& profile = part.profile;
  return text +
         fmt::format(" ({:.3g} ms in, {:.3g} of kernels, {:.3g} out; {:.2f} times that when overlapped)",
                     ms(profile.in_us), ms(profile.kernel_us), ms(profile.out_us), profile.overlap);
}

std::string OutOfCoreFft::explain() const {
  std::string text = fmt::format("{}: {} of {}, {} threads of the host", name(), grid_.batch,
                                 grid_.shape.to_string(), options_.threads);
  if (!devices_.empty())
    text += fmt::format(", {} streams with up to {} bytes of device memory each", streams_,
                        slot_budget(Step::Kind::columns));
  for (const bool in_place : {false, true}) {
    const std::vector<Residency>& resident = resident_[in_place ? 1 : 0];
    const auto same_on_device = [](const Residency& a, const Residency& b) {
      return a.slabs == b.slabs && a.columns == b.columns;
    };
    const bool same = pairs_[0].slabs == pairs_[1].slabs &&
                      std::equal(resident_[0].begin(), resident_[0].end(), resident_[1].begin(),
                                 resident_[1].end(), same_on_device);
    if (resident.empty() || resident[0].slabs == 0 || (same && in_place)) continue;
    text += fmt::format(", {}{} slabs of {} columns stay on {} between the rounds",
                        same       ? ""
                        : in_place ? "in place "
                                   : "apart ",
                        resident[0].slabs, resident[0].columns,
                        resident.size() == 1 ? "the device" : "each device");
  }
  if (options_.packed && !devices_.empty()) text += ", values cross the bus in block16";
  const std::vector<RoundTimes> expected = predicted(), last = measured(),
                                copied =
                                    predicted(predicts_in_place(), std::vector<double>(parts_.size(), 1));
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    text += fmt::format("\nround {}, {}", r + 1, describe(parts_[r]));
    if (expected[r].us == 0) continue;
    text += fmt::format("; predicted {:.4g} ms ({})", expected[r].us / 1e3,
                        profiled_ ? "from profiling runs" : "from assumed rates");
    if (last.empty() && copied[r].us > expected[r].us)
      text += fmt::format(", {:.4g} ms from and to memory that is not page-locked", copied[r].us / 1e3);
    if (!last.empty()) {
      text += fmt::format(", last measured {:.4g} ms (device {:.4g}, host {:.4g})", last[r].us / 1e3,
                          last[r].device_us / 1e3, last[r].host_us / 1e3);
    }
  }
  const std::lock_guard lock(mutex_);
  if (std::any_of(slots_.begin(), slots_.end(), [](const auto& slots) { return slots->pageable(); }))
    text += "\nhost memory could not be page-locked: buffers are ordinary memory, and copies slower";
  return text;
}

}  // namespace sfft::detail
