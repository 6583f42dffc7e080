// SPDX-License-Identifier: Apache-2.0
// Computes spectra and error estimates of frames on the CPU, as the reference for the GPU's paths.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "kernels/base/tables/error_estimate.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "kernels/cpu/stages/witness.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "template/planning/error_table.hpp"
#include "template/planning/witness.hpp"

namespace sfft::detail::cuda {

inline std::vector<std::uint8_t> flags_of(const SupportSet& support) {
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(support.k), 0);
  for (const SupportMember& member : support.members) {
    if (member.conjugate) flags[static_cast<std::size_t>(member.coefficient)] |= kDistinctConjugate;
  }
  if (support.mean_coefficient >= 0) flags[static_cast<std::size_t>(support.mean_coefficient)] |= kMean;
  return flags;
}

/// How a case is run, apart from its plan.
struct Variant {
  bool reference, biased, witness, trimmed;
  const char* name;
};
constexpr Variant kVariants[] = {{false, false, true, false, ""},
                                 {true, true, true, true, ", reference, biased, trimmed"},
                                 {true, true, false, false, ", reference, biased, no witness"}};

/// A plan's errors and witness, given to both backends.
struct ErrorModels {
  ErrorTable errors;
  WitnessData witness;
};

/// With `biased`, the rows are marked as shrunk towards a prior of about the frames' power.
template <class Real>
ErrorModels make_error_models(const SupportSet& support, RowErrors rows, const Variant& variant) {
  if (variant.biased) {
    std::mt19937 random(21);
    std::uniform_real_distribution<double> uniform(0.5, 1.5);
    rows.bias.clear();
    rows.response.clear();
    for (std::int64_t i = 0; i < support.k; ++i) {
      rows.bias.push_back(0.02 * uniform(random) * static_cast<double>(support.shape.points()));
      rows.response.push_back(uniform(random) * static_cast<double>(support.shape.points()));
    }
  } else {
    rows.bias.clear();
    rows.response.clear();
  }
  ErrorModels out{make_error_table(support, std::move(rows)), {}};
  if (!variant.witness) return out;
  out.witness = make_witness(support, variant.trimmed, 3);
  add_witness(out.errors.model, support, std::numeric_limits<Real>::epsilon(), TailKnowledge::white);
  // Noise alone leaves the witness silent; if the frame is believed to be larger, the error estimate depends
  // on it.
  if (variant.trimmed) out.errors.model.witness_scale *= 100;
  return out;
}

/// Returns the CPU's spectra and error estimates of some frames.
template <class Real, class T>
struct Expected {
  const std::vector<T>& frames;
  std::vector<T> reference;  ///< empty if there is no reference
  std::vector<std::complex<Real>> reference_values;
  Shape shape;
  std::vector<std::complex<Real>> values;
  std::vector<double> errors;
  std::vector<ErrorEstimate> estimates;
};

template <class Real, class T>
Expected<Real, T> expect(const cpu::Executor<Real>& host, const SupportSet& support,
                         const ErrorModels& models, const std::vector<T>& frames,
                         const std::vector<T>& reference_frame) {
  constexpr ElementType type = element_type_of<T>::value;
  const auto points = static_cast<std::size_t>(support.shape.points());
  const auto k = static_cast<std::size_t>(support.k);
  const std::vector<std::uint8_t> flags = flags_of(support);
  const cpu::Witness<Real> witness(models.witness);
  Expected<Real, T> out{frames, reference_frame, {}, support.shape, {}, {}, {}};
  const bool differences = !reference_frame.empty();
  std::vector<Real> reference(host.reference_reals()), reference_witness(kWitnessReals);
  std::mt19937 random(22);
  std::normal_distribution<double> normal(0, std::sqrt(static_cast<double>(points)));
  if (differences) {
    host.gather_reference(reference_frame.data(), type, reference.data());
    if (!witness.empty()) witness.read(reference_frame.data(), type, reference_witness.data());
    for (std::size_t i = 0; i < k; ++i)
      out.reference_values.emplace_back(static_cast<Real>(normal(random)), static_cast<Real>(normal(random)));
  }
  std::vector<std::byte> scratch(host.scratch_bytes() + 64);
  void* start = scratch.data();
  std::size_t room = scratch.size();
  std::align(64, host.scratch_bytes(), start, room);
  std::vector<std::complex<Real>> values(k);
  for (std::size_t f = 0; f < frames.size() / points; ++f) {
    const T* frame = frames.data() + f * points;
    cpu::ExecutionStats stats;
    host.execute(frame, type, differences ? reference.data() : nullptr, values, stats,
                 static_cast<std::byte*>(start));
    ErrorSums sums;
    sums.scale = stats.scale;
    sums.finite = stats.finite;
    if (!witness.empty()) {
      const auto seen =
          witness.compare(frame, type, differences ? reference_witness.data() : nullptr, values);
      sums.witness = seen.residue;
      sums.witness_all = seen.all;
      sums.witness_samples = seen.samples;
    }
    for (std::size_t i = 0; i < k; ++i) {
      sums.fit += models.errors.fit[i] * std::norm(std::complex<double>(values[i]));
      if (differences) values[i] += out.reference_values[i];
      if ((flags[i] & kMean) != 0) continue;
      const double square = std::norm(std::complex<double>(values[i]));
      sums.norm += square;
      sums.held += (flags[i] & kDistinctConjugate) != 0 ? 2 * square : square;
    }
    const Ratios ratios = error_ratios(models.errors.model, sums, std::numeric_limits<Real>::epsilon());
    out.estimates.push_back(estimate_error(ratios));
    out.values.insert(out.values.end(), values.begin(), values.end());
    for (std::size_t i = 0; i < k; ++i) {
      out.errors.push_back(
          std::sqrt(ratios.gain_scale * models.errors.gain[i] + ratios.bias_scale * models.errors.bias[i]));
    }
  }
  return out;
}

}  // namespace sfft::detail::cuda
