// SPDX-License-Identifier: Apache-2.0
// The buffers, reference spectrum and compiled kernels with which the tuner runs its candidates.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/run/executable.hpp"

namespace sfft::detail::tuned {

/// A policy compiled to machine code, whole or only one kernel of it.
struct Candidate {
  TransformPolicy policy;
  std::optional<std::size_t> only{};  ///< the only kernel that is compiled
  Program program{};
  std::vector<Image> images{};
  std::unique_ptr<const Executable> executable{};  ///< set once it has run
  std::string failure{};                           ///< why it cannot be tried; empty if it can
};

/// Runs forward transforms of a problem on pseudo-random signals. Owns memory for two arrays of signals and
/// two of spectra.
template <class Real>
class TrialBench {
 public:
  explicit TrialBench(const DenseProblem& problem, const Formats& formats = {});
  /// From this call on, real signals are 8-bit samples. Only for contiguous problems.
  void read_bytes();

  /// Lays out the candidates' programs and compiles them. Candidates for which there is no time fail.
  void compile(std::vector<Candidate>& candidates, Deadline deadline = std::nullopt);
  /// Microseconds of the whole transform, or of the only kernel. Nothing for a candidate that fails.
  std::optional<double> time(Candidate& candidate);
  /// Whether the whole transform agrees with that of cuFFT.
  bool check(Candidate& candidate);

 private:
  Call call();
  const Executable& load(Candidate& candidate);
  void make_reference(const void* signals);
  /// The spectra converted to complex Reals, whatever their stored format.
  const std::byte* results();
  std::vector<std::complex<Real>> sample(const std::byte* spectra) const;

  DenseProblem problem_;
  Formats formats_;
  ElementType element_;
  const cuda::DeviceInfo& device_;
  Tables tables_;
  cuda::Queue stream_;
  cuda::DeviceBuffer signals_, spectra_, scratch_;
  cuda::DeviceBuffer stored_signals_, stored_spectra_;  ///< if formats have 16 bits
  std::vector<std::complex<Real>> reference_;
};

extern template class TrialBench<float>;
extern template class TrialBench<double>;

}  // namespace sfft::detail::tuned
