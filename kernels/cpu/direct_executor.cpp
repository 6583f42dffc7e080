#include "kernels/cpu/direct_executor.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/common/direct_table.hpp"
#include "kernels/cpu/permute.hpp"

namespace sfft::detail::cpu {

template <class Real>
DirectExecutor<Real>::DirectExecutor(const Shape& shape, std::span<const std::int64_t> support)
    : samples_(static_cast<std::size_t>(shape.points())) {
  for (const std::complex<double>& twiddle : direct_table(shape, support)) {
    cos_.push_back(static_cast<Real>(twiddle.real()));
    sin_.push_back(static_cast<Real>(twiddle.imag()));
  }
}

template <class Real>
void DirectExecutor<Real>::execute(const void* frame, ElementType type, const Real*,
                                   std::span<std::complex<Real>> values, ExecutionStats& stats,
                                   std::byte* scratch) const noexcept {
  Real* re = reinterpret_cast<Real*>(scratch);
  Real* im = re + samples_;
  // A real frame's gather fills re and im from two offsets; the second copy is cleared below.
  const std::int64_t offsets[2] = {0, 0};
  permute_kernels<Real>().gather[static_cast<std::size_t>(type)](frame, static_cast<std::int64_t>(samples_),
                                                                 1, offsets, 1, re, im);
  if (!is_complex(type)) std::fill_n(im, samples_, Real(0));
  Real finite = 0;
  for (std::size_t t = 0; t < samples_; ++t) finite += (re[t] - re[t]) + (im[t] - im[t]);
  stats.finite = finite == 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Real* c = &cos_[i * samples_];
    const Real* s = &sin_[i * samples_];
    Real sum_re = 0;
    Real sum_im = 0;
    for (std::size_t t = 0; t < samples_; ++t) {
      sum_re += re[t] * c[t] - im[t] * s[t];
      sum_im += re[t] * s[t] + im[t] * c[t];
    }
    values[i] = {sum_re, sum_im};
  }
}

template class DirectExecutor<float>;
template class DirectExecutor<double>;

}  // namespace sfft::detail::cpu
