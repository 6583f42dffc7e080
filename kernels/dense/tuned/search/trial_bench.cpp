// SPDX-License-Identifier: Apache-2.0
// Compiles all candidates together, times them with replayed graphs, and compares both ends of their spectra
// with those of cuFFT.
#include "kernels/dense/tuned/search/trial_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/cuda/stages/pack.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/codegen/source.hpp"
#include "kernels/dense/tuned/search/timing.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr std::size_t kSampledValues = std::size_t{1} << 18;  ///< at the beginning and at the end

template <class Real>
double relative_l2(const std::vector<std::complex<Real>>& a, const std::vector<std::complex<Real>>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += static_cast<double>(std::norm(a[i] - b[i]));
    norm += static_cast<double>(std::norm(b[i]));
  }
  return norm > 0 ? std::sqrt(difference / norm) : difference;
}

/// The error that 16-bit formats may add: twice the largest roundings.
constexpr double kWithin = 2;
double rounding(const Formats& formats) {
  double sum = 0;
  for (const dense::Storage storage : {formats.target, formats.between}) {
    if (is_16_bit(storage)) sum += storage == dense::Storage::f16 ? 0x1p-11 : 0x1p-8;
  }
  return sum;
}

}  // namespace

template <class Real>
TrialBench<Real>::TrialBench(const DenseProblem& problem, const Formats& formats)
    : problem_(problem),
      formats_(formats),
      element_(own_type<Real>(problem)),
      device_(cuda::device_info(problem.device)),
      tables_(sizeof(Real) == 4),
      signals_(static_cast<std::size_t>(span_points(problem)) * sizeof(Real) * (problem.real ? 1 : 2)),
      spectra_(static_cast<std::size_t>(total_spectrum_points(problem)) * sizeof(std::complex<Real>)) {
  fill_for_timing<Real>(signals_, stream_.get());
  if (is_16_bit(formats.source)) {
    const auto parts = static_cast<std::int64_t>(signals_.bytes() / sizeof(float));
    stored_signals_ = cuda::DeviceBuffer(signals_.bytes() / 2);
    auto* const floats = signals_.template as<float>();
    cuda::launch_narrow(floats, parts, 1, formats.source, stored_signals_.data(), stream_.get());
    cuda::launch_widen(stored_signals_.data(), formats.source, parts, floats, stream_.get());
  }
  if (is_16_bit(formats.target)) stored_spectra_ = cuda::DeviceBuffer(spectra_.bytes() / 2);
  if (problem.contiguous()) make_reference(signals_.data());
}

template <class Real>
void TrialBench<Real>::make_reference(const void* signals) {
  const auto library = make_cufft_engine<Real>(problem_);
  const cuda::DeviceBuffer workspace(library->workspace_bytes());
  library->forward(signals, own_type<Real>(problem_), spectra_.template as<std::complex<Real>>(), Real(1),
                   workspace.data(), stream_.get());
  reference_ = sample(spectra_.data());
}

template <class Real>
void TrialBench<Real>::read_bytes() {
  element_ = ElementType::u8;
  const cuda::DeviceBuffer converted(signals_.bytes());
  const std::int64_t points = total_points(problem_);
  cuda::launch_copy(cuda::copy_rows(1, points, 0, 0), signals_.data(), cuda::Element::u8, converted.data(),
                    sizeof(Real) == 4 ? cuda::Element::f32 : cuda::Element::f64, 1, stream_.get());
  make_reference(converted.data());
}

template <class Real>
const std::byte* TrialBench<Real>::results() {
  if (is_16_bit(formats_.target)) {
    cuda::launch_widen(stored_spectra_.data(), formats_.target,
                       static_cast<std::int64_t>(spectra_.bytes() / sizeof(float)),
                       spectra_.template as<float>(), stream_.get());
  }
  return spectra_.data();
}

template <class Real>
std::vector<std::complex<Real>> TrialBench<Real>::sample(const std::byte* spectra) const {
  const std::size_t all = spectra_.bytes() / sizeof(std::complex<Real>), part = std::min(all, kSampledValues);
  std::vector<std::complex<Real>> values(2 * part);
  const std::size_t bytes = part * sizeof(std::complex<Real>);
  cuda::copy_to_host(values.data(), spectra, bytes, stream_.get());
  cuda::copy_to_host(values.data() + part, spectra + spectra_.bytes() - bytes, bytes, stream_.get());
  cuda::synchronize(stream_.get());
  return values;
}

template <class Real>
void TrialBench<Real>::compile(std::vector<Candidate>& candidates, Deadline deadline) {
  constexpr bool kSingle = sizeof(Real) == 4;
  std::vector<std::string> sources;
  std::vector<std::pair<Candidate*, std::size_t>> owners;  // the candidate and the index of its kernel
  for (Candidate& candidate : candidates) {
    try {
      candidate.program =
          lay_out({problem_, kSingle, false, element_, device::Keep::all, formats_}, candidate.policy);
    } catch (const Error& error) {
      candidate.failure = error.what();
      continue;
    }
    candidate.images.assign(candidate.program.kernels.size(), {});
    for (std::size_t k = 0; k < candidate.program.kernels.size(); ++k) {
      if (candidate.only && *candidate.only != k) continue;
      sources.push_back(source_of(candidate.program.kernels[k], kSingle));
      owners.push_back({&candidate, k});
    }
  }
  const std::string architecture = fmt::format("sm_{}{}", device_.major, device_.minor);
  const std::vector<Compiled> compiled = tuned::compile(sources, architecture, deadline);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    owners[i].first->images[owners[i].second] = compiled[i].image;
    if (!compiled[i].failure.empty()) owners[i].first->failure = compiled[i].failure;
  }
}

template <class Real>
Call TrialBench<Real>::call() {
  const bool narrow_in = is_16_bit(formats_.source), narrow_out = is_16_bit(formats_.target);
  return {narrow_in ? stored_signals_.data() : signals_.data(),
          narrow_out ? stored_spectra_.data() : spectra_.data(),
          scratch_.data(),
          1,
          problem_.batch,
          static_cast<std::size_t>(problem_.strides.batch) * element_bytes(element_) / (narrow_in ? 2 : 1),
          static_cast<std::size_t>(problem_.spectrum_points()) * sizeof(std::complex<Real>) /
              (narrow_out ? 2 : 1)};
}

template <class Real>
const Executable& TrialBench<Real>::load(Candidate& candidate) {
  if (candidate.executable == nullptr) {
    candidate.executable = std::make_unique<const Executable>(candidate.program, candidate.images,
                                                              sizeof(Real) == 4, tables_, device_);
  }
  if (candidate.executable->scratch_bytes() > scratch_.bytes())
    scratch_ = cuda::DeviceBuffer(candidate.executable->scratch_bytes());
  return *candidate.executable;
}

template <class Real>
std::optional<double> TrialBench<Real>::time(Candidate& candidate) {
  if (!candidate.failure.empty()) return std::nullopt;
  try {
    const Executable& executable = load(candidate);
    return device_us(
        [&](cuda::Stream stream) {
          candidate.only ? executable.run_kernel(*candidate.only, call(), stream)
                         : executable.run(call(), stream);
        },
        stream_.get());
  } catch (const Error& error) {
    candidate.failure = error.what();
    return std::nullopt;
  }
}

template <class Real>
bool TrialBench<Real>::check(Candidate& candidate) {
  if (!candidate.failure.empty()) return false;
  if (reference_.empty()) return true;  // strided: tests check the same kernels with other strides
  cuda::clear(spectra_.data(), spectra_.bytes(), stream_.get());
  if (is_16_bit(formats_.target)) cuda::clear(stored_spectra_.data(), stored_spectra_.bytes(), stream_.get());
  Call whole = call();
  whole.scale = std::ldexp(1.0, -candidate.program.exponent());
  load(candidate).run(whole, stream_.get());
  const bool agrees = relative_l2(sample(results()), reference_) <=
                      (sizeof(Real) == 4 ? 1e-5 : 1e-13) + kWithin * rounding(formats_);
  if (!agrees) candidate.failure = "the result is wrong";
  return agrees;
}

template class TrialBench<float>;
template class TrialBench<double>;

}  // namespace sfft::detail::tuned
