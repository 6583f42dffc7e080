// SPDX-License-Identifier: Apache-2.0
// Loads kernels and their tables, limits resident blocks through shared memory, and launches steps in order.
// Alternating steps run over groups on side streams.
#include "kernels/dense/tuned/run/executable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "kernels/dense/tuned/run/bank_slots.hpp"
#include "kernels/dense/tuned/run/product_tables.hpp"
#include "kernels/dense/tuned/run/tables.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

std::shared_ptr<const void> copy_to_gpu(const void* data, std::size_t bytes) {
  const auto buffer = std::make_shared<const cuda::DeviceBuffer>(cuda::upload(data, bytes));
  return {buffer, buffer->data()};
}

const void* Tables::known(const std::string& key) const {
  const auto found = copies_.find(key);
  return found == copies_.end() ? nullptr : found->second.get();
}

const void* Tables::values(const std::string& key, const Table& table) {
  if (table.empty()) return nullptr;
  if (single_) return add(key, std::vector<std::complex<float>>(table.begin(), table.end()));
  return add(key, table);
}

void Tables::convolution_of(const Step& step, device::StepTables& tables) {
  const std::string key =
      fmt::format("{} {} {} {} ", step.method == Method::rader ? "rader" : "bluestein", step.points,
                  step.twiddle_free() ? fmt::format("{}", fmt::join(step.policy.radices, "."))
                                      : std::to_string(step.policy.length()),
                  step.conflict_free() ? step.policy.threads_per_transform : 0);
  if (known(key + "kernel") == nullptr) {
    const Convolution made = convolution(step);
    values(key + "kernel", made.kernel);
    values(key + "chirp", made.chirp);
    if (step.conflict_free()) {
      const SlotTables slots = slot_tables(step, made, single_);
      add(key + "store", slots.store);
      add(key + "gather", slots.gather);
      add(key + "scatter", slots.scatter);
      add(key + "load", slots.load);
    } else if (!made.gather.empty()) {
      add(key + "gather", made.gather);
      add(key + "scatter", made.scatter);
    }
  }
  tables.kernel = known(key + "kernel");
  tables.chirp = known(key + "chirp");
  tables.gather = known(key + "gather");
  tables.scatter = known(key + "scatter");
  tables.store = known(key + "store");
  tables.load = known(key + "load");
}

/// The roots of an FFT, then those that its passes read, for the radices in forward and in reverse order.
const void* Tables::all_roots(const Step& step) {
  const IntList& radices = step.policy.radices;
  const Twiddles twiddles = step.policy.twiddles;
  const std::string key =
      fmt::format("roots {} {} {}", fmt::join(radices, "."), static_cast<int>(twiddles), step.rows);
  if (const void* found = known(key)) return found;
  const double min = single_ ? 0x1p-24 : 0x1p-53;  // one epsilon, relative to the other part, which is near 1
  Table all = roots(step.policy.length(), step.policy.length());
  for (const IntList& way : {radices, radices.reversed()}) {
    const Table own = pass_roots_of(way, twiddles, step.rows, min);
    all.insert(all.end(), own.begin(), own.end());
  }
  return values(key, all);
}

const void* Tables::matrices(const Step& step) {
  const std::string key = fmt::format("matrices {} {}", step.points, step.swap_in);
  if (const void* found = known(key)) return found;
  return add(key, product_tables(ProductLayout(step.policy), step.swap_in));
}

device::StepTables Tables::of(const Step& step) {
  device::StepTables tables{};
  const auto get = [&](const std::string& key, std::int64_t n, std::int64_t count, std::int64_t stride) {
    const void* found = known(key);
    return found != nullptr ? found : values(key, roots(n, count, stride));
  };
  if (step.multiplies()) {
    tables.matrices = matrices(step);
    return tables;
  }
  const int length = step.policy.length();
  tables.roots = reads_all_roots(step.policy.twiddles) && !step.twiddle_free()
                     ? all_roots(step)
                     : get(fmt::format("roots {}", length), length, length, 1);
  if (step.half_spectra())
    tables.unpack_real = get(fmt::format("unpack real {}", step.points), 2 * step.points, step.points + 1, 1);
  if (step.twiddle.modulus > 0) {
    const std::int64_t n = step.twiddle.modulus, fine = std::int64_t{1} << step.twiddle.fine_bits();
    tables.fine = get(fmt::format("fine {}", n), n, fine, 1);
    tables.coarse = get(fmt::format("coarse {}", n), n, n / fine + 1, fine);
  }
  if (step.method != Method::plain) convolution_of(step, tables);
  return tables;
}

namespace {

std::int64_t tiles_of(std::int64_t lines, const KernelPolicy& policy) {
  return (lines + policy.transforms_per_block - 1) / policy.transforms_per_block;
}

int blocks_of(CUfunction function, unsigned threads, std::size_t shared_bytes) {
  int blocks = 0;
  cuda::check_driver(cuda::driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(
                         &blocks, function, static_cast<int>(threads), shared_bytes),
                     "counting a kernel's blocks");
  return blocks;
}

/// Returns the shared memory with which a multiprocessor holds at most `resident` blocks that need `bytes`.
/// The rest is left to the L1 cache.
std::size_t bytes_to_hold(CUfunction function, unsigned threads, std::size_t bytes, int resident,
                          const cuda::DeviceInfo& device) {
  constexpr std::size_t kOfSystem = 1 << 10;  // reserved in every block, from sm_80 on
  const std::size_t share =
      100 * static_cast<std::size_t>(resident) * (bytes + kOfSystem) / device.shared_bytes_per_multiprocessor;
  cuda::check_driver(
      cuda::driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                        static_cast<int>(std::min<std::size_t>(share, 100))),
      "choosing a kernel's share of shared memory");
  std::size_t max = device.shared_bytes_per_block;
  if (blocks_of(function, threads, bytes) <= resident) return bytes;
  while (max - bytes > 1) {
    const std::size_t middle = (bytes + max) / 2;
    (blocks_of(function, threads, middle) > resident ? bytes : max) = middle;
  }
  return max;
}

}  // namespace

Executable::Executable(Program program, const std::vector<Image>& images, bool single, Tables& tables,
                       const cuda::DeviceInfo& device)
    : program_(std::move(program)),
      value_bytes_(single ? 8 : 16),
      scratch_bytes_(program_.scratch_bytes(single)),
      multiprocessors_(device.multiprocessors),
      overlap_(device.overlap) {
  for (std::size_t i = 0; i < program_.kernels.size(); ++i) {
    const Kernel& kernel = program_.kernels[i];
    Loaded loaded;
    loaded.groups = kernel.groups;
    loaded.tiles = kernel.step.tiles();
    loaded.policy = kernel.step.policy;
    loaded.threads = static_cast<unsigned>(kernel.threads());
    loaded.shared_bytes = kernel.shared_bytes(single);
    if (!images[i].empty()) {
      loaded.tables = tables.of(kernel.step);
      loaded.module = std::make_unique<const cuda::Module>(images[i].data());
      loaded.function = loaded.module->function("sfft_kernel");
      const int resident = kernel.step.policy.max_blocks_per_multiprocessor;
      if (loaded.shared_bytes > (48 << 10) || resident > 0) {
        cuda::check_driver(
            cuda::driver().cuFuncSetAttribute(
                loaded.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                static_cast<int>(resident > 0 ? device.shared_bytes_per_block : loaded.shared_bytes)),
            "raising a kernel's shared memory");
      }
      if (resident > 0) {
        loaded.shared_bytes =
            bytes_to_hold(loaded.function, loaded.threads, loaded.shared_bytes, resident, device);
      }
      loaded.stays = kernel.stays();
      const int blocks = blocks_of(loaded.function, loaded.threads, loaded.shared_bytes);
      loaded.resident_blocks = std::int64_t{std::max(blocks, 1)} * device.multiprocessors;
      loaded.prefetch_distance = loaded.resident_blocks * kernel.step.policy.prefetch_distance / 100;
    }
    kernels_.push_back(std::move(loaded));
  }
  if (program_.alternating) side_streams_for(nullptr);
}

Executable::SideStreams& Executable::side_streams_for(cuda::Stream stream) const {
  // Skip streams that take part in another capture: they would pull this work into its graph.
  const std::uint64_t capture = cuda::capture_of(stream);
  for (const auto& side : side_streams_) {
    const std::uint64_t own = side->streams.empty() ? 0 : cuda::capture_of(side->streams[0].get());
    if (own == 0 || own == capture) return *side;
  }
  auto side = std::make_unique<SideStreams>();
  for (int s = 1; s < program_.streams; ++s) side->streams.emplace_back();
  for (int s = 0; s < program_.streams; ++s) side->events.emplace_back();
  side_streams_.push_back(std::move(side));
  return *side_streams_.back();
}

/// With at least this many waves of blocks, a launch gains more than its first blocks lose by starting late.
constexpr std::int64_t kWorthDelaying = 3;

void Executable::launch(const Loaded& kernel, const Call& call, std::int64_t first_group, std::int64_t tiles,
                        cuda::Stream stream) const {
  if (tiles > 0x7fffffff) {
    throw Error(
        ErrorCode::size_overflow,
        fmt::format("a dense transform needs {} blocks of threads at once: make the batch smaller", tiles));
  }
  device::Arguments arguments{};
  arguments.input = call.input;
  arguments.output = call.output;
  arguments.scratch = call.scratch;
  arguments.first_group = first_group;
  arguments.lines = call.batch;
  arguments.tiles = static_cast<unsigned>(tiles);
  arguments.early_blocks =
      static_cast<unsigned>(kernel.resident_blocks / 2);  // the other half would begin too late (measured)
  arguments.resident_blocks = static_cast<unsigned>(kernel.resident_blocks);
  arguments.per_multiprocessor = 1.0f / static_cast<float>(multiprocessors_);
  arguments.multiprocessor_delay = tiles > kWorthDelaying * kernel.resident_blocks
                                       ? static_cast<unsigned>(kernel.policy.multiprocessor_delay)
                                       : 0;
  arguments.block_delay = static_cast<unsigned>(kernel.policy.block_delay);
  arguments.prefetch_distance = static_cast<unsigned>(kernel.prefetch_distance);
  arguments.scale = call.scale;
  arguments.tables = kernel.tables;
  arguments.kept = call.kept;
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(kernel.stays ? std::min(tiles, kernel.resident_blocks) : tiles);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = kernel.threads;
  config.sharedMemBytes = static_cast<unsigned>(kernel.shared_bytes);
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap_ ? 1 : 0;
  void* parameters[] = {&arguments};
  cuda::check_driver(cuda::driver().cuLaunchKernelEx(&config, kernel.function, parameters, nullptr),
                     "launching a dense transform");
}

void Executable::run_kernel(std::size_t kernel, const Call& call, cuda::Stream stream) const {
  const Loaded& loaded = kernels_[kernel];
  const std::int64_t tiles =
      loaded.tiles > 0 ? loaded.tiles * loaded.groups : tiles_of(call.batch, loaded.policy);
  launch(loaded, call, 0, tiles, stream);
}

void Executable::run_groups(const Call& call, std::int64_t groups, cuda::Stream stream) const {
  const Loaded& kernel = kernels_[0];
  launch(kernel, call, 0, kernel.tiles * groups, stream);
}

std::int64_t Executable::columns_at_once() const noexcept {
  if (program_.volume_in_two()) return program_.kernels[0].step.in.group;
  if (program_.kernels.size() != 3 || !program_.alternating) return 0;
  const Step& step = program_.kernels[kernel_of_columns()].step;
  const auto flat = [](const Side& side) {
    return side.inner == Digits(1) && side.form == Form::complex && side.buffer != Buffer::scratch;
  };
  return step.outer == 1 && step.twiddle.modulus == 0 && flat(step.in) && flat(step.out)
             ? step.policy.transforms_per_block
             : 0;
}

void Executable::run_columns(const Call& call, std::int64_t first, std::int64_t count,
                             cuda::Stream stream) const {
  if (program_.volume_in_two()) return run_kernel(1, call, stream);
  const Loaded& kernel = kernels_[kernel_of_columns()];
  const std::size_t offset = static_cast<std::size_t>(first) * value_bytes_;
  Call part = call;
  part.input = static_cast<const std::byte*>(call.input) + offset;
  part.output = static_cast<std::byte*>(call.output) + offset;
  launch(kernel, part, 0, tiles_of(count, kernel.policy), stream);
}

void Executable::run_planes(const Call& call, std::int64_t first, std::int64_t count,
                            cuda::Stream stream) const {
  if (!program_.volume_in_two()) return run_alternating(call, first, count, stream);
  launch(kernels_[0], call, first, kernels_[0].tiles * count, stream);
}

void Executable::run_alternating(const Call& call, std::int64_t first_group, std::int64_t groups,
                                 cuda::Stream stream) const {
  const std::lock_guard lock(mutex_);
  SideStreams& side = side_streams_for(stream);
  const std::size_t first_kernel = program_.alternating_from;
  const std::int64_t at_once = program_.alternating_groups;
  // Streams beyond the number of rounds would have nothing to do but be waited for.
  const std::size_t others = std::min(side.streams.size(), static_cast<std::size_t>((groups - 1) / at_once));
  if (others > 0) side.events.back().record(stream);
  for (std::size_t s = 0; s < others; ++s) side.events.back().block(side.streams[s].get());
  std::size_t next = 0;
  for (std::int64_t group = 0; group < groups; group += at_once, next = (next + 1) % (others + 1)) {
    const cuda::Stream own = next == 0 ? stream : side.streams[next - 1].get();
    for (std::size_t k = first_kernel; k < first_kernel + Program::kAlternatingKernels; ++k)
      launch(kernels_[k], call, first_group + group, kernels_[k].tiles * std::min(at_once, groups - group),
             own);
  }
  for (std::size_t s = 0; s < others; ++s) {
    side.events[s].record(side.streams[s].get());
    side.events[s].block(stream);
  }
}

void Executable::run_once(const Call& call, cuda::Stream stream) const {
  for (std::size_t k = 0; k < kernels_.size();) {
    if (program_.alternating && k == program_.alternating_from) {
      run_alternating(call, 0, kernels_[k].groups, stream);
      k += Program::kAlternatingKernels;
    } else {
      run_kernel(k++, call, stream);
    }
  }
}

void Executable::run(const Call& call, cuda::Stream stream) const {
  if (!program_.one_by_one) return run_once(call, stream);
  Call one = call;
  one.batch = 1;
  for (std::int64_t b = 0; b < call.batch; ++b) {
    const auto at = static_cast<std::size_t>(b);
    one.input = static_cast<const std::byte*>(call.input) + at * call.input_bytes;
    one.output = static_cast<std::byte*>(call.output) + at * call.output_bytes;
    one.kept.first = b * program_.kernels.back().step.spectrum;
    run_once(one, stream);
  }
}

}  // namespace sfft::detail::tuned
