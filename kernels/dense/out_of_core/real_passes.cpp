// SPDX-License-Identifier: Apache-2.0
// Let Z be the transform of the pairs, h = n/2, and −r the row of the opposite frequencies. With E = (Z[r, k]
// + conj Z[−r, h − k])/2 and O = −i·(Z[r, k] − conj Z[−r, h − k])/2, the half spectrum is X[r, k] = E +
// exp(−2πi·k/n)·O. Values are exchanged only within a pair of opposite rows.
#include "kernels/dense/out_of_core/real_fft.hpp"

#include <algorithm>

#include "kernels/dense/cpu/shared_parts.hpp"

namespace sfft::detail {

namespace {

constexpr std::int64_t kChunk = 1 << 14;  ///< values of a long row per thread

using Complex = std::complex<double>;

}  // namespace

template <class Real>
RealPasses<Real>::RealPasses(const Shape& shape, std::int64_t batch, std::int64_t pitch)
    : planes_(shape.rank() == 3 ? shape[0] : 1),
      columns_(shape.rank() > 1 ? shape[shape.rank() - 2] : 1),
      rows_(planes_ * columns_),
      n_(shape[shape.rank() - 1]),
      batch_(batch),
      pitch_(pitch) {
  if (even()) root_ = RootTable(n_, n_ / 2);
}

template <class Real>
std::int64_t RealPasses<Real>::opposite(std::int64_t row) const noexcept {
  const std::int64_t signal = row / rows_, plane = row % rows_ / columns_, column = row % columns_;
  return signal * rows_ + (planes_ - plane) % planes_ * columns_ + (columns_ - column) % columns_;
}

/// Calls job(row, begin, end) for parts of all rows.
template <class Real>
template <class Job>
void RealPasses<Real>::over_rows(cpu::ThreadPool* pool, const Job& job) const {
  const std::int64_t chunks = (n_ + kChunk - 1) / kChunk;
  over_stretches({nullptr, pool}, 0, rows() * chunks, std::min(n_, kChunk),
                 [&](std::int64_t first, std::int64_t end, std::byte*) {
                   for (std::int64_t i = first; i < end; ++i) {
                     const std::int64_t begin = i % chunks * kChunk;
                     job(i / chunks, begin, std::min(n_, begin + kChunk));
                   }
                 });
}

/// Calls job(row, opposite row, begin, end) for parts of columns 0 … n/2 − 1 of each pair of rows, or 0 … n/4
/// if a row is its own opposite.
template <class Real>
template <class Job>
void RealPasses<Real>::over_pairs(cpu::ThreadPool* pool, const Job& job) const {
  over_rows(pool, [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    const std::int64_t other = opposite(row);
    if (row <= other) job(row, other, begin, std::min(end, row == other ? n_ / 4 + 1 : n_ / 2));
  });
}

template <class Real>
void RealPasses<Real>::spread(const Real* signals, std::complex<Real>* spectra, cpu::ThreadPool* pool) const {
  const std::int64_t width = n_ + 2;
  over_rows(pool, [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    Real* const to = reinterpret_cast<Real*>(spectra) + row * width;
    const Real* const from = signals + row * pitch_;
    if (from != to) std::copy(from + begin, from + end, to + begin);
    if (end == n_) to[n_] = to[n_ + 1] = 0;
  });
}

template <class Real>
void RealPasses<Real>::unpack_real(std::complex<Real>* spectra, Real scale, cpu::ThreadPool* pool) const {
  const std::int64_t h = n_ / 2;
  const double half = 0.5 * static_cast<double>(scale);
  over_pairs(pool, [&](std::int64_t row, std::int64_t other, std::int64_t begin, std::int64_t end) {
    std::complex<Real>*const a = spectra + row * (h + 1), *const b = spectra + other * (h + 1);
    for (std::int64_t k = begin; k < end; ++k) {
      const Complex one(a[k]), two = std::conj(Complex(b[k == 0 ? 0 : h - k]));
      const Complex sum = half * (one + two), difference = -half * times_i(one - two);
      if (k == 0) {
        a[0] = std::complex<Real>(sum + difference);
        a[h] = std::complex<Real>(sum - difference);
        b[0] = std::conj(a[0]);
        b[h] = std::conj(a[h]);
        continue;
      }
      const Complex odd = times(root_(k), difference);
      a[k] = std::complex<Real>(sum + odd);
      b[h - k] = std::complex<Real>(std::conj(sum - odd));
    }
  });
}

template <class Real>
void RealPasses<Real>::pack_real(const std::complex<Real>* spectra, std::complex<Real>* pairs,
                                 std::int64_t pitch, cpu::ThreadPool* pool) const {
  const std::int64_t h = n_ / 2;
  over_pairs(pool, [&](std::int64_t row, std::int64_t other, std::int64_t begin, std::int64_t end) {
    const std::complex<Real>*const a = spectra + row * (h + 1), *const b = spectra + other * (h + 1);
    std::complex<Real>*const to_a = pairs + row * pitch, *const to_b = pairs + other * pitch;
    for (std::int64_t k = begin; k < end; ++k) {
      if (k == 0) {
        // Components that contradict a real signal are dropped, as an inverse transform of the columns alone
        // would do.
        const Complex mean = 0.5 * (Complex(a[0]) + std::conj(Complex(b[0]))),
                      last = 0.5 * (Complex(a[h]) + std::conj(Complex(b[h])));
        const Complex sum = mean + last, difference = mean - last;
        to_a[0] = std::complex<Real>(sum + times_i(difference));
        to_b[0] = std::complex<Real>(std::conj(sum) + times_i(std::conj(difference)));
        if (pitch > h) to_a[h] = to_b[h] = 0;
        continue;
      }
      const Complex one(a[k]), two = std::conj(Complex(b[h - k]));
      const Complex sum = one + two, odd = times_i(times(std::conj(root_(k)), one - two));
      to_a[k] = std::complex<Real>(sum + odd);
      to_b[h - k] = std::complex<Real>(std::conj(sum - odd));
    }
  });
}

template <class Real>
void RealPasses<Real>::widen(const Real* signals, std::complex<Real>* whole, cpu::ThreadPool* pool) const {
  over_rows(pool, [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    std::copy(signals + row * pitch_ + begin, signals + row * pitch_ + end, whole + row * n_ + begin);
  });
}

template <class Real>
void RealPasses<Real>::narrow(const std::complex<Real>* whole, Real* signals, cpu::ThreadPool* pool) const {
  over_rows(pool, [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) signals[row * pitch_ + t] = whole[row * n_ + t].real();
  });
}

template <class Real>
void RealPasses<Real>::halve(const std::complex<Real>* whole, std::complex<Real>* spectra, Real scale,
                             cpu::ThreadPool* pool) const {
  const std::int64_t kept = n_ / 2 + 1;
  over_rows(pool, [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < std::min(kept, end); ++k)
      spectra[row * kept + k] = scale * whole[row * n_ + k];
  });
}

template <class Real>
void RealPasses<Real>::mirror(const std::complex<Real>* spectra, std::complex<Real>* whole,
                              cpu::ThreadPool* pool) const {
  const std::int64_t kept = n_ / 2 + 1;
  over_rows(pool, [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    const std::complex<Real>*const from = spectra + row * kept, *const other = spectra + opposite(row) * kept;
    for (std::int64_t k = begin; k < end; ++k)
      whole[row * n_ + k] = k < kept ? from[k] : std::conj(other[n_ - k]);
  });
}

template class RealPasses<float>;
template class RealPasses<double>;

}  // namespace sfft::detail
