// SPDX-License-Identifier: Apache-2.0
// Chooses the host's shares of all rounds by the load model.
#include <algorithm>

#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

namespace sfft::detail {

/// Assumes rates until the plan is measured. Copies through buffers are bound by the copying threads, which
/// include those that enqueue pieces, or by the host's memory.
void OutOfCoreFft::assume_profiles() {
  constexpr double kBusBytesPerUs = 55e3, kDeviceBytesPerUs = 500e3, kThreadBytesPerUs = 0.8e3,
                   kTransposedBytesPerUs = 4e3, kCopiedBytesPerUs = 6e3, kMaxCopiedBytesPerUs = 70e3,
                   kMaxPackedBytesPerUs = 90e3, kPackedShare = 0.51;
  const double copying = call_threads();
  const double copied =
      std::min(kCopiedBytesPerUs * copying, options_.packed ? kMaxPackedBytesPerUs : kMaxCopiedBytesPerUs);
  for (Part& part : parts_) {
    if (part.round == nullptr) {
      const double passes = part.transposition->passes();
      part.profile.host_us = passes * static_cast<double>(bytes(part.step.array.points())) /
                             (kTransposedBytesPerUs * options_.threads);
      continue;
    }
    const auto unit = static_cast<double>(bytes(part.round->round().unit_points()));
    part.profile.in_us = part.profile.out_us = (options_.packed ? kPackedShare : 1) * unit / kBusBytesPerUs;
    part.profile.copied_us = 2 * unit / copied;
    part.profile.kernel_us = unit / kDeviceBytesPerUs;
    part.profile.host_us = unit / (kThreadBytesPerUs * options_.threads);
  }
}

std::vector<double> OutOfCoreFft::host_shares() const {
  std::vector<double> shares;
  for (const Part& part : parts_) shares.push_back(part.round == nullptr ? 1 : part.round->host_share());
  return shares;
}

void OutOfCoreFft::set_host_shares(const std::vector<double>& shares) {
  if (shares.size() != parts_.size()) return;
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    if (parts_[r].round != nullptr) parts_[r].round->set_host_share(shares[r]);
  }
  plan_residency();
}

/// The shares and the values that stay on the devices depend on each other, so this iterates.
void OutOfCoreFft::choose_shares() {
  constexpr int kTimes = 3;
  for (int time = 0; time < kTimes; ++time) {
    for (std::size_t r = 0; r < parts_.size(); ++r) choose_share(r);
  }
}

void OutOfCoreFft::choose_share(std::size_t r) {
  if (parts_[r].round == nullptr) return;
  PartitionedRound& round = *parts_[r].round;
  round.set_host_share(
      best_host_share(profile_of(r, staying(r, pairs_[1].has(r)), buffered_always()), round.limits()));
  plan_residency();
}

void OutOfCoreFft::balance_pair(bool in_place) {
  const Pair& pair = pairs_[in_place ? 1 : 0];
  if (pair.slabs < 0 || (!in_place && pair.columns == pairs_[1].columns)) return;
  const auto columns = static_cast<std::size_t>(pair.columns), slabs = static_cast<std::size_t>(pair.slabs);
  const auto us = [&] {
    double sum = 0;
    for (const RoundTimes& times : predicted(in_place, std::vector<double>(parts_.size(), buffered_always())))
      sum += times.us;
    return sum;
  };
  // The share of the slabs stays as it is if in-place calls use the same round, or if the round is ordered
  // and the host therefore has no share of it.
  const bool both = (in_place || pairs_[1].slabs < 0) && !parts_[slabs].round->round().ordered();
  const double max_columns = parts_[columns].round->host_share();
  std::vector<double> best = host_shares();
  double best_us = us();
  const auto consider = [&](bool host_works) {
    plan_residency();
    const double counted_us = (host_works ? 1 : kMinGain) * us();
    if (counted_us >= best_us) return;
    best = host_shares();
    best_us = counted_us;
  };
  for (const double of_columns : {0.0, 1.0 / 3, 2.0 / 3, 1.0}) {
    parts_[columns].round->set_host_share(of_columns * max_columns);
    if (!both) {
      consider(of_columns > 0);
      continue;
    }
    plan_residency();
    choose_share(slabs);
    const double max_slabs = parts_[slabs].round->host_share();
    for (const double of_slabs : {0.0, 1.0 / 3, 2.0 / 3, 1.0}) {
      parts_[slabs].round->set_host_share(of_slabs * max_slabs);
      consider(of_columns > 0 || of_slabs > 0);
    }
  }
  set_host_shares(best);
}

}  // namespace sfft::detail
