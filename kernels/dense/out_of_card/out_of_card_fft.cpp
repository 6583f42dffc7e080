// SPDX-License-Identifier: Apache-2.0
// Fits streams into the budget, deals both rounds out by the load model, and runs one after the other.
#include "kernels/dense/out_of_card/out_of_card_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/base/error.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"

namespace sfft::detail {

namespace {

/// One to copy in, one to compute, one to copy out.
constexpr int kMostStreams = 3;

CardArray array_of(const Shape& shape) {
  return {shape[0], Shape(shape.extents().subspan(1))};
}

}  // namespace

template <class Real>
bool OutOfCardFft<Real>::takes(const Shape& shape) noexcept {
  return shape.rank() > 1 && shape[0] > 1;
}

template <class Real>
OutOfCardFft<Real>::OutOfCardFft(const Shape& shape, std::unique_ptr<Card<Real>> card,
                                 const OutOfCardOptions& options)
    : card_(std::move(card)), options_(options), pools_(options.threads + (card_ ? kMostStreams : 0)) {
  if (!takes(shape)) {
    throw Error(
        ErrorCode::backend_unavailable,
        fmt::format("a transform of {} does not work out of card: give a shape of two or three dimensions, "
                    "the first above 1",
                    shape.to_string()));
  }
  array_ = array_of(shape);
  if (card_ != nullptr && options.host_share >= 1) card_.reset();
  if (card_ == nullptr) {
    for (int r = 0; r < 2; ++r)
      parts_[static_cast<std::size_t>(r)].round =
          std::make_unique<DealtRound<Real>>(make_round(r, array_), nullptr, 0, 0, 0);
  } else {
    const std::size_t free = card_->free_bytes();
    fit_streams(options.device_memory == 0 ? free / 10 * 9 : std::min(options.device_memory, free));
  }
  assume_profiles();
  std::array<double, 2> shares{options.host_share, options.host_share};
  for (std::size_t r = 0; r < 2 && options.host_share < 0; ++r)
    shares[r] = best_host_share(with_residency(r, residency()), parts_[r].round->limits());
  set_host_shares(shares);
}

template <class Real>
std::unique_ptr<Round<Real>> OutOfCardFft<Real>::make_round(int number, const CardArray& array) const {
  return number == 0 ? make_column_round<Real>(array) : make_slab_round<Real>(array);
}

template <class Real>
void OutOfCardFft<Real>::fit_streams(std::size_t budget) {
  std::size_t least = 0;
  for (int r = 0; r < 2; ++r)
    least = std::max(least, DealtRound<Real>::least_bytes(*make_round(r, array_), *card_));
  if (budget < least) {
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("the transform may use {} bytes of GPU memory and needs at least {}: give a larger "
                    "device_memory, or host_share = 1 for the host alone",
                    budget, least));
  }
  budget_ = budget;
  streams_ = static_cast<int>(std::min<std::size_t>(kMostStreams, budget / least));
  slot_bytes_ = budget / static_cast<std::size_t>(streams_) / 256 * 256;
  for (int r = 0; r < 2; ++r)
    parts_[static_cast<std::size_t>(r)].round = std::make_unique<DealtRound<Real>>(
        make_round(r, array_), card_.get(), slot_bytes_, streams_, options_.least_piece_bytes);
}

/// Rates to begin with, where nothing was measured.
template <class Real>
void OutOfCardFft<Real>::assume_profiles() {
  constexpr double kBusBytesPerUs = 50e3, kCardBytesPerUs = 500e3, kThreadBytesPerUs = 0.8e3;
  for (Part& part : parts_) {
    const double bytes = static_cast<double>(part.round->round().unit_points()) *
                         static_cast<double>(sizeof(std::complex<Real>));
    part.profile = {bytes / kBusBytesPerUs, bytes / kCardBytesPerUs, bytes / kBusBytesPerUs,
                    bytes / (kThreadBytesPerUs * options_.threads)};
  }
}

template <class Real>
std::array<double, 2> OutOfCardFft<Real>::host_shares() const noexcept {
  return {parts_[0].round->host_share(), parts_[1].round->host_share()};
}

template <class Real>
void OutOfCardFft<Real>::set_host_shares(const std::array<double, 2>& shares) {
  for (std::size_t r = 0; r < 2; ++r) parts_[r].round->deal_out(shares[r]);
  plan_residency();
}

template <class Real>
void OutOfCardFft<Real>::plan_residency() {
  resident_ = {};
  const Deal &columns = parts_[0].round->dealt(), &slabs = parts_[1].round->dealt();
  if (columns.pieces == 0 || slabs.pieces == 0) return;
  const std::size_t slots = static_cast<std::size_t>(streams_) *
                            std::max(parts_[0].round->slot_bytes(), parts_[1].round->slot_bytes());
  const std::size_t slab = static_cast<std::size_t>(columns.card_units) * sizeof(std::complex<Real>);
  const std::size_t free = budget_ > slots ? budget_ - slots : 0;
  auto count = static_cast<std::int64_t>(free / slab);
  // Whole pieces of the second round.
  if (count < slabs.card_units) count = count / slabs.piece_units * slabs.piece_units;
  resident_ = {nullptr, std::min(count, slabs.card_units), columns.card_units};
}

template <class Real>
double OutOfCardFft<Real>::residency() const noexcept {
  if (card_ == nullptr) return 0;
  const double array = static_cast<double>(array_.points()) * sizeof(std::complex<Real>);
  const double slots =
      static_cast<double>(streams_) *
      static_cast<double>(std::max(parts_[0].round->slot_bytes(), parts_[1].round->slot_bytes()));
  return std::clamp((static_cast<double>(budget_) - slots) / array, 0.0, 1.0);
}

template <class Real>
RoundProfile OutOfCardFft<Real>::with_residency(std::size_t round, double share) const noexcept {
  RoundProfile profile = parts_[round].profile;
  (round == 0 ? profile.out_us : profile.in_us) *= 1 - share;
  return profile;
}

template <class Real>
std::size_t OutOfCardFft<Real>::workspace_bytes() const noexcept {
  return static_cast<std::size_t>(options_.threads) *
         std::max(parts_[0].round->round().host_bytes(), parts_[1].round->round().host_bytes());
}

template <class Real>
CardSlots<Real>& OutOfCardFft<Real>::slots_for(bool staged) const {
  std::size_t bytes = 0, staging = 0;
  for (const Part& part : parts_) {
    bytes = std::max(bytes, part.round->slot_bytes());
    if (staged) staging = std::max(staging, part.round->piece_bytes());
  }
  if (slots_ == nullptr || !slots_->fits(bytes, staging)) {
    slots_.reset();  // before the new ones are allocated
    kept_.reset();
    kept_bytes_ = 0;
    slots_ = std::make_unique<CardSlots<Real>>(*card_, streams_, bytes, staging);
  }
  const std::size_t kept =
      static_cast<std::size_t>(resident_.slabs * resident_.columns) * sizeof(std::complex<Real>);
  if (kept_bytes_ < kept) {
    kept_.reset();
    kept_bytes_ = 0;
    kept_ = card_->allocate(kept);
    kept_bytes_ = kept;
  }
  return *slots_;
}

template <class Real>
void OutOfCardFft<Real>::transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse,
                                   Real scale, std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  CardSlots<Real>* slots = nullptr;
  bool reads_from = false, reads_to = false;
  if (parts_[0].round->dealt().pieces + parts_[1].round->dealt().pieces > 0) {
    reads_from = card_->reads(from);
    reads_to = card_->reads(to);
    slots = &slots_for(!reads_from || !reads_to);
  }
  auto pool = pools_.take();
  Residency resident = resident_;
  resident.memory = kept_.get();
  std::array<RoundTimes, 2> times;
  try {
    times[0] = parts_[0].round->run({from, to, inverse, Real(1), resident, reads_from, reads_to}, slots,
                                    pool.get(), options_.threads, workspace);
    times[1] = parts_[1].round->run({to, to, inverse, scale, resident, reads_to, reads_to}, slots, pool.get(),
                                    options_.threads, workspace);
  } catch (...) {
    pools_.give_back(std::move(pool));
    throw;
  }
  pools_.give_back(std::move(pool));
  measured_ = times;
}

template <class Real>
void OutOfCardFft<Real>::measure() {
  if (card_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (int r = 0; r < 2; ++r) measure(r);
  plan_residency();
  profiled_ = true;
}

/// On an array of the same columns or slabs, but fewer.
template <class Real>
void OutOfCardFft<Real>::measure(int number) {
  constexpr double kReach = 0.06, kStep = 0.02;
  constexpr std::size_t kMostBytes = std::size_t{4} << 30;
  Part& part = parts_[static_cast<std::size_t>(number)];
  const Round<Real>& round = part.round->round();
  const std::size_t unit_bytes = static_cast<std::size_t>(round.unit_points()) * sizeof(std::complex<Real>);
  // Whole pieces of every stream, so that the measured pipeline is that of the whole array.
  const Deal whole = deal(part.round->limits(), 0);
  std::int64_t units = std::min(round.units(), 4 * streams_ * whole.piece_units);
  units = std::min(
      units, std::max(2 * streams_ * round.grain(), static_cast<std::int64_t>(kMostBytes / unit_bytes)));
  CardArray sample = array_;
  if (number == 0) {
    sample.slab = Shape(units);
  } else {
    sample.slabs = units;
  }
  DealtRound<Real> trial(make_round(number, sample), card_.get(), slot_bytes_, streams_,
                         options_.least_piece_bytes);
  const std::size_t bytes = static_cast<std::size_t>(sample.points()) * sizeof(std::complex<Real>);
  const std::shared_ptr<std::byte> memory = card_->allocate_on_host(bytes);
  std::memset(memory.get(), 0, bytes);
  auto* const values = reinterpret_cast<std::complex<Real>*>(memory.get());
  const double staying = residency();
  auto pool = pools_.take();
  slots_.reset();
  kept_.reset();
  kept_bytes_ = 0;
  const std::shared_ptr<std::byte> kept =
      card_->allocate(static_cast<std::size_t>(staying * static_cast<double>(bytes)));
  /// As much of the sample stays on the card as will of the array.
  const auto call = [&] {
    Residency resident{kept.get(), static_cast<std::int64_t>(staying * static_cast<double>(sample.slabs)),
                       number == 0 ? trial.dealt().card_units : sample.slab_points()};
    const std::int64_t piece = std::max<std::int64_t>(1, trial.dealt().piece_units);
    if (number == 1) resident.slabs = std::min(resident.slabs, trial.dealt().card_units) / piece * piece;
    return RoundCall<Real>{values, values, false, Real(1), resident, true, true};
  };
  const auto run = [&](double share) {
    trial.deal_out(share);
    const auto threads = static_cast<std::size_t>(options_.threads);
    const cpu::LargeBuffer scratch = cpu::make_large_buffer(threads * trial.round().host_bytes() + 64);
    CardSlots<Real> slots(*card_, streams_, trial.slot_bytes(), 0);
    static_cast<void>(trial.run(call(), &slots, pool.get(), options_.threads, scratch.get()));
    return trial.run(call(), &slots, pool.get(), options_.threads, scratch.get()).us;
  };
  {
    trial.deal_out(0);
    CardSlots<Real> slots(*card_, streams_, trial.slot_bytes(), 0);
    part.profile = trial.profile_card({values, values, false, Real(1), {}, true, true}, slots);
  }
  part.profile.host_us = run(1) / static_cast<double>(units);
  const RoundProfile expected = with_residency(static_cast<std::size_t>(number), staying);
  double best = best_host_share(expected, trial.limits()), best_us = 0;
  const double around = best;
  for (double share = around - kReach; share <= around + kReach + kStep / 2; share += kStep) {
    const double tried = std::clamp(share, 0.0, 1.0);
    const double us = run(tried);
    if (best_us != 0 && us >= best_us) continue;
    best = tried;
    best_us = us;
    part.correction = us / predict(expected, trial.limits(), tried).us;
  }
  pools_.give_back(std::move(pool));
  if (options_.host_share < 0) part.round->deal_out(best);
}

template <class Real>
std::array<RoundTimes, 2> OutOfCardFft<Real>::measured() const {
  const std::lock_guard lock(mutex_);
  return measured_.value_or(std::array<RoundTimes, 2>{});
}

template <class Real>
std::array<RoundTimes, 2> OutOfCardFft<Real>::predicted() const {
  std::array<RoundTimes, 2> times;
  // Of the columns, and of the card's slabs, this is not copied between the rounds.
  const auto ratio = [](std::int64_t a, std::int64_t b) {
    return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
  };
  const double kept = ratio(resident_.slabs, array_.slabs);
  const double spared = ratio(resident_.slabs, parts_[1].round->dealt().card_units) *
                        ratio(resident_.columns, array_.slab_points());
  for (std::size_t r = 0; r < 2; ++r) {
    times[r] = predict(with_residency(r, r == 0 ? kept : spared), parts_[r].round->limits(),
                       parts_[r].round->host_share());
    times[r].us *= parts_[r].correction;
  }
  return times;
}

template <class Real>
std::string OutOfCardFft<Real>::name() const {
  if (card_ == nullptr) return "out of card, host alone";
  return fmt::format("out of card, {} and host", card_->name());
}

template <class Real>
std::string OutOfCardFft<Real>::explain() const {
  std::string text = fmt::format("{}: {} slabs of {}, {} threads of the host", name(), array_.slabs,
                                 array_.slab.to_string(), options_.threads);
  if (card_ != nullptr)
    text += fmt::format(", {} streams with up to {} bytes of card memory each", streams_, slot_bytes_);
  if (resident_.slabs > 0)
    text += fmt::format(", {} slabs of {} columns stay on the card between the rounds", resident_.slabs,
                        resident_.columns);
  const std::array<RoundTimes, 2> expected = predicted();
  std::optional<std::array<RoundTimes, 2>> last;
  {
    const std::lock_guard lock(mutex_);
    last = measured_;
  }
  for (std::size_t r = 0; r < 2; ++r) {
    const DealtRound<Real>& round = *parts_[r].round;
    const Deal& dealt = round.dealt();
    const std::int64_t passes = streams_ == 0 ? 0 : (dealt.pieces + streams_ - 1) / streams_;
    text += fmt::format("\nround {}, {}: the host does {:.1f} % of {}", r + 1, round.round().name(),
                        100 * round.host_share(), round.limits().units);
    if (dealt.pieces > 0) {
      text += fmt::format(", the card {} in {} passes of {} streams, {} bytes a piece", dealt.card_units,
                          passes, streams_, round.piece_bytes());
    }
    text += fmt::format("; predicted {:.4g} ms ({})", expected[r].us / 1e3,
                        profiled_ ? "from profiling runs" : "from assumed rates");
    if (last) {
      text += fmt::format(", last measured {:.4g} ms (card {:.4g}, host {:.4g})", (*last)[r].us / 1e3,
                          (*last)[r].card_us / 1e3, (*last)[r].host_us / 1e3);
    }
  }
  return text;
}

template class OutOfCardFft<float>;
template class OutOfCardFft<double>;

}  // namespace sfft::detail
