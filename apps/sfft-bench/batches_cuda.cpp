// SPDX-License-Identifier: Apache-2.0
// Keeps whole recordings in GPU memory: as decoded for the library, and as floats for the dense engines. A
// pass enqueues all frames and waits once, as a user with a stream of frames would.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "batches.hpp"
#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/device_signals.hpp"
#include "bench/cuda/library_on_gpu.hpp"
#include "frame_transform.hpp"
#include "gpu_dense.hpp"
#include "progress.hpp"
#include "run_control.hpp"
#include "sfft/sfft.hpp"
#include "stream_tally.hpp"

namespace sfft::apps {

namespace {

/// A recording in host and GPU memory.
struct DeviceRecording {
  std::string label;
  Shape shape{1};
  std::vector<video::Frame> frames;
  bench::DeviceBuffer raw, floats;

  DeviceRecording(const InputName& name, std::int64_t max, bool loop) {
    Frames source(name, max, loop);
    label = source.label();
    shape = Shape{source.first().height, source.first().width};
    while (!source.last()) {
      frames.push_back(source.next());
      require_memory(static_cast<std::int64_t>(frames.back().samples.size()), label);
      check_interrupt();
    }
    source.check_end();
    const std::size_t bytes = frames.front().samples.size();
    raw = bench::DeviceBuffer(bytes * frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      bench::gpu(cudaMemcpy(raw.data() + i * bytes, frames[i].samples.data(), bytes, cudaMemcpyHostToDevice));
    }
    floats = bench::DeviceBuffer(static_cast<std::size_t>(count() * shape.points()) * sizeof(float));
    bench::widen_samples(raw.data(), frames.front().bit_depth16, floats.as<float>(), count() * shape.points(),
                         nullptr);
    bench::gpu(cudaDeviceSynchronize());
  }
  std::int64_t count() const { return static_cast<std::int64_t>(frames.size()); }
  ElementType type() const { return frames.front().bit_depth16 ? ElementType::u16 : ElementType::u8; }
};

class Batches {
 public:
  Batches(const DeviceRecording& recording, std::int64_t batch) : recording_(recording), batch_(batch) {}
  virtual ~Batches() = default;
  virtual std::string name() const = 0;
  virtual std::string detail() const = 0;
  virtual std::string planner() const { return {}; }
  virtual std::int64_t k() const { return 0; }
  /// Discards the results of prepare(). Not timed.
  virtual void clear() = 0;
  virtual Preparation prepare() = 0;
  /// Transforms a batch of frames starting at `first`.
  virtual void enqueue(std::int64_t first) = 0;
  /// Relative L2 error of frame `at` in the latest batch.
  virtual double error(std::int64_t at, const std::vector<std::complex<double>>& exact) const = 0;
  virtual double samples_read() const { return static_cast<double>(recording_.shape.points()); }

 protected:
  const DeviceRecording& recording_;
  std::int64_t batch_;
};

class DenseBatches final : public Batches {
 public:
  DenseBatches(const DeviceRecording& recording, std::int64_t batch, std::unique_ptr<GpuDense> engine)
      : Batches(recording, batch), engine_(std::move(engine)) {}
  std::string name() const override { return engine_->name(); }
  std::string detail() const override { return engine_->detail(); }
  void clear() override { engine_->clear(); }
  Preparation prepare() override {
    return {kUnknown, seconds_of([&] { engine_->plan(recording_.shape, batch_); })};
  }
  void enqueue(std::int64_t first) override {
    engine_->enqueue(recording_.floats.as<float>() + first * recording_.shape.points(), nullptr);
  }
  double error(std::int64_t at, const std::vector<std::complex<double>>& exact) const override {
    const auto bins = static_cast<std::int64_t>(exact.size());
    return relative_error(bench::download(engine_->spectra() + at * bins, exact.size()), exact);
  }

 private:
  std::unique_ptr<GpuDense> engine_;
};

class PlannedBatches final : public Batches {
 public:
  PlannedBatches(const DeviceRecording& recording, std::int64_t batch, std::int64_t k, PlanEffort effort)
      : Batches(recording, batch), k_(k), effort_(effort) {}
  std::string name() const override {
    return fmt::format("{}, k = {}", with_effort("sfft plan", effort_), k_);
  }
  std::string planner() const override { return word(effort_); }
  std::string detail() const override {
    return fmt::format("{}, {}", to_string(plan_->info().path), plan_->info().engine);
  }
  std::int64_t k() const override { return k_; }
  void clear() override {
    workspace_.reset();
    plan_.reset();
    spectra_.reset();
  }
  Preparation prepare() override {
    Preparation spent;
    std::optional<Template> learned;
    spent.learn = seconds_of([&] {
      const SignalView first = recording_.frames.front().view();
      learned = learn(DeviceView{recording_.raw.data(), first.type(), first.shape()}, {.keep = Largest{k_}});
    });
    spent.plan = seconds_of([&] {
      plan_.emplace(
          *learned,
          PlanOptions{
              .device = Device::gpu(), .batch = static_cast<int>(batch_), .effort = effort_, .threads = 0});
      workspace_.emplace(plan_->make_workspace());
      spectra_.emplace(k_, batch_);
    });
    return spent;
  }
  void enqueue(std::int64_t first) override {
    const auto bytes = static_cast<std::int64_t>(recording_.frames.front().samples.size());
    plan_->enqueue({recording_.raw.data() + first * bytes, recording_.type(), plan_->shape(), batch_},
                   spectra_->view(), *workspace_, nullptr);
  }
  double error(std::int64_t at, const std::vector<std::complex<double>>& exact) const override {
    const auto values = spectra_->values(static_cast<std::size_t>(at));
    const std::vector<std::complex<float>> single(values.begin(), values.end());
    return support_error(plan_->source(), single, exact);
  }
  double samples_read() const override { return static_cast<double>(plan_->info().samples); }

 private:
  std::int64_t k_;
  PlanEffort effort_;
  std::optional<Plan<float>> plan_;
  std::optional<Workspace> workspace_;
  std::optional<bench::SpectrumBuffers> spectra_;
};

double waited(const std::function<void()>& work) {
  return seconds_of([&] {
    work();
    bench::gpu(cudaDeviceSynchronize());
  });
}

/// Median of several runs after a warm-up run.
double median_of(int runs, const std::function<double()>& timed) {
  std::vector<double> times;
  for (int i = 0; i <= runs; ++i) {
    check_interrupt();
    const double seconds = timed();
    if (i > 0) times.push_back(seconds);
  }
  return median(times);
}

std::vector<double> errors(const Batches& way, const DeviceRecording& recording, std::int64_t first,
                           std::int64_t batch) {
  const dense::Plan<double> plan(recording.shape, Domain::real);
  std::vector<std::complex<double>> exact(plan.spectrum_points());
  std::vector<double> all;
  for (std::int64_t at = 0; at < batch; at += std::max<std::int64_t>(1, batch / 4)) {
    plan.forward(recording.frames[static_cast<std::size_t>(first + at)].view(), exact);
    all.push_back(way.error(at, exact));
  }
  return all;
}

void measure(Batches& way, const DeviceRecording& recording, std::int64_t batch, Row& row) {
  constexpr int kPreparations = 5, kPasses = 7;
  static const bench::DeviceBuffer flush(std::size_t{192} << 20);
  const std::int64_t whole = recording.count() / batch * batch;
  std::vector<double> learn, plan, first_spectra;
  double first_use = 0;
  for (int i = 0; i <= kPreparations; ++i) {
    check_interrupt();
    way.clear();
    Preparation spent;
    const double seconds = waited([&] {
      spent = way.prepare();
      way.enqueue(0);
    });
    if (i == 0) {
      first_use = seconds;
      continue;
    }
    learn.push_back(spent.learn);
    plan.push_back(spent.plan);
    first_spectra.push_back(seconds);
  }
  const auto cold = [&] {
    bench::gpu(cudaMemset(flush.data(), 1, flush.bytes()));
    bench::gpu(cudaDeviceSynchronize());
    return waited([&] { way.enqueue(0); });
  };
  const double one = median_of(kPasses, [&] { return waited([&] { way.enqueue(0); }); });
  row.times.cold_us = 1e6 * median_of(kPasses, cold) / static_cast<double>(batch);
  constexpr int kWarm = 20;
  row.times.warm_us = 1e6 / (kWarm * static_cast<double>(batch)) * median_of(kPasses, [&] {
                        return waited([&] {
                          for (int i = 0; i < kWarm; ++i) way.enqueue(0);
                        });
                      });
  row.recording.costs.frame_us = row.times.distinct_us =
      1e6 / static_cast<double>(whole) * median_of(kPasses, [&] {
        return waited([&] {
          for (std::int64_t at = 0; at < whole; at += batch) way.enqueue(at);
        });
      });
  if (way.k() > 0) row.times.learn_ms = 1e3 * median(learn);
  row.times.plan_ms = 1e3 * median(plan) + (way.k() > 0 ? row.times.learn_ms : 0);
  row.recording.costs.prepare_ms = 1e3 * std::max(0.0, median(first_spectra) - one);
  row.recording.costs.first_use_ms = 1e3 * std::max(0.0, first_use - one);
  row.times.total_ms = row.recording.costs.prepare_ms +
                       1e-3 * row.recording.costs.frame_us * static_cast<double>(recording.count());
  const std::vector<double> checked = errors(way, recording, whole - batch, batch);
  row.signals = static_cast<std::int64_t>(checked.size());
  row.errors.relative_l2 = median(checked);
  row.errors.worst_l2 = *std::max_element(checked.begin(), checked.end());
  row.samples_read = way.samples_read();
  row.detail = way.detail();
}

std::vector<std::unique_ptr<Batches>> make_batches(const DeviceRecording& recording, std::int64_t batch,
                                                   const VideoOptions& options, const Lineup& lineup) {
  std::vector<std::unique_ptr<Batches>> all, chosen;
  for (const PlanEffort effort : lineup.efforts) {
    for (const std::int64_t k : options.k) {
      all.push_back(std::make_unique<PlannedBatches>(recording, batch, k, effort));
    }
  }
  for (auto& engine : make_gpu_dense()) {
    all.push_back(std::make_unique<DenseBatches>(recording, batch, std::move(engine)));
  }
  std::vector<std::string> names;
  for (const auto& way : all) names.push_back(way->name());
  constexpr bool kOthers = true;  // names may also select CPU contenders
  for (const std::size_t i : selected(names, options.only, kOthers)) chosen.push_back(std::move(all[i]));
  return chosen;
}

void run_batch(const DeviceRecording& recording, std::int64_t batch, const VideoOptions& options,
               const CommonOptions& common, Results& results) {
  const auto ways = make_batches(recording, batch, options, common.lineup);
  ProgressBar progress(static_cast<int>(ways.size()), common.quiet);
  std::vector<Row> rows, even;
  for (const auto& way : ways) {
    progress.show(fmt::format("{}, {} frames a call: {}", recording.label, batch, way->name()));
    Row row;
    row.figure = "video_batched";
    row.recording.name = recording.label;
    row.contender = way->name();
    row.device = "cuda";
    row.recording.frames_in = "device";
    row.shape = recording.shape.to_string() + " real";
    row.points = row.nominal_points = recording.shape.points();
    row.k = way->k();
    row.planner = way->planner();
    row.recording.frames = recording.count();
    row.recording.batch = batch;
    try {
      measure(*way, recording, batch, row);
    } catch (const std::runtime_error& error) {
      row.skipped = error.what();
    }
    rows.push_back(row);
    progress.step();
  }
  for (const Row& ours : rows) {
    for (const Row& peer : rows) {
      if (ours.k == 0 || peer.k != 0 || !ours.skipped.empty() || !peer.skipped.empty()) continue;
      even.push_back(break_even_row(ours, peer));
    }
  }
  progress.clear();
  results.add(rows);
  results.add(even);
}

}  // namespace

void run_batches(const InputName& name, std::int64_t max, const VideoOptions& options,
                 const CommonOptions& common, Results& results) {
  std::vector<std::int64_t> batches = options.batch;
  std::erase(batches, 0);
  if (batches.empty() || name.input == "-") return;  // standard input can be read only once
  const DeviceRecording recording(name, max, options.loop);
  for (const std::int64_t batch : batches) {
    run_batch(recording, std::min(batch, recording.count()), options, common, results);
  }
}

}  // namespace sfft::apps
