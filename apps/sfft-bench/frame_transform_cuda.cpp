// SPDX-License-Identifier: Apache-2.0
// Transforms frames on the GPU. They start in page-locked host memory, where decoders can write them. The
// wall-clock time runs from there to the end of the transform, so it includes the bus transfer.
#include <cstring>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/device_signals.hpp"
#include "frame_transform.hpp"
#include "gpu_dense.hpp"

namespace sfft::apps {

namespace {

/// A frame in page-locked memory, and the means to flush the GPU's cache.
class PinnedFrame final : public FrameStore {
 public:
  explicit PinnedFrame(const Shape& shape) : shape_(shape), flush_(std::size_t{192} << 20) {}
  void load(const video::Frame& frame) override {
    if (pinned_.bytes() != frame.samples.size()) pinned_ = bench::PinnedBuffer(frame.samples.size());
    std::memcpy(pinned_.data(), frame.samples.data(), frame.samples.size());
    wide_ = frame.bit_depth16;
  }
  SignalView view() const override {
    return {pinned_.data(), static_cast<std::size_t>(shape_.points()),
            wide_ ? ElementType::u16 : ElementType::u8, shape_};
  }
  void make_cold() override {
    evict_caches();
    bench::gpu(cudaMemset(flush_.data(), 1, flush_.bytes()));
    bench::gpu(cudaDeviceSynchronize());
  }

 private:
  Shape shape_;
  bench::DeviceBuffer flush_;
  bench::PinnedBuffer pinned_;
  bool wide_ = false;
};

/// Copies a frame to the GPU, converts it and transforms it there. The spectrum stays on the GPU.
class DenseFrames final : public FrameTransform {
 public:
  DenseFrames(const Shape& shape, std::unique_ptr<GpuDense> engine)
      : shape_(shape), engine_(std::move(engine)), store_(shape) {
    bench::gpu(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~DenseFrames() override { cudaStreamDestroy(stream_); }
  std::string name() const override { return engine_->name(); }
  std::string device() const override { return "cuda"; }
  std::string frames_in() const override { return "page-locked"; }
  void load(const FrameBuffer& frame) override { store_.load(frame.frame); }
  Preparation prepare(const FrameBuffer&) override {
    return {kUnknown, seconds_of([&] {
              engine_->plan(shape_, 1);
              raw_ = bench::DeviceBuffer(store_.view().bytes());
              samples_ = bench::DeviceBuffer(static_cast<std::size_t>(shape_.points()) * sizeof(float));
            })};
  }
  void push(const FrameBuffer&) override {
    const SignalView frame = store_.view();
    bench::gpu(cudaMemcpyAsync(raw_.data(), frame.data(), frame.bytes(), cudaMemcpyHostToDevice, stream_));
    bench::widen_samples(raw_.data(), frame.type() == ElementType::u16, samples_.as<float>(), shape_.points(),
                         stream_);
    engine_->enqueue(samples_.as<float>(), stream_);
    bench::gpu(cudaStreamSynchronize(stream_));
  }
  void repeat(const FrameBuffer& frame) override { push(frame); }
  void make_cold() override { store_.make_cold(); }
  double error(const std::vector<std::complex<double>>& exact) const override {
    return relative_error(bench::download(engine_->spectra(), exact.size()), exact);
  }
  double samples_read() const override { return static_cast<double>(shape_.points()); }
  std::string detail() const override { return engine_->detail() + ", frames copied from the host"; }

 private:
  Shape shape_;
  std::unique_ptr<GpuDense> engine_;
  PinnedFrame store_;
  cudaStream_t stream_ = nullptr;
  bench::DeviceBuffer raw_, samples_;
};

}  // namespace

void add_cuda_frames(const Shape& shape, const std::vector<std::int64_t>& ks, const Lineup& lineup,
                     FrameTransforms& all) {
  // The library goes first, so it pays the one-time costs of cuFFT and the driver.
  for (const PlanEffort effort : lineup.efforts) {
    for (const std::int64_t k : ks) {
      all.push_back(make_tracked_frames(k, effort, std::make_unique<PinnedFrame>(shape)));
    }
  }
  for (auto& engine : make_gpu_dense()) {
    all.push_back(std::make_unique<DenseFrames>(shape, std::move(engine)));
  }
}

}  // namespace sfft::apps
