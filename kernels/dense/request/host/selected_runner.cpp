// SPDX-License-Identifier: Apache-2.0
// Selected coefficients on the CPU: stores the complete spectra of the batch in memory of the call, and picks
// from them.
#include <fmt/format.h>

#include <complex>

#include "kernels/dense/request/runner.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

template <class Real>
class SelectedCpuRunner final : public Runner<SelectedCall<Real>> {
  using Value = std::complex<Real>;

 public:
  SelectedCpuRunner(const DenseProblem& problem, std::unique_ptr<const Runner<FullCall>> full,
                    std::span<const std::int64_t> support)
      : problem_(problem), full_(std::move(full)), support_(support.begin(), support.end()) {}

  void run(const SelectedCall<Real>& call) const override {
    const auto count = static_cast<std::size_t>(total_spectrum_points(problem_));
    CountedVector<Value> spectra;
    try {
      spectra.resize(count);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory, fmt::format("no memory for {} coefficients", count));
    }
    const Scratch scratch({}, full_->workspace_bytes());
    enter_stage("dense transform");
    full_->run({Direction::forward, call.from, call.type, spectra.data(), scratch.data()});
    support_.empty() ? keep_above(spectra, call) : keep_at(spectra, static_cast<Value*>(call.to));
  }
  bool on_gpu() const noexcept override { return false; }
  std::string name() const override { return full_->name(); }

 private:
  static void keep_above(const CountedVector<Value>& spectra, const SelectedCall<Real>& call) {
    const Real least = call.magnitude * call.magnitude;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      const Real re = spectra[i].real(), im = spectra[i].imag();
      if (re * re + im * im <= least) continue;
      call.indices->push_back(static_cast<std::int64_t>(i));
      call.values->push_back(spectra[i]);
    }
  }
  void keep_at(const CountedVector<Value>& spectra, Value* values) const {
    const auto spectrum = static_cast<std::size_t>(problem_.spectrum_points());
    for (std::size_t start = 0; start < spectra.size(); start += spectrum)
      for (const std::int64_t element : support_)
        *values++ = spectra[start + static_cast<std::size_t>(element)];
  }

  DenseProblem problem_;
  std::unique_ptr<const Runner<FullCall>> full_;
  std::vector<std::int64_t> support_;
};

}  // namespace

template <class Real>
Choice<SelectedCall<Real>> select_on_cpu(const DenseRequest& request, std::span<const std::int64_t> support) {
  Choice<FullCall> full = choose_on_cpu<Real>(request);
  return {std::make_unique<const SelectedCpuRunner<Real>>(request.problem, std::move(full.runner), support),
          full.engine, std::move(full.reason)};
}

template Choice<SelectedCall<float>> select_on_cpu(const DenseRequest&, std::span<const std::int64_t>);
template Choice<SelectedCall<double>> select_on_cpu(const DenseRequest&, std::span<const std::int64_t>);

}  // namespace sfft::detail
