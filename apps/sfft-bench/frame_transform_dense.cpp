// SPDX-License-Identifier: Apache-2.0
// FFTW and the built-in engine transform every frame in full, on the CPU.
#include <optional>

#include "fftw_plan.hpp"
#include "frame_transform.hpp"
#include "sfft/dense.hpp"

namespace sfft::apps {

namespace {

#if SFFT_BENCH_FFTW
class FftwFrames final : public FrameTransform {
 public:
  FftwFrames(const Shape& shape, const FftwSetting& setting) : shape_(shape), setting_(setting) {}
  std::string name() const override { return setting_.name(); }
  int threads() const override { return setting_.threads; }
  std::string planner() const override { return setting_.planner_name(); }
  Preparation prepare(const FrameBuffer&) override {
    plan_.reset();
    return {kUnknown, seconds_of([&] { plan_.emplace(shape_, true, setting_); })};
  }
  void push(const FrameBuffer& frame) override { plan_->execute(frame.samples.data()); }
  void repeat(const FrameBuffer& frame) override { push(frame); }
  double error(const std::vector<std::complex<double>>& exact) const override {
    return relative_error(plan_->output(), exact);
  }
  double samples_read() const override { return static_cast<double>(shape_.points()); }
  std::string detail() const override { return FftwPlan::describe(setting_) + ", real to complex"; }

 private:
  Shape shape_;
  FftwSetting setting_;
  std::optional<FftwPlan> plan_;
};
#endif

class DenseFrames final : public FrameTransform {
 public:
  DenseFrames(const Shape& shape, int threads) : shape_(shape), threads_(threads) {}
  std::string name() const override { return with_threads("sfft dense", threads_); }
  int threads() const override { return threads_; }
  Preparation prepare(const FrameBuffer&) override {
    plan_.reset();
    return {kUnknown, seconds_of([&] {
              plan_.emplace(shape_, Domain::real,
                            dense::Options{.engine = dense::Engine::built_in, .threads = threads_});
              spectrum_.resize(plan_->spectrum_points());
              workspace_.resize(plan_->workspace_bytes());
            })};
  }
  void push(const FrameBuffer& frame) override {
    plan_->forward(SignalView(frame.samples.data(), frame.samples.size(), ElementType::f32, shape_),
                   spectrum_, workspace_);
  }
  void repeat(const FrameBuffer& frame) override { push(frame); }
  double error(const std::vector<std::complex<double>>& exact) const override {
    return relative_error(spectrum_, exact);
  }
  double samples_read() const override { return static_cast<double>(shape_.points()); }
  std::string detail() const override { return "float, real to complex, " + plan_->engine_name(); }

 private:
  Shape shape_;
  int threads_;
  std::optional<dense::Plan<float>> plan_;
  LineVector<std::complex<float>> spectrum_;
  LineVector<std::byte> workspace_;
};

}  // namespace

void add_dense_frames(const Shape& shape, const Lineup& lineup, FrameTransforms& all) {
#if SFFT_BENCH_FFTW
  for (const FftwSetting& setting : lineup.fftw())
    all.push_back(std::make_unique<FftwFrames>(shape, setting));
#endif
  for (const int threads : lineup.threads) all.push_back(std::make_unique<DenseFrames>(shape, threads));
}

}  // namespace sfft::apps
