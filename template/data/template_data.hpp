// SPDX-License-Identifier: Apache-2.0
// The contents of a template, behind sfft::Template.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/math/index.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/types.hpp"
#include "template/data/envelope.hpp"

namespace sfft::detail {

/// The request that a plan was made for. A plan serves only the same request, or the same with less effort.
struct PlanKey {
  std::string library;             ///< version of sfft
  bool single = true;              ///< float arithmetic, else double
  Backend backend = Backend::cpu;  ///< cpu or cuda
  std::string device;              ///< name of the GPU; empty for the CPU
  bool reference = false;          ///< for differences to a reference frame
  Path path = Path::automatic;     ///< the requested path
  PlanEffort effort = PlanEffort::normal;
  double accuracy = 0, max_samples = 0;
  std::int64_t batch = 1;
  std::uint64_t seed = 1;
  bool page_locked_frames = false;   ///< GPU plans only
  double burst = 0, burst_miss = 0;  ///< plans that look for short bursts; else 0

  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

struct KeptPlan {
  PlanKey key;
  Path path = Path::dense;  ///< the chosen path
  double predicted_us = 0;
  /// Comb: B_d, and r delays in [0, n_d/B_d). Flat window: {1, 1, B} and the starts of the lines.
  std::array<std::int64_t, 3> buckets{1, 1, 1};
  std::vector<std::array<std::int64_t, 3>> delays;
  std::array<std::int64_t, 3> sigma{0, 0, 0};  ///< flat window: the step of the lines
  bool full_period = false;                    ///< flat window: the lines cover one whole period

  friend bool operator==(const KeptPlan&, const KeptPlan&) = default;
};

/// Why this cannot be a plan for signals of this shape with any support; empty if it can.
std::string impossible(const KeptPlan& plan, const Shape& shape);

/// For example "float on the cpu: comb 24x32, 6 delays".
std::string describe(const KeptPlan& plan, const Shape& shape);

struct TemplateData {
  Shape shape{1};
  bool real = false;
  std::shared_ptr<const std::vector<std::int64_t>> support;  ///< ascending linear indices

  // From learning; empty for templates made from a support alone.
  std::vector<std::complex<double>> values;  ///< X of the first frame at the support
  std::vector<double> power;                 ///< mean |X|² at the support
  double energy_captured = std::numeric_limits<double>::quiet_NaN();
  double tail_energy = 0;        ///< mean Σ|X[f]|² outside the support, both halves
  Envelope tail_envelope;        ///< mean |X[f]|² outside the support
  Envelope change_envelope;      ///< power of a change between frames; only a shape if one frame was learned
  bool change_measured = false;  ///< change_envelope comes from several frames, so its scale is known

  ElementType reference_type = ElementType::u8;  ///< of the frame learned from
  CountedVector<std::byte> reference;            ///< the first frame's samples; empty: none
  double learn_seconds = 0;                      ///< not saved
  /// The criterion that learning used, LearnOptions::energy or threshold_sigma; 0: not this one. Not saved.
  double learned_energy = 0, learned_threshold_sigma = 0;
  std::int64_t learned_k = 0;  ///< frequencies chosen, without those for tones that drift; 0: k(). Not saved
  bool learned_by_discovery = false;  ///< not saved
  std::string why_learned_so;         ///< not saved

  std::vector<KeptPlan> plans;  ///< planning decisions for this template
  std::string plans_problem;    ///< why a file's plans are not among them; not saved

  Domain domain() const noexcept { return real ? Domain::real : Domain::complex; }
  std::int64_t k() const noexcept { return static_cast<std::int64_t>(support->size()); }
};

/// Splits a linear (row-major) index into coordinates; unused dimensions are 0.
inline std::array<std::int64_t, 3> coordinates(const Shape& shape, std::int64_t flat) noexcept {
  std::array<std::int64_t, 3> at{0, 0, 0};
  if (shape.points() <= std::int64_t{1} << 32) {  // 32-bit divisions are faster
    auto rest = static_cast<std::uint32_t>(flat);
    for (int d = shape.rank() - 1; d > 0; --d) {
      const auto extent = static_cast<std::uint32_t>(shape[d]);
      at[static_cast<std::size_t>(d)] = rest % extent;
      rest /= extent;
    }
    at[0] = rest;
    return at;
  }
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at[static_cast<std::size_t>(d)] = flat % shape[d];
    flat /= shape[d];
  }
  return at;
}

/// The linear index of -f.
inline std::int64_t conjugate_index(const Shape& shape, std::int64_t flat) noexcept {
  const auto f = coordinates(shape, flat);
  std::int64_t index = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t c = f[static_cast<std::size_t>(d)];
    index = index * shape[d] + (c == 0 ? 0 : shape[d] - c);
  }
  return index;
}

/// The linear index of a frequency; coordinates outside the shape wrap around.
inline std::int64_t linear_index(const Shape& shape, const std::array<std::int64_t, 3>& f) noexcept {
  std::int64_t index = 0;
  for (int d = 0; d < shape.rank(); ++d)
    index = index * shape[d] + floor_mod(f[static_cast<std::size_t>(d)], shape[d]);
  return index;
}

/// The member of a conjugate pair that a half spectrum stores, as in learn(). The columns f_D = 0 and f_D =
/// n_D/2 store both; there it is the smaller linear index.
inline std::int64_t pair_representative(const Shape& shape, std::int64_t index) noexcept {
  const std::int64_t last = shape[shape.rank() - 1], column = index % last;
  const std::int64_t conjugate = conjugate_index(shape, index);
  if (column == 0 || 2 * column == last) return std::min(index, conjugate);
  return 2 * column < last ? index : conjugate;
}

/// Throws Error(invalid_support) unless `support` (ascending) is not empty and holds distinct indices of the
/// shape and, for a real signal, at most one of each conjugate pair.
void check_support(const Shape& shape, bool real, const std::vector<std::int64_t>& support);

}  // namespace sfft::detail
