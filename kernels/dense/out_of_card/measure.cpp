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
    if (parts_[r].round == nullptr) {
      measure_transposition(parts_[r]);
      continue;
    }
    measure_step(r, scratch);
    if (options_.host_share < 0) choose_share(r);  // what stays on the cards for the next one depends on it
  }
  profiled_ = true;
  if (options_.host_share >= 0) return;
  choose_shares();
  for (const bool in_place : {true, false}) balance_pair(in_place);
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

}  // namespace

/// All, or a half, a quarter and so on: columns that are a power of two apart meet in the host's caches, and
/// those of a sample do if those of the array do. Every thread gets two slabs, if they are not too large.
template <class Real>
std::int64_t OutOfCardFft<Real>::sample_units(const Part& part) const {
  // Slabs of large arrays are large, and the host's threads need several each.
  const std::size_t most_bytes =
      std::max(std::size_t{5} << 29, array_bytes<Real>(part.step.array.points()) / 24);
  const Round<Real>& round = part.round->round();
  const bool exchanged = part.step.kind == Step::Kind::exchanged;
  const auto fitting = static_cast<std::int64_t>(most_bytes / array_bytes<Real>(round.unit_points()));
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
                         streams_, options_);
  // Half spectra of a real line have one value more; a second array begins where whole arrays do, too.
  const std::int64_t room = (sample.points() / 512 + 1) * 512;
  std::byte* const memory = scratch_array.of(*cards_[0], array_bytes<Real>(apart ? 2 * room : room));
  auto* const values = reinterpret_cast<std::complex<Real>*>(memory);
  auto* const results = apart ? values + room : values;
  const Pair& pair = pair_of(number);
  const std::size_t calls = pairs_[1].has(number) ? 1 : 0;
  auto pool = pools_.take();
  free_card_memory();
  /// As much of the sample stays on a card as of the array, if there is room beside the streams.
  const auto resident = [&](std::size_t card) {
    if (!pair.has(number)) return Residency{};
    const bool by_slabs = static_cast<int>(number) == pair.slabs;
    const std::int64_t piece = by_slabs ? std::max<std::int64_t>(1, trial.dealt().piece_units) : 1;
    const auto [first, end] = trial.dealt().units_of(static_cast<std::int64_t>(card));
    Residency some = resident_[calls][card];
    if (by_slabs) {
      const std::int64_t all = part.round->round().units();
      some.first_slab = first;
      some.slabs = std::min((some.slabs * units + all - 1) / all, end - first) / piece * piece;
    } else {
      some.first_column = first;
      some.columns = end - first;
    }
    const std::size_t slots = static_cast<std::size_t>(streams_) * trial.slot_bytes();
    while (some.slabs > 0 && slots + trial.kept_bytes(some) > budget_) some.slabs -= piece;
    return some;
  };
  const auto keep = [&](std::size_t card, const Residency& some) {
    const std::size_t bytes = trial.kept_bytes(some);
    return bytes > 0 ? cards_[card]->allocate(bytes) : nullptr;
  };
  double staying = 0;  // of what the cards do in the last run
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
    std::vector<std::shared_ptr<std::byte>> kept;
    std::vector<CardShare<Real>> shares;
    std::int64_t stay = 0;
    for (std::size_t c = 0; c < slots.size(); ++c) {
      const Residency some = resident(c);
      kept.push_back(keep(c, some));
      shares.push_back({&slots[c], kept[c].get(), {}, {}});
      (pair.first(number, false) ? shares[c].left : shares[c].found) = some;
      stay += some.slabs * some.columns;
    }
    const std::int64_t done = std::max<std::int64_t>(1, trial.dealt().card_units * round.unit_points());
    staying = static_cast<double>(stay) / static_cast<double>(done);
    static_cast<void>(trial.run(call(card_reads), shares, pool.get(), scratch.get()));
    return trial.run(call(card_reads), shares, pool.get(), scratch.get());
  };
  RoundProfile& profile = part.profile;
  {
    trial.deal_out(0);
    std::vector<CardSlots<Real>> slots = slots_of_trial(true);
    const std::shared_ptr<std::byte> kept = keep(0, {});
    RoundCall<Real> whole_piece = call(true);
    whole_piece.kept = kept.get();
    profile = trial.profile_card(whole_piece, slots[0]);
  }
  if (!options_.packed) {
    const double card_us = run(0).card_us;
    profile.overlap = overlap_of(profile_of(number, staying, 0), trial.limits(), card_us);
  }
  const double copied_us = run(0, false).card_us;
  profile.copied_us = copied_us / (static_cast<double>(units) * (1 - staying / 2));
  if (exchanged) return pools_.give_back(std::move(pool));
  profile.host_us = 1;
  profile.host_us = run(1).host_us / predict(profile, trial.limits(), 1).host_us;
  Loss card_loss, host_loss;
  const auto learn_from = [&](double share, const RoundTimes& times) {
    profile.card_loss = profile.host_loss = 0;
    const RoundTimes alone = predict(profile_of(number, staying, buffered_always()), trial.limits(), share);
    card_loss.add(alone.card_us, times.card_us, times.host_us);
    host_loss.add(alone.host_us, times.host_us, times.card_us);
    profile.card_loss = card_loss.value();
    profile.host_loss = host_loss.value();
  };
  // Of the array: parts of the host are larger in the sample.
  const auto best = [&] {
    const double stays = this->staying(number, calls == 1);
    return best_host_share(profile_of(number, stays, buffered_always()), part.round->limits());
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
