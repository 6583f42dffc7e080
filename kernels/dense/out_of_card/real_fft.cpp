// SPDX-License-Identifier: Apache-2.0
// Half spectra have one value more per row than the pairs: the transform of a forward call therefore skips
// one behind each row, and that of an inverse call into signals without gaps does not.
#include "kernels/dense/out_of_card/real_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/base/error.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"

namespace sfft::detail {

namespace {

/// Threads of a pool for as long as a call takes.
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
  std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
  extents.back() = row;
  return Shape(std::span<const std::int64_t>(extents));
}

/// Runs a pass of the host; microseconds.
template <class Pass>
double timed(const Pass& pass) {
  const auto start = std::chrono::steady_clock::now();
  pass();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// A pass, the rounds of a transform, and another pass.
std::vector<RoundTimes> with_passes(double before, std::vector<RoundTimes> rounds, double after) {
  rounds.insert(rounds.begin(), RoundTimes{before, 0, before});
  rounds.push_back({after, 0, after});
  return rounds;
}

template <class Real>
cpu::LargeArray<std::complex<Real>> whole_array(std::int64_t points) {
  try {
    return cpu::LargeArray<std::complex<Real>>(static_cast<std::size_t>(points));
  } catch (const std::bad_alloc&) {
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("real rows of odd length need another array of {} complex values: give rows of even "
                    "length, which need none",
                    points));
  }
}

}  // namespace

template <class Real>
OutOfCardRealFft<Real>::OutOfCardRealFft(const Shape& shape, std::int64_t batch, std::int64_t pitch,
                                         std::shared_ptr<Card<Real>> card, const OutOfCardOptions& options)
    : shape_(shape),
      batch_(batch),
      pitch_(pitch),
      threads_(options.threads),
      passes_(shape, batch, pitch),
      row_pairs_(shape[shape.rank() - 1] / 2),
      whole_points_(batch * shape.points()),
      pools_(options.threads) {
  assume_passes();
  if (!passes_.even()) {
    main_ = std::make_unique<OutOfCardFft<Real>>(OutOfCardGrid(shape, batch), std::move(card), options);
    return;
  }
  const Shape pairs = with_row(shape, row_pairs_);
  const bool alone = passes_.rows() == 1;
  main_ = std::make_unique<OutOfCardFft<Real>>(OutOfCardGrid(pairs, batch, row_pairs_ + (alone ? 0 : 1)),
                                               card, options);
  if (!alone && pitch == 2 * row_pairs_)
    tight_ = std::make_unique<OutOfCardFft<Real>>(OutOfCardGrid(pairs, batch), std::move(card), options);
}

template <class Real>
std::size_t OutOfCardRealFft<Real>::workspace_bytes() const noexcept {
  return std::max(main_->workspace_bytes(), tight_ != nullptr ? tight_->workspace_bytes() : 0);
}

template <class Real>
bool OutOfCardRealFft<Real>::in_place() const noexcept {
  return passes_.even() && pitch_ > 2 * row_pairs_;
}

/// Rates to begin with, where nothing was measured: bytes that a pass reads and writes.
template <class Real>
void OutOfCardRealFft<Real>::assume_passes() {
  constexpr double kThreadBytesPerUs = 4e3;
  const auto samples = static_cast<double>(whole_points_) * sizeof(Real);
  const double rate = kThreadBytesPerUs * threads_;
  if (passes_.even()) {
    expected_ = {in_place() ? 0 : 2 * samples / rate, 2 * samples / rate};
  } else {
    expected_ = {3 * samples / rate, 2 * samples / rate};
  }
}

/// Both passes of a forward call on fewer rows, or on a shorter one where there is but one.
template <class Real>
void OutOfCardRealFft<Real>::measure_passes() {
  constexpr std::int64_t kMostSamples = 1 << 24;
  const std::int64_t row = shape_[shape_.rank() - 1], gap = pitch_ - row,
                     n = std::min(row, kMostSamples + row % 2),
                     rows = std::min(passes_.rows(), std::max<std::int64_t>(1, kMostSamples / n));
  // Signals of one row have no opposite ones.
  const bool lines = shape_.rank() == 1;
  const RealPasses<Real> sample(lines ? Shape(n) : Shape({rows, n}), lines ? rows : 1, n + gap);
  const std::int64_t values = passes_.even() ? rows * (n / 2 + 1) : rows * n;
  cpu::LargeArray<std::complex<Real>> spectra(static_cast<std::size_t>(values)),
      whole(static_cast<std::size_t>(values));
  auto* const signals = reinterpret_cast<Real*>(in_place() ? spectra.begin() : whole.begin());
  std::memset(static_cast<void*>(spectra.begin()), 0, array_bytes<Real>(values));
  std::memset(static_cast<void*>(whole.begin()), 0, array_bytes<Real>(values));
  const TakenPool pool(pools_);
  PassTimes times;
  for (int run = 0; run < 2; ++run) {  // the second counts
    if (passes_.even()) {
      times = {timed([&] { sample.spread(signals, spectra.begin(), pool.get()); }),
               timed([&] { sample.untangle(spectra.begin(), 1, pool.get()); })};
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
void OutOfCardRealFft<Real>::forward(const void* signals, std::complex<Real>* spectra, Real scale,
                                     std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  const TakenPool pool(pools_);
  const auto* const from = static_cast<const Real*>(signals);
  if (tight_ != nullptr) tight_->release();
  PassTimes times;
  if (!passes_.even()) {
    auto whole = whole_array<Real>(whole_points_);
    times.before = timed([&] { passes_.widen(from, whole.begin(), pool.get()); });
    main_->transform(whole.begin(), whole.begin(), false, 1, workspace);
    times.after = timed([&] { passes_.halve(whole.begin(), spectra, scale, pool.get()); });
  } else {
    main_->prepare(spectra);
    times.before = timed([&] { passes_.spread(from, spectra, pool.get()); });
    main_->transform(spectra, spectra, false, 1, workspace);
    times.after = timed([&] { passes_.untangle(spectra, scale, pool.get()); });
  }
  measured_ = with_passes(times.before, main_->measured(), times.after);
  measured_inverse_ = false;
}

template <class Real>
void OutOfCardRealFft<Real>::inverse(const std::complex<Real>* spectra, void* signals, Real scale,
                                     std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  const TakenPool pool(pools_);
  PassTimes times;
  const OutOfCardFft<Real>& fft = tight_ != nullptr ? *tight_ : *main_;
  if (!passes_.even()) {
    auto whole = whole_array<Real>(whole_points_);
    times.before = timed([&] { passes_.mirror(spectra, whole.begin(), pool.get()); });
    fft.transform(whole.begin(), whole.begin(), true, scale, workspace);
    times.after = timed([&] { passes_.narrow(whole.begin(), static_cast<Real*>(signals), pool.get()); });
  } else {
    if (tight_ != nullptr) main_->release();
    auto* const pairs = static_cast<std::complex<Real>*>(signals);
    fft.prepare(pairs);
    times.before = timed([&] { passes_.tangle(spectra, pairs, fft.grid().row_pitch, pool.get()); });
    fft.transform(pairs, pairs, true, scale, workspace);
  }
  measured_ = with_passes(times.before, fft.measured(), times.after);
  measured_inverse_ = true;
}

template <class Real>
void OutOfCardRealFft<Real>::measure() {
  measure_passes();
  main_->measure();
  if (tight_ != nullptr) tight_->set_host_shares(main_->host_shares());
}

template <class Real>
std::vector<RoundTimes> OutOfCardRealFft<Real>::measured() const {
  const std::lock_guard lock(mutex_);
  return measured_;
}

template <class Real>
std::vector<RoundTimes> OutOfCardRealFft<Real>::predicted() const {
  return with_passes(expected_.before, main_->predicted(), expected_.after);
}

template <class Real>
void OutOfCardRealFft<Real>::set_host_shares(const std::vector<double>& shares) {
  main_->set_host_shares(shares);
  if (tight_ != nullptr) tight_->set_host_shares(shares);
}

template <class Real>
std::string OutOfCardRealFft<Real>::explain() const {
  std::string text = main_->explain();
  text +=
      passes_.even()
          ? "\nreal rows are transformed as pairs of samples, between two passes of the host"
          : "\nreal rows of odd length are transformed as complex ones, in an array of their own, between "
            "two passes of the host";
  text += fmt::format("; a forward call's are predicted {:.4g} and {:.4g} ms ({})", expected_.before / 1e3,
                      expected_.after / 1e3, profiled_ ? "from profiling runs" : "from assumed rates");
  const std::lock_guard lock(mutex_);
  if (!measured_.empty()) {
    text += fmt::format(", the last {} call's measured {:.4g} and {:.4g} ms",
                        measured_inverse_ ? "inverse" : "forward", measured_.front().us / 1e3,
                        measured_.back().us / 1e3);
  }
  return text;
}

template class OutOfCardRealFft<float>;
template class OutOfCardRealFft<double>;

}  // namespace sfft::detail
