// SPDX-License-Identifier: Apache-2.0
// Discovery of signals in GPU memory: the rounds run on the host, on samples gathered by a kernel.
#include <fmt/format.h>

#include <chrono>

#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/learning/discover_impl.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft_build_config.hpp"
#if SFFT_HAVE_CUDA
#include "kernels/cuda/stages/signal_samples.hpp"
#endif

namespace sfft {

namespace {

using detail::DeviceSignal;

#if SFFT_HAVE_CUDA

class DeviceSamples final : public detail::SampleReader {
 public:
  explicit DeviceSamples(const DeviceSignal& signal)
      : SampleReader(signal.type),
        samples_(signal.data, static_cast<detail::cuda::Element>(signal.type), signal.device, signal.stream) {
  }
  void read(const detail::SampleSet& set, float* re, float* im) override { samples_.read(set, re, im); }
  void read(const detail::SampleSet& set, double* re, double* im) override { samples_.read(set, re, im); }

 private:
  detail::cuda::SignalSamples samples_;
};

#else

class DeviceSamples final : public detail::SampleReader {
 public:
  explicit DeviceSamples(const DeviceSignal& signal) : SampleReader(signal.type) {
    throw Error(ErrorCode::backend_unavailable,
                "this build has no GPU backend: copy the signal to the host and pass a SignalView");
  }
  void read(const detail::SampleSet&, float*, float*) override {}
  void read(const detail::SampleSet&, double*, double*) override {}
};

#endif

}  // namespace

std::optional<Discovery> detail::discover_or_explain(const DeviceSignal& signal,
                                                     const DiscoverOptions& options, std::string& why) {
  check_device_alignment(signal.data, element_bytes(signal.type), "samples");
  DeviceSamples samples(signal);
  return discover_or_explain({samples, signal.shape, Backend::cuda}, options, why);
}

Discovery discover(const DeviceView& view, const DiscoverOptions& options, CUstream_st* stream) {
  const detail::TraceRange range("discover");
  const DeviceSignal signal = detail::checked_signal(view, stream, "signal");
  std::string why;
  const auto start = std::chrono::steady_clock::now();
  std::optional<Discovery> found = detail::discover_or_explain(signal, options, why);
  const double seconds = detail::seconds_since(start);
  if (!found) {
    detail::Learned learned = detail::learn_on_gpu(
        signal, detail::dense_options(options, {signal.shape, !is_complex(signal.type)}), true);
    found = detail::from_dense(std::move(learned), signal.type, Backend::cuda, options, why);
  }
  found->search_seconds = seconds;
  return std::move(*found);
}

}  // namespace sfft
