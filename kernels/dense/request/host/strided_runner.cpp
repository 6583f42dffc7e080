// SPDX-License-Identifier: Apache-2.0
// Passes the units of a batch to StridedFft.
#include <memory>
#include <string>

#include "kernels/cpu/platform/isa.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/cpu/strided_fft.hpp"
#include "kernels/dense/request/host/cpu_runner.hpp"

namespace sfft::detail {

namespace {

template <class Real>
class StridedRunner final : public Runner<FullCall> {
 public:
  explicit StridedRunner(const DenseRequest& request)
      : fft_(request.whole_layout(), request.problem.real),
        scales_(request.scales),
        threads_(BatchThreads::divided(thread_count(request.options), fft_.units(),
                                       threads_worth(fft_.unit_points(), thread_count(request.options)))),
        slot_bytes_(fft_.workspace_bytes(threads_.within())) {}

  std::size_t workspace_bytes() const noexcept override {
    return slot_bytes_ * static_cast<std::size_t>(threads_.slots());
  }
  void run(const FullCall& call) const override {
    threads_.run(fft_.units(), [&](std::int64_t unit, int slot, cpu::ThreadPool* pool) {
      const EngineScratch scratch{call.workspace + static_cast<std::size_t>(slot) * slot_bytes_, pool};
      if (call.direction == Direction::forward) {
        fft_.forward(unit, call.from, call.type, static_cast<std::complex<Real>*>(call.to),
                     static_cast<Real>(scales_.forward), scratch);
      } else {
        fft_.inverse(unit, static_cast<const std::complex<Real>*>(call.from), call.to,
                     static_cast<Real>(scales_.inverse), scratch);
      }
    });
  }
  bool on_gpu() const noexcept override { return false; }
  bool real_in_place() const noexcept override { return true; }
  std::string name() const override { return std::string("built-in ") + cpu::isa_name(); }

 private:
  StridedFft<Real> fft_;
  DenseScales scales_;
  BatchThreads threads_;
  std::size_t slot_bytes_;
};

}  // namespace

template <class Real>
std::unique_ptr<const Runner<FullCall>> make_strided_runner(const DenseRequest& request) {
  return std::make_unique<const StridedRunner<Real>>(request);
}

template std::unique_ptr<const Runner<FullCall>> make_strided_runner<float>(const DenseRequest&);
template std::unique_ptr<const Runner<FullCall>> make_strided_runner<double>(const DenseRequest&);

}  // namespace sfft::detail
