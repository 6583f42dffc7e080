// SPDX-License-Identifier: Apache-2.0
// Compiles generated kernels for 16-bit values with the host's compiler, and compares them with the built-in
// engine in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/dense/cpu/stored_values.hpp"
#include "sfft/dense.hpp"
#include "tests/support/compact.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"
#include "tests/support/tuned_emulator.hpp"

namespace sfft::test {

using dense::Storage;
using detail::DenseProblem;
using detail::tuned::Formats;
using detail::tuned::Program;
using detail::tuned::TransformPolicy;

struct CompactCase {
  DenseProblem problem;
  TransformPolicy policy;
  Storage signal, spectrum, between;
  /// The largest part of signals. Those of f16 spectra reach 65504.
  double peak = 4;

  Formats formats(bool inverse) const {
    const double max = inverse ? (spectrum == Storage::f16 ? 65504 : 1e6) : peak;
    return {inverse ? spectrum : signal, inverse ? signal : spectrum, between, max};
  }
  Program program(bool inverse) const {
    return lay_out({problem, true, inverse, ElementType::f32, device::Keep::all, formats(inverse)}, policy);
  }
};

inline CompactCase of(const Shape& shape, bool real, std::int64_t batch, Storage signal, Storage spectrum,
                      Storage between = Storage::f32, const std::vector<int>& factors = {}, int groups = 0,
                      bool ring = true) {
  CompactCase c{dense_problem(shape, real, batch), {}, signal, spectrum, between};
  // These are kernels for floats. Those for few lines need not hold whole blocks of block16.
  DenseProblem many = c.problem;
  many.batch = std::int64_t{1} << 20;
  c.policy = rule_policy(many, true, factors);
  c.policy.alternating_groups = groups;
  c.policy.ring_buffer = ring;
  for (auto& kernel : c.policy.kernels) kernel.streaming = batch % 2 == 0;
  return c;
}

/// Memory with a margin that must not be written.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : size_(bytes), bytes_(bytes + kMargin, kPattern) {}
  std::byte* data() { return bytes_.data(); }
  std::span<const std::byte> get() const { return std::span(bytes_).first(size_); }
  bool intact() const {
    return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(size_), bytes_.end(),
                       [](std::byte b) { return b == kPattern; });
  }

 private:
  static constexpr std::size_t kMargin = 512;
  static constexpr std::byte kPattern{0x7e};
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

/// Stores parts in a format, without exponents.
inline std::vector<std::byte> stored_batch(const std::vector<double>& parts, std::size_t batch,
                                           Storage storage, int top) {
  const std::size_t own = parts.size() / batch, bytes = dense::compact_bytes(own, storage);
  std::vector<std::byte> stored(batch * bytes);
  for (std::size_t b = 0; b < batch; ++b)
    detail::write_stored(parts.data() + b * own, static_cast<std::int64_t>(own), 0, top, storage,
                         stored.data() + b * bytes);
  return stored;
}
inline std::vector<double> loaded_batch(std::span<const std::byte> stored, Storage storage, std::size_t batch,
                                        std::size_t parts) {
  std::vector<double> values(parts);
  const std::size_t bytes = stored.size() / batch, own = parts / batch;
  for (std::size_t b = 0; b < batch; ++b)
    load_compact(stored.subspan(b * bytes, bytes), storage, {}, std::span(values).subspan(b * own, own));
  return values;
}

/// Executes one direction on stored values; the results are `scale` times the sums.
inline std::vector<double> results_of(const CompactCase& c, bool inverse, const EmulatedKernels& kernels,
                                      std::size_t first, std::span<const std::byte> input, std::size_t parts,
                                      double scale) {
  const Program program = c.program(inverse);
  const Formats formats = c.formats(inverse);
  const auto batch = static_cast<std::size_t>(c.problem.batch);
  Guarded output(batch * dense::compact_bytes(parts / batch, formats.target)),
      scratch(program.scratch_bytes(true));
  detail::tuned::Tables tables(true, copy_to_host);
  emulate(program, kernels, first, tables,
          {input.data(), output.data(), scratch.data(), std::ldexp(scale, -program.exponent()),
           c.problem.batch, input.size() / batch, output.get().size() / batch});
  EXPECT_TRUE(output.intact());
  EXPECT_TRUE(scratch.intact());
  return loaded_batch(output.get(), formats.target, batch, parts);
}

inline void expect_right(const CompactCase& c, const EmulatedKernels& kernels, std::size_t first) {
  SCOPED_TRACE(c.problem.shape.to_string() + (c.problem.real ? " real " : " complex ") + to_string(c.signal) +
               " " + to_string(c.spectrum) + " " + to_string(c.between) + ": " + to_text(c.policy));
  const DenseProblem& problem = c.problem;
  const auto points = static_cast<double>(problem.shape.points());
  const auto count = static_cast<std::size_t>(problem.batch * problem.shape.points());
  ComplexSignal noise = random_signal(count, 5);
  const std::vector<double> parts = parts_of(noise, problem.real);
  const auto batch = static_cast<std::size_t>(problem.batch);
  const std::vector<std::byte> signal = stored_batch(parts, batch, c.signal, 2);
  const std::vector<double> exact = loaded_batch(signal, c.signal, batch, parts.size());
  const dense::Plan<double> plan(
      problem.shape, problem.real ? Domain::real : Domain::complex,
      {.normalization = dense::Options::Normalization::none, .batch = problem.batch});
  ComplexSignal expected(plan.spectrum_points());
  plan.forward(exact.data(), problem.real ? ElementType::f64 : ElementType::c128, expected);

  // This scale keeps results far from overflow and from subnormal numbers.
  const double scale = std::exp2(std::round(std::log2(256 / std::sqrt(points))));
  const auto steps = static_cast<double>(c.program(false).kernels.size() - 1);
  const auto bound_of = [&](Storage target) {
    return storage_bound(target, 2 * points) + steps * storage_bound(c.between, 2 * points) +
           3e1 * static_cast<double>(std::numeric_limits<float>::epsilon());
  };
  const std::vector<double> spectrum =
      results_of(c, false, kernels, first, signal, 2 * expected.size(), scale);
  std::vector<double> scaled = parts_of(expected, false);
  for (double& part : scaled) part *= scale;
  EXPECT_LE(relative_l2(spectrum, scaled), bound_of(c.spectrum));

  // The inverse transform starts from the expected spectrum.
  const std::vector<std::byte> stored = stored_batch(scaled, batch, c.spectrum, 10);
  const std::vector<double> back = results_of(c, true, kernels, first + c.program(false).kernels.size(),
                                              stored, parts.size(), 1 / (points * scale));
  EXPECT_LE(relative_l2(back, exact), bound_of(c.signal) + storage_bound(c.spectrum, 2 * points));
}

inline void expect_right(const std::vector<CompactCase>& cases) {
  const ScratchFolder folder;
  std::vector<std::string> sources;
  for (const CompactCase& c : cases) {
    for (const bool inverse : {false, true}) {
      for (const auto& kernel : c.program(inverse).kernels) sources.push_back(source_of(kernel, true));
    }
  }
  const EmulatedKernels kernels(sources, folder.path(), "compact");
  std::size_t first = 0;
  for (const CompactCase& c : cases) {
    expect_right(c, kernels, first);
    first += c.program(false).kernels.size() + c.program(true).kernels.size();
  }
}

inline constexpr Storage kF32 = Storage::f32, kF16 = Storage::f16, kBf16 = Storage::bf16,
                         kBlock = Storage::block16;

}  // namespace sfft::test
