// SPDX-License-Identifier: Apache-2.0
// Calls cuFFT directly, and VkFFT through the library's dense plans, which load the driver at run time. If
// this program linked the driver, it would not start on machines without one.
#include "gpu_dense.hpp"

#include <optional>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/peers.hpp"
#include "sfft/dense.hpp"

namespace sfft::apps {

namespace {

class CuFft final : public GpuDense {
 public:
  explicit CuFft(bool patient) : patient_(patient) {}
  std::string name() const override { return patient_ ? "cuFFT patient" : "cuFFT"; }
  std::string detail() const override {
    return patient_ ? "float, real to complex, kernels compiled for the size" : "float, real to complex";
  }
  void clear() override { peer_.reset(); }
  void plan(const Shape& shape, std::int64_t batch) override {
    clear();
    const auto extents = shape.extents();
    bench::PeerProblem problem{{extents.begin(), extents.end()}, true, batch};
    problem.patient = patient_;
    peer_ = bench::make_cufft(problem);
  }
  void enqueue(const float* frames, cudaStream_t stream) override {
    peer_->load(frames, stream);  // keeps the address and copies nothing
    peer_->enqueue(stream);
  }
  const std::complex<float>* spectra() const override { return peer_->spectra(); }

 private:
  bool patient_;
  std::unique_ptr<bench::Peer> peer_;
};

class LibraryDense final : public GpuDense {
 public:
  explicit LibraryDense(dense::Engine engine) : engine_(engine) {}
  std::string name() const override { return engine_ == dense::Engine::vkfft ? "VkFFT" : "sfft dense"; }
  std::string detail() const override { return "float, real to complex, " + plan_->engine_name(); }
  void clear() override {
    plan_.reset();
    spectra_ = {};
    workspace_ = {};
  }
  void plan(const Shape& shape, std::int64_t batch) override {
    clear();
    plan_.emplace(shape, Domain::real,
                  dense::Options{.engine = engine_, .device = Device::gpu(), .batch = batch});
    spectra_ = bench::DeviceBuffer(plan_->spectrum_points() * sizeof(std::complex<float>));
    workspace_ = bench::DeviceBuffer(plan_->device_workspace_bytes());
  }
  void enqueue(const float* frames, cudaStream_t stream) override {
    plan_->enqueue_forward(frames, ElementType::f32, spectra_.as<std::complex<float>>(),
                           {workspace_.data(), workspace_.bytes()}, stream);
  }
  const std::complex<float>* spectra() const override { return spectra_.as<std::complex<float>>(); }

 private:
  dense::Engine engine_;
  std::optional<dense::Plan<float>> plan_;
  bench::DeviceBuffer spectra_, workspace_;
};

}  // namespace

std::vector<std::unique_ptr<GpuDense>> make_gpu_dense() {
  std::vector<std::unique_ptr<GpuDense>> all;
  all.push_back(std::make_unique<CuFft>(false));
  all.push_back(std::make_unique<CuFft>(true));
  if (dense::availability(dense::Engine::vkfft)) {
    all.push_back(std::make_unique<LibraryDense>(dense::Engine::vkfft));
  }
  all.push_back(std::make_unique<LibraryDense>(dense::Engine::automatic));
  return all;
}

}  // namespace sfft::apps
