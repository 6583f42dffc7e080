// SPDX-License-Identifier: Apache-2.0
// Reads the samples with the comb path's gather, then subtracts the prediction: a dense product with stored
// columns.
#include "kernels/cpu/stages/witness.hpp"

#include <algorithm>

#include "kernels/base/witness_mean.hpp"
#include "kernels/cpu/stages/account_kernels.hpp"
#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/region_gather.hpp"

namespace sfft::detail::cpu {

template <class Real>
Witness<Real>::Witness(const WitnessData& data)
    : complex_(data.samples.size() < kWitnessReals), trimmed_(data.trimmed), samples_(data.samples) {
  const std::size_t reals = data.rows.size() / kWitnessReals;
  columns_.resize(data.rows.size());
  for (std::size_t s = 0; s < kWitnessReals; ++s) {
    for (std::size_t j = 0; j < reals; ++j)
      columns_[j * kWitnessReals + s] = static_cast<Real>(data.rows[s * reals + j]);
  }
  if (complex_) return;
  // A real frame's gather takes two samples per lane: the even ones fill `re`, the odd ones `im`.
  std::vector<std::int64_t> lanes;
  for (std::size_t l = 0; l < kWitnessReals / 2; ++l) {
    lanes.push_back(samples_[l]);
    lanes.push_back(samples_[l + kWitnessReals / 2]);
  }
  samples_ = std::move(lanes);
}

template <class Real>
void Witness<Real>::read(FrameData frame, ElementType type, Real* samples) const noexcept {
  constexpr std::int64_t kLanes = kWitnessReals / 2;
  if (frame.region != nullptr) {
    gather_region(*frame.region, 0, samples_.data(), kLanes, samples, samples + kLanes);
  } else {
    permute_kernels<Real>().gather[static_cast<std::size_t>(type)](frame.data, 1, 0, samples_.data(), kLanes,
                                                                   samples, samples + kLanes);
  }
}

template <class Real>
auto Witness<Real>::compare(FrameData frame, ElementType type, const Real* reference,
                            std::span<const std::complex<Real>> values) const noexcept -> Seen {
  alignas(64) Real residue[kWitnessReals];
  read(frame, type, residue);
  if (reference != nullptr) permute_kernels<Real>().subtract(residue, reference, kWitnessReals);
  for (Real& x : residue) x *= static_cast<Real>(frame.unit);
  const int samples = complex_ ? kWitnessReals / 2 : kWitnessReals;
  Seen seen;
  for (const Real x : residue) seen.samples += static_cast<double>(x) * static_cast<double>(x);
  seen.samples /= samples;
  account_kernels<Real>().witness(reinterpret_cast<const Real*>(values.data()), columns_.data(),
                                  static_cast<std::int64_t>(2 * values.size()), residue);
  double squares[kWitnessReals];
  for (int s = 0; s < samples; ++s) {
    const double re = residue[s], im = complex_ ? residue[s + samples] : Real(0);
    squares[s] = re * re + im * im;
  }
  seen.residue = witness_mean(squares, samples, complex_, trimmed_);
  return seen;
}

template class Witness<float>;
template class Witness<double>;

}  // namespace sfft::detail::cpu
