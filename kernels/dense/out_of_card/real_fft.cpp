// SPDX-License-Identifier: Apache-2.0
// Half spectra have one value more per row than the pairs: the transform of a forward call therefore skips
// one behind each row, and that of an inverse call into signals without gaps does not.
#include "kernels/dense/out_of_card/real_fft.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    : passes_(shape, batch, pitch),
      row_pairs_(shape[shape.rank() - 1] / 2),
      whole_points_(batch * shape.points()),
      pools_(options.threads) {
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
void OutOfCardRealFft<Real>::forward(const void* signals, std::complex<Real>* spectra, Real scale,
                                     std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  const TakenPool pool(pools_);
  const auto* const from = static_cast<const Real*>(signals);
  if (tight_ != nullptr) tight_->release();
  if (!passes_.even()) {
    auto whole = whole_array<Real>(whole_points_);
    passes_.widen(from, whole.begin(), pool.get());
    main_->transform(whole.begin(), whole.begin(), false, 1, workspace);
    return passes_.halve(whole.begin(), spectra, scale, pool.get());
  }
  main_->prepare(spectra);
  passes_.spread(from, spectra, pool.get());
  main_->transform(spectra, spectra, false, 1, workspace);
  passes_.untangle(spectra, scale, pool.get());
}

template <class Real>
void OutOfCardRealFft<Real>::inverse(const std::complex<Real>* spectra, void* signals, Real scale,
                                     std::byte* workspace) const {
  const std::lock_guard lock(mutex_);
  const TakenPool pool(pools_);
  if (!passes_.even()) {
    auto whole = whole_array<Real>(whole_points_);
    passes_.mirror(spectra, whole.begin(), pool.get());
    main_->transform(whole.begin(), whole.begin(), true, scale, workspace);
    return passes_.narrow(whole.begin(), static_cast<Real*>(signals), pool.get());
  }
  if (tight_ != nullptr) main_->release();
  const OutOfCardFft<Real>& fft = tight_ != nullptr ? *tight_ : *main_;
  auto* const pairs = static_cast<std::complex<Real>*>(signals);
  fft.prepare(pairs);
  passes_.tangle(spectra, pairs, fft.grid().row_pitch, pool.get());
  fft.transform(pairs, pairs, true, scale, workspace);
}

template <class Real>
void OutOfCardRealFft<Real>::measure() {
  main_->measure();
  if (tight_ != nullptr) tight_->set_host_shares(main_->host_shares());
}

template <class Real>
void OutOfCardRealFft<Real>::set_host_shares(const std::vector<double>& shares) {
  main_->set_host_shares(shares);
  if (tight_ != nullptr) tight_->set_host_shares(shares);
}

template <class Real>
std::string OutOfCardRealFft<Real>::explain() const {
  return main_->explain() +
         (passes_.even()
              ? "\nreal rows are transformed as pairs of samples, between two passes of the host"
              : "\nreal rows of odd length are transformed as complex ones, in an array of their own");
}

template class OutOfCardRealFft<float>;
template class OutOfCardRealFft<double>;

}  // namespace sfft::detail
