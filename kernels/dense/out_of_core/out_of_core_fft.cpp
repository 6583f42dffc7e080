// SPDX-License-Identifier: Apache-2.0
// Fits the streams into the budget and runs the rounds one after another.
#include "kernels/dense/out_of_core/out_of_core_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstring>
#include <set>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/trace.hpp"

namespace sfft::detail {

namespace {

/// One piece is copied in, one computed and one copied out.
constexpr int kMaxStreams = 3;

}  // namespace

BudgetError::BudgetError(std::int64_t budget, std::int64_t min)
    : Error(ErrorCode::out_of_memory,
            fmt::format("the transform may use {} bytes of GPU memory and needs at least {}: give a larger "
                        "device_memory, or host_share = 1 for the host alone",
                        budget, min)),
      budget_(budget),
      min_(min) {}

OutOfCoreFft::OutOfCoreFft(const OutOfCoreGrid& grid, std::int64_t value_bytes, OutOfCoreDevices devices,
                           const OutOfCoreOptions& options)
    : grid_(grid),
      value_bytes_(value_bytes),
      devices_(options.host_share >= 1 ? OutOfCoreDevices{} : std::move(devices)),
      options_(options),
      pools_(call_threads()) {
  std::int64_t free = 0;
  for (const auto& device : devices_)
    free = free == 0 ? device->free_bytes() : std::min(free, device->free_bytes());
  plan_steps(options.device_memory == 0 ? free / 10 * 9 : std::min(options.device_memory, free));
  assume_profiles();
  pairs_ = {find_pair(false), find_pair(true)};
  set_host_shares(std::vector<double>(parts_.size(), std::max(0.0, options.host_share)));
  if (options.host_share < 0) choose_shares();
}

void OutOfCoreFft::plan_steps(std::int64_t budget) {
  // If the caller gives the host a share, the host also transposes.
  if (!devices_.empty() && options_.host_share <= 0) {
    try {
      return plan_steps(budget, true);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      parts_.clear();
      exchanged_bytes_ = 0;
    }
  }
  plan_steps(budget, false);
}

/// FFTs of columns into another array move one and a half times as many bytes through the host's memory, so
/// out-of-place calls get separate shares.
void OutOfCoreFft::split_first(std::vector<Step>& steps) const {
  if (options_.in_place || grid_.real() || grid_.real_line) return;
  if (steps[0].kind != Step::Kind::columns || steps[0].calls != Step::Calls::all) return;
  steps.insert(steps.begin(), steps[0]);
  steps[0].calls = Step::Calls::apart;
  steps[1].calls = Step::Calls::in_place;
}

void OutOfCoreFft::plan_steps(std::int64_t budget, bool exchanges) {
  GroupingLimits limits;
  limits.exchanges = exchanges;
  limits.longest_line = options_.longest_line;
  limits.in_place = options_.in_place;
  const auto min_bytes = [&](const Step& step) {
    return PartitionedRound::min_bytes(*make_round(step, value_bytes_), *devices_[0], options_.packed);
  };
  // The minimum bytes of each step that was tried, so that the error can say how much would suffice.
  std::set<std::int64_t> needed;
  std::int64_t assumed = budget;
  if (!devices_.empty()) {
    limits.fits = [&](const Step& step) {
      try {
        const std::int64_t min = min_bytes(step);
        needed.insert(min);
        return min <= assumed;
      } catch (const Error& error) {  // even the smallest piece's plan exceeds all free memory
        if (error.code() != ErrorCode::out_of_memory) throw;
        return false;
      }
    };
  }
  std::vector<Step> steps;
  while (steps.empty()) {
    try {
      steps = group_steps(grid_, limits);
    } catch (const Error& error) {
      const auto more = needed.upper_bound(assumed);
      if (error.code() != ErrorCode::out_of_memory || more == needed.end()) throw;
      assumed = *more;
    }
  }
  if (assumed > budget) throw BudgetError(budget, assumed);
  if (!devices_.empty()) split_first(steps);
  if (grid_.real())
    std::rotate(steps.begin(), steps.end() - 1, steps.end());  // in the order of forward calls
  std::int64_t min = 1;
  for (const Step& step : steps) {
    parts_.push_back({step, nullptr, nullptr, {}});
    if (step.kind == Step::Kind::transposition) {
      const Shape& elements = step.array.slab;
      parts_.back().transposition =
          std::make_unique<const Transposition>(step.array.slabs, elements[0], elements[1], value_bytes_);
    } else if (!devices_.empty()) {
      min = std::max(min, min_bytes(step));
    }
  }
  if (devices_.empty()) {
    make_rounds();
    return;
  }
  budget_ = budget;
  const auto with_streams = [&](int streams) {
    streams_ = streams;
    return make_rounds();
  };
  auto streams = static_cast<int>(std::min<std::int64_t>(kMaxStreams, budget / min));
  bool fast = false;
  for (bool fits = false; !fits; streams -= fits ? 0 : 1) {
    try {
      fast = with_streams(streams);
      fits = true;
    } catch (const Error& error) {  // too little is left after what an in-place round keeps
      if (error.code() != ErrorCode::out_of_memory || streams == 1) throw;
    }
  }
  if (fast || streams < kMaxStreams) return;
  // Two streams overlap nearly as well as three, and their pieces have longer rows.
  if (!with_streams(streams - 1)) with_streams(streams);
}

bool OutOfCoreFft::make_rounds() {
  bool fast = true;
  const auto make = [&](Part& part) {
    part.round = std::make_unique<PartitionedRound>(make_round(part.step, value_bytes_), devices_,
                                                    slot_budget(part.step.kind), streams_, options_);
    fast = fast && part.round->copies_fast();
  };
  exchanged_bytes_ = 0;
  for (Part& part : parts_) {
    if (part.step.kind != Step::Kind::exchanged) continue;
    make(part);
    exchanged_bytes_ = std::max(exchanged_bytes_, part.round->kept_bytes());
  }
  for (Part& part : parts_)
    if (part.step.kind != Step::Kind::exchanged && part.transposition == nullptr) make(part);
  return fast;
}

/// All rounds share the memory of the streams. What a transposing in-place round keeps is in addition to
/// that.
std::int64_t OutOfCoreFft::slot_budget(Step::Kind kind) const noexcept {
  if (devices_.empty()) return 0;
  const std::int64_t kept = kind == Step::Kind::exchanged ? 0 : exchanged_bytes_;
  return (budget_ - kept) / streams_ / 256 * 256;
}

bool OutOfCoreFft::uses_device() const noexcept {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.round != nullptr && part.round->partition().pieces > 0;
  });
}

std::vector<std::size_t> OutOfCoreFft::order(bool in_place, bool inverse) const {
  std::vector<std::size_t> steps;
  for (std::size_t r = 0; r < parts_.size(); ++r)
    if (parts_[r].step.taken(in_place)) steps.push_back(r);
  // Forward calls transform the rows to half spectra first; inverse calls transform them back last.
  if (grid_.real() && inverse) std::rotate(steps.begin(), steps.begin() + 1, steps.end());
  return steps;
}

int OutOfCoreFft::call_threads() const noexcept {
  return options_.threads + kMaxStreams * static_cast<int>(devices_.size());
}

std::int64_t OutOfCoreFft::workspace_bytes() const noexcept {
  std::int64_t one = 0;
  for (const Part& part : parts_)
    one = std::max(
        one, part.round != nullptr ? part.round->round().host_bytes() : part.transposition->scratch_bytes());
  return call_threads() * one;
}

std::vector<DeviceShare> OutOfCoreFft::shares_for(Call& call) const {
  if (!uses_device()) return {};
  const std::int64_t array = bytes(grid_.points()), sample = value_bytes_ / 2;
  const std::int64_t samples = ((grid_.rows() - 1) * grid_.real_pitch + grid_.row_points()) * sample;
  const bool from_samples = grid_.real() && !call.inverse, to_samples = grid_.real() && call.inverse;
  const auto read = [&](const std::byte* values, std::int64_t size) {
    return std::all_of(devices_.begin(), devices_.end(),
                       [&](const auto& device) { return device->reads(values, size); });
  };
  call.reads_from = read(call.from, from_samples ? samples : array);
  call.reads_to = read(call.to, to_samples ? samples : array);
  call.reads_between = call.between == call.to ? call.reads_to : read(call.between, array);
  const bool staged = options_.packed || !call.reads_from || !call.reads_to || !call.reads_between;
  std::int64_t slot = 0, staging = 0;
  for (const Part& part : parts_) {
    if (part.round == nullptr) continue;
    slot = std::max(slot, part.round->slot_bytes());
    if (staged) staging = std::max(staging, part.round->staging_bytes());
  }
  // Old memory is freed before new memory is allocated.
  if (slots_.size() < devices_.size() || !slots_[0]->fits(slot, staging)) {
    free_device_memory();
    for (const auto& device : devices_)
      slots_.push_back(std::make_unique<DeviceSlots>(*device, streams_, slot, staging));
  }
  std::int64_t kept = exchanged_bytes_;
  for (const std::size_t calls : {0, 1}) {
    for (const Residency& resident : resident_[calls]) {
      if (resident.slabs == 0) continue;
      const Part& slabs = parts_[static_cast<std::size_t>(pairs_[calls].slabs)];
      kept = std::max(kept, slabs.round->kept_bytes(resident));
    }
  }
  if (kept_.size() < devices_.size() || kept_bytes_ < kept) {
    kept_.clear();
    for (const auto& device : devices_) kept_.push_back(kept > 0 ? device->allocate(kept) : nullptr);
    kept_bytes_ = kept;
  }
  std::vector<DeviceShare> shares;
  for (std::size_t c = 0; c < devices_.size(); ++c)
    shares.push_back({slots_[c].get(), kept_[c].get(), {}, {}});
  return shares;
}

void OutOfCoreFft::free_device_memory() const {
  slots_.clear();
  kept_.clear();
  kept_bytes_ = 0;
}

void OutOfCoreFft::prepare(void* array) const {
  const std::lock_guard lock(mutex_);
  auto* const values = static_cast<std::byte*>(array);
  Call call{values, values, false, values};
  static_cast<void>(shares_for(call));
}

void OutOfCoreFft::release() const {
  const std::lock_guard lock(mutex_);
  free_device_memory();
}

double OutOfCoreFft::transpose(const Transposition& transposition, std::byte* matrix, cpu::ThreadPool* pool,
                               std::byte* workspace) {
  const auto start = std::chrono::steady_clock::now();
  for (int pass = 0; pass < transposition.passes(); ++pass)
    over_parts({workspace, pool}, static_cast<std::size_t>(transposition.scratch_bytes()),
               transposition.parts(pass),
               [&](std::int64_t p, std::byte* own) { transposition.part(pass, p, matrix, own); });
  return us_since(start);
}

/// Runs all repeats of one step.
RoundTimes OutOfCoreFft::run(const Part& part, const RoundCall& call, const std::vector<DeviceShare>& shares,
                             cpu::ThreadPool* pool, std::byte* workspace) const {
  RoundTimes times;
  for (std::int64_t r = 0; r < part.step.repeats; ++r) {
    const TraceRange range("out of core: round");
    const std::int64_t at = bytes(r * part.step.stride);
    if (part.round != nullptr) {
      RoundCall repeat = call;
      repeat.from += at;
      repeat.to += at;
      const RoundTimes one = part.round->run(repeat, shares, pool, workspace);
      times.us += one.us;
      times.device_us += one.device_us;
      times.host_us += one.host_us;
      continue;
    }
    times.us += transpose(*part.transposition, call.to + at, pool, workspace);
    times.host_us = times.us;
  }
  return times;
}

void OutOfCoreFft::transform(const void* from, void* to, bool inverse, double scale, std::byte* workspace,
                             void* between) const {
  const std::lock_guard lock(mutex_);
  if (value_bytes_ == sizeof(std::complex<float>)) scale = static_cast<float>(scale);
  Call call{static_cast<const std::byte*>(from), static_cast<std::byte*>(to), inverse,
            static_cast<std::byte*>(between != nullptr ? between : to)};
  std::vector<DeviceShare> shares = shares_for(call);
  const std::size_t calls = from == to ? 1 : 0;
  auto pool = pools_.take();
  std::vector<RoundTimes> times(parts_.size());
  std::vector<double> buffered(parts_.size());
  try {
    const std::vector<std::size_t> steps = order(from == to, inverse);
    for (const std::size_t r : steps) {
      const bool first = r == steps.front(), last = r == steps.back();
      RoundCall round{first ? call.from : call.between, last ? call.to : call.between, inverse,
                      last ? scale : 1};
      round.reads_from = first ? call.reads_from : call.reads_between;
      round.writes_to = last ? call.reads_to : call.reads_between;
      buffered[r] = options_.packed ? 1 : (round.reads_from ? 0 : 0.5) + (round.writes_to ? 0 : 0.5);
      for (std::size_t c = 0; c < shares.size(); ++c) {
        shares[c].left = shares[c].found = {};
        if (pairs_[calls].has(r)) (first ? shares[c].left : shares[c].found) = resident_[calls][c];
      }
      times[r] = run(parts_[r], round, shares, pool.get(), workspace);
    }
  } catch (...) {
    pools_.give_back(std::move(pool));
    throw;
  }
  pools_.give_back(std::move(pool));
  measured_ = std::move(times);
  buffered_ = std::move(buffered);
  measured_in_place_ = from == to;
}

}  // namespace sfft::detail
