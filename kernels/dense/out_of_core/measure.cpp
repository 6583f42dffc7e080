// SPDX-License-Identifier: Apache-2.0
// Profiles samples of the rounds and derives the shares from them.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/dense/out_of_core/sample.hpp"

namespace sfft::detail {

template <class Real>
void OutOfCoreFft<Real>::measure() {
  if (devices_.empty()) return;
  const std::lock_guard lock(mutex_);
  HostScratch scratch;
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    if (parts_[r].round == nullptr) {
      measure_transposition(parts_[r]);
      continue;
    }
    measure_step(r, scratch);
    if (options_.host_share < 0) choose_share(r);  // determines what stays on the devices for the next step
  }
  profiled_ = true;
  if (options_.host_share >= 0) return;
  choose_shares();
  for (const bool in_place : {true, false}) balance_pair(in_place);
}

template <class Real>
void OutOfCoreFft<Real>::measure_step(std::size_t number, HostScratch& scratch) {
  constexpr double kReach = 0.06, kStep = 0.02;
  free_device_memory();
  Sample sample(*this, number, scratch);
  const Part& part = parts_[number];
  RoundProfile& profile = parts_[number].profile;
  profile = sample.profile_device();
  if (!options_.packed) {
    const double device_us = sample.run(0).device_us;
    profile.overlap = overlap_of(profile_of(number, sample.staying(), 0), sample.limits(), device_us);
  }
  const double copied_us = sample.run(0, false).device_us;
  profile.copied_us = copied_us / (static_cast<double>(sample.units()) * (1 - sample.staying() / 2));
  if (part.round->round().ordered()) return;
  profile.host_us = 1;
  profile.host_us = sample.run(1).host_us / predict(profile, sample.limits(), 1).host_us;

  Loss device_loss, host_loss;
  const auto learn_from = [&](double share) {
    const RoundTimes times = sample.run(share);
    profile.device_loss = profile.host_loss = 0;
    const RoundProfile concurrent = profile_of(number, sample.staying(), buffered_always());
    const RoundTimes alone = predict(concurrent, sample.limits(), share);
    device_loss.add(alone.device_us, times.device_us, times.host_us);
    host_loss.add(alone.host_us, times.host_us, times.device_us);
    profile.device_loss = device_loss.value();
    profile.host_loss = host_loss.value();
  };
  // Uses the limits of the whole array, because the host's parts are larger in the sample.
  const auto best = [&] {
    const double stays = staying(number, pairs_[1].has(number));
    return best_host_share(profile_of(number, stays, buffered_always()), part.round->limits());
  };
  // Both processors are slower when they work together, which moves the share at which they end at the same
  // time.
  learn_from(best());
  const double around = best();
  for (double share = around - kReach; share <= around + kReach + kStep / 2; share += kStep)
    learn_from(std::clamp(share, 0.0, 1.0));
}

/// Times a matrix of the same proportions.
template <class Real>
void OutOfCoreFft<Real>::measure_transposition(Part& part) {
  constexpr std::int64_t kMaxValues = 1 << 27;
  const std::int64_t element = part.step.array.slab[1];
  std::int64_t rows = part.step.array.slabs, columns = part.step.array.slab[0];
  while (rows * columns * element > kMaxValues && rows % 2 == 0 && columns % 2 == 0) {
    rows /= 2;
    columns /= 2;
  }
  const std::int64_t values = rows * columns * element;
  const cpu::LargeBuffer matrix = cpu::make_large_buffer(array_bytes<Real>(values));
  std::memset(matrix.get(), 0, array_bytes<Real>(values));
  const cpu::LargeBuffer scratch = cpu::make_large_buffer(workspace_bytes() + 64);
  auto pool = pools_.take();
  const double us = transpose(Transposition<Real>(rows, columns, element),
                              reinterpret_cast<std::complex<Real>*>(matrix.get()), pool.get(), scratch.get());
  pools_.give_back(std::move(pool));
  part.profile.host_us = us * static_cast<double>(part.step.array.points()) / static_cast<double>(values);
}

template void OutOfCoreFft<float>::measure();
template void OutOfCoreFft<float>::measure_transposition(Part&);
template void OutOfCoreFft<float>::measure_step(std::size_t, HostScratch&);
template void OutOfCoreFft<double>::measure();
template void OutOfCoreFft<double>::measure_transposition(Part&);
template void OutOfCoreFft<double>::measure_step(std::size_t, HostScratch&);

}  // namespace sfft::detail
