// SPDX-License-Identifier: Apache-2.0
// FFTW and the built-in engine transform every frame in full; the tracker learns from the first and reads
// samples of the others, and its error counts over the template's support alone.
#include "frame_transform.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "fftw_plan.hpp"
#include "sfft/sfft.hpp"

namespace sfft::apps {

namespace {

using Complex = std::complex<float>;

#if SFFT_BENCH_FFTW
class FftwFrames final : public FrameTransform {
 public:
  explicit FftwFrames(const Shape& shape) : shape_(shape) {}
  std::string name() const override { return "FFTW"; }
  void prepare(const FrameBuffer&) override { plan_.emplace(shape_, true); }
  void push(const FrameBuffer& frame) override { plan_->execute(frame.samples.data()); }
  void repeat(const FrameBuffer& frame) override { push(frame); }
  double error(const std::vector<std::complex<double>>& exact) const override {
    return relative_error(plan_->output(), exact);
  }
  double samples_read() const override { return static_cast<double>(shape_.points()); }
  std::string detail() const override { return "float, FFTW_MEASURE, real to complex"; }
  bool counts_preparation() const override { return false; }

 private:
  Shape shape_;
  std::optional<FftwPlan> plan_;
};
#endif

class DenseFrames final : public FrameTransform {
 public:
  explicit DenseFrames(const Shape& shape) : shape_(shape) {}
  std::string name() const override { return "sfft dense"; }
  void prepare(const FrameBuffer&) override {
    plan_.emplace(shape_, true, dense::Options{.engine = dense::Engine::built_in});
    spectrum_.resize(plan_->spectrum_points());
    workspace_.resize(plan_->workspace_bytes());
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
  std::optional<dense::Plan<float>> plan_;
  LineVector<Complex> spectrum_;
  LineVector<std::byte> workspace_;
};

class TrackedFrames final : public FrameTransform {
 public:
  TrackedFrames(const Shape& shape, std::int64_t k, std::unique_ptr<FrameStore> store)
      : shape_(shape), k_(k), store_(std::move(store)) {}
  std::string name() const override { return fmt::format("sfft, k = {}", k_); }
  std::string device() const override { return store_ ? "cuda" : "cpu"; }
  void load(const FrameBuffer& frame) override {
    if (store_) store_->load(frame.frame);
  }
  void make_cold() override { store_ ? store_->make_cold() : evict_caches(); }
  std::int64_t k() const override { return k_; }
  void prepare(const FrameBuffer& first) override {
    const Backend backend = store_ ? Backend::cuda : Backend::cpu;
    const Template learned = learn(view(first), {.k = k_, .reference = true, .backend = backend});
    tracker_.emplace(learned, TrackerOptions{.plan = {.backend = backend}, .learn = {.backend = backend}});
  }
  void push(const FrameBuffer& frame) override { latest_ = &tracker_->push(view(frame)); }
  void repeat(const FrameBuffer& frame) override {
    if (!workspace_) {
      plan_.emplace(tracker_->plan());
      workspace_.emplace(plan_->make_workspace());
      spectrum_ = plan_->make_spectrum();
    }
    plan_->execute(view(frame), spectrum_, *workspace_);
  }
  double error(const std::vector<std::complex<double>>& exact) const override {
    const std::int64_t columns = shape_[1];
    double error = 0, norm = 0;
    const auto support = tracker_->current_template().support();
    for (std::size_t i = 0; i < support.size(); ++i) {
      if (support[i] == 0) continue;
      // The template keeps one of each conjugate pair and may choose either half of the spectrum.
      std::int64_t row = support[i] / columns, column = support[i] % columns;
      const bool mirrored = column > columns / 2;
      if (mirrored) {
        row = (shape_[0] - row) % shape_[0];
        column = columns - column;
      }
      const auto at = static_cast<std::size_t>(row * (columns / 2 + 1) + column);
      const std::complex<double> truth = mirrored ? std::conj(exact[at]) : exact[at];
      error += std::norm(std::complex<double>(latest_->spectrum.values[i]) - truth);
      norm += std::norm(truth);
    }
    return std::sqrt(error / norm);
  }
  double samples_read() const override { return static_cast<double>(tracker_->plan().info().samples); }
  std::string detail() const override {
    return fmt::format("{}, {} refreshed, {} relearned, {} dense", to_string(tracker_->plan().info().path),
                       tracker_->refreshed(), tracker_->relearned(), tracker_->dense_fallbacks());
  }

 private:
  SignalView view(const FrameBuffer& frame) const { return store_ ? store_->view() : frame.frame.view(); }

  Shape shape_;
  std::int64_t k_;
  std::unique_ptr<FrameStore> store_;
  std::optional<Tracker<float>> tracker_;
  const TrackedFrame<float>* latest_ = nullptr;
  std::optional<Plan<float>> plan_;
  std::optional<Workspace<float>> workspace_;
  Spectrum<float> spectrum_;
};

}  // namespace

void FrameBuffer::load(const video::Frame& stored) {
  frame = stored;
  const auto points = static_cast<std::size_t>(stored.width * stored.height);
  samples.resize(points);
  for (std::size_t i = 0; i < points; ++i) {
    samples[i] = stored.bit_depth16
                     ? static_cast<float>(reinterpret_cast<const std::uint16_t*>(stored.samples.data())[i])
                     : static_cast<float>(std::to_integer<std::uint8_t>(stored.samples[i]));
  }
}

double relative_error(std::span<const std::complex<float>> a, const std::vector<std::complex<double>>& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 1; i < b.size(); ++i) {
    error += std::norm(std::complex<double>(a[i]) - b[i]);
    norm += std::norm(b[i]);
  }
  return std::sqrt(error / norm);
}

std::unique_ptr<FrameTransform> make_tracked_frames(const Shape& shape, std::int64_t k,
                                                    std::unique_ptr<FrameStore> store) {
  return std::make_unique<TrackedFrames>(shape, k, std::move(store));
}

void add_dense_frames(const Shape& shape, std::vector<std::unique_ptr<FrameTransform>>& all) {
#if SFFT_BENCH_FFTW
  all.push_back(std::make_unique<FftwFrames>(shape));
#endif
  all.push_back(std::make_unique<DenseFrames>(shape));
}

}  // namespace sfft::apps
