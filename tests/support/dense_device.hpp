// SPDX-License-Identifier: Apache-2.0
// Runs dense plans on arrays in GPU memory.
#pragma once

#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "sfft/dense.hpp"
#include "sfft/dense_compact.hpp"
#include "sfft/error.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {

/// Returns all engines, or only the one that SFFT_TEST_ENGINE names. Under compute-sanitizer, running other
/// libraries only takes time.
inline std::vector<dense::Engine> gpu_engines() {
  const char* wanted = std::getenv("SFFT_TEST_ENGINE");
  std::vector<dense::Engine> engines;
  for (const auto engine : {dense::Engine::cufft, dense::Engine::vkfft, dense::Engine::tuned}) {
    if (wanted == nullptr || std::string(wanted) == dense::to_string(engine)) engines.push_back(engine);
  }
  return engines;
}

/// Returns a plan, or nothing if the engine refuses the problem. cuFFT must not refuse any.
template <class Real>
std::optional<dense::Plan<Real>> plan_if_possible(const Shape& shape, bool real,
                                                  const dense::Options& options) {
  try {
    return dense::Plan<Real>(shape, real ? Domain::real : Domain::complex, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::backend_unavailable) << error.what();
    EXPECT_NE(options.engine, dense::Engine::cufft) << error.what();
    return std::nullopt;
  }
}

/// Error bound of an engine. VkFFT is less exact in single precision, because it computes its roots of unity
/// with the GPU's fast sine.
template <class Real>
double gpu_bound(dense::Engine engine, double points) {
  return (engine == dense::Engine::vkfft && sizeof(Real) == 4 ? 10 : 2) * fft_bound<Real>(points);
}

/// Device memory for a plan's executions.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : memory_(bytes) {
    if (bytes > 0) fill_device(memory_, 0xff);
  }
  std::span<std::byte> get() const { return {memory_.data(), memory_.bytes()}; }

 private:
  detail::cuda::DeviceBuffer memory_;
};

template <class Real, class T>
std::vector<std::complex<Real>> forward_on_device(const dense::Plan<Real>& plan,
                                                  const std::vector<T>& signals) {
  const OnDevice<T> input(signals);
  const OnDevice<std::complex<Real>> output(plan.spectrum_points());
  const Workspace workspace(plan.device_workspace_bytes());
  plan.enqueue_forward(input.get(), element_type_of<T>::value, output.get(), workspace.get(), nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::memcmp(input.read().data(), signals.data(), signals.size() * sizeof(T)), 0)
      << "the input was changed";
  return output.read();
}

/// Transforms into memory that contains `before`.
template <class T, class Real>
std::vector<T> inverse_on_device(const dense::Plan<Real>& plan,
                                 const std::vector<std::complex<Real>>& spectra,
                                 const std::vector<T>& before) {
  const OnDevice<std::complex<Real>> input(spectra);
  const OnDevice<T> output(before);
  const Workspace workspace(plan.device_workspace_bytes());
  plan.enqueue_inverse(input.get(), output.get(), workspace.get(), nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::memcmp(input.read().data(), spectra.data(), spectra.size() * sizeof(spectra[0])), 0)
      << "the input was changed";
  return output.read();
}

/// Copies stored arrays from the host to the device and transforms them there.
inline std::vector<std::byte> on_device(const dense::CompactPlan& plan, detail::Direction direction,
                                        const std::vector<std::byte>& from,
                                        const int* input_exponents = nullptr,
                                        int* output_exponents = nullptr) {
  const bool forward = direction == detail::Direction::forward;
  const OnDevice<std::byte> input(from), output(forward ? plan.spectrum_bytes() : plan.signal_bytes());
  const Workspace workspace(plan.device_workspace_bytes());
  forward ? plan.enqueue_forward(input.get(), output.get(), workspace.get(), nullptr, input_exponents,
                                 output_exponents)
          : plan.enqueue_inverse(input.get(), output.get(), workspace.get(), nullptr, input_exponents,
                                 output_exponents);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(input.read(), from) << "the input was changed";
  return output.read();
}

}  // namespace sfft::test
