// SPDX-License-Identifier: Apache-2.0
// Chooses fused or staged kernels and their layout when the plan is made; staged batches run in rounds of
// bounded scratch.
#include "kernels/cuda/executors/sparse_executor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/runtime/stream_buffer.hpp"
#include "kernels/cuda/small_fft/schedule_table.hpp"
#include "kernels/cuda/stages/samples.hpp"
#include "kernels/cuda/stages/stages.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

/// Limit on the scratch of one round of staged work.
constexpr std::int64_t kRoundBytes = std::int64_t{256} << 20;
/// Points per frame from which a cluster pays off; with fewer, one block ends before a cluster synchronises.
/// A cluster takes 5.4 us for 256 x 9 points; one block took 7.4 us for 256 x 5.
constexpr std::int64_t kWorthCluster = 1024;

/// The number of multiprocessors that each frame may use.
int idle_share(const DeviceInfo& device, int frames) {
  return std::max(1, device.multiprocessors / std::max(1, frames));
}

}  // namespace

template <class Real>
SparseExecutor<Real>::SparseExecutor(BinningTables<Real> tables, const DeviceInfo& device, int frames,
                                     Kernels kernels)
    : tables_(std::move(tables)) {
  // To notice a short burst, a plan needs a witness of several blocks, and only staged kernels compare those.
  if (kernels != Kernels::staged && !tables_.view().more_witness())
    policy_ = choose_fused_policy(tables_.view(), device, frames);
  if (!policy_ && kernels == Kernels::fused)
    throw Error(ErrorCode::not_sparse, "the fused kernel does not fit the GPU's shared memory");
  if (!policy_) {
    const std::vector<std::int64_t>& grid = tables_.grid();
    fft_.emplace(grid.data(), static_cast<int>(grid.size()), device.shared_bytes_per_block);
  }
}

template <class Real>
const std::vector<std::int64_t>& SparseExecutor<Real>::sample_indices() const {
  std::call_once(indices_once_, [this] { indices_ = tables_.sample_indices(); });
  return indices_;
}

template <class Real>
std::unique_ptr<State> SparseExecutor<Real>::make_state(int frames) const {
  auto state = std::make_unique<State>();
  state->frames = frames;
  if (policy_) return state;
  const auto taps = static_cast<std::size_t>(tables_.reference_points()) * sizeof(Complex<Real>);
  const std::size_t frame_bytes = 2 * aligned(taps) + sizeof(RecoverPartial) * kMaxRecoverBlocks +
                                  kWitnessReals * sizeof(Real) + sizeof(WitnessSums);
  const auto fit = std::max<std::int64_t>(1, kRoundBytes / static_cast<std::int64_t>(frame_bytes));
  state->frames = static_cast<int>(std::min<std::int64_t>(frames, fit));
  state->scratch = DeviceBuffer(static_cast<std::size_t>(state->frames) * frame_bytes);
  return state;
}

template <class Real>
void SparseExecutor<Real>::compile_for(Element type, const DeviceInfo& device) {
  generation_ = ", not compiled for this plan: ";
  Batch<Real> batch;
  batch.type = type;
  if constexpr (sizeof(Real) == sizeof(double)) {
    generation_ += "it is of double";
  } else if (!policy_ || !is_spread(fused_arguments(tables_.view(), *policy_, batch))) {
    generation_ += "no cluster of blocks shares a frame, one lane a block";
  } else {
    try {
      generated_ = std::make_unique<const GeneratedKernel>(fused_arguments(tables_.view(), *policy_, batch),
                                                           type, device);
      generation_ = ", compiled for this plan";
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
      const std::string why = error.what();
      generation_ += why.substr(0, why.find('\n'));
    }
  }
}

template <class Real>
void SparseExecutor<Real>::enqueue(const Batch<Real>& batch, State& state, Stream stream) const {
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (generated_ && generated_->type() == batch.type && batch.count > 0)
      return generated_->launch(fused_arguments(tables_.view(), *policy_, batch), stream);
  }
  launch(tables_.view(), batch, state, stream);
}

template <class Real>
void SparseExecutor<Real>::enqueue_compact(const Batch<Real>& batch, State& state, Stream stream) const {
  launch(tables_.compact_view(), batch, state, stream);
}

template <class Real>
void SparseExecutor<Real>::fetch_rows(const void* frames, std::size_t element, int count, void* compact,
                                      Stream stream) const {
  const Binning<Real>& plan = tables_.view();
  launch_fetch_rows(row_set(), {plan.witness.samples, plan.witness.count}, frames, element, count, compact,
                    stream);
}

template <class Real>
void SparseExecutor<Real>::enqueue_rows(const Batch<Real>& batch, State& state, Stream stream) const {
  launch(tables_.rows_view(), batch, state, stream);
}

template <class Real>
void SparseExecutor<Real>::read_reference(const void* frame, Element type, Complex<Real>* samples,
                                          Real* witness, Stream stream) const {
  Batch<Real> batch;
  batch.frames = frame;
  batch.type = type;
  batch.count = 1;
  const std::size_t element = element_size(type);
  const RowSet& set = row_set();
  if (set.empty() || fetched_word(set, frame, element) == 0)
    return launch_permute(tables_.view(), batch, samples, witness, stream);
  // Scattered samples cross the bus one by one; rows are copied whole.
  const StreamBuffer rows(static_cast<std::size_t>(set.compact_elements()) * element, stream);
  fetch_rows(frame, element, 1, rows.data(), stream);
  batch.frames = rows.data();
  launch_permute(tables_.rows_view(), batch, samples, witness, stream);
}

template <class Real>
void SparseExecutor<Real>::launch(const Binning<Real>& plan, const Batch<Real>& batch, State& state,
                                  Stream stream) const {
  if (batch.count == 0) return;
  if (policy_) return launch_fused(fused_arguments(plan, *policy_, batch), stream);
  for (int first = 0; first < batch.count; first += state.frames) {
    const Batch<Real> part = part_of(batch, first, state.frames, plan.k);
    launch_staged(plan, part, state, stream);
  }
}

template <class Real>
void SparseExecutor<Real>::launch_staged(const Binning<Real>& plan, const Batch<Real>& batch, State& state,
                                         Stream stream) const {
  const std::int64_t lines = static_cast<std::int64_t>(batch.count) * plan.lanes;
  const std::size_t half =
      static_cast<std::size_t>(state.frames) *
      aligned(static_cast<std::size_t>(tables_.reference_points()) * sizeof(Complex<Real>));
  auto* data = state.scratch.template as<Complex<Real>>();
  auto* other = reinterpret_cast<Complex<Real>*>(state.scratch.data() + half);
  auto* partials = reinterpret_cast<RecoverPartial*>(state.scratch.data() + 2 * half);
  auto* witness =
      reinterpret_cast<Real*>(partials + static_cast<std::size_t>(state.frames) * kMaxRecoverBlocks);
  launch_permute(plan, batch, data, witness, stream);
  if (plan.flat()) {
    launch_subsample(plan, lines, data, other, stream);
    std::swap(data, other);
  }
  auto* more =
      reinterpret_cast<WitnessSums*>(witness + static_cast<std::size_t>(state.frames) * kWitnessReals);
  launch_recover(plan, batch, fft_->execute(data, other, lines, stream), witness, partials,
                 plan.more_witness() ? more : nullptr, stream);
}

template <class Real>
std::string SparseExecutor<Real>::describe() const {
  if (!policy_) return "staged kernels" + generation_;
  if (policy_->cluster > 1)
    return fmt::format("fused kernel, clusters of {} blocks of {} threads{}", policy_->cluster,
                       policy_->threads, generation_);
  return fmt::format("fused kernel, a block of {} threads per frame{}", policy_->threads, generation_);
}

int dimension_to_halve(const CombData& data, const DeviceInfo& device, int frames) {
  const std::int64_t delays = data.delay_count();  // the lanes after halving
  if (!data.real || 2 * delays > kMaxCombOffsets || data.samples() / 2 < kWorthCluster ||
      delays > std::min(device.largest_cluster, idle_share(device, frames)))
    return -1;
  int best = -1, fewest = kMaxPasses + 1;
  for (int d = data.shape.rank() - 1; d >= 0; --d) {
    std::array<std::int64_t, 3> grid = data.buckets;
    std::int64_t& side = grid[static_cast<std::size_t>(d)];
    if (side % 2 != 0) continue;
    side /= 2;
    const int passes = lay_out_schedule(grid.data(), data.shape.rank(), false).passes;
    if (passes >= fewest) continue;
    best = d;
    fewest = passes;
  }
  return best;
}

template <class Real>
std::optional<FusedPolicy> choose_fused_policy(const Binning<Real>& plan, const DeviceInfo& device,
                                               int frames) {
  int radix = 1 << 20;
  for (int i = 0; i < plan.fft.passes; ++i) radix = std::min(radix, plan.fft.pass[i].radix);
  // One butterfly or a few rows per thread, within the block size limit.
  const auto threads_for = [&](int lanes, int rows_a_thread) {
    const int loads = plan.flat() ? 1 : std::max(radix, 4);
    const int wanted = std::max(lanes * plan.fft.points / loads, plan.rows / rows_a_thread);
    return std::clamp((wanted + 31) / 32 * 32, 64, kMaxFusedThreads<Real>);
  };
  const auto fits = [&](const FusedPolicy& policy, std::size_t limit) {
    return fused_shared_bytes(plan, policy) <= limit;
  };
  FusedPolicy common;
  common.overlap = device.overlap;
  // If there are few frames, spread each over a cluster, with one lane per block if there are enough
  // multiprocessors. A cluster must fit within one GPC, so fewer clusters run at once than the multiprocessor
  // count allows, and the rest wait: 32 frames took 1.4 times as long with clusters of four blocks as with
  // clusters of three.
  const int idle = idle_share(device, frames);
  const auto turns_of = [&](const FusedPolicy& policy) {
    if (frames <= 1) return 1;
    const int at_once = std::max(1, fused_clusters_at_once(plan, policy));
    return (frames + at_once - 1) / at_once;
  };
  std::optional<FusedPolicy> best;
  int min = plan.lanes + 1;  // the cost of one block per frame: a round costs about as much as a lane
  if (device.largest_cluster > 1 && !plan.flat() && plan.lanes * plan.fft.points >= kWorthCluster) {
    bool all_at_once = false;
    for (int cluster = std::min({device.largest_cluster, plan.lanes, idle}); cluster > 1 && !all_at_once;
         --cluster) {
      FusedPolicy policy = common;
      policy.cluster = cluster;
      policy.lanes_per_group = (plan.lanes + cluster - 1) / cluster;
      if ((cluster - 1) * policy.lanes_per_group >= plan.lanes) continue;  // a block would be idle
      policy.threads = threads_for(policy.lanes_per_group, 2);
      // Copy every table if there is room.
      FusedPolicy roomy = policy;
      roomy.copied = roomy.copied_witness = static_cast<int>(device.shared_bytes_per_block);
      FusedPolicy no_witness = roomy;
      no_witness.copied_witness = policy.copied_witness;
      for (const FusedPolicy& choice : {roomy, no_witness, policy}) {
        if (all_at_once || !fits(choice, device.shared_bytes_per_block)) continue;
        const int turns = turns_of(choice);
        all_at_once = turns == 1;
        if (turns * (choice.lanes_per_group + 1) >= min) continue;
        min = turns * (choice.lanes_per_group + 1);
        best = choice;
      }
    }
  }
  if (best) return best;
  // One block per frame: all lanes at once if two such blocks fit a multiprocessor, else as many as fit.
  const std::size_t half = device.shared_bytes_per_multiprocessor / 2 - 1024;
  for (const std::size_t limit :
       {std::min(half, device.shared_bytes_per_block), device.shared_bytes_per_block}) {
    for (int lanes = plan.lanes; lanes >= 1; lanes = lanes == 1 ? 0 : (lanes + 1) / 2) {
      FusedPolicy policy = common;
      policy.lanes_per_group = lanes;
      policy.groups = (plan.lanes + lanes - 1) / lanes;
      // More threads shorten the latency of a single frame; concurrent blocks share a multiprocessor.
      policy.threads = std::max(threads_for(lanes, 1), idle > 4 ? 256 : 64);
      if (fits(policy, limit)) return policy;
    }
  }
  return std::nullopt;
}

template std::optional<FusedPolicy> choose_fused_policy<float>(const Binning<float>&, const DeviceInfo&, int);
template std::optional<FusedPolicy> choose_fused_policy<double>(const Binning<double>&, const DeviceInfo&,
                                                                int);
template class SparseExecutor<float>;
template class SparseExecutor<double>;

}  // namespace sfft::detail::cuda
