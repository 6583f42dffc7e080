// SPDX-License-Identifier: Apache-2.0
// Reads the samples with the comb path's gather, then subtracts the prediction, which is a dense product with
// stored columns.
#include "kernels/cpu/stages/witness.hpp"

#include <algorithm>

#include "kernels/base/tables/witness_mean.hpp"
#include "kernels/cpu/stages/error_kernels.hpp"
#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/region_gather.hpp"

namespace sfft::detail::cpu {

template <class Real>
Witness<Real>::Witness(const WitnessData& data)
    : complex_(data.complex), trimmed_(data.trimmed), blocks_(data.blocks()), samples_(data.samples) {
  if (blocks_ == 0) return;
  columns_.assign(data.columns.begin(), data.columns.end());
  if (complex_) return;
  // A real frame's gather takes two samples per lane: even entries of the list fill `re`, odd entries fill
  // `im`.
  std::vector<std::int64_t> lanes;
  for (std::size_t b = 0; b < blocks_; ++b) {
    for (std::size_t l = 0; l < kWitnessReals / 2; ++l) {
      lanes.push_back(samples_[b * kWitnessReals + l]);
      lanes.push_back(samples_[b * kWitnessReals + l + kWitnessReals / 2]);
    }
  }
  samples_ = std::move(lanes);
}

template <class Real>
void Witness<Real>::read_block(FrameData frame, ElementType type, std::size_t block,
                               Real* samples) const noexcept {
  constexpr std::int64_t kLanes = kWitnessReals / 2;
  const std::int64_t* const at = samples_.data() + block * (complex_ ? kWitnessReals / 2 : kWitnessReals);
  if (frame.region != nullptr) {
    gather_region(*frame.region, 0, at, kLanes, samples, samples + kLanes);
  } else {
    permute_kernels<Real>().gather[static_cast<std::size_t>(type)](frame.data, 1, 0, at, kLanes, samples,
                                                                   samples + kLanes);
  }
}

template <class Real>
void Witness<Real>::read(FrameData frame, ElementType type, Real* samples) const noexcept {
  for (std::size_t b = 0; b < blocks_; ++b) read_block(frame, type, b, samples + b * kWitnessReals);
}

template <class Real>
auto Witness<Real>::compare(FrameData frame, ElementType type, const Real* reference,
                            std::span<const std::complex<Real>> values) const noexcept -> Seen {
  const int samples = complex_ ? kWitnessReals / 2 : kWitnessReals;
  const auto reals = static_cast<std::int64_t>(2 * values.size());
  Seen seen;
  for (std::size_t b = 0; b < blocks_; ++b) {
    alignas(64) Real residue[kWitnessReals];
    read_block(frame, type, b, residue);
    if (reference != nullptr)
      permute_kernels<Real>().subtract(residue, reference + b * kWitnessReals, kWitnessReals);
    for (Real& x : residue) x *= static_cast<Real>(frame.unit);
    double power = 0;
    for (const Real x : residue) power += static_cast<double>(x) * static_cast<double>(x);
    seen.samples += power / samples;
    const Real* const columns = columns_.data() + b * static_cast<std::size_t>(reals * kWitnessReals);
    error_kernels<Real>().witness(reinterpret_cast<const Real*>(values.data()), columns, reals, residue);
    double squares[kWitnessReals];
    for (int s = 0; s < samples; ++s) {
      const double re = residue[s], im = complex_ ? residue[s + samples] : Real(0);
      squares[s] = re * re + im * im;
    }
    seen.all += witness_mean(squares, samples, complex_, false);
    if (b == 0 && trimmed_) seen.residue = witness_mean(squares, samples, complex_, true);
  }
  seen.samples /= static_cast<double>(blocks_);
  seen.all /= static_cast<double>(blocks_);
  if (!trimmed_) seen.residue = seen.all;
  return seen;
}

template class Witness<float>;
template class Witness<double>;

}  // namespace sfft::detail::cpu
