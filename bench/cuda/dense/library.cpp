// SPDX-License-Identifier: Apache-2.0
// Wraps one plan as two peers, out of place and in place, which share its tables but not their buffers.
#include "bench/cuda/dense/library.hpp"

#include <chrono>

#include "bench/cuda/device_memory.hpp"
#include "bench/timing.hpp"

namespace sfft::bench {

namespace {

template <class Real>
class LibraryPeer final : public Peer {
 public:
  LibraryPeer(const DenseCase& what, const dense::Plan<Real>& plan, bool in_place)
      : Peer(what.problem),
        plan_(plan),
        type_(what.input),
        output_(what.problem.output_bytes()),
        workspace_(plan.device_workspace_bytes()) {
    problem_.in_place = in_place;
  }

  std::string name() const override { return plan_.engine_name(); }
  void load(const void* input, cudaStream_t stream) override {
    input_ = problem_.in_place ? output_.data() : input;
    if (problem_.in_place)
      gpu(cudaMemcpyAsync(output_.data(), input, output_.bytes(), cudaMemcpyDeviceToDevice, stream));
  }
  void enqueue(cudaStream_t stream) override {
    const std::span<std::byte> workspace{workspace_.data(), workspace_.bytes()};
    const auto* spectra = static_cast<const std::complex<Real>*>(input_);
    if (!problem_.inverse) {
      plan_.enqueue_forward(input_, type_, output_.template as<std::complex<Real>>(), workspace, stream);
    } else if (problem_.real) {
      plan_.enqueue_inverse(spectra, output_.template as<Real>(), workspace, stream);
    } else {
      plan_.enqueue_inverse(spectra, output_.template as<std::complex<Real>>(), workspace, stream);
    }
  }
  const void* result() const override { return output_.data(); }

 private:
  dense::Plan<Real> plan_;
  ElementType type_;
  const void* input_ = nullptr;
  DeviceBuffer output_, workspace_;
};

template <class Real>
LibraryPlan make(const DenseCase& what, const dense::Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const dense::Plan<Real> plan(Shape(what.problem.extents),
                               what.problem.real ? Domain::real : Domain::complex, options);
  LibraryPlan made;
  made.plan_s = seconds_since(start);
  made.engine = dense::to_string(plan.engine());
  made.engine_name = plan.engine_name();
  made.reason = plan.reason();
  made.workspace_bytes = plan.device_workspace_bytes();
  made.apart = std::make_unique<LibraryPeer<Real>>(what, plan, false);
  if (!what.problem.real) made.in_place = std::make_unique<LibraryPeer<Real>>(what, plan, true);
  return made;
}

}  // namespace

dense::Options library_options(const DenseCase& what, dense::Engine engine,
                               dense::Options::Planning planning) {
  return {.engine = engine,
          .planning = planning,
          .normalization = dense::Options::Normalization::none,
          .device = Device::gpu(),
          .batch = what.problem.batch,
          .signal_strides = {}};
}

LibraryPlan make_library_plan(const DenseCase& what, dense::Engine engine,
                              dense::Options::Planning planning) {
  const dense::Options options = library_options(what, engine, planning);
  return what.problem.double_precision ? make<double>(what, options) : make<float>(what, options);
}

}  // namespace sfft::bench
