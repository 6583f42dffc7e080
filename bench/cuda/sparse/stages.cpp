// SPDX-License-Identifier: Apache-2.0
// Launches the stages of one comb plan separately, on the executor's tables, and compares each time with the
// bytes that the stage must move.
#include <cuda_runtime.h>

#include "bench/cuda/device_signals.hpp"
#include "bench/cuda/sparse/groups.hpp"
#include "bench/signals.hpp"
#include "kernels/cuda/executors/sparse_executor.hpp"
#include "kernels/cuda/stages/stages.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "template/comb/comb_planner.hpp"
#include "template/planning/error_table.hpp"
#include "template/planning/witness.hpp"

namespace sfft::bench {

namespace {

namespace cu = detail::cuda;
using nlohmann::json;

constexpr int kRepetitions = 20;

struct Input {
  Template tmpl;
  const void* frames;
  ElementType type;
  std::int64_t count;
  double max_samples;
};

detail::CombData plan_for(const Input& input, const detail::SupportSet& support) {
  const cu::DeviceInfo& info = cu::device_info(0);
  detail::CombRequest request;
  request.max_samples =
      static_cast<std::int64_t>(input.max_samples * static_cast<double>(input.tmpl.shape().points()));
  request.epsilon = 1.2e-7;
  request.limit_us = 1e9;
  request.cost = [&](const detail::CombCost& cost) {
    return detail::predict_comb_device_us(cost, info.multiprocessors, static_cast<int>(input.count));
  };
  std::vector<detail::Rejection> rejected;
  const auto plan = detail::plan_comb(
      support, detail::make_prior(*detail::data_of(input.tmpl), support, input.tmpl.has_reference()), request,
      rejected);
  if (!plan) throw std::runtime_error("no comb plan");
  return plan->data;
}

/// Microseconds and bytes (read once, written once) of every stage, for all frames together.
json time_stages(Timer& timer, const Input& input) {
  const detail::SupportSet support(*detail::data_of(input.tmpl));
  const detail::CombData data = plan_for(input, support);
  const cu::DeviceInfo& info = cu::device_info(0);
  const std::vector<std::int64_t> frequencies(input.tmpl.support().begin(), input.tmpl.support().end());
  const std::vector<std::uint8_t> flags(frequencies.size(), 0);
  detail::ErrorTable table = detail::make_error_table(
      support, {data.noise_gain, data.bias, data.response, data.tail_energy_per_scale});
  const detail::WitnessData witness = detail::place_witness(support, input.tmpl.has_reference(), 1);
  detail::add_witness(table.model, support, 1.2e-7, detail::TailKnowledge::white);
  const auto make_tables = [&] { return cu::BinningTables<float>(data, frequencies, flags, table, witness); };
  const cu::BinningTables<float> tables = make_tables();
  const cu::Binning<float>& view = tables.view();

  const auto k = static_cast<std::int64_t>(frequencies.size());
  const cu::DeviceBuffer values(static_cast<std::size_t>(k * input.count) * 8),
      errors(static_cast<std::size_t>(k * input.count) * 4),
      estimates(static_cast<std::size_t>(input.count) * sizeof(Quality));
  cu::Batch<float> batch;
  batch.frames = input.frames;
  batch.type = static_cast<cu::Element>(input.type);
  batch.frame_pitch = input.tmpl.shape().points();
  batch.count = static_cast<int>(input.count);
  batch.values = values.as<cu::Complex<float>>();
  batch.standard_error = errors.as<float>();
  batch.errors = estimates.as<cu::DeviceErrors>();

  const std::int64_t lines = input.count * view.lanes;
  const std::int64_t grid_bytes = lines * view.points() * 8;
  const cu::DeviceBuffer first(static_cast<std::size_t>(grid_bytes)),
      second(static_cast<std::size_t>(grid_bytes)),
      partials(static_cast<std::size_t>(input.count) * sizeof(cu::RecoverPartial) * cu::kMaxRecoverBlocks),
      checks(static_cast<std::size_t>(input.count) * sizeof(float) * detail::kWitnessReals);
  const cu::SmallFft<float> fft(tables.grid().data(), static_cast<int>(tables.grid().size()),
                                info.shared_bytes_per_block);
  const std::int64_t samples = input.count * (data.samples() + view.witness.count);
  const std::int64_t weights = k * (view.lanes * (view.real ? 16 : 8) + view.witness.count * 8);

  json row{{"group", "stages"},
           {"k", k},
           {"frames", input.count},
           {"buckets", view.points()},
           {"delays", data.delay_count()}};
  const auto stage = [&](const char* name, std::int64_t bytes, const Work& work) {
    const double us = timer.warm(work, kRepetitions).us;
    row["stages"][name] = {{"us", us}, {"bytes", bytes}, {"tb_s", static_cast<double>(bytes) / us * 1e-6}};
  };
  const cu::DeviceBuffer where = cu::upload(frequencies);
  const cu::DeviceBuffer buckets(static_cast<std::size_t>(k) * sizeof(cu::BucketPair));
  cu::GridShape grid;
  grid.rank = data.shape.rank();
  for (int d = 0; d < grid.rank; ++d) grid.extents[d] = data.shape[d];
  stage("hash (once a plan)", k * 16, [&](cudaStream_t s) {
    cu::launch_comb_hash(grid, data.buckets.data(), where.as<std::int64_t>(), static_cast<int>(k),
                         buckets.as<cu::BucketPair>(), s);
  });
  stage("permute", samples * static_cast<std::int64_t>(element_bytes(input.type)) + grid_bytes,
        [&](cudaStream_t s) {
          cu::launch_permute(view, batch, first.as<cu::Complex<float>>(), checks.as<float>(), s);
        });
  const cu::Complex<float>* spectra = nullptr;
  stage("small FFT", 2 * grid_bytes, [&](cudaStream_t s) {
    spectra = fft.execute(first.as<cu::Complex<float>>(), second.as<cu::Complex<float>>(), lines, s);
  });
  stage("recover", grid_bytes + weights + input.count * k * 12, [&](cudaStream_t s) {
    cu::launch_recover(view, batch, spectra, checks.as<float>(), partials.as<cu::RecoverPartial>(), nullptr,
                       s);
  });
  const cu::SparseExecutor<float> best(make_tables(), info, batch.count);
  const auto state = best.make_state(batch.count);
  row["best"] = {
      {"kernels", best.describe()},
      {"us", timer.warm([&](cudaStream_t s) { best.enqueue(batch, *state, s); }, kRepetitions).us}};
  return row;
}

}  // namespace

json time_stages_of_signal(Timer& timer, std::int64_t points, std::int64_t k) {
  const SparseSpectrum truth(points, k, static_cast<std::uint64_t>(points + k));
  const cu::DeviceBuffer signal(static_cast<std::size_t>(points) * 8);
  make_sparse_signal(points, truth.support, truth.values, signal.data());
  json row = time_stages(timer, {Template::from_support(Shape{points}, Domain::complex, truth.support),
                                 signal.data(), ElementType::c64, 1, 1});
  row["name"] = fmt::format("N = {}", points);
  return row;
}

json time_stages_of_frames(Timer& timer, const Recording& recording, std::int64_t batch, double max_samples) {
  const auto points = static_cast<std::size_t>(recording.shape.points());
  const cu::DeviceBuffer frames(static_cast<std::size_t>(batch) * points);
  for (std::int64_t i = 0; i < batch; ++i) {
    gpu(cudaMemcpy(frames.data() + static_cast<std::size_t>(i) * points,
                   recording.frame(1 + i % (recording.frames() - 1)).data(), points, cudaMemcpyHostToDevice));
  }
  json row = time_stages(timer, {learn(recording.frame(0), {.keep = Largest{1000}, .reference = true}),
                                 frames.data(), ElementType::u8, batch, max_samples});
  row["name"] = recording.name;
  return row;
}

}  // namespace sfft::bench
