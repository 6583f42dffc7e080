// SPDX-License-Identifier: Apache-2.0
// Profiling runs on scratch memory, and the shares that follow from them.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/out_of_card/out_of_card_fft.hpp"

namespace sfft::detail {

template <class Real>
void OutOfCardFft<Real>::measure() {
  if (cards_.empty()) return;
  const std::lock_guard lock(mutex_);
  HostScratch scratch;
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    if (parts_[r].round != nullptr) {
      measure_step(r, scratch);
    } else {
      measure_transposition(parts_[r]);
    }
  }
  profiled_ = true;
  if (options_.host_share < 0) choose_shares();
}

namespace {

/// Numbers of either sign: processors draw less power for zeros, and are faster.
template <class Real>
void fill(std::complex<Real>* values, std::int64_t count, cpu::ThreadPool* pool) {
  const EngineScratch threads{nullptr, pool};
  over_stretches(threads, 0, count, 1, [&](std::int64_t first, std::int64_t end, std::byte*) {
    for (std::int64_t i = first; i < end; ++i) {
      const auto bits = static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15ULL;
      values[i] = {static_cast<Real>(static_cast<std::int32_t>(bits >> 32)) / Real(2147483648.0),
                   static_cast<Real>(static_cast<std::int32_t>(bits >> 11)) / Real(2147483648.0)};
    }
  });
}

/// 1 if there is none.
double median(std::vector<double> values) {
  if (values.empty()) return 1;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

/// All, or a half, a quarter and so on: columns that are a power of two apart meet in the host's caches, and
/// those of a sample do if those of the array do. Every thread gets two slabs, if they are not too large.
template <class Real>
std::int64_t OutOfCardFft<Real>::sample_units(const Part& part) const {
  constexpr std::size_t kMaxBytes = std::size_t{5} << 29;
  const Round<Real>& round = part.round->round();
  const bool exchanged = part.step.kind == Step::Kind::exchanged;
  const auto fitting = static_cast<std::int64_t>(kMaxBytes / array_bytes<Real>(round.unit_points()));
  std::int64_t least =
      std::max(2 * streams_ * static_cast<std::int64_t>(cards_.size()) * round.grain(), fitting);
  if (part.step.kind == Step::Kind::slabs)
    least = std::max(least, std::min<std::int64_t>(2 * options_.threads, 2 * fitting));
  std::int64_t units = round.units();
  // Of a square, or several, strips have to be as large a part as of the whole array.
  while (units > least && !(exchanged && units % 2 != 0)) units = (units + 1) / 2;
  return units;
}

/// On an array of the same columns or slabs, but fewer.
template <class Real>
void OutOfCardFft<Real>::measure_step(std::size_t number, HostScratch& scratch_array) {
  constexpr double kReach = 0.06, kStep = 0.02;
  Part& part = parts_[number];
  const bool exchanged = part.step.kind == Step::Kind::exchanged,
             columns = part.step.kind != Step::Kind::slabs && !exchanged;
  // Later steps work where the first one has stored. Samples without gaps have no room for half spectra.
  const bool first_apart = part.step.calls == Step::Calls::apart && order(false, false).front() == number;
  const bool apart = first_apart || grid_.real_line ||
                     (part.step.array.real_points > 0 && grid_.real_pitch < 2 * grid_.row_pitch);
  const Round<Real>& round = part.round->round();
  const std::int64_t units = sample_units(part);
  CardArray sample = part.step.array;
  if (columns) {
    sample.slab = Shape(grid_.real_line ? 2 * units + 1 : units);  // of a real line: units are pairs
  } else {
    sample.slabs = units;
  }
  DealtRound<Real> trial(make_round<Real>(part.step.kind, sample), cards_, slot_budget(part.step.kind),
                         streams_, options_.least_piece_bytes, options_.packed);
  // Half spectra of a real line have one value more; a second array begins where whole arrays do, too.
  const std::int64_t room = (sample.points() / 512 + 1) * 512;
  std::byte* const memory = scratch_array.of(*cards_[0], array_bytes<Real>(apart ? 2 * room : room));
  auto* const values = reinterpret_cast<std::complex<Real>*>(memory);
  auto* const results = apart ? values + room : values;
  const Pair& pair = pair_of(number);
  const double staying = pair.has(number) ? residency(pair) : 0;
  auto pool = pools_.take();
  free_card_memory();
  const auto cards = static_cast<std::int64_t>(cards_.size());
  std::size_t kept_bytes = static_cast<std::size_t>(
      staying * static_cast<double>(array_bytes<Real>(sample.points())) / static_cast<double>(cards));
  /// As much of the sample stays on a card as will of the array.
  const auto resident = [&](std::int64_t card) {
    const bool by_slabs = static_cast<int>(number) == pair.slabs;
    const std::int64_t slabs = by_slabs ? units : sample.slabs,
                       piece = std::max<std::int64_t>(1, trial.dealt().piece_units);
    const auto [first, end] = trial.dealt().units_of(card);
    Residency some{nullptr, static_cast<std::int64_t>(staying * static_cast<double>(slabs))};
    if (by_slabs) {
      some.columns = round.unit_points() / cards;
      some.first_column = card * some.columns;
      some.slabs = std::min(some.slabs, end - first) / piece * piece;
      some.first_slab = first;
    } else {
      some.columns = end - first;
      some.first_column = first;
      some.first_slab = card * (slabs / cards);
    }
    // Cards that have a piece more than others keep fewer slabs.
    const std::size_t row = std::max(std::size_t{1}, array_bytes<Real>(some.columns));
    if (!exchanged) some.slabs = std::min(some.slabs, static_cast<std::int64_t>(kept_bytes / row));
    return some;
  };
  if (exchanged) kept_bytes = trial.kept_bytes(resident(0));
  std::vector<std::shared_ptr<std::byte>> kept;
  for (const auto& card : cards_) kept.push_back(kept_bytes > 0 ? card->allocate(kept_bytes) : nullptr);
  const auto call = [&](bool card_reads) {
    RoundCall<Real> one{values, results};
    one.reads_from = one.writes_to = card_reads;
    return one;
  };
  const auto slots_of_trial = [&](bool card_reads) {
    const bool buffers = options_.packed || !card_reads;
    std::vector<CardSlots<Real>> slots;
    for (const auto& card : cards_)
      slots.emplace_back(*card, streams_, trial.slot_bytes(), buffers ? trial.staging_bytes() : 0);
    return slots;
  };
  /// The second of two runs.
  const auto run = [&](double share, bool card_reads = true) {
    trial.deal_out(share);
    fill(values, sample.points() + 1, pool.get());
    const auto threads = static_cast<std::size_t>(options_.threads);
    const cpu::LargeBuffer scratch = cpu::make_large_buffer(threads * trial.round().host_bytes() + 64);
    std::vector<CardSlots<Real>> slots = slots_of_trial(card_reads);
    std::vector<CardShare<Real>> shares;
    for (std::size_t c = 0; c < slots.size(); ++c) {
      shares.push_back({&slots[c], kept[c].get(), {}, {}});
      if (!pair.has(number)) continue;
      (pair.first(number, false) ? shares[c].left : shares[c].found) = resident(static_cast<std::int64_t>(c));
    }
    static_cast<void>(trial.run(call(card_reads), shares, pool.get(), options_.threads, scratch.get()));
    return trial.run(call(card_reads), shares, pool.get(), options_.threads, scratch.get());
  };
  RoundProfile& profile = part.profile;
  {
    trial.deal_out(0);
    std::vector<CardSlots<Real>> slots = slots_of_trial(true);
    RoundCall<Real> whole_piece = call(true);
    whole_piece.kept = kept[0].get();
    profile = trial.profile_card(whole_piece, slots[0]);
  }
  if (!options_.packed)
    profile.overlap = overlap_of(profile_of(number, staying, 0), trial.limits(), run(0).card_us);
  const auto all = static_cast<double>(units);
  profile.copied_us = run(0, false).card_us / (all * (pair.has(number) ? 1 - staying / 2 : 1));
  if (exchanged) return pools_.give_back(std::move(pool));
  // Large slabs are few in the sample: some threads have none in the end, or at all.
  const auto waiting = [&] {
    const std::int64_t parts = trial.round().host_parts(), threads = options_.threads;
    if (parts == 0) return 1.0;
    return static_cast<double>((parts + threads - 1) / threads * threads) / static_cast<double>(parts);
  };
  profile.host_us = run(1).host_us / all;
  profile.host_us /= waiting();
  // How much longer each takes while the other works, by the median of what was seen.
  std::vector<double> card_factors, host_factors;
  const auto learn_from = [&](double share, const RoundTimes& times) {
    profile.card_beside_host = profile.host_beside_card = 1;
    const RoundTimes alone = predict(profile_of(number, staying, buffered_always()), trial.limits(), share);
    if (alone.card_us > 0 && alone.host_us > 0) {
      card_factors.push_back(times.card_us / alone.card_us);
      host_factors.push_back(times.host_us / (alone.host_us * waiting()));
    }
    profile.card_beside_host = median(card_factors);
    profile.host_beside_card = median(host_factors);
  };
  const auto best = [&] {
    return best_host_share(profile_of(number, staying, buffered_always()), trial.limits());
  };
  // Both are slower together: the share at which they end at the same time is another one then.
  const double first = best();
  learn_from(first, run(first));
  const double around = best();
  for (double share = around - kReach; share <= around + kReach + kStep / 2; share += kStep) {
    const double tried = std::clamp(share, 0.0, 1.0);
    learn_from(tried, run(tried));
  }
  pools_.give_back(std::move(pool));
}

/// On a matrix of the same proportions.
template <class Real>
void OutOfCardFft<Real>::measure_transposition(Part& part) {
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

template void OutOfCardFft<float>::measure();
template void OutOfCardFft<float>::measure_transposition(Part&);
template std::int64_t OutOfCardFft<float>::sample_units(const Part&) const;
template void OutOfCardFft<float>::measure_step(std::size_t, HostScratch&);
template void OutOfCardFft<double>::measure();
template void OutOfCardFft<double>::measure_transposition(Part&);
template std::int64_t OutOfCardFft<double>::sample_units(const Part&) const;
template void OutOfCardFft<double>::measure_step(std::size_t, HostScratch&);

}  // namespace sfft::detail
