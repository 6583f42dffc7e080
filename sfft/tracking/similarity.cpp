// SPDX-License-Identifier: Apache-2.0
// Sums over the union of two supports. For real signals, a frequency and its negative count as one: the
// smaller index represents both, whichever of them a template contains.
#include "sfft/tracking/similarity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>
#include <vector>

#include "kernels/runtime/memory_budget.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "sfft/error.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// A frequency of a template, and how often it occurs in the whole spectrum.
struct Place {
  std::int64_t index;
  double multiplicity;
};

Place place(const Template& tmpl, std::int64_t flat) {
  if (tmpl.domain() == Domain::complex) return {flat, 1};
  const std::int64_t mirrored = conjugate_index(tmpl.shape(), flat);
  return {std::min(flat, mirrored), mirrored == flat ? 1.0 : 2.0};
}

/// Energy of a whole frame without f = 0. `held`: the energy in its largest coefficients.
double whole_energy(const Template& largest, double held) {
  return held > 0 ? held / largest.energy_captured() : largest.tail_energy();
}

}  // namespace

TrackedFrame::Similarity similarity(const OldSupport& coefficients, const Template& largest) {
  const Template& old = coefficients.old;
  std::vector<std::int64_t> known;
  std::complex<double> product = 0;
  double norm_before = 0, held_by_old = 0;
  for (std::size_t i = 0; i < coefficients.now.size(); ++i) {
    const std::int64_t flat = old.support()[i];
    const Place at = place(old, flat);
    known.push_back(at.index);
    if (flat == 0) continue;
    held_by_old += at.multiplicity * std::norm(coefficients.now[i]);
    if (coefficients.before.empty()) continue;
    const std::complex<double> one = coefficients.before[i] * std::conj(coefficients.now[i]);
    // The two products of a conjugate pair add up to twice the real part.
    product += old.domain() == Domain::real ? at.multiplicity * one.real() : one;
    norm_before += at.multiplicity * std::norm(coefficients.before[i]);
  }
  std::sort(known.begin(), known.end());
  std::int64_t shared = 0;
  double held_by_largest = 0, norm_now = held_by_old;
  for (std::size_t i = 0; i < largest.support().size(); ++i) {
    const std::int64_t flat = largest.support()[i];
    const Place at = place(largest, flat);
    const bool both = std::binary_search(known.begin(), known.end(), at.index);
    shared += both;
    if (flat == 0) continue;
    const double energy = at.multiplicity * std::norm(largest.values()[i]);
    held_by_largest += energy;
    if (!both) norm_now += energy;
  }

  TrackedFrame::Similarity result;
  result.overlap = static_cast<double>(shared) / static_cast<double>(old.k());
  const double norms = std::sqrt(norm_before) * std::sqrt(norm_now);
  result.correlation = norms > 0 ? std::min(1.0, std::abs(product) / norms) : kUnknown;
  const double whole = whole_energy(largest, held_by_largest);
  result.energy = whole > 0 ? std::min(1.0, held_by_old / whole) : kUnknown;
  return result;
}

std::optional<Template> largest_of(const SignalView& frame, std::int64_t k, const LearnOptions& how) {
  LearnOptions options;
  options.keep = Largest{k};
  options.device = how.device;
  options.threads = how.threads;
  try {
    return learn(frame, options);
  } catch (const Error& error) {
    // The frame has NaN in samples that the plan does not read, or powers beyond double precision.
    if (error.code() != ErrorCode::invalid_argument) throw;
    return std::nullopt;
  }
}

void PendingSimilarities::begin(std::int64_t frame, const std::function<Found()>& find) {
  try {
    pending_.push_back({frame, std::async(std::launch::async, [find, budget = BudgetReference()] {
                          const MemoryBudget::Use use(budget.get());
                          return find();
                        })});
  } catch (const std::system_error&) {  // thread creation failed
    pending_.push_back({frame, std::async(std::launch::deferred, [find] {
                          const RunScope::Use none(nullptr);  // awaited where nothing may be stopped
                          return find();
                        })});
  }
}

}  // namespace sfft::detail
