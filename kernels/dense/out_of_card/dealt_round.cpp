// SPDX-License-Identifier: Apache-2.0
// One thread of the host asks for all pieces, or, where pieces have to be copied to memory that the card
// reads, one for each slot. The other threads take parts of the host's share, and then of those copies.
#include "kernels/dense/out_of_card/dealt_round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/base/error.hpp"

namespace sfft::detail {

namespace {

/// Enough for the full speed of the bus: pieces, and rows that lie apart. More would only take memory from
/// what may stay on the card.
constexpr std::size_t kMaxPieceBytes = std::size_t{128} << 20;
constexpr std::size_t kLongRowBytes = std::size_t{8} << 10, kShortRowBytes = std::size_t{4} << 10;

void raise(std::atomic<double>& most, double value) {
  double known = most.load();
  while (known < value && !most.compare_exchange_weak(known, value)) {
  }
}

}  // namespace

template <class Real>
std::size_t DealtRound<Real>::least_bytes(const Round<Real>& round, Card<Real>& card, bool packed) {
  const std::int64_t units = std::min(round.grain(), round.units());
  const auto data = static_cast<std::size_t>(units * round.unit_points()) * sizeof(std::complex<Real>);
  const std::size_t beside = packed ? aligned((round.ordered() ? 2 : 1) * data) : 0;
  return aligned(data) + aligned(round.work_bytes(*round.kernel(card, units), units)) + beside;
}

/// Card memory of a piece and its workspace.
template <class Real>
std::size_t DealtRound<Real>::needed_bytes(const CardKernel<Real>& kernel, std::int64_t units) const {
  return aligned(data_bytes(units)) + aligned(round_->work_bytes(kernel, units)) + packed_bytes(units);
}
template <class Real>
std::size_t DealtRound<Real>::packed_bytes(std::int64_t units) const noexcept {
  return packed_ ? aligned((round_->ordered() ? 2 : 1) * data_bytes(units)) : 0;
}

template <class Real>
DealtRound<Real>::DealtRound(std::unique_ptr<Round<Real>> round, Card<Real>* card, std::size_t slot_bytes,
                             int streams, std::size_t least_piece_bytes, bool packed)
    : round_(std::move(round)), card_(card), slot_budget_(slot_bytes), packed_(packed) {
  limits_ = {round_->units(), round_->grain(), 0, 1, streams};
  if (card_ != nullptr) {
    const std::size_t unit_bytes = data_bytes(1);
    limits_.least = std::max<std::int64_t>(1, static_cast<std::int64_t>(least_piece_bytes / unit_bytes));
    // Most transforms need a workspace as large as the piece, some none.
    const std::size_t row_bytes = round_->row_bytes(),
                      enough = row_bytes == 0
                                   ? kMaxPieceBytes
                                   : std::max(kMaxPieceBytes, unit_bytes * kLongRowBytes / row_bytes);
    auto units = static_cast<std::int64_t>(std::min(slot_bytes, std::max(enough, unit_bytes)) / unit_bytes);
    units = std::max(units, limits_.grain);
    for (units = std::min(units, limits_.units); limits_.most == 0; units = units * 3 / 4) {
      units = units / limits_.grain * limits_.grain;
      if (units == 0) {
        throw Error(
            ErrorCode::out_of_memory,
            fmt::format("the card's memory of {} bytes for each of {} streams holds no piece: one needs {} "
                        "bytes",
                        slot_bytes, streams, least_bytes(*round_, *card_, packed_)));
      }
      try {
        if (within_budget(needed_bytes(*round_->kernel(*card_, units), units), units)) limits_.most = units;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
      }
    }
    // Engines copied rows of 11 KB at 35 GB/s in each direction, of 8 and 16 KB at 41 and 47, and beside
    // kernels both at 33 (H200).
    for (std::size_t row = kLongRowBytes; row_bytes > 0 && row >= kShortRowBytes; row /= 2) {
      const auto good = static_cast<std::int64_t>(row / row_bytes);
      if (good % limits_.grain != 0 || good > limits_.most) continue;
      limits_.good = good;
      break;
    }
  }
  deal_out(card_ == nullptr ? 1 : 0);
}

template <class Real>
void DealtRound<Real>::deal_out(double host_share) {
  while (true) {
    dealt_ = deal(limits_, card_ == nullptr ? 1 : round_->ordered() ? 0 : host_share);
    round_->dealt(dealt_);
    full_.reset();
    rest_.reset();
    if (dealt_.pieces == 0) break;
    full_ = round_->kernel(*card_, dealt_.piece_units);
    const std::int64_t rest = dealt_.card_units - (dealt_.pieces - 1) * dealt_.piece_units;
    if (rest != dealt_.piece_units) rest_ = round_->kernel(*card_, rest);
    // A smaller piece may need a larger workspace.
    if (within_budget(slot_bytes(), dealt_.piece_units) || limits_.most <= limits_.grain) break;
    limits_.most = std::max(limits_.grain, dealt_.piece_units * 3 / 4 / limits_.grain * limits_.grain);
  }
  round_->give_host(dealt_.card_units);
}

template <class Real>
bool DealtRound<Real>::copies_fast() const noexcept {
  const std::size_t row = round_->row_bytes();
  return row == 0 || static_cast<std::size_t>(limits_.good) * row >= kLongRowBytes;
}

template <class Real>
std::size_t DealtRound<Real>::slot_bytes() const noexcept {
  if (dealt_.pieces == 0) return 0;
  const std::int64_t rest = dealt_.card_units - (dealt_.pieces - 1) * dealt_.piece_units;
  const std::size_t whole = round_->work_bytes(*full_, dealt_.piece_units),
                    last = rest_ != nullptr ? round_->work_bytes(*rest_, rest) : 0;
  return aligned(piece_bytes()) + aligned(std::max(whole, last)) + packed_bytes(dealt_.piece_units);
}

template <class Real>
RoundTimes DealtRound<Real>::run(const RoundCall<Real>& call, CardSlots<Real>* slots, cpu::ThreadPool* pool,
                                 int threads, std::byte* scratch) const {
  const bool staged = packed_ || !call.reads_from || !call.writes_to;
  const auto all = dealt_.pieces == 0 ? std::int64_t{0} : static_cast<std::int64_t>(slots->all().size()),
             askers = staged ? all : std::min<std::int64_t>(all, 1);
  const std::int64_t parts = round_->host_parts();
  std::atomic<std::int64_t> next_piece = 0, next_part = 0;
  std::atomic<double> card_us = 0, host_us = 0;
  std::atomic<bool> failed = false;
  std::mutex failing;
  std::exception_ptr failure;
  Turns turns;
  HostCopies copies;
  std::atomic<std::int64_t> pieces_left = dealt_.pieces;
  const bool helps = staged && dealt_.pieces > 0;
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&](std::int64_t worker) {
    try {
      if (worker < askers) {
        for (std::int64_t p = next_piece++; p < dealt_.pieces && !failed; p = next_piece++) {
          const std::int64_t slot = staged ? worker : p % all;
          card_piece(p, call, *slots, slots->all()[static_cast<std::size_t>(slot)], turns, copies);
          if (--pieces_left == 0) copies.finish();
        }
        if (!staged) slots->out().wait();
        raise(card_us, us_since(start));
        return;
      }
      std::byte* const own = scratch + static_cast<std::size_t>(worker - askers) * round_->host_bytes();
      for (std::int64_t p = next_part++; p < parts && !failed; p = next_part++)
        round_->host_part(p, call, own);
      if (parts > 0) raise(host_us, us_since(start));
      if (helps) copies.help();
    } catch (...) {
      failed = true;
      copies.finish();
      {
        const std::lock_guard lock(turns.mutex);
        turns.failed = true;
      }
      turns.taken.notify_all();
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::int64_t workers = askers + (parts > 0 || helps ? threads : 0);
  if (pool != nullptr) {
    pool->run(workers, [&](std::int64_t worker, int) { work(worker); });
  } else {
    for (std::int64_t worker = 0; worker < workers; ++worker) work(worker);
  }
  if (failure) {
    // Nothing of the arrays may be in use when the caller hears of it.
    if (slots != nullptr) slots->settle();
    std::rethrow_exception(failure);
  }
  return {us_since(start), card_us, host_us};
}

template class DealtRound<float>;
template class DealtRound<double>;

}  // namespace sfft::detail
