// SPDX-License-Identifier: Apache-2.0
// Contenders on the GPU: cuFFT, and this library with the support known. Signals and results stay in GPU
// memory. Times are medians of replayed CUDA graphs between events, as in bench/cuda.
#include <optional>

#include "bench/cuda/library_on_gpu.hpp"
#include "bench/cuda/peers.hpp"
#include "bench/cuda/timing.hpp"
#include "contender.hpp"
#include "sfft/sfft.hpp"

namespace sfft::apps {

namespace {

using Complex = std::complex<float>;

class CudaContender : public Contender {
 public:
  std::string device() const override { return "cuda"; }
  void load(const SparseCase& problem) override {
    const auto bytes = problem.signal.size_bytes();
    if (signal_.bytes() != bytes) signal_ = bench::DeviceBuffer(bytes);
    bench::gpu(cudaMemcpy(signal_.data(), problem.signal.data(), bytes, cudaMemcpyHostToDevice));
  }
  void execute(const SparseCase&) override {
    enqueue(timer().stream());
    bench::gpu(cudaStreamSynchronize(timer().stream()));
  }
  double cold_seconds(const SparseCase& problem) override {
    return 1e-6 * timer().cold(work(), repetitions(problem), kReplays).us;
  }
  double warm_seconds(const SparseCase& problem, double) override {
    return 1e-6 * timer().warm(work(), repetitions(problem), kReplays).us;
  }

 protected:
  virtual void enqueue(cudaStream_t stream) = 0;
  const void* signal() const { return signal_.data(); }

 private:
  static constexpr int kReplays = 9;
  /// Created at the first use of the GPU and shared, because it owns the memory that flushes the cache.
  static bench::Timer& timer() {
    static bench::Timer shared;
    return shared;
  }
  static int repetitions(const SparseCase& problem) { return problem.points > (1 << 22) ? 2 : 20; }
  bench::Work work() {
    return [this](cudaStream_t stream) { enqueue(stream); };
  }

  bench::DeviceBuffer signal_;
};

class CuFftContender final : public CudaContender {
 public:
  std::string name() const override { return "cuFFT"; }
  bool ready(const SparseCase& problem) const override { return peer_ && points_ == problem.points; }
  void plan(const SparseCase& problem) override {
    peer_.reset();
    peer_ = bench::make_cufft({{problem.points}, false, 1});
    points_ = problem.points;
  }
  void load(const SparseCase& problem) override {
    CudaContender::load(problem);
    peer_->load(signal(), nullptr);
  }
  void enqueue(cudaStream_t stream) override { peer_->enqueue(stream); }
  Answer answer(const SparseCase& problem) const override {
    const auto values = peer_->read(0, problem.truth.support);
    Answer answer{{}, problem.points, "float"};
    for (std::size_t i = 0; i < values.size(); ++i) {
      answer.tones.push_back({problem.truth.support[i], values[i]});
    }
    return answer;
  }

 private:
  std::unique_ptr<bench::Peer> peer_;
  std::int64_t points_ = 0;
};

class KnownSupportOnGpu final : public CudaContender {
 public:
  std::string name() const override { return "sfft known support"; }
  bool ready(const SparseCase&) const override { return false; }  // every signal has a different support
  void plan(const SparseCase& problem) override {
    plan_.emplace(known_template(problem, Device::gpu()), PlanOptions{.device = Device::gpu()});
    workspace_ = plan_->make_workspace();
    spectrum_.emplace(plan_->source().k(), 1);
  }
  void enqueue(cudaStream_t stream) override {
    plan_->enqueue({signal(), ElementType::c64, plan_->shape()}, spectrum_->view(), workspace_, stream);
  }
  Answer answer(const SparseCase&) const override {
    const auto values = spectrum_->values(0);
    Answer answer{{}, plan_->info().samples, to_string(plan_->info().path) + (", " + plan_->info().engine)};
    for (std::size_t i = 0; i < values.size(); ++i) {
      answer.tones.push_back({plan_->source().support()[i], values[i]});
    }
    return answer;
  }

 private:
  std::optional<Plan<float>> plan_;
  Workspace workspace_;
  std::optional<bench::SpectrumBuffers> spectrum_;
};

}  // namespace

void add_cuda_contenders(std::vector<std::unique_ptr<Contender>>& contenders) {
  contenders.push_back(std::make_unique<CuFftContender>());
  contenders.push_back(std::make_unique<KnownSupportOnGpu>());
}

}  // namespace sfft::apps
