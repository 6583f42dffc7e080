// SPDX-License-Identifier: Apache-2.0
// Half spectra have one value more per row than pairs of samples. The transform of pairs in half spectra
// therefore skips a value after each row; that of pairs in signals without gaps does not.
#include "kernels/dense/out_of_core/real_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// Holds the threads of a pool for the duration of a call.
class TakenPool {
 public:
  explicit TakenPool(cpu::PoolCache& cache) : cache_(cache), pool_(cache.take()) {}
  ~TakenPool() { cache_.give_back(std::move(pool_)); }
  TakenPool(const TakenPool&) = delete;
  TakenPool& operator=(const TakenPool&) = delete;
  cpu::ThreadPool* get() const noexcept { return pool_.get(); }

 private:
  cpu::PoolCache& cache_;
  std::unique_ptr<cpu::ThreadPool> pool_;
};

Shape with_row(const Shape& shape, std::int64_t row) {
  std::array<std::int64_t, 3> extents{};
  std::ranges::copy(shape.extents(), extents.begin());
  extents[static_cast<std::size_t>(shape.rank() - 1)] = row;
  return Shape(std::span<const std::int64_t>(extents).first(static_cast<std::size_t>(shape.rank())));
}

/// Runs a host pass and returns its time in microseconds.
template <class Pass>
double timed(const Pass& pass) {
  const auto start = std::chrono::steady_clock::now();
  pass();
  return us_since(start);
}

/// Times of a pass, the rounds of a transform, and another pass.
std::vector<RoundTimes> with_passes(double before, std::vector<RoundTimes> rounds, double after) {
  rounds.insert(rounds.begin(), RoundTimes{before, 0, before});
  rounds.push_back({after, 0, after});
  return rounds;
}

std::string said(const char* direction, double before, double after) {
  return fmt::format(", the last {} call's measured {:.4g} and {:.4g} ms", direction, before / 1e3,
                     after / 1e3);
}

bool is_lone_line(const Shape& shape, std::int64_t batch) {
  constexpr std::int64_t kManyLines = 16;
  return shape.points() == shape[shape.rank() - 1] && batch < kManyLines;
}

template <class Real>
cpu::LargeArray<std::complex<Real>> large_array(std::int64_t points) {
  try {
    return cpu::LargeArray<std::complex<Real>>(static_cast<std::size_t>(points));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("real rows of odd length need another array of {} complex values here: give rows "
                            "of even length, which need none",
                            points));
  }
}

/// Calls make(). A budget that is too small is not an error yet: sets `budget` and returns the minimum that
/// works, or 0 on success.
template <class Make>
std::int64_t refused(const Make& make, std::int64_t& budget) {
  try {
    make();
    return 0;
  } catch (const BudgetError& error) {
    budget = error.budget_bytes();
    return error.min_bytes();
  }
}

}  // namespace

template <class Real>
OutOfCoreRealFft<Real>::OutOfCoreRealFft(const Shape& shape, std::int64_t batch, std::int64_t pitch,
                                         const OutOfCoreDevices& devices, const OutOfCoreOptions& options)
    : shape_(shape),
      batch_(batch),
      pitch_(pitch),
      row_(shape[shape.rank() - 1]),
      threads_(options.threads),
      passes_(shape, batch, pitch),
      whole_points_(batch * shape.points()),
      pools_(options.threads) {
  plan(devices, options);
  assume_passes();
}

template <class Real>
void OutOfCoreRealFft<Real>::plan(const OutOfCoreDevices& devices, OutOfCoreOptions options) {
  options.in_place = true;
  const Shape pairs = even() ? with_row(shape_, row_ / 2) : shape_;
  const bool alone = passes_.rows() == 1;
  std::int64_t budget = 0, rows = 0, divided = 0, tight = 0;
  rows = refused([&] { plan_rows(devices, options); }, budget);
  if (rows_ == nullptr) {
    try {
      divided = refused(
          [&] {
            const OutOfCoreGrid grid = even() ? OutOfCoreGrid(pairs, batch_, row_ / 2 + (alone ? 0 : 1))
                                              : OutOfCoreGrid(shape_, batch_);
            divided_ = std::make_unique<Fft>(grid, sizeof(Value), devices, options);
          },
          budget);
    } catch (const Error&) {
      if (rows == 0) throw;
    }
  }
  if (divided_ != nullptr && alone && even()) plan_line(devices, options);
  const bool several = rows_ == nullptr ? !alone : rows_->steps() > 1;
  if (even() && several && !padded())
    tight = refused(
        [&] {
          tight_ = std::make_unique<Fft>(OutOfCoreGrid(pairs, batch_), sizeof(Value), devices, options);
        },
        budget);
  std::int64_t min = tight;
  if (rows_ == nullptr && divided_ == nullptr)
    min = std::max(tight, rows == 0 || divided == 0 ? rows + divided : std::min(rows, divided));
  if (min > 0) throw BudgetError(budget, min);
}

/// Leaves rows_ null for fewer than 16 lines, which are faster divided, and for lines that have to be
/// divided.
template <class Real>
void OutOfCoreRealFft<Real>::plan_rows(const OutOfCoreDevices& devices, const OutOfCoreOptions& options) {
  if (row_ == 1 || is_lone_line(shape_, batch_)) return;
  try {
    rows_ = std::make_unique<Fft>(OutOfCoreGrid::of_real(shape_, batch_, pitch_), sizeof(Value), devices,
                                  options);
  } catch (const BudgetError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::backend_unavailable && error.code() != ErrorCode::out_of_memory) throw;
  }
}

/// Makes the plan if it fits; otherwise out-of-place calls run like in-place ones.
template <class Real>
void OutOfCoreRealFft<Real>::plan_line(const OutOfCoreDevices& devices, const OutOfCoreOptions& options) {
  try {
    line_ = std::make_unique<Fft>(OutOfCoreGrid::of_real_line(row_ / 2), sizeof(Value), devices, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::backend_unavailable && error.code() != ErrorCode::out_of_memory) throw;
  }
}

template <class Real>
std::int64_t OutOfCoreRealFft<Real>::workspace_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const Fft* fft : plans())
    if (fft != nullptr) bytes = std::max(bytes, fft->workspace_bytes());
  return bytes;
}

/// Assumed rates of the bytes that a pass reads and writes, until the plan is measured.
template <class Real>
void OutOfCoreRealFft<Real>::assume_passes() {
  constexpr double kThreadBytesPerUs = 4e3;
  if (rows_ != nullptr) return;
  const auto samples = static_cast<double>(whole_points_) * sizeof(Real);
  const double rate = kThreadBytesPerUs * threads_;
  if (even()) {
    expected_ = {padded() ? 0 : 2 * samples / rate, 2 * samples / rate};
  } else {
    expected_ = {3 * samples / rate, 2 * samples / rate};
  }
}

/// Times both passes of a forward call on fewer rows, or on a shorter row if there is only one.
template <class Real>
void OutOfCoreRealFft<Real>::measure_passes() {
  constexpr std::int64_t kMaxSamples = 1 << 24;
  const std::int64_t row = row_, gap = pitch_ - row, n = std::min(row, kMaxSamples + row % 2),
                     rows = std::min(passes_.rows(), std::max<std::int64_t>(1, kMaxSamples / n));
  // Rows of one-dimensional signals are their own opposites.
  const bool lines = shape_.rank() == 1;
  const RealPasses<Real> sample(lines ? Shape(n) : Shape({rows, n}), lines ? rows : 1, n + gap);
  const std::int64_t values = even() ? rows * (n / 2 + 1) : rows * n;
  cpu::LargeArray<std::complex<Real>> spectra(static_cast<std::size_t>(values)),
      whole(static_cast<std::size_t>(values));
  auto* const signals = reinterpret_cast<Real*>(padded() ? spectra.begin() : whole.begin());
  std::memset(static_cast<void*>(spectra.begin()), 0, static_cast<std::size_t>(values) * sizeof(Value));
  std::memset(static_cast<void*>(whole.begin()), 0, static_cast<std::size_t>(values) * sizeof(Value));
  const TakenPool pool(pools_);
  PassTimes times;
  for (int run = 0; run < 2; ++run) {  // the second run counts
    if (even()) {
      times = {timed([&] { sample.spread(signals, spectra.begin(), pool.get()); }),
               timed([&] { sample.unpack_real(spectra.begin(), 1, pool.get()); })};
    } else {
      times = {timed([&] { sample.widen(signals, spectra.begin(), pool.get()); }),
               timed([&] { sample.halve(spectra.begin(), whole.begin(), 1, pool.get()); })};
    }
  }
  const double larger = static_cast<double>(whole_points_) / static_cast<double>(rows * n);
  expected_ = {times.before * larger, times.after * larger};
  profiled_ = true;
}

template <class Real>
void OutOfCoreRealFft<Real>::release_others(const Fft& fft) const {
  for (const Fft* other : plans())
    if (other != nullptr && other != &fft) other->release();
}

template <class Real>
void OutOfCoreRealFft<Real>::forward(const void* signals, void* results, double scale,
                                     std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  auto* const spectra = static_cast<Value*>(results);
  const Fft* const direct = rows_ != nullptr ? rows_.get() : signals == results ? nullptr : line_.get();
  release_others(direct != nullptr ? *direct : *divided_);
  if (direct != nullptr) {
    direct->transform(signals, spectra, false, scale, workspace);
    measured_ = direct->measured();
    last_.clear();
    return;
  }
  const TakenPool pool(pools_);
  const auto* const from = static_cast<const Real*>(signals);
  PassTimes times;
  if (even()) {
    divided_->prepare(spectra);
    times.before = timed([&] { passes_.spread(from, spectra, pool.get()); });
    divided_->transform(spectra, spectra, false, 1, workspace);
    times.after = timed([&] { passes_.unpack_real(spectra, static_cast<Real>(scale), pool.get()); });
  } else {
    auto whole = large_array<Real>(whole_points_);
    times.before = timed([&] { passes_.widen(from, whole.begin(), pool.get()); });
    divided_->transform(whole.begin(), whole.begin(), false, 1, workspace);
    times.after = timed([&] { passes_.halve(whole.begin(), spectra, static_cast<Real>(scale), pool.get()); });
  }
  measured_ = with_passes(times.before, divided_->measured(), times.after);
  last_ = said("forward", times.before, times.after);
}

template <class Real>
void OutOfCoreRealFft<Real>::inverse(const void* from, void* signals, double scale,
                                     std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  const auto* const spectra = static_cast<const Value*>(from);
  auto* const to = static_cast<Value*>(signals);
  const bool direct = tight_ == nullptr && (rows_ != nullptr || (line_ != nullptr && spectra != to));
  const Fft& fft = direct ? first() : tight_ != nullptr ? *tight_ : *divided_;
  release_others(fft);
  if (direct) {
    cpu::LargeArray<std::complex<Real>> between;
    if (rows_ != nullptr && rows_->steps() > 1 && !padded())
      between = large_array<Real>(rows_->grid().points());
    fft.transform(spectra, to, true, scale, workspace, between.begin());
    measured_ = fft.measured();
    last_.clear();
    return;
  }
  const TakenPool pool(pools_);
  PassTimes times;
  if (even()) {
    fft.prepare(to);
    times.before = timed([&] { passes_.pack_real(spectra, to, fft.grid().row_pitch, pool.get()); });
    fft.transform(to, to, true, scale, workspace);
  } else {
    auto whole = large_array<Real>(whole_points_);
    times.before = timed([&] { passes_.mirror(spectra, whole.begin(), pool.get()); });
    fft.transform(whole.begin(), whole.begin(), true, scale, workspace);
    times.after = timed([&] { passes_.narrow(whole.begin(), static_cast<Real*>(signals), pool.get()); });
  }
  measured_ = with_passes(times.before, fft.measured(), times.after);
  last_ = said("inverse", times.before, times.after);
}

template <class Real>
void OutOfCoreRealFft<Real>::measure() {
  if (rows_ == nullptr) measure_passes();
  Fft& fft = rows_ != nullptr ? *rows_ : line_ != nullptr ? *line_ : *divided_;
  fft.measure();
  set_host_shares(fft.host_shares());
}

template <class Real>
std::vector<RoundTimes> OutOfCoreRealFft<Real>::measured() const {
  const std::lock_guard lock(mutex_);
  return measured_;
}

template <class Real>
std::vector<RoundTimes> OutOfCoreRealFft<Real>::predicted() const {
  if (rows_ != nullptr || line_ != nullptr) return first().predicted();
  return with_passes(expected_.before, divided_->predicted(), expected_.after);
}

template <class Real>
void OutOfCoreRealFft<Real>::set_host_shares(const std::vector<double>& shares) {
  (rows_ != nullptr ? rows_ : line_ != nullptr ? line_ : divided_)->set_host_shares(shares);
  // The other plan has a transposition between the two steps.
  if (line_ != nullptr && shares.size() == 2) divided_->set_host_shares({shares[0], 1, shares[1]});
  if (tight_ == nullptr) return;
  std::vector<double> of_tight = shares;
  // The rows of `tight_` come last.
  if (rows_ != nullptr && !shares.empty())
    std::rotate(of_tight.begin(), of_tight.begin() + 1, of_tight.end());
  tight_->set_host_shares(of_tight);
}

template <class Real>
std::string OutOfCoreRealFft<Real>::explain() const {
  std::string text = first().explain();
  if (line_ != nullptr) text += "\nin place: " + divided_->explain();
  if (rows_ == nullptr) {
    text += even()
                ? "\nreal rows are transformed as pairs of samples, between two passes of the host"
                : "\nreal rows of odd length are transformed as complex ones, in a separate array, between "
                  "two passes of the host";
    text += fmt::format("; a forward call's are predicted {:.4g} and {:.4g} ms ({})", expected_.before / 1e3,
                        expected_.after / 1e3, profiled_ ? "from profiling runs" : "from assumed rates");
  } else {
    text += "\nreal rows are transformed in the first round of forward calls and the last of inverse ones";
    if (tight_ != nullptr) {
      text += "; inverse calls transform pairs of samples, after a pass of the host";
    } else if (rows_->steps() > 1 && !padded()) {
      text += "; inverse calls need another array for half spectra";
    }
  }
  const std::lock_guard lock(mutex_);
  return text + last_;
}

template class OutOfCoreRealFft<float>;
template class OutOfCoreRealFft<double>;

}  // namespace sfft::detail
