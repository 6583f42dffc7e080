// SPDX-License-Identifier: Apache-2.0
// Copies in, kernels and copies out of different pieces overlap. One thread of the host asks for all pieces,
// or, where pieces have to be copied to memory that the card reads, one for each slot. The other threads take
// parts of the host's share, and then of those copies.
#include "kernels/dense/out_of_card/dealt_round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/dense/cpu/stored_values.hpp"

namespace sfft::detail {

namespace {

using Clock = std::chrono::steady_clock;

/// Enough for the full speed of the bus: pieces, and rows that lie apart. More would only take memory from
/// what may stay on the card.
constexpr std::size_t kMaxPieceBytes = std::size_t{128} << 20;
constexpr std::size_t kLongRowBytes = std::size_t{8} << 10, kShortRowBytes = std::size_t{4} << 10;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void raise(std::atomic<double>& most, double value) {
  double known = most.load();
  while (known < value && !most.compare_exchange_weak(known, value)) {
  }
}

/// With a buffer in place of the host's arrays, packed.
std::vector<PieceSegment> through(std::vector<PieceSegment> segments, std::byte* staging) {
  for (PieceSegment& segment : segments) {
    if (segment.resident) continue;
    segment.array = segment.array.packed_at(staging);
    staging += segment.array.bytes();
  }
  return segments;
}

/// Copy engines are as fast with rows of 32 KB as without gaps. Beside kernels they lose a third of their
/// rate with rows of 8 and 16 KB, and half of it with 4 KB (H200).
bool is_short(const CardRows& rows) {
  constexpr std::size_t kFullSpeedBytes = std::size_t{32} << 10;
  return rows.rows > 1 && rows.width < std::min(rows.pitch, kFullSpeedBytes);
}
/// Kernels copy words of 16 bytes; shorter ones are slower than engines.
bool has_words(const PieceSegment& segment) {
  const CardRows &card = segment.piece, &host = segment.array;
  const auto place = [](const CardRows& rows) { return reinterpret_cast<std::uintptr_t>(rows.data); };
  return (place(card) | place(host) | card.pitch | host.pitch | host.width) % 16 == 0;
}
bool rows_are_short(const std::vector<PieceSegment>& segments) {
  bool any = false;
  for (const PieceSegment& segment : segments) {
    if (segment.resident) continue;
    if (!has_words(segment)) return false;
    any = any || is_short(segment.array);
  }
  return any;
}
/// A kernel copies short rows in, and short rows out where none come in: two kernels are slower than one
/// beside an engine.
Copier copier_in(const std::vector<PieceSegment>& in) {
  return rows_are_short(in) ? Copier::kernel : Copier::engine;
}
Copier copier_out(const std::vector<PieceSegment>& out, Copier in) {
  return in == Copier::engine ? copier_in(out) : Copier::engine;
}

/// Data and workspace of a piece begin at multiples of 256 bytes.
std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
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

/// The piece before may be leaving the slot.
template <class Real>
void DealtRound<Real>::ask_in(std::vector<PieceSegment> segments, Copier copier, CardSlots<Real>& slots,
                              Slot& slot) const {
  CardStream& stream = slots.in();
  PieceParts parts(std::move(segments));
  stream.follow(*slot.computed);
  for (std::size_t part = 0; part < CardSlots<Real>::kParts; ++part) {
    if (slot.in_place) stream.follow(*slot.left[part]);
    parts.pass(part_end(slot, part), true, [&](const PieceSegment& segment) {
      segment.resident ? stream.copy_within(segment.piece, segment.array)
                       : stream.copy_in(segment.piece, segment.array, copier);
    });
  }
  stream.mark(*slot.filled);
}

template <class Real>
std::byte* DealtRound<Real>::ask_kernels(std::int64_t first, std::int64_t count, const RoundCall<Real>& call,
                                         CardSlots<Real>& slots, Slot& slot) const {
  CardStream& stream = slots.kernels();
  stream.follow(*slot.filled);
  stream.follow(*slot.left.back());
  std::byte* const memory = slot.memory.get();
  std::byte* const results = round_->compute(*card_, count == dealt_.piece_units ? *full_ : *rest_, call,
                                             first, count, memory, memory + aligned(piece_bytes()), stream);
  stream.mark(*slot.computed);
  slot.in_place = results == memory;
  return results;
}

/// Results beside the piece leave as a whole: the next one comes where they are not.
template <class Real>
void DealtRound<Real>::ask_out(std::vector<PieceSegment> segments, Copier copier, CardSlots<Real>& slots,
                               Slot& slot) const {
  CardStream& stream = slots.out();
  stream.follow(*slot.computed);
  const auto copy = [&](const PieceSegment& segment) {
    segment.resident ? stream.copy_within(segment.array, segment.piece)
                     : stream.copy_out(segment.array, segment.piece, copier);
  };
  if (!slot.in_place) {
    for (const PieceSegment& segment : segments) copy(segment);
    stream.mark(*slot.left.back());
    return;
  }
  PieceParts parts(std::move(segments));
  for (std::size_t part = 0; part < CardSlots<Real>::kParts; ++part) {
    parts.pass(part_end(slot, part), false, copy);
    stream.mark(*slot.left[part]);
  }
}

template <class Real>
template <class Ask>
bool DealtRound<Real>::in_turn(std::int64_t piece, Turns& turns, const Ask& ask) {
  {
    std::unique_lock lock(turns.mutex);
    turns.taken.wait(lock, [&] { return turns.next == piece || turns.failed; });
    if (turns.failed) return false;
    ask();
    ++turns.next;
  }
  turns.taken.notify_all();
  return true;
}

template <class Real>
void DealtRound<Real>::card_piece(std::int64_t piece, const RoundCall<Real>& call, CardSlots<Real>& slots,
                                  Slot& slot, Turns& turns, HostCopies& copies) const {
  if (packed_) return packed_piece(piece, call, slots, slot, turns, copies);
  const std::int64_t first = piece * dealt_.piece_units;
  const std::int64_t count = std::min(dealt_.piece_units, dealt_.card_units - first);
  std::vector<PieceSegment> in = round_->segments_in(call, first, count, slot.memory.get());
  if (!call.reads_from) {
    const std::vector<PieceSegment> from = std::exchange(in, through(in, slot.staging.get()));
    copies.to_buffer(buffered(from, false), slot.staging.get(), false);
  }
  std::vector<PieceSegment> to;
  const bool asked = in_turn(piece, turns, [&] {
    const Copier copier = copier_in(in);
    ask_in(std::move(in), copier, slots, slot);
    to = round_->segments_out(call, first, count, ask_kernels(first, count, call, slots, slot));
    const std::vector<PieceSegment> out = call.writes_to ? to : through(to, slot.staging.get());
    ask_out(out, copier_out(out, copier), slots, slot);
  });
  if (!asked || (call.reads_from && call.writes_to)) return;
  slot.left.back()->wait();
  if (!call.writes_to) copies.from_buffer(buffered(to, false), slot.staging.get(), false);
}

template <class Real>
void DealtRound<Real>::packed_piece(std::int64_t piece, const RoundCall<Real>& call, CardSlots<Real>& slots,
                                    Slot& slot, Turns& turns, HostCopies& copies) const {
  const std::int64_t first = piece * dealt_.piece_units;
  const std::int64_t count = std::min(dealt_.piece_units, dealt_.card_units - first);
  std::byte *const packed = packed_in(slot), *const buffer = slot.staging.get();
  const auto all_of = [](const std::vector<BufferedRows>& rows, std::byte* memory) {
    const std::size_t bytes = rows.empty() ? 0 : rows.back().end();
    return CardRows{memory, bytes, bytes, bytes > 0 ? std::size_t{1} : 0};
  };
  const std::vector<PieceSegment> in = round_->segments_in(call, first, count, slot.memory.get());
  const std::vector<BufferedRows> from = buffered(in, true);
  copies.to_buffer(from, buffer, true);
  std::vector<BufferedRows> to;
  const bool asked = in_turn(piece, turns, [&] {
    slots.in().follow(*slot.left.back());
    for (const PieceSegment& segment : in)
      if (segment.resident) slots.in().copy_within(segment.piece, segment.array);
    if (!from.empty()) slots.in().copy_in(all_of(from, packed), all_of(from, buffer), Copier::engine);
    slots.in().mark(*slot.filled);
    CardStream& kernels = slots.kernels();
    kernels.follow(*slot.filled);
    for (const BufferedRows& rows : from) card_->unpack(packed + rows.offset, rows.piece, kernels);
    std::byte* const memory = slot.memory.get();
    const CardKernel<Real>& kernel = count == dealt_.piece_units ? *full_ : *rest_;
    std::byte* const results =
        round_->compute(*card_, kernel, call, first, count, memory, memory + aligned(piece_bytes()), kernels);
    const std::vector<PieceSegment> out = round_->segments_out(call, first, count, results);
    to = buffered(out, true);
    for (const BufferedRows& rows : to) card_->pack(rows.piece, packed + rows.offset, kernels);
    kernels.mark(*slot.computed);
    slot.in_place = false;
    slots.out().follow(*slot.computed);
    for (const PieceSegment& segment : out)
      if (segment.resident) slots.out().copy_within(segment.array, segment.piece);
    if (!to.empty()) slots.out().copy_out(all_of(to, buffer), all_of(to, packed), Copier::engine);
    slots.out().mark(*slot.left.back());
  });
  if (!asked) return;
  slot.left.back()->wait();
  copies.from_buffer(to, buffer, true);
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
  const auto start = Clock::now();
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

template <class Real>
RoundProfile DealtRound<Real>::profile_card(const RoundCall<Real>& call, CardSlots<Real>& slots) const {
  if (dealt_.pieces == 0) return {};
  std::byte* const memory = slots.all().front().memory.get();
  // Among consecutive pieces, one in the middle has results of its own that leave, and others'.
  const std::int64_t count = dealt_.piece_units,
                     first = round_->ordered() ? (dealt_.pieces - 1) / 2 * dealt_.piece_units : 0;
  const auto units = static_cast<double>(count);
  const auto timed = [&](CardStream& stream, const auto& step) {
    step(stream);  // the first time pays for what is set up late
    stream.wait();
    const auto start = Clock::now();
    step(stream);
    stream.wait();
    return us_since(start) / units;
  };
  RoundProfile profile;
  std::byte* results = nullptr;
  if (packed_) {
    // The buffers of slots are where values are packed.
    const std::size_t bytes = aligned(
        storage_bytes(dense::Storage::block16, static_cast<std::int64_t>(piece_bytes() / sizeof(float))));
    Slot& slot = slots.all().front();
    const std::size_t bus_bytes = std::min(bytes, staging_bytes());
    const CardRows card{packed_in(slot), bus_bytes, bus_bytes, 1},
        host{slot.staging.get(), bus_bytes, bus_bytes, 1};
    profile.in_us =
        timed(slots.in(), [&](CardStream& stream) { stream.copy_in(card, host, Copier::engine); });
    profile.out_us =
        timed(slots.out(), [&](CardStream& stream) { stream.copy_out(host, card, Copier::engine); });
    profile.kernel_us = timed(slots.kernels(), [&](CardStream& stream) {
      round_->compute(*card_, *full_, call, first, count, memory, memory + aligned(piece_bytes()), stream);
    });
    return profile;
  }
  const std::vector<PieceSegment> in = round_->segments_in(call, first, count, memory);
  const Copier copier = copier_in(in);
  profile.in_us = timed(slots.in(), [&](CardStream& stream) {
    for (const PieceSegment& segment : in) stream.copy_in(segment.piece, segment.array, copier);
  });
  profile.kernel_us = timed(slots.kernels(), [&](CardStream& stream) {
    results =
        round_->compute(*card_, *full_, call, first, count, memory, memory + aligned(piece_bytes()), stream);
  });
  const std::vector<PieceSegment> out = round_->segments_out(call, first, count, results);
  profile.out_us = timed(slots.out(), [&](CardStream& stream) {
    for (const PieceSegment& segment : out)
      segment.resident ? stream.copy_within(segment.array, segment.piece)
                       : stream.copy_out(segment.array, segment.piece, copier_out(out, copier));
  });
  return profile;
}

template class DealtRound<float>;
template class DealtRound<double>;

}  // namespace sfft::detail
