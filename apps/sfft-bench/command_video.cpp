// video: learning and transforming a recording, against transforming every frame densely.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>

#include "commands.hpp"
#include "fftw_plan.hpp"
#include "progress.hpp"
#include "sfft/sfft.hpp"
#include "timing.hpp"
#include "video/source.hpp"

namespace sfft::apps {

namespace {

using Complex = std::complex<float>;

/// The current frame, as the contenders get it: just written, like a decoder leaves it.
struct FrameBuffer {
  video::Frame frame;
  LineVector<float> samples;  ///< the same, for the dense engines, converted outside the clock
};

/// One way to transform the frames of a recording in order.
class FrameTransform {
 public:
  virtual ~FrameTransform() = default;
  virtual std::string name() const = 0;
  virtual std::int64_t k() const { return 0; }
  /// Learns and plans from the first frame.
  virtual void prepare(const FrameBuffer& first) = 0;
  virtual void push(const FrameBuffer& frame) = 0;
  /// The same work without advancing, for timing with cold caches.
  virtual void repeat(const FrameBuffer& frame) = 0;
  /// Relative L2 error of the latest frame over what was asked for; `exact` is its half spectrum.
  virtual double error(const std::vector<std::complex<double>>& exact) const = 0;
  virtual double samples_read() const = 0;
  virtual std::string detail() const = 0;
  /// Planning that other programs keep between runs: reported, and not counted into the total.
  virtual bool counts_preparation() const { return true; }
};

double relative_error(std::span<const Complex> a, const std::vector<std::complex<double>>& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 1; i < b.size(); ++i) {
    error += std::norm(std::complex<double>(a[i]) - b[i]);
    norm += std::norm(b[i]);
  }
  return std::sqrt(error / norm);
}

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
  TrackedFrames(const Shape& shape, std::int64_t k) : shape_(shape), k_(k) {}
  std::string name() const override { return fmt::format("sfft, k = {}", k_); }
  std::int64_t k() const override { return k_; }
  void prepare(const FrameBuffer& first) override {
    tracker_.emplace(learn(first.frame.view(), {.k = k_, .reference = true}));
  }
  void push(const FrameBuffer& frame) override { latest_ = &tracker_->push(frame.frame.view()); }
  void repeat(const FrameBuffer& frame) override {
    if (!workspace_) {
      plan_.emplace(tracker_->plan());
      workspace_.emplace(plan_->make_workspace());
      spectrum_ = plan_->make_spectrum();
    }
    plan_->execute(frame.frame.view(), spectrum_, *workspace_);
  }
  double error(const std::vector<std::complex<double>>& exact) const override {
    const std::int64_t columns = shape_[1];
    double error = 0, norm = 0;
    const auto support = tracker_->current_template().support();
    for (std::size_t i = 0; i < support.size(); ++i) {
      if (support[i] == 0) continue;
      // One of each conjugate pair is kept; which half of the spectrum it lies in is the template's business.
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
  Shape shape_;
  std::int64_t k_;
  std::optional<Tracker<float>> tracker_;
  const TrackedFrame<float>* latest_ = nullptr;
  std::optional<Plan<float>> plan_;
  std::optional<Workspace<float>> workspace_;
  Spectrum<float> spectrum_;
};

struct FrameTally {
  double preparation = 0, total = 0;
  std::vector<double> warm, cold, errors;
};

void load(const video::Frame& stored, FrameBuffer& buffer) {
  buffer.frame = stored;
  const auto points = static_cast<std::size_t>(stored.width * stored.height);
  buffer.samples.resize(points);
  for (std::size_t i = 0; i < points; ++i) {
    buffer.samples[i] =
        stored.bit_depth16
            ? static_cast<float>(reinterpret_cast<const std::uint16_t*>(stored.samples.data())[i])
            : static_cast<float>(std::to_integer<std::uint8_t>(stored.samples[i]));
  }
}

std::vector<video::Frame> read_frames(const VideoOptions& options, const CommonOptions& common) {
  const std::int64_t most = options.frames > 0 ? options.frames : common.quick ? 40 : 500;
  const auto source = video::open_source(options.input);
  std::vector<video::Frame> frames;
  video::Frame frame;
  while (static_cast<std::int64_t>(frames.size()) < most && source->next(frame)) frames.push_back(frame);
  if (frames.size() < 2)
    throw video::InputError(fmt::format("'{}' holds fewer than two frames", options.input));
  return frames;
}

/// 1, 2, 5, 10, 20, 50 … and the last.
bool is_mark(std::int64_t frames, std::int64_t last) {
  std::int64_t decade = 1;
  while (decade * 10 <= frames) decade *= 10;
  return frames == last || frames == decade || frames == 2 * decade || frames == 5 * decade;
}

}  // namespace

std::vector<Row> run_video(const VideoOptions& options, const CommonOptions& common) {
  const std::vector<video::Frame> frames = read_frames(options, common);
  const Shape shape{frames[0].height, frames[0].width};
  std::vector<std::unique_ptr<FrameTransform>> all;
#if SFFT_BENCH_FFTW
  all.push_back(std::make_unique<FftwFrames>(shape));
#endif
  all.push_back(std::make_unique<DenseFrames>(shape));
  std::vector<std::int64_t> ks = options.k;
  if (ks.empty())
    ks = {std::min<std::int64_t>(500, shape.points() / 50),
          std::min<std::int64_t>(1000, shape.points() / 25)};
  for (const std::int64_t k : ks) all.push_back(std::make_unique<TrackedFrames>(shape, k));

  const auto last = static_cast<std::int64_t>(frames.size());
  ProgressBar progress(static_cast<int>(last), common.quiet);
  const dense::Plan<double> exact_plan(shape, true);
  std::vector<std::complex<double>> exact(exact_plan.spectrum_points());
  std::vector<FrameTally> tallies(all.size());
  FrameBuffer buffer;
  const Table table(common.quiet);
  std::vector<Row> rows;
  for (std::int64_t t = 0; t < last; ++t) {
    const video::Frame& stored = frames[static_cast<std::size_t>(t)];
    const bool checked = t % 5 == 0;
    if (checked) exact_plan.forward(stored.view(), exact);
    const bool mark = is_mark(t + 1, last);
    std::vector<Row> group;
    for (std::size_t i = 0; i < all.size(); ++i) {
      FrameTransform& transform = *all[i];
      FrameTally& tally = tallies[i];
      progress.show(fmt::format("frame {}: {}", t + 1, transform.name()));
      load(stored, buffer);
      if (t == 0) {
        tally.preparation = seconds_of([&] { transform.prepare(buffer); });
        if (transform.counts_preparation()) tally.total = tally.preparation;
      }
      tally.warm.push_back(seconds_of([&] { transform.push(buffer); }));
      tally.total += tally.warm.back();
      if (checked) tally.errors.push_back(transform.error(exact));
      if (tally.cold.size() < 11) {
        evict_caches();
        tally.cold.push_back(seconds_of([&] { transform.repeat(buffer); }));
      }
      if (!mark) continue;
      Row row;
      row.figure = "video";
      row.contender = transform.name();
      row.shape = shape.to_string() + " real";
      row.points = row.nominal_points = shape.points();
      row.k = transform.k();
      row.frames = t + 1;
      row.signals = static_cast<std::int64_t>(tally.errors.size());
      row.relative_l2 = median(tally.errors);
      row.worst_l2 = *std::max_element(tally.errors.begin(), tally.errors.end());
      row.samples_read = transform.samples_read();
      row.plan_ms = 1e3 * tally.preparation;
      row.warm_us = 1e6 * median(tally.warm);
      row.cold_us = 1e6 * median(tally.cold);
      row.total_ms = 1e3 * tally.total;
      row.detail = transform.detail();
      group.push_back(row);
    }
    progress.step();
    if (!mark) continue;
    progress.clear();
    table.print(group);
    rows.insert(rows.end(), group.begin(), group.end());
  }
  return rows;
}

}  // namespace sfft::apps
