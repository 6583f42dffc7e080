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
          std::make_unique<DealtRound<Real>>(make_round(r, array_), nullptr, 0, 0);
  } else {
    const std::size_t free = card_->free_bytes();
    fit_streams(options.device_memory == 0 ? free / 10 * 9 : std::min(options.device_memory, free));
  }
  assume_profiles();
  std::array<double, 2> shares{options.host_share, options.host_share};
  for (std::size_t r = 0; r < 2 && options.host_share < 0; ++r)
    shares[r] = best_host_share(parts_[r].profile, parts_[r].round->limits());
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
  streams_ = static_cast<int>(std::min<std::size_t>(kMostStreams, budget / least));
  slot_bytes_ = budget / static_cast<std::size_t>(streams_) / 256 * 256;
  for (int r = 0; r < 2; ++r)
    parts_[static_cast<std::size_t>(r)].round =
        std::make_unique<DealtRound<Real>>(make_round(r, array_), card_.get(), slot_bytes_, streams_);
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
    slots_ = std::make_unique<CardSlots<Real>>(*card_, streams_, bytes, staging);
  }
  return *slots_;
}

template <class Real>
void OutOfCardFft<Real>::transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse,
                                   Real scale, std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  CardSlots<Real>* slots = nullptr;
  if (parts_[0].round->dealt().pieces + parts_[1].round->dealt().pieces > 0)
    slots = &slots_for(!card_->reads(from) || !card_->reads(to));
  auto pool = pools_.take();
  std::array<RoundTimes, 2> times;
  try {
    times[0] =
        parts_[0].round->run({from, to, inverse, Real(1)}, slots, pool.get(), options_.threads, workspace);
    times[1] = parts_[1].round->run({to, to, inverse, scale}, slots, pool.get(), options_.threads, workspace);
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
  DealtRound<Real> trial(make_round(number, sample), card_.get(), slot_bytes_, streams_);
  const std::size_t bytes = static_cast<std::size_t>(sample.points()) * sizeof(std::complex<Real>);
  const std::shared_ptr<std::byte> memory = card_->allocate_on_host(bytes);
  std::memset(memory.get(), 0, bytes);
  auto* const values = reinterpret_cast<std::complex<Real>*>(memory.get());
  const RoundCall<Real> call{values, values, false, Real(1)};
  auto pool = pools_.take();
  const auto run = [&](double share) {
    trial.deal_out(share);
    const auto threads = static_cast<std::size_t>(options_.threads);
    const cpu::LargeBuffer scratch = cpu::make_large_buffer(threads * trial.round().host_bytes() + 64);
    slots_.reset();
    CardSlots<Real> slots(*card_, streams_, trial.slot_bytes(), 0);
    static_cast<void>(trial.run(call, &slots, pool.get(), options_.threads, scratch.get()));
    return trial.run(call, &slots, pool.get(), options_.threads, scratch.get()).us;
  };
  {
    trial.deal_out(0);
    slots_.reset();
    CardSlots<Real> slots(*card_, streams_, trial.slot_bytes(), 0);
    part.profile = trial.profile_card(call, slots);
  }
  part.profile.host_us = run(1) / static_cast<double>(units);
  double best = best_host_share(part.profile, trial.limits()), best_us = 0;
  const double around = best;
  for (double share = around - kReach; share <= around + kReach + kStep / 2; share += kStep) {
    const double tried = std::clamp(share, 0.0, 1.0);
    const double us = run(tried);
    if (best_us != 0 && us >= best_us) continue;
    best = tried;
    best_us = us;
    part.correction = us / predict(part.profile, trial.limits(), tried).us;
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
  for (std::size_t r = 0; r < 2; ++r) {
    times[r] = predict(parts_[r].profile, parts_[r].round->limits(), parts_[r].round->host_share());
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
