// SPDX-License-Identifier: Apache-2.0
// Computes only the part of the spectrum that the support needs, and the tail by Parseval's theorem. If that
// is not precise enough, runs a dense plan, picks the support from its half or full spectrum, and sums the
// rest. Spectra whose powers leave the range of double are rescaled first.
#include "sfft/plan/dense_path.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/math/elements.hpp"

namespace sfft::detail {

namespace {

/// Σ|X|² over the full grid from a spectrum stored as (…, nD/2 + 1).
template <class Real>
double half_spectrum_energy(const std::complex<Real>* spectrum, std::size_t points,
                            std::int64_t last_extent) {
  const auto row = static_cast<std::size_t>(last_extent / 2 + 1);
  double total = 0;
  for (std::size_t start = 0; start < points; start += row) {
    double sum = 0;
    for (std::size_t i = 0; i < row; ++i) {
      const auto value = spectrum[start + i];
      sum += double(value.real()) * value.real() + double(value.imag()) * value.imag();
    }
    const auto single = [&](std::size_t i) { return std::norm(std::complex<double>(spectrum[start + i])); };
    total += 2 * sum - single(0) - (last_extent % 2 == 0 ? single(row - 1) : 0);
  }
  return total;
}

}  // namespace

std::vector<DensePick> dense_picks(const TemplateData& data) {
  std::vector<DensePick> picks;
  const std::int64_t last = data.shape[data.shape.rank() - 1];
  for (const std::int64_t flat : *data.support) {
    const std::int64_t mirrored = conjugate_index(data.shape, flat);
    const double multiplicity = data.real && mirrored != flat ? 2 : 1;
    if (!data.real) {
      picks.push_back({flat, false, multiplicity});
      continue;
    }
    const bool stored = flat % last <= last / 2;
    const std::int64_t from = stored ? flat : mirrored;
    picks.push_back({from / last * (last / 2 + 1) + from % last, !stored, multiplicity});
  }
  return picks;
}

template <class Real>
DenseExecutor<Real>::DenseExecutor(const TemplateData& data, int threads)
    : shape_(data.shape),
      real_(data.real),
      plan_(data.shape, data.domain()),
      shared_(threads > 1 ? dense::Plan<Real>(data.shape, data.domain(), {.threads = threads}) : plan_),
      picks_(dense_picks(data)) {
  if (!real_ || plan_.engine() != dense::Engine::built_in) return;
  std::vector<std::int64_t> elements;
  for (const DensePick& pick : picks_) elements.push_back(pick.at);
  if (PickedFft<Real>::worthwhile(shape_, real_, elements)) picked_.emplace(shape_, real_, elements);
}

namespace {

template <class Real>
std::size_t spectrum_bytes(const dense::Plan<Real>& plan) noexcept {
  return aligned_bytes(plan.spectrum_points() * sizeof(std::complex<Real>));
}

}  // namespace

template <class Real>
std::size_t DenseExecutor<Real>::scratch_bytes() const noexcept {
  return std::max(spectrum_bytes(plan_) + plan_.workspace_bytes(), picked_ ? picked_->scratch_bytes() : 0);
}

template <class Real>
std::size_t DenseExecutor<Real>::shared_scratch_bytes() const noexcept {
  return std::max(spectrum_bytes(shared_) + shared_.workspace_bytes(),
                  picked_ ? picked_->scratch_bytes() : 0);
}

/// The whole spectrum, at the start of the scratch.
template <class Real>
std::complex<Real>* DenseExecutor<Real>::transform(const dense::Plan<Real>& plan, const void* frame,
                                                   ElementType type, std::byte* scratch) const {
  auto* const spectrum = reinterpret_cast<std::complex<Real>*>(scratch);
  plan.forward(SignalView(frame, static_cast<std::size_t>(shape_.points()), type, shape_),
               {spectrum, plan.spectrum_points()}, {scratch + spectrum_bytes(plan), plan.workspace_bytes()});
  return spectrum;
}

template <class Real>
bool DenseExecutor<Real>::execute_quickly(const dense::Plan<Real>& plan, const void* frame, ElementType type,
                                          std::span<std::complex<Real>> values, cpu::ExecutionStats& stats,
                                          std::byte* scratch) const {
  // kMinTail: minimum tail as a fraction of the energy without the mean, which rounding in float changes by
  // about 1e-7. kMinEnergy: minimum fraction of that energy in the total, which rounding in double changes by
  // about 1e-13.
  constexpr double kMinTail = 1e-4, kMinEnergy = 1e-6;
  const auto points = static_cast<double>(shape_.points());
  double sum = 0, squares = 0;
  cpu::layout_kernels<Real>().add_moments[part_of(type)](frame, shape_.points(), &sum, &squares);
  const double energy = points * (squares - sum * (sum / points));  // without f = 0
  if (!(energy > kMinEnergy * points * squares && energy > 1e-200 && energy < 1e200)) return false;
  if (picked_) {
    picked_->forward(frame, type, values, scratch);
  } else {
    const auto* const spectrum = transform(plan, frame, type, scratch);
    for (std::size_t i = 0; i < picks_.size(); ++i) values[i] = spectrum[picks_[i].at];
  }
  double held = 0;
  bool mean = false;
  for (std::size_t i = 0; i < picks_.size(); ++i) {
    if (picks_[i].at == 0)
      mean = true;
    else
      held += picks_[i].multiplicity * std::norm(std::complex<double>(values[i]));
    if (picks_[i].conjugate) values[i] = std::conj(values[i]);
  }
  if (!(energy - held > kMinTail * energy)) return false;
  stats.finite = true;
  stats.scale = energy - held + (mean ? 0 : sum * sum);
  return true;
}

template <class Real>
void DenseExecutor<Real>::execute(FrameData frame, ElementType type, const Real*,
                                  std::span<std::complex<Real>> values, cpu::ExecutionStats& stats,
                                  std::byte* scratch) const {
  run(plan_, frame, type, values, stats, scratch);
}

/// The plan has its own threads, so the pool's threads stay asleep.
template <class Real>
void DenseExecutor<Real>::execute_shared(FrameData frame, ElementType type, const Real*,
                                         std::span<std::complex<Real>> values, cpu::ExecutionStats& stats,
                                         std::byte* scratch, cpu::ThreadPool&) const {
  run(shared_, frame, type, values, stats, scratch);
}

template <class Real>
void DenseExecutor<Real>::run(const dense::Plan<Real>& plan, FrameData frame, ElementType type,
                              std::span<std::complex<Real>> values, cpu::ExecutionStats& stats,
                              std::byte* scratch) const {
  // Recorded integers have a tail. Other signals may have none, and would then be transformed twice.
  if (real_ && (picked_ || is_integer(type)) &&
      execute_quickly(plan, frame.data, type, values, stats, scratch))
    return;
  std::complex<Real>* const spectrum = transform(plan, frame.data, type, scratch);
  const std::size_t points = plan.spectrum_points();
  for (std::size_t i = 0; i < picks_.size(); ++i) {
    const std::complex<Real> value = spectrum[picks_[i].at];
    values[i] = picks_[i].conjugate ? std::conj(value) : value;
  }
  double total = energy({spectrum, points});
  // The powers underflow or overflow, or the spectrum is zero or not finite. This is rare, so speed does not
  // matter.
  if (!(total > 1e-200 && total < 1e200)) {
    double largest = 0;
    for (std::size_t i = 0; i < points; ++i) {
      largest = std::max({largest, std::abs(static_cast<double>(spectrum[i].real())),
                          std::abs(static_cast<double>(spectrum[i].imag()))});
    }
    stats.exponent = std::isfinite(largest) ? cpu::power_exponent(largest) : 0;
    const double unit = std::ldexp(1.0, -stats.exponent);
    // If there is a NaN, the power stays NaN.
    if (stats.exponent != 0) {
      for (std::size_t i = 0; i < points; ++i)
        spectrum[i] = std::complex<Real>(std::complex<double>(spectrum[i]) * unit);
      total = energy({spectrum, points});
    }
  }
  double held = 0;
  for (const DensePick& pick : picks_)
    held += pick.multiplicity * std::norm(std::complex<double>(spectrum[pick.at]));
  stats.finite = std::isfinite(total);
  stats.scale = std::max(0.0, total - held);
}

template <class Real>
double DenseExecutor<Real>::energy(std::span<const std::complex<Real>> spectrum) const noexcept {
  if (real_) return half_spectrum_energy(spectrum.data(), spectrum.size(), shape_[shape_.rank() - 1]);
  double total = 0;
  for (const std::complex<Real>& value : spectrum) total += std::norm(std::complex<double>(value));
  return total;
}

template class DenseExecutor<float>;
template class DenseExecutor<double>;

}  // namespace sfft::detail
